import ScenarioModel
import ShippedClients
import ShippedQuirks
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// A cohort: devices that share everything but their randomness.
extension Cohort {
  static let keys = ObjectKeys(
    standIn, keepsRest: true,
    eventFields + loopFields + [
      .pollsHoldOne,
      timeoutField,
      Field("network", \.self, keys: networkKeys, "The way to the server and back."),
      Field(
        "connection", \.connection, keys: ConnectionHabits.keys,
        "How clients keep connections, with tapi.connections.",
        isLater: true),
    ] + backgroundFields + [
      Field(
        "settings", \.publishedSettings, .settings { $0.base },
        "Settings, or the name of their file.",
        defaultValue: .said("the scenario's"))
    ] + partFields + [
      Field(
        "credentialRefresh", \.credentialRefresh, .span(from: .milliseconds(1)),
        "How long it takes to refresh credentials (O9)."),
      Field(
        "lifecycle", \.lifecycle, Kind.object(Lifecycle.keys).orNull, "App launches and kills (S18).",
        defaultValue: .said("every app runs all the time")),
      Field(
        "rollout", \.rolloutKeys, Kind.object(RolloutKeys.keys).orNull,
        "Settings published during the run (S19).", defaultValue: .said("none")),
      Field("eventSize", \.eventBytes, .size(1...100_000_000), "Bytes of an event."),
      Field("requestSize", \.requestBytes, .size(0...100_000_000), "Bytes of a request without its events."),
      Field(
        "writeKey", \.tenant, Kind<String>.text.orNothing,
        "The tenant that the server's keyLimits know the cohort by.", defaultValue: .said("its name")),
    ] + wholeChecks)

  /// Who the devices are, and when they create events.
  private static let eventFields: [Field<Cohort>] = [
    Field(
      "name", \.name, .name, "What paths and tables call it.", example: "\"phones\"", isSettable: false),
    Field("devices", \.devices, .count(1...4_000_000_000), "How many there are.", example: "1000"),
    // `FleetShares` have made devices of it before.
    Field(
      key: ScenarioSchema.Key(
        name: "share",
        meaning:
          "Its part of all devices, in place of its own number; the cohorts without a share make up the rest.",
        schema: FleetShares.share.schema, range: FleetShares.share.range,
        defaultValue: .said("what its devices make"))
    ) { decoder, node, path, _ in FleetShares.share.read(&decoder, node, path) != nil },
    .check { decoder, _, _, cohort in
      cohort.take(decoder.clientOfAll ?? .tapiDocument)
      return true
    },
    Field(
      "client", \.clientPreset, .client,
      "The client, by name or as a client file."),
    .check { decoder, _, _, cohort in
      if let node = decoder.policyOfAll {
        var silent = ScenarioDecoder(sources: [])
        _ = ClientPolicy.keys.read(&silent, node, "", into: &cohort.policy)
      }
      return true
    },
    Field(
      "events", \.eventKeys, .events,
      "When its devices create events: a rate, or one of the forms.",
      example: "\"6/min\""),
    .check { decoder, node, path, cohort in
      guard let events = node["events"] else { return false }
      return decoder.checkNumber(of: cohort, events, decoder.join(path, "events"))
    },
    Field(
      "spikes", \.spikes, Kind.object(Spike.keys).list(0...100, named: "spikes"),
      "What many devices do together, as at the top of the hour."),
    .check { $0.checkSpikes($1["spikes"], $0.join($2, "spikes"), $3) },
    Field(
      "holdsOpen", \.holdsOpen, .bool,
      "Whether each device has a stream, watch or long poll open.",
      isLater: true),
  ]

