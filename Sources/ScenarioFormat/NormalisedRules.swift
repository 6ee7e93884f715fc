import ScenarioModel
import SimulationKernel
import TAPIModel

extension ServerRules {
  /// Those that are on, as members of `tapi`.
  var normalised: [(String, PositionedValue)] {
    var members: [(String, PositionedValue)] = []
    if !keyLimits.isEmpty { members.append(("keyLimits", .list(keyLimits.map(\.normalised)))) }
    if let retryCountLimit { members.append(("retryCountLimit", .number("\(retryCountLimit)"))) }
    if let requestSizeLimit {
      members.append(("requestSizeLimit", .text(Units.text(bytes: requestSizeLimit))))
    }
    if let deduplicationWindow {
      members.append(("deduplication", .members([("window", .span(deduplicationWindow))])))
    }
    if let autoscaling { members.append(("autoscaling", autoscaling.normalised)) }
    return members
  }
}

extension KeyLimit {
  fileprivate var normalised: PositionedValue {
    .members([
      ("key", key.map { .text($0) } ?? .null), ("per", .text(isPerDevice ? "device" : "key")),
      ("rate", .text(Units.text(milliPerSecond: rateMilliRequestsPerSecond))),
      ("burst", .number("\(burst)")), ("retryAfter", retryAfter.normalised),
    ])
  }
}

extension Autoscaling {
  fileprivate var normalised: PositionedValue {
    .members([
      ("target", .text(Units.text(partsPerMillion: target))), ("interval", .span(interval)),
      ("delay", .span(delay)), ("minimum", .text(Units.text(partsPerMillion: minimum))),
      ("maximum", .text(Units.text(partsPerMillion: maximum))),
    ])
  }
}

extension Congestion {
  var normalised: [(String, PositionedValue)] {
    [("congestion", .members([("slowdown", .millionths(slowdown)), ("queue", .number("\(queue)"))]))]
  }
}

extension PositionedValue {
  /// A decimal number.
  static func millionths(_ value: Int64) -> Self { .number(Units.seconds(microseconds: value)) }
}
