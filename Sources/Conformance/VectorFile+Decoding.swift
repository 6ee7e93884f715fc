import ConformanceVectors
import ScenarioFormat
import ScenarioModel
import ShippedClients
import UploadRetry

extension VectorFile {
  /// The vectors that ship with the tool, in a fixed order.
  ///
  /// They are the files under `Tests/ConformanceTests/Vectors`, which the C compiler puts into the binary, so that it needs nothing
  /// beside it.
  /// - Throws: `ScenarioProblems`: only if the vectors themselves are broken.
  public static func builtIn() throws(ScenarioProblems) -> [VectorFile] {
    try (0..<fleetsim_vector_count()).map { index throws(ScenarioProblems) in
      let file = fleetsim_vector(index)
      return try VectorFile(text: String(cString: file.text), name: String(cString: file.name))
    }
  }

  /// Reads a vector file.
  ///
  /// - `name`: the file as the user named it, for messages.
  /// - Throws: `ScenarioProblems`: all problems at once, with file, line and path.
  public init(text: String, name: String) throws(ScenarioProblems) {
    self = try Self.keys.read(text: text, name: name, .vectors)
    self.name = name
    if title.isEmpty { title = name }
  }

  private static let keys = ObjectKeys(
    VectorFile(), keepsRest: true,
    [
      Field(key: .init("format")),
      .refusal("format") { node, _ in
        ExactDecimal(node["format"])?.times(1) == .exact(1) ? nil : "expected format 1, the one that is read"
      },
      Field(reading: "title", \.title, .filled),
      Field(reading: "client", Kind<String>.known(ClientPreset.names)) { $0.client = $1 },
      Field(key: .init("settings")),
      Field(reading: "cases", \.cases, VectorCase.kind.list(0 ... .max), isRequired: true),
      .check { decoder, node, _, file in
        let nodes = node["cases"]?.elements
        if nodes?.isEmpty == true {
          decoder.report("there is no case in it", at: (node["cases"] ?? node).position, "cases")
        }
        var lines: [String: Int] = [:]
        for (index, (decoded, element)) in zip(file.cases, nodes ?? []).enumerated() {
          if element["settings"] == nil, let settings = node["settings"] {
            file.cases[index].settings = SettingsTree.settingsValue(settings)
          }
          if !decoded.id.isEmpty, let line = lines.updateValue(decoded.line, forKey: decoded.id) {
            decoder.report(
              "the id \(quoted(decoded.id)) is on line \(line) already", at: element.position,
              "cases[\(index)].id")
          }
        }
        return true
      },
    ])
}

extension Wording {
  fileprivate static let vectors: Wording = {
    var wording = Wording()
    wording.missing = { _ in "missing" }
    wording.unknownKey = { key, known in
      let hint = nearest(to: key, among: known).map { "did you mean \(quoted($0))?" }
      return "unknown key; \(hint ?? "known are " + known.joined(separator: ", "))"
    }
    (wording.showsValues, wording.showsColumns, wording.bracketsIndices) = (false, false, true)
    return wording
  }()
}

// MARK: Cases

extension VectorCase {
  fileprivate static let kind = Kind<VectorCase> { decoder, node, path in
    let id = node["id"]?.text ?? ""
    var decoded = VectorCase()
    decoded.line = Int(node.position.line)
    decoder.names = []
    _ = keys.read(&decoder, node, id.isEmpty ? path : "\(path) \(id)", into: &decoded)
    return node.members == nil ? nil : decoded
  }

