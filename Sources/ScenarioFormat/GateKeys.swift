import ScenarioModel
import SimulationKernel
import UploadGating
import UploadPipeline
import UploadRetry

/// `gates`: parts that stand between a cohort's upload loop and the network. What is given goes over the client's, key by key, and
/// null takes a part away.
extension ClientGates {
  static let keys = ObjectKeys(
    ClientGates(), keepsRest: true,
    [
      .ofClient(
        "rateWindows", \.rateGate, .rateWindows, "so many requests in a span, alone or two in series", "T1",
        form: ["[{slots, span}]"]),
      .ofClient(
        "wholeRun", \.reservesWholeRun, .bool, "a run waits until there is a slot for each of its requests",
        "T2"),
      .ofClient("restartRun", \.restartsRun, .bool, "a run without a slot waits and starts over", "T3"),
      .ofClient(
        "breaker", \.jitteredBreaker, Kind.object(JitteredBreaker.keys).orNull,
        "stops requests to a host that is down", "O6", form: ["{requests, window, threshold, openTime …}"]),
      .ofClient(
        "failureWindow", \.failureWindow, Kind.object(FailureWindow.keys).orNull, "so many 4xx block a query",
        "K1"),
      .ofClient(
        "projectDelay", \.projectDelay, Kind.object(ProjectDelay.keys).orNull,
        "everything waits after a 429 or a 503", "K2"),
      .ofClient(
        "retryBudget", \.ownBudget, Kind.object(BudgetKeys.keys).mapped(\.budget, BudgetKeys.init).orNull,
        "retries a run, or earned by successes", "O3"),
      .ofClient(
        "retryThrottling", \.retryThrottling, Kind.object(RetryThrottling.keys).orNull,
        "as in gRPC (A6), in place of a retryBudget: each failure costs a token, and at half of them nothing is tried again",
        "O3", isLater: true),
      .refusal("retryThrottling") { node, _ in
        [node["retryBudget"], node["retryThrottling"]].allSatisfy { $0.map { !$0.isNull } ?? false }
          ? "is a budget of retries itself; leave one of the two out, or write retryBudget: null" : nil
      },
      .ofClient(
        "adaptiveThrottling", \.throttle, Kind.object(AdaptiveThrottle.keys).orNull,
        "rejects at the client what the server would", "O5"),
      .ofClient(
        "controller", \.controller, Kind.object(BackpressureController.keys).orNull,
        "fewer and smaller uploads after signs of overload", "O5", form: ["{uploads, largestBatch …}"]),
      .ofClient(
        "reconcile", \.reconciles, .bool, "asks about an unknown outcome before it sends again", "O4"),
      .ofClient(
        "losesWhileRateLimited", \.losesWhileRateLimited, .bool,
        "what is flushed while a 429 makes the client wait is lost", "S16", isLater: true),
      .ofClient(
        "lanes", \.lanes, Kind.object(PriorityLanes.keys).orNull,
        "what users wait for leaves first", "O8", isLater: true),
      .refusal("lanes") { _, gates in
        gates.lanes != nil && gates.reservesWholeRun
          ? "a run that waits for all of its slots has no lanes; leave lanes out, or set wholeRun to false"
          : nil
      },
    ])
}

// MARK: Parts

extension Kind where Value == Int64 {
  /// A length of time in microseconds.
  static func time(
    from least: Span = .milliseconds(1), to most: Span = Units.longestSpan
  ) -> Kind {
    Kind<Span>.span(least...most).mapped(\.microseconds, { Span(microseconds: $0) })
  }
}

extension Kind where Value == Int {
  /// A share in parts of `unit` parts per million: 10,000 for percent.
  fileprivate static func share(_ range: ClosedRange<Int64>, unit: Int64) -> Kind {
    Kind<Int64>.share(range).mapped({ Int($0 / unit) }, { Int64($0) * unit })
  }

