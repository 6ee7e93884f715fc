import ScenarioFormat
import UploadRetry

extension VectorFile {
  /// The version of the format that is read.
  static let format = 1

  /// Reads a vector file.
  ///
  /// - `name`: the file as the user named it, for messages.
  /// - Throws: `ScenarioProblems`: all problems at once, with file, line and path.
  public init(text: String, name: String) throws(ScenarioProblems) {
    let root = try JSON5Parser.parse(text, file: name)
    var reader = VectorReader(file: name)
    self = reader.file(root)
    if !reader.problems.isEmpty { throw ScenarioProblems(diagnostics: reader.problems) }
  }
}

extension VectorReader {
  fileprivate mutating func file(_ root: PositionedValue) -> VectorFile {
    let root = object(root, "", known: ["format", "title", "client", "settings", "cases"])
    if root.members == nil { return VectorFile(name: file, title: file, client: nil, cases: []) }
    let format = root["format"].map { whole($0, "format", in: 0...1_000_000) }
    if format != VectorFile.format {
      report(
        "expected format \(VectorFile.format), the one that is read", at: (root["format"] ?? root).position,
        "format")
    }
    settings = root["settings"].map(Self.settings) ?? .object([])
    var cases: [VectorCase] = []
    if let node = root["cases"] {
      for (index, element) in list(node, "cases").enumerated() {
        let decoded = vectorCase(element, "cases[\(index)]")
        if !decoded.id.isEmpty, let twin = cases.first(where: { $0.id == decoded.id }) {
          report(
            "the id \(quoted(decoded.id)) is on line \(twin.line) already", at: element.position,
            "cases[\(index)].id")
        }
        cases.append(decoded)
      }
      if cases.isEmpty { report("there is no case in it", at: node.position, "cases") }
    } else {
      report("missing", at: root.position, "cases")
    }
    return VectorFile(
      name: file, title: root["title"].map { text($0, "title") } ?? file,
      client: root["client"].flatMap { preset($0) }, cases: cases)
  }

  /// The name of a preset.
  private mutating func preset(_ node: PositionedValue) -> String? {
    let name = text(node, "client")
    if ConformanceClient.allNames.contains(name) { return name }
    if !name.isEmpty { unknown(name, allowed: ConformanceClient.allNames, at: node.position, "client") }
    return nil
  }

  private mutating func required(_ key: String, of node: PositionedValue, _ path: String) -> PositionedValue?
  {
    if node[key] == nil, node.members != nil { report("missing", at: node.position, join(path, key)) }
    return node[key]
  }

  private mutating func vectorCase(_ node: PositionedValue, _ path: String) -> VectorCase {
    let node = object(
      node, path,
      known: [
        "id", "requirement", "says", "settings", "client", "wallClock", "given", "jitter", "steps", "repairs",
        "effective",
        "deviates",
      ])
    let id = required("id", of: node, path).map { text($0, path + ".id") } ?? ""
    let place = id.isEmpty ? path : "\(path) \(id)"
    let says = required("says", of: node, path).map { text($0, place + ".says") } ?? ""
    var requirement = ""
    if let name = required("requirement", of: node, path) {
      requirement = text(name, place + ".requirement")
      if !requirement.isEmpty, Requirement.title(of: requirement) == nil {
        report(
          "\(quoted(requirement)) is not a requirement that can be tested; those are "
            + Requirement.names,
          at: name.position, place + ".requirement")
      }
    }
    let given = node["given"].map { self.given($0, place + ".given") } ?? VectorGiven()
    let known = given.batches.map(\.name)
    var steps: [VectorStep] = []
    if let list = required("steps", of: node, path) {
      steps = self.steps(list, place + ".steps", batches: known)
    }
    var deviations: [String: VectorDeviation] = [:]
    if let deviates = node["deviates"] {
      for member in members(deviates, place + ".deviates") {
        let path = "\(place).deviates.\(member.key)"
        if !ConformanceClient.names.contains(member.key) {
          unknown(member.key, allowed: ConformanceClient.names, at: member.keyPosition, path)
        }
        deviations[member.key] = deviation(member.value, path, batches: known)
      }
    }
    return VectorCase(
      id: id, requirement: requirement, says: says, line: Int(node.position.line),
      settings: node["settings"].map(Self.settings) ?? settings,
      client: node["client"].map { client($0, place + ".client") } ?? VectorClient(),
      wallClock: node["wallClock"].map { wallClock($0, place + ".wallClock") } ?? 1_767_225_600,
      given: given, jitter: node["jitter"].flatMap { word($0, place + ".jitter", as: VectorDraw.self) },
      steps: steps,
      repairs: node["repairs"].map { repairs in
        Located(
          value: list(repairs, place + ".repairs").map { text($0, place + ".repairs") }.sorted(),
          line: Int(repairs.position.line))
      },
      effective: node["effective"].map { effective($0, place + ".effective", prefix: "") } ?? [],
      deviations: deviations)
  }

