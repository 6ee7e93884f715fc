import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// `tapi`: the server, what it says when it has too much to do, and its incidents.
extension TAPIConfiguration {
  static let keys = ObjectKeys(
    TAPIConfiguration(server: standIn), keepsRest: true, alternatives: ["bucket", "workers"],
    [
      .refusal { node, _ in
        node["bucket"] != nil || node["workers"] != nil
          ? nil
          : "no server; write bucket: { capacity: \"4000/s\" } or workers: { count: 200, serviceTime: \"50ms\" }"
      },
      Field(
        "bucket", \.bucket, Kind.object(TokenBucketConfiguration.keys).orNothing,
        "Admission by token bucket.", defaultValue: .said("there are workers")),
      Field(
        "workers", \.workers, Kind.object(WorkersConfiguration.keys).orNothing, "Workers behind a queue.",
        defaultValue: .said("there is a bucket")),
      Field(
        "overload", \.overloadAnswer, .overload,
        "The answer to a request that finds no token, or the queue full; \"queue\": all wait."
      ),
      .refusal("overload") { node, found in
        guard node["overload"]?.text == "queue", found.server != standIn else { return nil }
        guard let workers = found.workers else {
          return "a bucket admits or refuses at once and has no queue; use workers, or write { status: 429 }"
        }
        let start = "\"queue\" means that all requests wait, but"
        if workers.concurrencyLimit != nil {
          return "\(start) concurrencyLimit refuses some; say what they are answered: { status: 503 }"
        }
        return workers.queueLimit.map {
          "\(start) queueLimit is \($0); leave queueLimit out, or say what a request beyond it is answered: { status: 503 }"
        }
      },
      .warning("overload") { node, found in
        guard let overload = node["overload"], overload.text == nil, let workers = found.workers,
          workers.queueLimit == nil, workers.queueTimeout == nil, workers.delayControl == nil,
          workers.concurrencyLimit == nil
        else { return nil }
        return "never answered: the queue is unlimited. Give workers.queueLimit, or write overload: \"queue\""
      },
      Field(
        "retryAfterHeader", \.retryAfterHeader, .choice,
        "The header of every retryAfter (O11).",
        isLater: true),
      Field(
        "retryAfterForm", \.retryAfterForm, .choice,
        "How every retryAfter is written (S4).", isLater: true),
      Field(
        "connections", \.connections, Kind.object(Connections.keys).orNull,
        "What connections cost and how many there may be.",
        defaultValue: .said("none are modelled"), isLater: true),
      .refusal("connections", "limit") { _, found in
        guard let limit = found.connections?.limit, let workers = found.workers, limit < workers.count else {
          return nil
        }
        return
          "\(limit) connections are fewer than the \(workers.count) workers, some of whom never get a request; "
          + "allowed: \(workers.count) or more, or null"
      },
      Field(
        "settingsEndpoint", \.settings, Kind.object(SettingsEndpoint.keys).orNull,
        "Where clients fetch their Settings.",
        defaultValue: .said("none is modelled"), isLater: true),
      Field(
        "proxies", \.proxies, Kind.object(Proxies.keys).orNull,
        "Proxies that send failed requests again; words and defaults are Envoy's.",
        defaultValue: .said("there are none"), isLater: true),
      .refusal("proxies") { _, found in
        found.proxies != nil && found.connections != nil
          ? "proxies and connections exclude each other: devices would be connected with the proxies, not with the server; "
            + "leave one out" : nil
      },
      Field("incidents", \.incidents, .incidents, "What happens to the server."),
      Field(
        "keyLimits", \.rules.keyLimits, Kind<KeyLimit>.limit.list(of: " of limits", named: "limits"),
        "Limits of single tenants or devices; the answer is 429.", isLater: true),
      Field(
        "retryCountLimit", \.rules.retryCountLimit, Kind<Int>.count(1...8_191).orNull,
        "From this X-Retry-Count on the answer is 422.", defaultValue: .said("none is"),
        isLater: true),
      Field(
        "requestSizeLimit", \.rules.requestSizeLimit, Kind<Int>.size(1...1_000_000_000).orNull,
        "A larger request is answered 413.", defaultValue: .said("none is"), isLater: true),
      Field(
        "deduplication", \.rules.deduplicationWindow,
        Kind<Span>.single(
          "window", .span(from: .zero), "How long after the first acceptance.", example: "\"24h\"", .zero
        ).orNull, "Batches are recognised by their message ids.", isLater: true),
      Field(
        "autoscaling", \.rules.autoscaling, Kind.object(Autoscaling.keys).orNull,
        "Capacity that follows utilisation.", isLater: true),
      Field(
        "crash", \.rules.crash, Kind.object(LoadCrash.keys).orNull,
        "A server that dies of its load.", isLater: true),
      .refusal("crash", "queue") { _, found in
        found.rules.crash?.queue != nil && found.bucket != nil
          ? "a bucket has no queue that could be too long; write rate: \"5000/s\"" : nil
      },
      .warning("crash", "queue") { _, found in
        guard let limit = found.workers?.queueLimit, let queue = found.rules.crash?.queue, queue >= limit
        else {
          return nil
        }
        return "never more than \(limit) wait, by workers.queueLimit: it does not die of them"
      },
    ])

