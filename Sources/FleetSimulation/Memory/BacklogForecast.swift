import ScenarioModel
import SimulationKernel
import TAPIModel

/// How much work piles up at the worst time of a run, in seconds' worth of the fleet's normal load.
///
/// A fluid goes in at the normal rate and out at the server's capacity, nothing during an outage; what lies between is the
/// backlog. It is all that the forecast knows of herds: a real one has the same backlog plus the waits, which `waitSeconds` stands for.
struct BacklogForecast {
  /// The largest backlog; 0 if the server always keeps up.
  var seconds = 0.0
  /// The longest time without any acceptance.
  var longestOutage = 0.0
  /// Whether some outage gives no answer, so that clients wait for their time-out.
  var isSilent = false

  init(_ scenario: Scenario, load: NormalLoad) {
    let conditions = IncidentTimeline(scenario.tapi).conditions
    let end = scenario.duration.seconds
    var backlog = 0.0
    var outage = 0.0
    for (index, condition) in conditions.enumerated() {
      let start = (condition.start - .start).seconds
      let next = index + 1 < conditions.count ? (conditions[index + 1].start - .start).seconds : end
      let length = min(next, end) - start
      if length <= 0 { continue }
      var served = 0.0
      if let incident = condition.outage {
        outage += length
        if case .outage(nil, _, _) = incident.kind { isSilent = true }
      } else {
        outage = 0
        served =
          load.utilisation > 0
          ? Double(condition.factor) / 1e6 * Double(condition.scale) / 1e6 / load.utilisation : .infinity
        // What is refused at the door waits on, whatever the capacity.
        if condition.shedShare > 0 { served = min(served, 1 - condition.shedShare) }
      }
      longestOutage = max(longestOutage, outage)
      backlog = max(0, backlog + length * (1 - served))
      seconds = max(seconds, backlog)
    }
  }

  /// How long a device may wait on after the server is back, on average: half the longest backoff that it can have reached.
  func waitSeconds(longestBackoff: Double) -> Double { min(longestBackoff, seconds) / 2 }
}