  /// When a device flushes, and what it does with its batches.
  private static let loopFields: [Field<Cohort>] = [
    Field(
      "flush", \.flush, keys: FlushPolicy.keys, "What makes a device flush; null switches one of them off."),
    Field(
      "queue", \.behaviour.queue, keys: QueuePolicy.keys, "Events between their creation and their delivery."),
    .ofClient(
      "retries", \.behaviour.retries, .word([("gate", .gate), ("timer", .timer)]),
      "what brings a batch back whose wait is over", "S17"),
    .ofClient(
      "uploadConcurrency", \.behaviour.uploadConcurrency,
      Kind<Int?>.count(1...1_000_000, or: "unlimited").orLargest,
      "uploads of a device at once", "S3"),
    Field("uploads", \.self, keys: uploadKeys, "What becomes of their places.", isLater: true),
    .ofClient(
      "flushWhileUploading", \.behaviour.flushWhileUploading, .choice, "a flush that comes while uploads run",
      "S17"),
    .ofClient(
      "page", \.behaviour.page, Kind.object(BrowserOptions.keys).orNull,
      "a page of a browser, without an upload loop",
      "S16",
      isLater: true, form: ["{strategy, size, timeout …}"]),
    Field(
      "uploadLoop", \.self, keys: uploadLoopKeys, "What else the upload loop does in its own way.",
      isLater: true),
    .check { $0.checkFlushEnd($1, $2, &$3) },
  ]

  /// When a device has a network, and when its app may use it.
  private static let backgroundFields: [Field<Cohort>] = [
    Field(
      "connectivity", \.connectivity, Kind<Connectivity>.connectivity.orNull,
      "When devices have no network.", defaultValue: .said("always online")),
    Field(
      "sessions", \.sessions, Kind.object(Sessions.keys).orNull,
      "When the app is in the foreground.",
      defaultValue: .said("it runs all the time"), isLater: true),
    Field(
      "os", \.os, Kind<BackgroundWindows>.backgroundWindows.orNull,
      "When the system lets an app in the background send: its name, or the windows themselves.",
      defaultValue: .said("no timer of a closed app runs"), isLater: true),
  ]

  private static let settingsFetchField = Field<Cohort>.ofClient(
    "settingsFetch", \.behaviour.settingsFetch, .choice,
    "when it asks for its Settings (tapi.settingsEndpoint)", "S19",
    isLater: true)

  private static let timeoutField = Field<Cohort>(
    "timeout", \.timeouts, .timeouts, "when the client gives an upload up", requirement: "S9")

  /// The rest of what a client is.
  private static let partFields: [Field<Cohort>] = [
    .ofClient(
      "settingsDialect", \.behaviour.settingsDialect, .choice, "whose way of reading Settings", "S13",
      isLater: true),
    settingsFetchField,
    Field(
      "policy", \.behaviour.policy, keys: ClientPolicy.keys,
      "Where clients differ from one another."),
    Field(
      "classDelays", \.behaviour.policy.classDelays, .classDelays,
      "backoffs by the class of the failure",
      defaultValue: .said("none"), isLater: true, requirement: "O2"),
    Field(
      "gates", \.behaviour.gates, keys: ClientGates.keys, null: ClientGates(),
      "Parts between the upload loop and the network, over the client's key by key; null: none."),
  ]

  /// The keys of a client in a client file: a selection of those that a cohort has.
  static let clientKeys = ObjectKeys(
    standIn, keepsRest: true,
    loopFields + [timeoutField] + partFields + [
      .check { decoder, _, _, cohort in
        decoder.overrides429 = cohort.policy.overridden429 != .ignored
        decoder.fetchesSettings = cohort.settingsFetch != .never
        return true
      },
      Field(
        "settings", \.behaviour.settingsDefaults, .settingsDefaults,
        "What Settings mean that leave a value out, in the form of Settings.", isLater: true),
    ])

  static let standIn = Cohort(name: "", devices: 1, events: .poisson(meanGap: .seconds(1)))

  private var clientPreset: ClientPreset {
    get { preset }
    set { take(newValue) }
  }
  private var tenant: String? {
    get { writeKey }
    set { writeKey = newValue == name ? nil : newValue }
  }

  /// A cohort with that client that says nothing more. What flushes start anew is written in any case.
  fileprivate var defaultValue: Cohort {
    var cohort = preset.cohort
    (cohort.flush.rearm, cohort.flush.driftPartsPerMillion) = (.fixedRate, 0)
    return cohort
  }

  /// Every key that the cohort has a value of, also where that is its client's.
  package var everyKey: PositionedValue { Self.keys.write(self, defaultValue: nil) }
}

extension ClientPreset {
  /// A cohort that has this client and nothing else.
  var cohort: Cohort {
    var cohort = Cohort.standIn
    cohort.take(self)
    return cohort
  }
}