  private mutating func wallClock(_ node: PositionedValue, _ path: String) -> Int64 {
    Int64(whole(node, path, in: -10_000_000_000...100_000_000_000))
  }

  private mutating func client(_ node: PositionedValue, _ path: String) -> VectorClient {
    let node = object(
      node, path, known: ["oauth", "uploads", "flushAt", "maximumEvents", "maximumBatchEvents", "persistent"])
    var client = VectorClient()
    client.supportsOAuth = node["oauth"].map { bool($0, path + ".oauth") }
    client.uploads = node["uploads"].map { whole($0, path + ".uploads", in: 1...1000) }
    if let count = node["flushAt"] { client.flushAt = whole(count, path + ".flushAt", in: 1...1_000_000) }
    if let count = node["maximumEvents"] {
      client.maximumEvents = whole(count, path + ".maximumEvents", in: 1...1_000_000)
    }
    if let count = node["maximumBatchEvents"] {
      client.maximumBatchEvents = whole(count, path + ".maximumBatchEvents", in: 1...65_535)
    }
    if let flag = node["persistent"] { client.isPersistent = bool(flag, path + ".persistent") }
    return client
  }

  private mutating func given(_ node: PositionedValue, _ path: String) -> VectorGiven {
    let node = object(node, path, known: ["batches", "globalRetryCount", "waitUntil"])
    var given = VectorGiven()
    if let list = node["batches"] {
      for (index, element) in self.list(list, path + ".batches").enumerated() {
        let batch = batch(element, "\(path).batches[\(index)]")
        if given.batches.contains(where: { $0.name == batch.name }) {
          report("the batch \(quoted(batch.name)) is there twice", at: element.position, path + ".batches")
        }
        given.batches.append(batch)
      }
    }
    if let count = node["globalRetryCount"] {
      given.globalRetryCount = UInt16(whole(count, path + ".globalRetryCount", in: 0...65_535))
    }
    given.waitUntil = node["waitUntil"].map { seconds($0, path + ".waitUntil") }
    return given
  }

  private mutating func batch(_ node: PositionedValue, _ path: String) -> VectorBatch {
    if case .string = node.content { return VectorBatch(name: text(node, path)) }
    let node = object(
      node, path,
      known: ["batch", "events", "queuedAt", "failures", "firstFailureAt", "dueAt", "latestFailure"])
    var batch = VectorBatch(name: required("batch", of: node, path).map { text($0, path + ".batch") } ?? "")
    if let count = node["events"] { batch.events = whole(count, path + ".events", in: 1...1_000_000) }
    if let count = node["failures"] {
      batch.failures = UInt16(whole(count, path + ".failures", in: 0...65_535))
    }
    batch.queuedAt = node["queuedAt"].map { seconds($0, path + ".queuedAt") }
    batch.firstFailureAt = node["firstFailureAt"].map { seconds($0, path + ".firstFailureAt") }
    batch.dueAt = node["dueAt"].map { seconds($0, path + ".dueAt") }
    if let kind = node["latestFailure"] {
      switch text(kind, path + ".latestFailure") {
      case "429": batch.latestFailure = .rateLimited
      case "transient": batch.latestFailure = .transient
      case "": break
      case let other:
        unknown(other, allowed: ["429", "transient"], at: kind.position, path + ".latestFailure")
      }
    }
    return batch
  }

  private mutating func effective(
    _ node: PositionedValue, _ path: String, prefix: String
  ) -> [(path: String, value: Located<SettingsValue>)] {
    members(node, path).flatMap { member -> [(path: String, value: Located<SettingsValue>)] in
      let inner = join(prefix, member.key)
      if member.value.members != nil {
        return effective(member.value, join(path, member.key), prefix: inner)
      }
      return [(inner, Located(value: Self.settings(member.value), line: Int(member.keyPosition.line)))]
    }
  }

  private mutating func deviation(
    _ node: PositionedValue, _ path: String, batches: [String]
  ) -> VectorDeviation {
    let line = Int(node.position.line)
    if case .string = node.content { return VectorDeviation(reason: text(node, path), line: line) }
    let node = object(node, path, known: ["why", "steps"])
    return VectorDeviation(
      reason: required("why", of: node, path).map { text($0, path + ".why") } ?? "", line: line,
      steps: required("steps", of: node, path).map { steps($0, path + ".steps", batches: batches) })
  }
}