  private static let keys = ObjectKeys(
    VectorCase(), keepsRest: true,
    [
      Field(reading: "id", \.id, .filled, isRequired: true),
      Field(reading: "says", \.says, .filled, isRequired: true),
      Field(
        reading: "requirement", \.requirement,
        .filled { name in
          Requirement.all.contains { $0.id == name }
            ? nil : "\(quoted(name)) is not a requirement that can be tested; those are \(Requirement.names)"
        }, isRequired: true),
      Field(reading: "settings", \.settings, .settings),
      Field(reading: "client", \.client, .object(VectorClient.keys)),
      Field(reading: "wallClock", .count(-10_000_000_000...100_000_000_000)) { $0.wallClock = Int64($1) },
      Field(reading: "given", \.given, .object(VectorGiven.keys)),
      .check { decoder, _, _, decoded in
        decoder.names = Set(decoded.given.batches.map(\.name))
        return true
      },
      Field(reading: "jitter", Kind<VectorDraw>.choice) { $0.jitter = $1 },
      Field(reading: "steps", \.steps, VectorStep.list, isRequired: true),
      Field(reading: "repairs", Kind<String>.filled.list(isIndexed: false).located) {
        $0.repairs = Located(value: $1.value.sorted(), line: $1.line)
      },
      Field(reading: "effective", Kind<PositionedValue>.object) { $0.effective = leaves(of: $1, "") },
      Field(reading: "deviates", \.deviations, deviations),
    ])

  /// The values of an object of objects, by their paths.
  fileprivate static func leaves(
    of node: PositionedValue, _ prefix: String
  ) -> [(path: String, value: Located<SettingsValue>)] {
    (node.members ?? []).flatMap { member in
      let path = prefix.isEmpty ? member.key : prefix + "." + member.key
      if member.value.members != nil { return leaves(of: member.value, path) }
      let value = SettingsTree.settingsValue(member.value)
      return [(path, Located(value: value, line: Int(member.keyPosition.line)))]
    }
  }

  private static let deviations = Kind<[String: VectorDeviation]> { decoder, node, path in
    guard let object = Kind.object.read(&decoder, node, path) else { return nil }
    var deviations: [String: VectorDeviation] = [:]
    for member in object.members ?? [] {
      let path = "\(path).\(member.key)"
      let name = PositionedValue(.string(member.key), at: member.keyPosition)
      if !ClientPreset.names.contains(member.key) {
        _ = Kind.known(ConformanceClient.names).read(&decoder, name, path)
      }
      var deviation = VectorDeviation(line: Int(member.value.position.line))
      if member.value.isNull {
        deviation.isNone = true
      } else if member.value.text != nil {
        deviation.reason = Kind.filled.read(&decoder, member.value, path) ?? ""
      } else {
        _ = VectorDeviation.keys.read(&decoder, member.value, path, into: &deviation)
      }
      deviations[member.key] = deviation
    }
    return deviations
  }
}

extension VectorDeviation {
  fileprivate static let keys = ObjectKeys(
    VectorDeviation(),
    [
      Field(reading: "why", \.reason, .filled, isRequired: true),
      Field(reading: "steps", VectorStep.list, isRequired: true) { $0.steps = $1 },
    ])
}

extension VectorClient {
  fileprivate static let keys = ObjectKeys(
    VectorClient(),
    [
      Field(reading: "oauth", Kind<Bool>.bool) { $0.supportsOAuth = $1 },
      Field(reading: "uploads", .count(1...1000)) { $0.uploads = $1 },
      Field(reading: "flushAt", \.flushAt, .count(1...1_000_000)),
      Field(reading: "maximumEvents", .count(1...1_000_000)) { $0.maximumEvents = $1 },
      Field(reading: "maximumBatchEvents", .count(1...1_000_000)) { $0.maximumBatchEvents = $1 },
      Field(reading: "persistent", Kind<Bool>.bool) { $0.isPersistent = $1 },
      Field(reading: "strategy", Kind<BrowserOptions.Strategy>.choice) { $0.strategy = $1 },
      Field(reading: "initHttpConfig", Kind<SettingsValue>.settings) { $0.pageConfig = $1 },
      Field(reading: "retryQueue", \.retriesEvents, .bool),
      Field(reading: "flushInterval", Kind<Int64>.seconds) { $0.flushInterval = Double($1) / 1_000_000 },
      Field(reading: "maxRetries", .count(0...1_000)) { $0.maximumRetries = Double($1) },
      Field(reading: "keepalive", \.keepsAlive, .bool),
    ])
}

