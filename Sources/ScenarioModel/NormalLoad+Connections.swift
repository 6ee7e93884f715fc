import SimulationKernel
import TAPIModel

extension Scenario {
  /// About what the whole fleet takes of the connections when nothing fails.
  /// - Returns: handshakes a second, and how many connections are open; 0 where connections cost nothing.
  public var normalConnections: (handshakesPerSecond: Double, open: Double) {
    guard let connections = tapi.connections else { return (0, 0) }
    return fleet.reduce((0, 0)) { sum, cohort in
      let pace = NormalLoad.pace(of: cohort, over: duration)
      let devices = Double(cohort.devices)
      guard let keepAlive = cohort.connection.keepAlive else {
        return (sum.0 + devices * 1e6 / pace.meanGap, sum.1)
      }
      let (closed, open) = pace.connection(closingAfter: min(keepAlive, connections.idleTimeout))
      let gap = max(pace.meanGap, Double(pace.interval?.microseconds ?? 0))
      return (sum.0 + devices * 1e6 / gap * closed, sum.1 + devices * open)
    }
  }
}

extension NormalLoad {
  /// How often a device of the cohort uploads when nothing fails, without the spikes that the twin does not have.
  package static func pace(of cohort: Cohort, over duration: Span) -> UploadPace {
    var pace = UploadPace()
    let uploads = batchesPerSecond(of: cohort, over: duration)
    guard uploads > 0 else { return pace }
    pace.meanGap = 1e6 / uploads
    if case .periodic = cohort.events {
      pace.isRegular = !cohort.spikes.contains { $0.every != nil } && cohort.sessions == nil
    }
    guard let interval = cohort.flush.interval, interval > .zero else { return pace }
    pace.interval = interval
    if cohort.flush.isSynchronised { pace.phase = cohort.flush.phase }
    return pace
  }
}