  /// For a server that has a problem.
  fileprivate static let standIn = Server.bucket(TokenBucketConfiguration.keys.defaultValue)

  fileprivate var bucket: TokenBucketConfiguration? {
    get { if case .bucket(let bucket) = server { bucket } else { nil } }
    set { if let newValue { server = .bucket(newValue) } }
  }
  fileprivate var workers: WorkersConfiguration? {
    get { if case .workers(let workers) = server { workers } else { nil } }
    set { if let newValue { server = .workers(newValue) } }
  }
  /// nil: `"queue"`.
  fileprivate var overloadAnswer: Overload? {
    get {
      let admitsAll = workers.map { $0.queueLimit == nil && $0.concurrencyLimit == nil } ?? false
      return admitsAll && overload == Overload() ? nil : overload
    }
    set { overload = newValue ?? Overload() }
  }
}

extension Kind where Value == TAPIConfiguration {
  static let server: Kind = {
    let object = Kind.object(TAPIConfiguration.keys)
    return Kind(
      shape: object.shape, schema: object.schema,
      read: { decoder, node, path in decoder.once(\.server) { object.read(&$0, node, path) } },
      write: object.write)
  }()
}

extension TokenBucketConfiguration {
  static let keys = ObjectKeys(
    TokenBucketConfiguration(capacityMilliRequestsPerSecond: 0, burst: 0),
    [
      Field("capacity", \.capacityMilliRequestsPerSecond, .rate, "Requests admitted.", example: "\"4000/s\""),
      Field(
        "burst", \.burst, .burst, "Size of the bucket in requests.",
        defaultValue: .said("a tenth of a second's worth, at least 1")),
      Field(
        "costPerEvent", \.costPerEvent, .number(0...1_000_000_000, allowed: "numbers from 0 to 1000"),
        "Tokens of each event, beside the request's one.", isLater: true),
      Field("serviceTime", \.serviceTime, .serviceTime, "Between admission and answer."),
      .check { _, node, _, bucket in
        if node["burst"] == nil { bucket.burst = max(bucket.capacityMilliRequestsPerSecond / 10_000, 1) }
        return true
      },
    ])
}