  /// A number from 1 to 1000 with at most three decimals, in thousandths.
  fileprivate static let factor = Kind(
    schema: .decimal(1_000_000...1_000_000_000), range: "at most 3 decimals",
    read: {
      let allowed = "numbers from 1 to 1000, at most 3 decimals"
      return $0.number($1, $2, in: 1_000...1_000_000, parts: 1_000, finer: "finer than a thousandth", allowed)
        .map { Int($0) }
    }, write: { .number(Units.thousandths(Int64($0))) })
}

extension RateWindow {
  fileprivate static let keys = ObjectKeys(
    RateWindow(slots: 1, span: 1),
    [
      Field("slots", \.slots, .count(1...65_535), "Requests in the span.", example: "60"),
      Field("span", \.span, .time(), "How long the window is.", example: "\"60s\""),
    ])
}

extension Kind where Value == RateGate? {
  fileprivate static let rateWindows = Kind<RateWindow>.object(RateWindow.keys)
    .list(1...2, of: " of windows", named: "windows").orNull.mapped(
      { windows in windows?.first.map { RateGate($0, windows?.dropFirst().first) } },
      { gate in gate.map { [$0.first, $0.second].compactMap(\.self) } })
}

/// A breaker, and how its open times are spread.
struct JitteredBreaker: Sendable, Equatable {
  var breaker = CircuitBreaker()
  var jitter = Jitter.none

  fileprivate static let keys = ObjectKeys(
    JitteredBreaker(), keepsRest: true,
    [
      Field("requests", \.breaker.requests, .count(1...64), "Outcomes that are looked at."),
      Field("window", \.breaker.window, .time(), "How far back."),
      Field(
        "threshold", \.breaker.thresholdPercent, .share(0...990_000, unit: 10_000),
        "Opens when a larger share of them has failed."),
      Field("minimumFailures", \.breaker.minimumFailures, .count(1...64), "Opens for no fewer."),
      Field("openTime", \.breaker.openTime, .time(), "How long it is open at first."),
      Field("longestOpenTime", \.breaker.longestOpenTime, .time(), "It doubles until here."),
      .order(
        "openTime", { Span(microseconds: $0.breaker.openTime) }, "longestOpenTime",
        { Span(microseconds: $0.breaker.longestOpenTime) }),
      Field(
        "openTimeJitter", \.jitter, .jitter(), "How open times are spread.", isLater: true),
      Field("probes", \.breaker.probes, .count(1...3), "Requests that must succeed before it closes."),
      Field("retriesOnly", \.breaker.retriesOnly, .bool, "First tries leave while it is open."),
      Field(
        "whenOpen", \.breaker.failsWhenOpen, .word([("holds", false), ("fails", true)]),
        "Whether what it stops waits, or is lost at once.", isLater: true),
    ])
}

extension FailureWindow {
  fileprivate static let keys = ObjectKeys(
    FailureWindow(), keepsRest: true,
    [
      Field("failures", \.failures, .count(1...65_535), "How many 4xx block a query."),
      Field("span", \.span, .time(), "Within this time; the block lasts to its end."),
      Field(
        "whenBlocked", \.refuses, .word([("refuse", true), ("hold", false)]),
        "Whether a blocked upload is refused for good or held."),
      Field("queries", \.queries, .count(1...1_000), "Among how many queries uploads are divided."),
      Field(
        "exempt", \.exemptPercent, .share(0...1_000_000, unit: 10_000),
        "Uploads that belong to no query."),
    ])
}

extension ProjectDelay {
  fileprivate static let keys = ObjectKeys(
    ProjectDelay(), keepsRest: true,
    [
      Field("base", \.base, .time(from: .zero), "The first delay."),
      Field("longest", \.longest, .time(from: .zero), "The longest delay."),
    ])
}

/// `retryBudget` as it is written: a bucket of tokens has a capacity.
struct BudgetKeys: Sendable, Equatable {
  var perRun: Int?
  var capacity: Int?
  var perSuccess: Int?
  var trickle: Int64??
  var perRequest: Int?
  var perRetriedSuccess: Int?
  var perTimeout: Int?
  var refusesWhenSpent = false

