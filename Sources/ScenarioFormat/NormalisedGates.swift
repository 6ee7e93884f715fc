import ScenarioModel
import SimulationKernel
import UploadGating
import UploadPipeline
import UploadRetry

extension ClientGates {
  /// As `ScenarioDecoder.gates` reads it, every part written out.
  var normalised: PositionedValue {
    .members([
      ("rateWindows", rateGate?.normalised ?? .null),
      ("wholeRun", .bool(reservesWholeRun)), ("restartRun", .bool(restartsRun)),
      ("breaker", breaker?.normalised ?? .null),
      ("failureWindow", normalisedFailureWindow),
      (
        "projectDelay",
        projectDelay.map { .members([("base", .time($0.base)), ("longest", .time($0.longest))]) } ?? .null
      ),
      ("retryBudget", retryBudget?.normalised ?? .null),
      (
        "adaptiveThrottling",
        throttle.map {
          .members([
            ("k", .number(Units.thousandths(Int64($0.factor)))), ("window", .time($0.window)),
            ("pause", .span(Span(microseconds: throttlePause))),
          ])
        } ?? .null
      ),
      ("controller", controller?.normalised ?? .null),
      ("reconcile", .bool(reconciles)),
    ])
  }
}

extension PositionedValue {
  fileprivate static func time(_ microseconds: Int64) -> Self { .span(Span(microseconds: microseconds)) }
}

extension RateGate {
  fileprivate var normalised: PositionedValue {
    .list(
      [first, second].compactMap(\.self).map {
        .members([("slots", .number("\($0.slots)")), ("span", .time($0.span))])
      })
  }
}

extension CircuitBreaker {
  fileprivate var normalised: PositionedValue {
    .members([
      ("requests", .number("\(requests)")), ("window", .time(window)),
      ("threshold", .text("\(thresholdPercent)%")), ("minimumFailures", .number("\(minimumFailures)")),
      ("openTime", .time(openTime)), ("longestOpenTime", .time(longestOpenTime)),
      ("probes", .number("\(probes)")),
    ])
  }
}

extension ClientGates {
  private var normalisedFailureWindow: PositionedValue {
    guard let window = failureWindow else { return .null }
    return .members([
      ("failures", .number("\(window.failures)")), ("span", .time(window.span)),
      ("whenBlocked", .text(refusesWhileBlocked ? "refuse" : "hold")),
      ("queries", .number("\(window.queries)")), ("exempt", .text("\(window.exemptPercent)%")),
    ])
  }
}

extension RetryBudget {
  fileprivate var normalised: PositionedValue {
    var members: [(String, PositionedValue)] = [("perRun", perRun.map { .number("\($0)") } ?? .null)]
    if let bucket {
      members += [
        ("capacity", .number("\(bucket.capacity)")),
        ("perSuccess", .text(Units.text(partsPerMillion: Int64(bucket.perSuccess) * 1_000))),
        ("trickle", bucket.trickle.map { .time($0) } ?? .null),
      ]
    }
    return .members(members)
  }
}

extension ClassDelays {
  var normalised: PositionedValue {
    .members(
      Self.names.compactMap { name, place in
        self[keyPath: place].map {
          (name, .members([("base", .time($0.base)), ("longest", .time($0.longest))]))
        }
      })
  }
}

extension BackpressureController {
  fileprivate var normalised: PositionedValue {
    var members: [(String, PositionedValue)] = [
      ("uploads", .number("\(longestConcurrency)")), ("smallestBatch", .number("\(smallestBatch)")),
      ("largestBatch", .number("\(largestBatch)")), ("batchStep", .number("\(batchStep)")),
      ("decrease", .text("\(decreasePercent)%")),
    ]
    if let targetLatency { members.append(("targetLatency", .time(targetLatency))) }
    if paces { members += [("shortestGap", .time(shortestGap)), ("longestGap", .time(longestGap))] }
    return .members(members)
  }
}