extension WorkersConfiguration {
  static let keys = ObjectKeys(
    WorkersConfiguration(count: 0, serviceTime: .constant(.zero)),
    [
      Field("count", \.count, .count(1...1_000_000), "Requests served at once.", example: "200"),
      Field(
        "serviceTime", \.serviceTime, .serviceTime, "How long a request keeps its worker.",
        example: "{ exponential: \"50ms\" }"),
      Field(
        "serviceTimePerEvent", \.serviceTimePerEvent, .span(.zero...Span.hours(1)),
        "Added for every event of the batch."),
      Field(
        "queueLimit", \.queueLimit, .count(0...1_000_000_000, or: "unlimited"), "Requests that may wait."),
      Field(
        "queueTimeout", \.queueTimeout, Kind<Span>.span(from: .milliseconds(1)).orNull,
        "Who has waited longer gets the overload answer and no worker: when a worker would take it, not before.",
        defaultValue: .said("never"), isLater: true),
      Field(
        "congestion", \.congestion, Kind.object(Congestion.keys).orNull,
        "Work that starts while q requests wait takes (1 + slowdown * q / queue) times as long.",
        isLater: true),
      Field(
        "order", \.order, .choice,
        "Who is served next, by arrival or X-Retry-Count; a full queue refuses whoever would be last.",
        isLater: true),
      Field(
        "codel", \.delayControl, Kind.object(ControlledDelay.keys).orNull,
        "Drops from the queue, by RFC 8289.",
        isLater: true),
      .warning("order") { node, workers in
        node["order"] != nil && workers.queueLimit == 0 && workers.order != .fifo
          ? "nobody waits: queueLimit is 0" : nil
      },
      .warning("codel") { node, workers in
        guard let limit = workers.queueLimit, limit <= 2, workers.delayControl != nil, node["codel"] != nil
        else { return nil }
        return "never drops anybody: a queueLimit of \(limit) leaves no more than one behind whose turn it is"
      },
      Field(
        "concurrencyLimit", \.concurrencyLimit, Kind.object(ConcurrencyLimit.keys).orNull,
        "An adaptive limit on the requests in the server.",
        isLater: true),
      Field(
        "dependency", \.dependency, Kind.object(Dependency.keys).orNull,
        "What a worker calls for each request after its own work, such as a database.",
        isLater: true),
      .check { decoder, node, path, workers in
        guard workers.congestion?.queue == 0 else { return true }
        guard let limit = workers.queueLimit, limit > 0 else {
          decoder.report(
            "needs the length of queue that slows work down so much; write queue: 1000, or give workers a queueLimit",
            at: node, path, ["congestion", "queue"])
          workers.congestion = nil
          return true
        }
        workers.congestion?.queue = limit
        return true
      },
      .refusal("serviceTime") { _, workers in
        workers.serviceTimePerEvent == .zero && workers.serviceTime.mean == 0
          ? "a service that takes no time needs no workers; give a serviceTime above 0s, or use a bucket"
          : nil
      },
    ])
}

extension Congestion {
  /// A queue of 0: as long as the workers' `queueLimit`.
  fileprivate static let keys = ObjectKeys(
    Congestion(slowdown: 0, queue: 0),
    [
      Field(
        "slowdown", \.slowdown, .number(1...1_000_000_000, allowed: "numbers above 0 up to 1000"),
        "By how much a queue of that length slows work down.", example: "2"),
      Field(
        "queue", \.queue, .count(1...1_000_000_000), "How many requests wait then.",
        defaultValue: .said("queueLimit")),
    ])
}

extension Kind where Value == Int64 {
  /// A rate in thousandths a second.
  static let rate = quantity(
    "a rate", "rate", example: "4000/s", unit: "/s", in: 1...1_000_000_000_000,
    allowed: "0.001/s to 1000000000/s",
    { text throws(Units.Problem) in try Units.milliPerSecond(text) },
    write: { Units.text(milliPerSecond: $0) })
}

// MARK: Overload

extension Overload {
  fileprivate static let keys = ObjectKeys(
    Overload(),
    [
      Field("status", \.status, .count(400...599), "HTTP status."),
      Field("retryAfter", \.retryAfter, .retryAfter, "How long the server says to wait."),
    ])
}

extension Kind where Value == Overload? {
  /// `"queue"`, or what is answered.
  fileprivate static let overload: Kind = {
    var object = Kind<Overload>.object(Overload.keys)
    object.read = { [read = object.read] decoder, node, path in
      if node.members != nil { return read(&decoder, node, path) }
      decoder.report(
        "\(decoder.shown(node)) is not known; write \"queue\" or { status: 429, retryAfter: \"5s\" }",
        at: node.position, path)
      return nil
    }
    return object.or(word: "queue")
  }()
}