  init() {}

  init(_ budget: RetryBudget) {
    (perRun, refusesWhenSpent) = (budget.perRun, budget.refusesWhenSpent)
    guard let bucket = budget.bucket else { return }
    (capacity, perSuccess, trickle) = (bucket.capacity, bucket.perSuccess, .some(bucket.trickle))
    if bucket.perRequest > 0 { perRequest = bucket.perRequest }
    if bucket.perRetriedSuccess != bucket.perSuccess { perRetriedSuccess = bucket.perRetriedSuccess }
    if bucket.perTimeout > 0 { perTimeout = bucket.perTimeout }
  }

  var budget: RetryBudget {
    RetryBudget(
      perRun: perRun,
      bucket: capacity.map {
        .init(
          capacity: $0, perSuccess: perSuccess ?? (perRequest == nil ? 100 : 0), trickle: trickle ?? nil,
          perRequest: perRequest ?? 0, perRetriedSuccess: perRetriedSuccess, perTimeout: perTimeout ?? 0)
      }, refusesWhenSpent: refusesWhenSpent)
  }

  fileprivate static let keys = ObjectKeys(
    BudgetKeys(), keepsRest: true,
    [
      Field("perRun", \.perRun, Kind<Int>.count(0...65_535).orNull, "Retries in a run."),
      Field(
        "capacity", \.capacity, Kind<Int>.count(1...60_000).orNull,
        "Tokens of the bucket; a retry costs one.", isLater: true),
      Field(
        "perSuccess", \.perSuccess, Kind<Int>.share(0...1_000_000, unit: 1_000).orNull,
        "What a success adds, of a token.", defaultValue: .said("10%, with perRequest 0%"),
        isLater: true),
      Field(
        "perRequest", \.perRequest, Kind<Int>.share(0...1_000_000, unit: 1_000).orNull,
        "What a first attempt adds, of a token.",
        defaultValue: .said("0%"), isLater: true),
      Field(
        "perRetriedSuccess", \.perRetriedSuccess, Kind<Int>.share(0...1_000_000, unit: 1_000).orNull,
        "What the success of a retry adds.", defaultValue: .said("perSuccess"), isLater: true),
      Field(
        "perTimeout", \.perTimeout, Kind<Int>.share(0...1_000_000, unit: 1_000).orNull,
        "What an upload without an answer costs.", defaultValue: .said("0%"),
        isLater: true),
      Field(
        "trickle", \.trickle, Kind<Int64>.time().orNull.orNothing,
        "A token comes back each time so long has passed.", defaultValue: .said("none comes")),
      Field(
        "whenSpent", \.refusesWhenSpent, .word([("hold", false), ("refuse", true)]),
        "What becomes of a retry without a token.", isLater: true),
      .check { decoder, node, path, budget in
        guard budget.capacity == nil else { return true }
        for key in ["perSuccess", "perRequest", "perRetriedSuccess", "perTimeout", "trickle"] {
          guard let part = node[key], !part.isNull else { continue }
          decoder.report(
            "belongs to a bucket of tokens; give it a capacity, for example capacity: 10", at: part.position,
            decoder.join(path, key))
        }
        return true
      },
    ])
}

/// `retryThrottling` as a gRPC service config has it.
struct RetryThrottling: Sendable, Equatable {
  var maxTokens = 10
  /// Thousandths.
  var tokenRatio = 100

  fileprivate static let keys = ObjectKeys(
    RetryThrottling(), keepsRest: true,
    [
      Field("maxTokens", \.maxTokens, .count(1...1_000), "Tokens at first, and at most."),
      Field(
        "tokenRatio", \.tokenRatio, .share(1_000...1_000_000, unit: 1_000), "What a success adds, of a token."
      ),
    ])
}