extension Kind where Value == [Cohort] {
  static let fleet = Kind(
    shape: .cohorts(Cohort.keys.shape),
    schema: .array(of: .reference("cohort"), 1...10_000),
    read: { decoder, node, path in decoder.once(\.fleet) { $0.fleet(node, path) } },
    write: { .list($0.map { Cohort.keys.write($0, defaultValue: $0.defaultValue) }) })
}

extension ScenarioDecoder {
  static let maximumDevices = 4_000_000_000

  fileprivate mutating func fleet(_ node: PositionedValue, _ path: String) -> [Cohort] {
    guard let elements = node.elements else {
      unexpected(node, "a list of cohorts", path)
      return []
    }
    guard !elements.isEmpty else {
      report("a fleet needs at least one cohort", at: node.position, path)
      return []
    }
    guard elements.count <= 10_000 else {
      report("\(elements.count) cohorts; at most 10000 are allowed", at: node.position, path)
      return []
    }
    var cohorts: [Cohort] = []
    reportSecondNames(of: elements, "cohort") { ScenarioPaths.cohort($0, of: elements) }
    for (index, element) in FleetShares.divided(elements, path, &self).enumerated() {
      let place = ScenarioPaths.cohort(index, of: elements)
      self.cohort = index
      var cohort = Cohort.keys.defaultValue
      (cohort.latency, cohort.link) = (ofAll.latency, ofAll.link)
      cohort.publishedSettings = settings.base
      guard Cohort.keys.read(&self, element, place, into: &cohort) || element.members != nil else { continue }
      if let rollout = publications[index]?.rollout(settings.rollout) {
        cohort.rolloutKeys = rollout
        cohort.rollout?.isAction = true
      }
      cohorts.append(cohort)
    }
    let total = cohorts.reduce(0) { $0 + $1.devices }
    if total > Self.maximumDevices {
      report(
        "\(total) devices in all cohorts together; at most \(Self.maximumDevices)", at: node.position, path)
    }
    return cohorts
  }
}

// MARK: Queue and loop

extension FlushPolicy {
  fileprivate static let keys = ObjectKeys(
    FlushPolicy(), keepsRest: true,
    [
      Field(
        "count", \.count, Kind<Int>.count(1...1_000_000).orNull, "events that make a flush",
        requirement: "S17"),
      Field(
        "interval", \.interval, Kind<Span>.span(from: .milliseconds(1)).orNull, "time between flushes",
        requirement: "S17"),
      Field(
        "phase", \.phaseKeys, .flushPhase,
        "Where in the interval devices flush: at random, all together, together so far into it, or a share of them, within a spread."
      ),
      Field(
        "rearm", \.rearm, .choice,
        "What starts the interval anew beside launches and sessions: nothing, flushes, their answers too; by the wall clock nothing at all.",
        isLater: true),
      Field(
        "drift", \.driftPartsPerMillion, .partsPerMillion(0...10_000),
        "How wrong a device's clock may be.", defaultValue: .said("none"),
        isLater: true),
      .refusal("phase") { _, flush in
        guard flush.phase > .zero, flush.phase >= flush.interval ?? .zero else { return nil }
        let interval = flush.interval.map { "an interval of \(Units.text($0))" } ?? "no interval"
        return
          "a phase of \(Units.text(flush.phase)) with \(interval); it has to be shorter than the interval"
      },
      .refusal("phase") { _, flush in
        guard flush.spread > .zero, flush.spread >= flush.interval ?? .zero else { return nil }
        return
          "a spread of \(Units.text(flush.spread)); it has to be shorter than the interval"
          + (flush.interval.map { ", \(Units.text($0))" } ?? ", and there is none")
      },
      .refusal("rearm") { _, flush in
        flush.rearm != .fixedRate && flush.interval == nil
          ? "there is no interval that could start anew" : nil
      },
      .refusal("drift") { _, flush in
        if flush.driftPartsPerMillion > 0, flush.interval == nil {
          return "there is no interval that could drift"
        }
        return flush.driftPartsPerMillion > 0 && flush.rearm == .wallClock
          ? "the wall clock does not drift; leave drift out, or set rearm to \"fixedRate\"" : nil
      },
    ])

  /// nil: at random phases.
  private var phaseKeys: FlushPhase? {
    get { isSynchronised ? FlushPhase(at: phase, share: togetherPartsPerMillion, spread: spread) : nil }
    set {
      isSynchronised = newValue != nil
      let together = newValue ?? FlushPhase()
      (phase, togetherPartsPerMillion, spread) = (together.at, together.share, together.spread)
    }
  }
}