// MARK: Rules

/// A limit as it is written: a rate with its burst, or requests in a window.
private struct KeyLimitKeys: Sendable, Equatable {
  var key: String?
  var per = KeyLimit.Scope.key
  var rate: Int64?
  var burst: Int64?
  var window: KeyLimit.Window?
  var requests: Int64?
  /// nil: until the window's end.
  var retryAfter = RetryAfterPolicy?.some(.none)

  static let keys = ObjectKeys(
    KeyLimitKeys(), alternatives: ["rate", "window"],
    [
      Field(
        "key", \.key, Kind<String>.text.orNull, "The writeKey that it holds for.",
        defaultValue: .said("every key, each by itself")),
      Field(
        "per", \.per, .choice,
        "Who shares it: a key's devices, the n-th devices of its cohorts, or all."),
      Field("rate", \.rate, Kind<Int64>.rate.orNothing, "Requests, by a token bucket."),
      Field("burst", \.burst, Kind<Int64>.burst.orNothing, "Requests at once.", defaultValue: .said("1")),
      Field(
        "window", \.window, Kind<KeyLimit.Window>.window.orNothing,
        "In place of a rate."),
      Field("requests", \.requests, Kind<Int64>.burst.orNothing, "Admitted in a window."),
      Field(
        "retryAfter", \.retryAfter, Kind<RetryAfterPolicy>.retryAfter.or(word: "windowEnd"),
        "How long the server says to wait; windowEnd: until there is room."),
      .refusal { node, _ in
        node["rate"] != nil || node["window"] != nil || node["requests"] != nil
          ? nil : "no limit; write rate: \"100/min\", or window: \"1m\" and requests: 100"
      },
      .refusal("window") { node, limit in
        limit.window != nil && node["requests"] == nil
          ? "a window without a limit; write for example requests: 100 beside it" : nil
      },
      .refusal("requests") { node, limit in
        limit.requests != nil && node["window"] == nil
          ? "in which time? write for example window: \"1m\" beside it" : nil
      },
      .refusal("burst") { _, limit in
        limit.burst != nil && limit.window != nil
          ? "a window has no burst: all its requests may come at once; leave it out" : nil
      },
      .refusal("retryAfter") { _, limit in
        limit.retryAfter == nil && limit.window == nil
          ? "a rate has no window that could end; write { backlog: {} } or a span" : nil
      },
      .refusal("key") { _, limit in
        limit.key != nil && limit.per == .all
          ? "a limit of the whole fleet is not one of a key; leave the key or per: \"all\" out" : nil
      },
    ])

  init() {}

  init(_ limit: KeyLimit) {
    (key, per) = (limit.key, limit.per)
    retryAfter = limit.saysWindowEnd ? nil : limit.retryAfter
    switch limit.rule {
    case .bucket(let rate, let burst): (self.rate, self.burst) = (rate, burst)
    case .window(let window, let requests): (self.window, self.requests) = (window, requests)
    }
  }

  var limit: KeyLimit {
    let rule =
      window.map { KeyLimit.Rule.window($0, requests: requests ?? 1) }
      ?? .bucket(rate: rate ?? 1, burst: burst ?? 1)
    var limit = KeyLimit(key: key, per: per, rule)
    limit.saysWindowEnd = retryAfter == nil
    if let retryAfter { limit.retryAfter = retryAfter }
    return limit
  }
}

extension Kind where Value == KeyLimit {
  fileprivate static let limit = Kind<KeyLimitKeys>.object(KeyLimitKeys.keys).mapped(
    \.limit, { KeyLimitKeys($0) })
}