extension AdaptiveThrottle {
  fileprivate static let keys = ObjectKeys(
    AdaptiveThrottle(), keepsRest: true,
    [
      Field("k", \.factor, .factor, "Requests for each accepted one that are let through."),
      Field("window", \.window, .time(), "How far back they are counted."),
      Field("pause", \.pause, .time(), "How long a rejected upload waits."),
    ])
}

extension BackpressureController {
  fileprivate static let keys = ObjectKeys(
    BackpressureController(), keepsRest: true,
    [
      Field("uploads", \.longestConcurrency, .count(1...1_000), "Uploads at once at most."),
      Field("smallestBatch", \.smallestBatch, .count(1...65_535), "Events of a batch at least."),
      Field("largestBatch", \.largestBatch, .count(1...65_535), "Events of a batch at most."),
      Field("batchStep", \.batchStep, .count(0...65_535), "Events that a success adds."),
      Field(
        "decrease", \.decreasePercent, .share(10_000...990_000, unit: 10_000),
        "What is left after a sign of overload."),
      Field(
        "targetLatency", \.targetLatency, Kind<Int64>.time().orNull,
        "An answer that takes longer is a sign of overload.", defaultValue: .said("none is"),
        isLater: true),
      Field(
        "shortestGap", \.shortestGap, .time(to: .hours(1)), "Between two uploads at least.",
        defaultValue: .said("100ms, where there is a longestGap"), isLater: true),
      Field(
        "longestGap", \.longestGap, Kind<Int64>.time(to: .hours(1)).orNull.mapped({ $0 ?? 0 }, { $0 }),
        "Between two uploads at most.", defaultValue: .said("uploads are not paced"), isLater: true),
      .check { decoder, node, path, controller in
        if let gap = node["shortestGap"], controller.shortestGap > controller.longestGap {
          decoder.report(
            controller.longestGap == 0
              ? "without longestGap uploads are not paced"
              : "\(Units.text(Span(microseconds: controller.shortestGap))) is longer than longestGap, "
                + Units.text(Span(microseconds: controller.longestGap)), at: gap.position,
            decoder.join(path, "shortestGap"))
        }
        let gap = controller.shortestGap == 0 ? standardGap : controller.shortestGap
        controller.shortestGap = min(gap, controller.longestGap)
        controller.smallestBatch = min(controller.smallestBatch, controller.largestBatch)
        return true
      },
    ])
}

extension PriorityLanes {
  fileprivate static let keys = ObjectKeys(
    PriorityLanes(), keepsRest: true,
    [
      Field(
        "interactive", \.interactivePartsPerMillion, .share(0...1_000_000, unit: 1),
        "The share of operations that users wait for."),
      Field(
        "oneBelowAfter", \.oneBelowAfter, Kind<Int>.count(1...255).orNull,
        "After so many interactive uploads one of the background leaves; null: none as long as others are due.",
        isLater: true),
    ])
}

extension ClientGates {
  fileprivate var jitteredBreaker: JitteredBreaker? {
    get { breaker.map { JitteredBreaker(breaker: $0, jitter: openTimeJitter) } }
    set {
      breaker = newValue?.breaker
      openTimeJitter = newValue?.jitter ?? .none
    }
  }
  // One place for two ways to write a budget: null takes only what is written so away.
  fileprivate var ownBudget: RetryBudget? {
    get { retryThrottling == nil ? retryBudget : nil }
    set { if newValue != nil || retryThrottling == nil { retryBudget = newValue } }
  }
  fileprivate var retryThrottling: RetryThrottling? {
    get {
      guard let bucket = retryBudget?.bucket, bucket.isTakenByFailures else { return nil }
      return RetryThrottling(maxTokens: bucket.capacity, tokenRatio: bucket.perSuccess)
    }
    set {
      if let newValue {
        retryBudget = RetryBudget(maxTokens: newValue.maxTokens, tokenRatio: newValue.tokenRatio)
      } else if retryThrottling != nil {
        retryBudget = nil
      }
    }
  }
}