/// Devices that flush together.
struct FlushPhase: Sendable, Equatable {
  var at = Span.zero
  var share: Int64 = 1_000_000
  var spread = Span.zero

  fileprivate static let keys = ObjectKeys(
    FlushPhase(),
    [
      Field("at", \.at, .span(from: .zero), "How far into each interval."),
      Field("share", \.share, .share(1...1_000_000), "Of the devices; the others have random phases."),
      Field("spread", \.spread, .span(from: .zero), "Each at a random time in so long a span."),
    ])
}

extension Kind where Value == FlushPhase? {
  /// `"random"`, `"synchronised"`, `"10s"` or `{ at, share, spread }`.
  fileprivate static let flushPhase: Kind = {
    let word = Kind<FlushPhase?>.word([("random", nil), ("synchronised", FlushPhase())])
    let time = Kind<Span>.span(from: .zero)
    let object = Kind<FlushPhase>.object(FlushPhase.keys)
    return Kind(
      schema: .oneOf([word.schema, time.schema, object.schema]), range: time.range,
      read: { decoder, node, path in
        if node.members != nil { return object.read(&decoder, node, path).map { .some($0) } }
        if let text = node.text, text.first?.isNumber != true { return word.read(&decoder, node, path) }
        return time.read(&decoder, node, path).map { .some(FlushPhase(at: $0)) }
      },
      write: { phase in
        guard let phase else { return .text("random") }
        if phase == FlushPhase() { return .text("synchronised") }
        return phase == FlushPhase(at: phase.at) ? .span(phase.at) : object.write(phase)
      })
  }()
}

extension Kind where Value == Int64 {
  /// `"50ppm"`, or a share.
  fileprivate static func partsPerMillion(_ range: ClosedRange<Int64>) -> Kind {
    let share = Kind<Int64>.share(range, allowed: "\(range.lowerBound)ppm to \(range.upperBound)ppm")
    return Kind(
      schema: .oneOf([.pattern("^[0-9]+ppm$"), share.schema]), range: share.range,
      read: { decoder, node, path in
        guard let text = node.text, text.hasSuffix("ppm") else { return share.read(&decoder, node, path) }
        guard let parts = Int64(text.dropLast(3)), range.contains(parts) else {
          decoder.report(
            "\(quoted(text)) is out of range; allowed: \(share.range)", at: node.position, path)
          return nil
        }
        return parts
      }, write: { .text("\($0)ppm") })
  }
}

extension QueuePolicy {
  fileprivate static let keys = ObjectKeys(
    QueuePolicy(), keepsRest: true,
    [
      .ofClient(
        "mode", \.mode, .word([("files", .files), ("rebatch", .rebatch)]),
        "retry state of each batch file, or one of the client, which re-chunks its events", "S2"),
      .ofClient(
        "limit", \.limit, Kind<Int>.count(1...1_000_000).orNull.orLargest, "sealed events held at most", "D1"),
      .ofClient(
        "maximumBatchEvents", \.maximumBatchEvents, .count(1...65_535), "events in one upload at most", "D3"),
      .ofClient(
        "maximumBatchSize", \.maximumBatchBytes, Kind<Int>.size(1...1_000_000_000).orNull,
        "bytes of one upload at most", "D3"),
      .ofClient(
        "batches", \.batchLimit, Kind<Int>.count(1...1_000_000).orNull.orLargest,
        "batches held at most, those under way among them, with mode files", "D1", isLater: true),
      .ofClient(
        "overflow", \.overflow, .choice, "which events a full queue loses, with mode files", "D1",
        isLater: true),
      Field(
        "splitOn413", \.splitsOn413, .bool, "a batch that is answered 413 is cut in two, with mode files",
        requirement: "S5"),
      .ofClient(
        "growsUntilFailure", \.growsUntilFailure, .bool,
        "a batch takes new events until it fails, and then stays as it is, with mode files; a 429 that makes the client wait is no failure",
        "S2",
        isLater: true),
    ])
}

extension Kind where Value == String {
  static let name: Kind = {
    var kind = Kind.text.refusing { _, _, name in
      PathText.isName(name)
        ? nil
        : "\(quoted(name)) cannot be a name; allowed: a letter, then letters, digits, \"-\" and \"_\", at most 64"
    }
    kind.schema = .pattern("^[A-Za-z][A-Za-z0-9_-]{0,63}$")
    return kind
  }()
}