extension Kind where Value == KeyLimit.Window {
  /// `"1m"`, or `{ sliding: "1m" }`.
  fileprivate static let window: Kind = {
    let span = Kind<Span>.span(from: .milliseconds(1))
    let fixed = Form<Value>(
      "fixed", span, "", make: { Value($0) }, part: { $0.slides ? nil : $0.length })
    let sliding = Form<Value>(
      "sliding", span, "The span up to each request.",
      make: { Value($0, slides: true) }, part: { $0.slides ? $0.length : nil })
    return Kind.forms(
      [sliding], short: fixed, ofNone: { _ in "empty; write a span like \"1m\", or { sliding: \"1m\" }" })
  }()
}

extension Autoscaling {
  fileprivate static let keys = ObjectKeys(
    Autoscaling(), keepsRest: true,
    [
      Field("target", \.target, .share(10_000...1_000_000), "Utilisation aimed at."),
      Field("interval", \.interval, .span(.seconds(1)...Span.hours(24)), "How often it is measured."),
      Field("delay", \.delay, .span(.zero...Span.hours(24)), "From a measurement to the change."),
      Field("minimum", \.minimum, .share(10_000...100_000_000), "Of the configured capacity."),
      Field("maximum", \.maximum, .share(10_000...100_000_000), "Of the configured capacity."),
      .refusal { _, found in
        found.minimum > found.maximum
          ? "minimum \(Units.text(partsPerMillion: found.minimum)) is above maximum, "
            + Units.text(partsPerMillion: found.maximum) : nil
      },
    ])
}

extension LoadCrash {
  fileprivate static let keys = ObjectKeys(
    LoadCrash(patience: .zero, downtime: .zero),
    [
      Field(
        "queue", \.queue, Kind<Int>.count(0...1_000_000_000).orNothing, "Waiting requests that it stands.",
        defaultValue: .said("any number")),
      Field(
        "rate", \.rateMilliRequestsPerSecond, Kind<Int64>.rate.orNothing,
        "Arrivals that it stands in a second.", defaultValue: .said("any number")),
      Field(
        "for", \.patience, .span(from: .milliseconds(1)), "It dies of more for so long.", example: "\"10s\""),
      Field(
        "backAfter", \.downtime, .span(from: .milliseconds(1)),
        "How long every connection is refused then.", example: "\"1m\""),
      .refusal { _, crash in
        crash.queue == nil && crash.rateMilliRequestsPerSecond == nil
          ? "no load to die of; write queue: 1000, rate: \"5000/s\", or both" : nil
      },
    ])
}

extension ScenarioDecoder {
  /// A limit of a key that no cohort has concerns nobody, and one below the normal load makes its key fall behind.
  mutating func warnOfKeyLimits(_ scenario: Scenario, _ root: PositionedValue) {
    let limits = scenario.tapi.rules.keyLimits
    guard let nodes = root["tapi"]?["keyLimits"]?.elements, nodes.count == limits.count else { return }
    for (index, (node, limit)) in zip(nodes, limits).enumerated() {
      let concerned = scenario.fleet.filter { limit.key == nil || limit.key == $0.effectiveWriteKey }
      if concerned.isEmpty, let name = node["key"], let key = limit.key {
        warn(
          "no cohort has the writeKey \(quoted(key)): the limit never applies", at: name.position,
          "tapi.keyLimits.\(index).key")
      }
      let loads = Dictionary(grouping: concerned) { limit.per == .all ? "" : $0.effectiveWriteKey }
        .mapValues { cohorts in
          cohorts.reduce(0) {
            let one = NormalLoad.perDevice($1, over: scenario.duration).fewest
            return $0 + (limit.per == .device ? one : one * Double($1.devices))
          }
        }
      guard let most = loads.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
        most.value > limit.rule.perSecond * 1.005
      else { continue }
      let share = Int64((min(most.value / limit.rule.perSecond, 1e6) * 100).rounded())
      let whose = limit.per == .all ? "all" : (limit.per == .device ? "a device of " : "") + quoted(most.key)
      // A script may gather what it is refused.
      let falls = concerned.contains { $0.behaviour.page != nil } ? "may fall" : "falls"
      warn(
        "the normal load of \(whose) is \(share) % of the limit: it \(falls) behind "
          + "even without an incident", at: node.position, "tapi.keyLimits.\(index)")
    }
  }
}