extension VectorGiven {
  fileprivate static let keys = ObjectKeys(
    VectorGiven(),
    [
      Field(reading: "batches", \.batches, VectorBatch.kind.list(0 ... .max)),
      .check { decoder, node, path, given in
        var names: Set<String> = []
        for (batch, element) in zip(given.batches, node["batches"]?.elements ?? [])
        where !names.insert(batch.name).inserted {
          decoder.report(
            "the batch \(quoted(batch.name)) is there twice", at: element.position, path + ".batches")
        }
        return true
      },
      Field(reading: "globalRetryCount", .count(0...65_535)) { $0.globalRetryCount = UInt16($1) },
      Field(reading: "waitUntil", Kind<Int64>.seconds) { $0.waitUntil = $1 },
    ])
}

extension VectorBatch {
  fileprivate static let kind = Kind<VectorBatch> { decoder, node, path in
    if node.text == nil { return Kind.object(keys).read(&decoder, node, path) }
    return Kind.filled.read(&decoder, node, path).map { VectorBatch(name: $0) }
  }

  private static let keys = ObjectKeys(
    VectorBatch(),
    [
      Field(reading: "batch", \.name, .filled, isRequired: true),
      Field(reading: "events", \.events, .count(1...1_000_000)),
      Field(reading: "failures", .count(0...65_535)) { $0.failures = UInt16($1) },
      Field(reading: "queuedAt", Kind<Int64>.seconds) { $0.queuedAt = $1 },
      Field(reading: "firstFailureAt", Kind<Int64>.seconds) { $0.firstFailureAt = $1 },
      Field(reading: "dueAt", Kind<Int64>.seconds) { $0.dueAt = $1 },
      Field(
        reading: "latestFailure", \.latestFailure, .word([("429", .rateLimited), ("transient", .transient)])),
    ])
}

// MARK: Steps

extension VectorStep {
  /// The steps in the order of their times. Later steps can name the batches that earlier ones seal.
  fileprivate static let list = Kind<[VectorStep]> { decoder, node, path in
    let names = decoder.names
    defer { decoder.names = names }
    guard let elements = node.elements else {
      decoder.unexpected(node, "a list", path)
      return nil
    }
    var steps: [VectorStep] = []
    for (index, element) in elements.enumerated() {
      let path = "\(path)[\(index)]"
      var step = VectorStep(line: Int(element.position.line))
      _ = keys.read(&decoder, element, path, into: &step)
      guard kinds.count(where: { element[$0] != nil }) == 1 else { continue }
      if let last = steps.last, last.at > step.at {
        decoder.report("is before the step on line \(last.line)", at: element.position, path + ".at")
      }
      steps.append(step)
    }
    return steps
  }

  private static let kinds = ["trigger", "events", "answer", "restart"]

  private static let keys = ObjectKeys(
    VectorStep(line: 0), keepsRest: true,
    [
      .refusal { node, _ in
        kinds.count { node[$0] != nil } == 1 ? nil : "a step has one of \(kinds.joined(separator: ", "))"
      },
      Field(reading: "trigger", Kind<TriggerKind>.choice) { $0.action = .trigger($1) },
      Field(reading: "events", .count(1...100_000)) { $0.action = .events($1, batch: "") },
      Field(reading: "answer", .object(VectorAnswer.keys)) {
        $0.action = .answer(
          batch: $1.batch, status: $1.status, retryAfter: $1.retryAfter, rateLimitReset: $1.rateLimitReset)
        $0.body = $1.body
      },
      Field(reading: "user", \.user, .filled),
      Field(reading: "restart", Kind<SavedState>.choice) { $0.action = .restart($1, settings: nil) },
      Field(key: .init("seals")),
      .check { decoder, node, path, step in
        guard case .events(let count, _) = step.action else { return true }
        guard let name = node["seals"] else {
          decoder.report(
            "missing: the name of the batch that these events will be in", at: node.position, path + ".seals")
          return false
        }
        guard let batch = Kind.filled.read(&decoder, name, path + ".seals") else { return false }
        decoder.names.insert(batch)
        step.action = .events(count, batch: batch)
        return true
      },
      Field(reading: "settings", Kind<SettingsValue>.settings) { step, settings in
        if case .restart(let saved, _) = step.action { step.action = .restart(saved, settings: settings) }
      },
      Field("expect", \.expect, keys: VectorExpectation.keys, ""),
      Field(reading: "at", \.at, .seconds, isRequired: true),
    ])
}

private struct VectorAnswer: Sendable {
  var batch = ""
  var status: Int?
  var retryAfter: String?
  var rateLimitReset: String?
  var body: SettingsValue?