// MARK: What holds for a cohort as a whole

extension ScenarioDecoder {
  fileprivate mutating func checkSpikes(_ node: PositionedValue?, _ path: String, _ cohort: Cohort) -> Bool {
    guard cohort.eventsAtOnce > 1, let nodes = node?.elements, nodes.count == cohort.spikes.count
    else { return true }
    for (index, spike) in cohort.spikes.enumerated() where spike.events > 0 {
      report(
        "a spike with events does not go with events.atOnce; say events: 0, or give the spike a cohort of its own",
        at: nodes[index], element(index, of: path), ["events"])
    }
    return true
  }

  /// A client that acts at the end of a flush has one record, whether the preset says so or the scenario.
  fileprivate mutating func checkFlushEnd(
    _ node: PositionedValue, _ path: String, _ cohort: inout Cohort
  ) -> Bool {
    guard cohort.actsAtFlushEnd, cohort.queue.mode == .files else { return true }
    cohort.actsAtFlushEnd = false
    let isSaid = node["uploadLoop"]?["actsAtFlushEnd"] != nil
    report(
      "a client that acts at the end of a flush re-chunks its events; set queue.mode to \"rebatch\", or "
        + "uploadLoop.actsAtFlushEnd to false", at: node, path,
      isSaid ? ["uploadLoop", "actsAtFlushEnd"] : ["queue", "mode"])
    return false
  }
}

extension PositionedValue {
  package var isNull: Bool { if case .null = content { true } else { false } }
}

/// Cohorts whose `share` says how many devices they have: of all that the fleet's cohorts name together.
enum FleetShares {
  private static let whole: Int64 = 1_000_000
  static let share = Kind<Int64>.share(1...whole)

  /// The cohorts with the devices that their shares make; as they were where a number is wrong, which reading them says.
  static func divided(
    _ cohorts: [PositionedValue], _ path: String, _ decoder: inout ScenarioDecoder
  ) -> [PositionedValue] {
    guard cohorts.contains(where: { $0["share"] != nil }) else { return cohorts }
    var silent = ScenarioDecoder(sources: [])
    let shares = cohorts.map { cohort in
      cohort["share"].flatMap { share.read(&silent, $0, "") }
    }
    let devices = cohorts.compactMap { cohort in
      cohort["devices"].flatMap { Kind<Int>.count(1...ScenarioDecoder.maximumDevices).read(&silent, $0, "") }
    }
    guard devices.count == cohorts.count,
      zip(cohorts, shares).allSatisfy({ ($0["share"] == nil) == ($1 == nil) })
    else { return cohorts }
    let total = devices.reduce(0, +)
    let taken = shares.reduce(0) { $0 + ($1 ?? 0) }
    let others = zip(devices, shares).reduce(0) { $0 + ($1.1 == nil ? $1.0 : 0) }
    guard others > 0 ? taken < whole : taken == whole else {
      let last = shares.lastIndex { $0 != nil } ?? 0
      let rest =
        others > 0
        ? "leave something for the cohorts without a share" : "make 100% where every cohort has one"
      decoder.report(
        "the shares of all cohorts make \(Units.text(partsPerMillion: taken)); they have to \(rest)",
        at: (cohorts[last]["share"] ?? cohorts[last]).position,
        decoder.join(ScenarioPaths.cohort(last, of: cohorts), "share"))
      return cohorts
    }
    return cohorts.indices.map { index in
      let share =
        shares[index].map { Double($0) / Double(whole) }
        ?? Double(whole - taken) / Double(whole) * Double(devices[index]) / Double(others)
      var cohort = cohorts[index]
      let count = max(1, Int((Double(total) * share).rounded()))
      cohort.setMember("devices", to: PositionedValue(.number("\(count)"), at: cohort["devices"]!.position))
      return cohort
    }
  }
}

extension Cohort {
  static let uploadKeys = ObjectKeys(
    standIn, keepsRest: true,
    [
      .ofClient(
        "whileWaiting", \.behaviour.whileWaiting, .choice,
        "what a batch that waits leaves of them: its place is free, or its worker sleeps", "S3", isLater: true
      )
    ])