extension ScenarioDecoder {
  /// A client that gives up before the server can answer uploads each batch again and again.
  mutating func warnOfTimeouts(_ scenario: Scenario, _ root: PositionedValue) {
    guard case .workers(let workers) = scenario.tapi.server, let nodes = root["fleet"]?.elements else {
      return
    }
    for (index, (node, cohort)) in zip(nodes, scenario.fleet).enumerated() {
      let load = NormalLoad.perDevice(cohort, over: scenario.duration)
      let events = load.batches > 0 ? load.events / load.batches : 1
      let time = Span.milliseconds(Int64((workers.meanTime(events: events) / 1_000).rounded()))
      guard cohort.timeout < time else { continue }
      warn(
        "a worker takes \(Units.text(time)) for a request, and the client gives it up after "
          + "\(Units.text(cohort.timeout))", at: (node["timeout"] ?? node).position,
        join(ScenarioPaths.cohort(index, of: nodes), "timeout"))
    }
  }
}

/// The treatment of requests that wait for a worker.
extension ControlledDelay {
  static let keys = ObjectKeys(
    ControlledDelay(), keepsRest: true,
    [
      Field(
        "target", \.target, .span(from: Span(microseconds: 1)), "How long a request may wait where others do."
      ),
      Field(
        "interval", \.interval, .span(from: Span(microseconds: 2)),
        "How long all have waited for longer, until one is dropped."),
      .order("target", \.target, "interval", \.interval, isBelow: true),
    ])
}

extension ConcurrencyLimit {
  static let keys = ObjectKeys(
    ConcurrencyLimit(), keepsRest: true,
    [
      Field(
        "initial", \.initial, .count(1...1_000_000_000), "Requests at first, waiting ones among them."),
      Field("minimum", \.minimum, .count(1...1_000_000_000), "Never fewer."),
      Field("maximum", \.maximum, .count(1...1_000_000_000), "Never more."),
      Field("queue", \.queue, .count(0...1_000_000), "How many more a window with even times allows."),
      Field("smoothing", \.smoothing, .share(1...1_000_000), "How much of a change a window makes."),
      Field(
        "tolerance", \.tolerance, .number(1_000_000...1_000_000_000, allowed: "numbers from 1 to 1000"),
        "Times the long-term mean that a window's mean may be."),
      Field("window", \.window, .span(.milliseconds(1)...Span.hours(1)), "How often the limit changes."),
      Field("longWindow", \.longWindow, .count(1...1_000_000), "Windows that the long-term mean looks back."),
      .refusal { _, found in
        found.minimum <= found.initial && found.initial <= found.maximum
          ? nil
          : "initial \(found.initial) is not between minimum \(found.minimum) and maximum \(found.maximum)"
      },
    ])
}

extension Dependency {
  static let keys = ObjectKeys(
    Dependency(count: 0, serviceTime: .constant(.zero)),
    [
      Field("count", \.count, .count(1...1_000_000), "Calls served at once.", example: "20"),
      Field(
        "serviceTime", \.serviceTime, .serviceTime, "How long a call takes there.",
        example: "{ exponential: \"20ms\" }"),
      Field(
        "queueLimit", \.queueLimit, .count(0...1_000_000_000, or: "unlimited"),
        "Calls that may wait there."),
      Field("retries", \.retries, .count(0...100), "Calls at once after a failure."),
      Field(
        "roundTrip", \.roundTrip, .span(Span(microseconds: 1)...Span.hours(1)), "The way there and back."),
      Field(
        "timeout", \.timeout, Kind<Span>.span(from: Span(microseconds: 2)).orNull,
        "When a call is given up, though worked off.", defaultValue: .said("never")),
      Field("status", \.status, .count(400...599), "The answer when all calls have failed."),
      .refusal { _, found in
        guard let timeout = found.timeout, timeout <= found.roundTrip else { return nil }
        return "no call is answered in time: timeout \(Units.text(timeout)) is not above roundTrip, "
          + Units.text(found.roundTrip)
      },
      .warning("retries") { node, found in
        found.retries > 0 && found.queueLimit == nil && found.timeout == nil && node["retries"] != nil
          ? "no call ever fails: queueLimit is unlimited, and there is no timeout" : nil
      },
    ])
}