  static let keys = ObjectKeys(
    VectorAnswer(),
    [
      .refusal { node, _ in
        node["batch"] != nil && node["status"] != nil ? nil : "needs batch and status"
      },
      Field(reading: "batch", \.batch, .batch),
      Field(
        reading: "status", \.status,
        Kind { decoder, node, path in
          if node.text == "none" { return .some(nil) }
          return Kind.count(-1_000_000...1_000_000).read(&decoder, node, path)
        }),
      Field(reading: "retryAfter", header) { $0.retryAfter = $1 },
      Field(reading: "rateLimitReset", header) { $0.rateLimitReset = $1 },
      Field(reading: "body", Kind<SettingsValue>.settings) { $0.body = $1 },
    ])

  private static let header = Kind<String> { decoder, node, path in
    if node.text == nil { decoder.unexpected(node, "the header's text", path) }
    return node.text
  }
}

// MARK: What is expected

extension VectorExpectation {
  fileprivate static let keys = ObjectKeys(
    VectorStep(line: 0).expect, keepsRest: true,
    [
      Field(reading: "sends", \.sends, send.list(0 ... .max, isIndexed: false).located),
      Field(reading: "drops", Kind<String>.reasonIfSaid.byBatch.located) {
        $0.drops = Located(value: $1.value.map { NamedDrop(batch: $0, reason: $1) }, line: $1.line)
      },
      Field(reading: "outcome", outcome.located) { $0.outcome = $1 },
      Field(reading: "state", Kind.word([("READY", true), ("WAITING", false)]).located) { $0.isReady = $1 },
      Field(reading: "waitUntil", Kind<ClosedRange<Int64>>.seconds.located) { $0.waitUntil = $1 },
      Field(reading: "globalRetryCount", Kind.count(0...65_535).located) { $0.globalRetryCount = $1 },
      Field(reading: "failures", Kind.count(0...65_535).byBatch.located) { expect, failures in
        expect.failures = failures.value.map { ($0, Located(value: $1, line: failures.line)) }
      },
      Field(reading: "dueAt", Kind<ClosedRange<Int64>>.seconds.byBatch.located) { expect, times in
        expect.dueAt = times.value.map { ($0, Located(value: $1, line: times.line)) }
      },
      Field(reading: "queue", Kind<String>.batch.list(0 ... .max, isIndexed: false).located) {
        $0.queue = $1
      },
      Field(reading: "keepalive", Kind<String>.batch.list(0 ... .max, isIndexed: false).located) {
        $0.keepAlive = $1
      },
      Field(reading: "flushTimer", Kind<Int64>.seconds.located) { $0.flushTimer = $1 },
      Field(reading: "flushTimers", Kind.count(0...1_000_000).located) { $0.pollingTimers = $1 },
      Field(reading: "effective", Kind<PositionedValue>.object) {
        $0.effective = VectorCase.leaves(of: $1, "")
      },
      Field(reading: "restored", Kind<Restored>.choice.located) { $0.restored = $1 },
    ])

  /// `"a"`, or `{"a": 0}` where the header matters; null: without the header.
  private static let send = Kind<ExpectedSend> { decoder, node, path in
    guard let members = node.members else {
      return Kind.batch.read(&decoder, node, path).map { ExpectedSend(batch: $0, header: .any) }
    }
    guard members.count == 1 else {
      decoder.report(
        "expected one batch with its X-Retry-Count, found \(members.count)", at: node.position, path)
      return nil
    }
    let name = PositionedValue(.string(members[0].key), at: members[0].keyPosition)
    guard let batch = Kind.batch.read(&decoder, name, path) else { return nil }
    if members[0].value.isNull { return ExpectedSend(batch: batch, header: .absent) }
    return Kind.count(0...65_535).read(&decoder, members[0].value, path)
      .map { ExpectedSend(batch: batch, header: .count($0)) }
  }