  static let uploadLoopKeys = ObjectKeys(
    standIn, keepsRest: true,
    [
      .ofClient(
        "actsAtFlushEnd", \.behaviour.actsAtFlushEnd, .bool, "queue and state stay until a flush is answered",
        "S17",
        isLater: true),
      .ofClient(
        "rateLimitEndsLoop", \.behaviour.rateLimitEndsLoop, .bool,
        "a 429 ends the loop even if it asks for no wait",
        "S3", isLater: true),
      .ofClient(
        "failureEndsLoop", \.behaviour.failureEndsLoop, .bool,
        "any failure ends the loop until the next trigger or the end of a wait", "S3", isLater: true),
      .ofClient("saving", \.behaviour.saving, .choice, "when retry state is saved", "S18", isLater: true),
      .ofClient(
        "triggers", \.behaviour.triggers, .triggers(orAll: true), "what makes the client flush", "S17",
        isLater: true,
        form: ["[TRIGGER …]"]),
      .ofClient(
        "triggersThatSkipWaits", \.behaviour.triggersThatSkipWaits, .triggers(),
        "triggers that cut a wait short", "D7",
        isLater: true, form: ["[TRIGGER …]"]),
      .ofClient(
        "countOfAnEvent", \.behaviour.countOfAnEvent, .count(1...2),
        "how much an event counts for flush.count", "S17",
        isLater: true),
      .ofClient(
        "countsAllEvents", \.behaviour.countsAllEvents, .bool, "the count goes on over other flushes", "S17",
        isLater: true),
      .ofClient(
        "countsHeldEvents", \.behaviour.countsHeldEvents, .bool,
        "the count is that of all events held, at each new one", "S17", isLater: true),
      .ofClient(
        "countFlushWhileFailing", \.behaviour.countFlushWhileFailing, .bool,
        "the count makes flushes while uploads fail", "S17", isLater: true),
    ])
}

extension Kind where Value == ClientTriggers {
  fileprivate static func triggers(orAll: Bool = false) -> Kind {
    let words = ClientTrigger.allCases.map { ($0.rawValue, $0) }
    let list = PositionedValue.members([("type", .text("array")), ("items", .words(words.map(\.0)))])
    return Kind(
      schema: orAll ? .oneOf([.const(.text("all")), list]) : list,
      read: { decoder, node, path in
        let elements: [PositionedValue]
        switch node.content {
        case .array(let list): elements = list
        // As `fleetsim presets` prints them.
        case .string("all"): return .all
        case .string(let text) where text.hasPrefix("[") && text.hasSuffix("]"):
          elements = text.dropFirst().dropLast().split { ", ".contains($0) }.map {
            PositionedValue(.string(String($0)), at: node.position)
          }
        default:
          decoder.report(
            "expected \"all\" or a list of triggers, found \(decoder.describe(node))", at: node.position, path
          )
          return nil
        }
        return ClientTriggers(elements.compactMap { decoder.word($0, path, words) })
      }, write: { .list($0.kinds.map { .text($0.rawValue) }) })
  }
}

/// `page`: what a page of a browser, or a script, says to its SDK. It has no upload loop.
extension BrowserOptions {
  static let keys = ObjectKeys(
    BrowserOptions(), keepsRest: true,
    [
      .ofClient("strategy", \.strategy, .choice, "what leaves together, and when again", "S3"),
      .ofClient(
        "size", \.size, .count(1...1_000_000),
        "batching: events that make a flush; oneTimer: of an upload at most", "S17"),
      .ofClient(
        "timeout", \.timeout,
        Kind<Span>.span(from: .milliseconds(1)).mapped(
          { Double($0.microseconds / 1_000) }, { .milliseconds(Int64($0)) }),
        "not standard: from the first event to the flush", "S17"),
      .ofClient(
        "maxRetries", \.maxRetries, Kind<Int>.count(0...1_000).mapped(Double.init, { Int($0) }).orNull,
        "not standard: retries; null: backoffConfig.maxRetryCount", "S12"),
      .ofClient("retryQueue", \.retriesEvents, .bool, "a failed event is sent again", "S12"),
      .ofClient("persistence", \.savesEvents, .bool, "a page that goes saves what it holds", "S18"),
      .ofClient("keepalive", \.keepsAlive, .bool, "batching: each request outlives its page", "S18"),
    ])
}