/// `{ from, to }`, or `{ backlog: { atLeast, atMost } }`.
struct RetryAfterBounds: Sendable, Equatable {
  var least = Span.zero
  var most = Span.zero

  fileprivate static let spread = ObjectKeys(
    RetryAfterBounds(),
    [
      Field("from", \.least, .wholeSeconds, "Drawn from here …", example: "\"5s\""),
      Field("to", \.most, .wholeSeconds, "… to here, for each answer.", example: "\"15s\""),
      // Where it stands beside them: alone it is another form.
      Field(
        "backlog", \.self, .object(backlog),
        "When the capacity will have worked off what waits and what was refused before: each refused request has its place behind the others."
      ),
      .order("from", \.least, "to", \.most),
    ])

  fileprivate static let backlog = ObjectKeys(
    RetryAfterBounds(least: .seconds(1), most: .seconds(300)),
    [
      Field("atLeast", \.least, .wholeSeconds, "The shortest."),
      Field("atMost", \.most, .wholeSeconds, "The longest."),
      .order("atLeast", \.least, "atMost", \.most),
    ])
}

extension Kind where Value == Span {
  /// The spans that Retry-After can give.
  fileprivate static let wholeSeconds: Kind = {
    var kind = span(.zero...RetryAfterPolicy.longestWait).refusing { decoder, node, span in
      span.microseconds % 1_000_000 == 0
        ? nil : "Retry-After is sent in whole seconds, and \(decoder.shown(node)) is none"
    }
    kind.range = "whole seconds, \(kind.range)"
    return kind
  }()
}

extension Kind where Value == RetryAfterPolicy {
  /// `"none"`, `"5s"`, `{ from, to }` or `{ backlog }`.
  static let retryAfter = retryAfterForms.named("retryAfter")
  static let retryAfterForms: Kind = {
    let fixed = Kind<Span>.wholeSeconds
    let keys = RetryAfterBounds.spread.keys
    let backlog = Kind<RetryAfterBounds>.object(RetryAfterBounds.backlog)
    return Kind(
      shape: .object(keys),
      schema: .oneOf([
        .const(.text("none")), fixed.schema,
        ScenarioSchema.object(keys.filter { $0.name != "backlog" }),
        ScenarioSchema.object(keys.filter { $0.name == "backlog" }),
      ]), range: fixed.range,
      read: { decoder, node, path in
        if case .string("none") = node.content { return RetryAfterPolicy.none }
        guard let members = node.members else {
          return fixed.read(&decoder, node, path).map(RetryAfterPolicy.fixed)
        }
        if let value = node["backlog"], value.members != nil {
          guard decoder.object(node, path, keys.map(\.optional)) != nil else { return nil }
          let path = decoder.join(path, "backlog")
          if let other = members.first(where: { $0.key != "backlog" }) {
            decoder.report(
              "\(other.key) and backlog exclude each other; keep one", at: other.keyPosition, path)
            return nil
          }
          return backlog.read(&decoder, value, path).map { .backlog(atLeast: $0.least, atMost: $0.most) }
        }
        var bounds = RetryAfterBounds()
        guard RetryAfterBounds.spread.read(&decoder, node, path, into: &bounds) else { return nil }
        return .spread(from: bounds.least, to: bounds.most)
      },
      write: { policy in
        switch policy {
        case .none: .text("none")
        case .fixed(let span): .span(span)
        case .spread(let from, let to): .members([("from", .span(from)), ("to", .span(to))])
        case .backlog(let atLeast, let atMost):
          .members([("backlog", backlog.write(RetryAfterBounds(least: atLeast, most: atMost)))])
        }
      }
    )
  }()
}