  private static let outcome = Kind<ExpectedOutcome> { decoder, node, path in
    switch node.text {
    case "delivered": return .delivered
    case "retryAtNextTrigger": return .retryAtNextTrigger
    case "refreshCredentials": return .refreshCredentials
    default: break
    }
    if let members = node.members, members.count == 1 {
      let (value, path) = (members[0].value, path + "." + members[0].key)
      switch members[0].key {
      case "retry": return Kind.seconds.read(&decoder, value, path).map { .retry($0) }
      case "pause": return Kind.seconds.read(&decoder, value, path).map { .pause($0) }
      case "drop": return Kind.reason.read(&decoder, value, path).map { .drop($0) }
      case "block": return Kind.reason.read(&decoder, value, path).map { .block($0) }
      default: break
      }
    }
    decoder.report(
      "expected \"delivered\", \"retryAtNextTrigger\", \"refreshCredentials\", {\"retry\": seconds}, "
        + "{\"pause\": seconds}, {\"drop\": reason} or {\"block\": reason}", at: node.position, path)
    return nil
  }
}

// MARK: Kinds

extension Kind {
  fileprivate var located: Kind<Located<Value>> {
    Kind<Located<Value>> { decoder, node, path in
      read(&decoder, node, path).map { Located(value: $0, line: Int(node.position.line)) }
    }
  }

  /// An object of such values by the names of batches.
  fileprivate var byBatch: Kind<[(String, Value)]> {
    Kind<[(String, Value)]> { decoder, node, path in
      Kind<PositionedValue>.object.read(&decoder, node, path)?.members?.compactMap { member in
        let name = PositionedValue(.string(member.key), at: member.keyPosition)
        let batch = Kind<String>.batch.read(&decoder, name, path)
        let value = read(&decoder, member.value, path)
        return batch.flatMap { batch in value.map { (batch, $0) } }
      }
    }
  }
}

extension Kind<PositionedValue> {
  fileprivate static let object = Kind { decoder, node, path in
    if node.members != nil { return node }
    decoder.unexpected(node, "an object", path)
    return nil
  }
}

extension Kind<SettingsValue> {
  fileprivate static let settings = Kind.made(SettingsTree.settingsValue)
}

extension Kind<String> {
  fileprivate static let filled = filled { _ in nil }

  /// A text that is not empty and with which there is no problem.
  fileprivate static func filled(_ problem: @escaping @Sendable (String) -> String?) -> Kind {
    Kind.text.refusing { _, _, text in text.isEmpty ? "is empty" : problem(text) }
  }

  fileprivate static func known(_ allowed: [String]) -> Kind { word(allowed.map { ($0, $0) }) }

  fileprivate static let reason = known(DropName.all)

  /// null: any, which is empty here.
  fileprivate static let reasonIfSaid = Kind { decoder, node, path in
    node.isNull ? "" : reason.read(&decoder, node, path)
  }

  fileprivate static let batch = Kind { decoder, node, path in
    // An upload without events.
    if node.text == "" { return "" }
    guard let name = filled.read(&decoder, node, path) else { return nil }
    // An upload of several is named "a+b".
    if name.split(separator: "+").allSatisfy({ decoder.names.contains(String($0)) }) { return name }
    decoder.report("there is no batch \(quoted(name))", at: node.position, path)
    return nil
  }
}

extension Kind<Int64> {
  /// Seconds as microseconds, exactly; up to a hundred years either way.
  fileprivate static let seconds = Kind { decoder, node, path in
    let longest: Int64 = 3_200_000_000_000_000
    return decoder.number(
      node, path, in: -longest...longest, parts: 1_000_000, finer: "finer than a microsecond",
      "seconds with at most 6 decimals")
  }
}

extension Kind<ClosedRange<Int64>> {
  /// Seconds, or the lowest and the highest of a range.
  fileprivate static let seconds = Kind { decoder, node, path in
    guard let ends = node.elements else {
      return Kind<Int64>.seconds.read(&decoder, node, path).map { $0...$0 }
    }
    guard ends.count == 2 else {
      decoder.report("a range has two ends, found \(ends.count)", at: node.position, path)
      return nil
    }
    let low = Kind<Int64>.seconds.read(&decoder, ends[0], path + "[0]")
    guard let high = Kind<Int64>.seconds.read(&decoder, ends[1], path + "[1]"), let low else { return nil }
    if low <= high { return low...high }
    decoder.report("the range ends before it begins", at: node.position, path)
    return nil
  }
}
