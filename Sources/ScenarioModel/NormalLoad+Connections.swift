import SimulationKernel
import TAPIModel

extension Scenario {
  /// Handshakes a second of the whole fleet when nothing fails, about; 0 where connections cost nothing.
  public var normalHandshakesPerSecond: Double {
    guard let connections = tapi.connections else { return 0 }
    return fleet.reduce(0) { sum, cohort in
      let one = NormalLoad.handshakesPerSecond(
        of: cohort, idleTimeout: connections.idleTimeout, over: duration)
      return sum + one * Double(cohort.devices)
    }
  }
}

extension NormalLoad {
  /// How often a device of the cohort uploads when nothing fails, without the spikes that the twin does not have.
  package static func pace(of cohort: Cohort, over duration: Span) -> UploadPace {
    var normal = cohort
    normal.spikes.removeAll { $0.every == nil }
    let uploads = batchesPerSecond(of: normal, over: duration)
    guard uploads > 0 else { return .seldom }
    guard let interval = cohort.flush.interval, interval > .zero else {
      return .random(meanGap: 1e6 / uploads)
    }
    let share = min(1, uploads * interval.seconds)
    return .flushes(
      interval: interval, share: max(1, Int64((share * 1e6).rounded())),
      phase: cohort.flush.isSynchronised ? cohort.flush.phase : nil)
  }

  /// One device's handshakes a second, about.
  ///
  /// A device flushes every T seconds and has something to send by the chance p. It finds its connection closed if it had nothing
  /// for longer than a connection lives. These are k = ⌊life / T⌋ empty flushes, which come by the chance (1 − p)^k. Without an
  /// interval its uploads count as a Poisson process.
  static func handshakesPerSecond(
    of cohort: Cohort, idleTimeout: Span, over duration: Span
  ) -> Double {
    let uploads = batchesPerSecond(of: cohort, over: duration)
    guard let keepAlive = cohort.connection.keepAlive else { return uploads }
    let life = min(keepAlive, idleTimeout).seconds
    guard let interval = cohort.flush.interval?.seconds, interval > 0 else {
      return uploads * DeterministicMath.exp(-uploads * life)
    }
    let flushes = min(uploads, 1 / interval)
    var share = 1.0
    var passed = interval
    while passed <= life, share > 1e-9 {
      share *= 1 - flushes * interval
      passed += interval
    }
    return flushes * share
  }
}
