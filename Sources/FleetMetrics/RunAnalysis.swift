/// Turns what was recorded into what it means: every figure of `RunSummary`, as Definitions.md defines it.
///
/// Whole numbers and the four operations only, so that the figures are the same on every platform. O(rows).
public enum RunAnalysis {
  /// The summary of one run.
  /// - `record`: the run.
  /// - `twin`: the same scenario and seed without its incidents.
  /// - `name`: the variant's name, as it is to be printed.
  public static func summary(of record: RunRecord, twin: RunRecord, name: String, seed: UInt64) -> RunSummary
  {
    var summary = RunSummary(run: name, seed: seed)
    summary.devices = record.devices
    summary.duration = record.series.duration
    summary.totals = record.series.totals
    if summary[.settledBatches] > 0 {
      summary.amplification = Double(summary.attempts) / Double(summary[.settledBatches])
    }
    summary.acceptedUnconfirmedEvents = record.acceptedUnconfirmedEvents
    addDelivery(of: record.deliveries, to: &summary)
    addCost(of: record, twin: twin, to: &summary)

    summary.peakOfferedRatio = peakOfferedRatio(record, from: 0)
    summary.excessLoadSeconds = excessLoadSeconds(record)
    summary.secondsAboveCapacity = secondsAboveCapacity(record)
    summary.idleWhileBackloggedSeconds = idleWhileBacklogged(record, twin: twin)

    let incidents = incidents(of: record)
    summary.hasIncidents = !incidents.isEmpty
    summary.baseline = health(of: twin)
    summary.lateEvents = max(0, summary.pendingEvents - (twin.series.rows.last?[.backlogEvents] ?? 0))
    if let firstEnd = incidents.map(\.end).min(), let lastEnd = incidents.map(\.end).max() {
      summary.recoveryHorizon = max(0, record.series.duration - lastEnd)
      summary.herdFactor = peakOfferedRatio(record, from: firstEnd)
      summary.recoveryTime = recoveryTime(of: record, twin: twin, after: lastEnd)
      summary.drainedTime = drainedTime(of: record, after: lastEnd)
    }
    addAffected(of: record, to: &summary)
    return summary
  }

  /// The incidents that happen within the run.
  static func incidents(of record: RunRecord) -> [IncidentSpan] {
    record.incidents.filter { $0.start < record.series.duration }
  }

  private static func addDelivery(of deliveries: Histogram, to summary: inout RunSummary) {
    guard deliveries.total > 0 else { return }
    summary.timeToDeliveryMean = deliveries.mean
    summary.timeToDeliveryP50 = deliveries.quantile(50, of: 100)
    summary.timeToDeliveryP90 = deliveries.quantile(90, of: 100)
    summary.timeToDeliveryP95 = deliveries.quantile(95, of: 100)
    summary.timeToDeliveryP99 = deliveries.quantile(99, of: 100)
    summary.timeToDeliveryP999 = deliveries.quantile(999, of: 1_000)
    summary.timeToDeliveryMax = deliveries.maximum
  }

  private static func addAffected(of record: RunRecord, to summary: inout RunSummary) {
    let incidents = incidents(of: record)
    let lastEnd = incidents.map(\.end).max()
    let affected = AffectedEvents(
      of: record, from: incidents.map(\.start).min() ?? 0,
      to: lastEnd.flatMap { end in summary.recoveryTime.map { end + $0 } } ?? record.series.duration)
    summary.affectedEvents = affected.created
    summary.affectedHorizon = affected.horizon
    summary.affectedDeliveryP50 = affected.percentile(50)
    summary.affectedDeliveryP99 = affected.percentile(99)
  }

  private static func addCost(of record: RunRecord, twin: RunRecord, to summary: inout RunSummary) {
    guard record.devices > 0, record.series.duration > 0 else { return }
    let devices = Double(record.devices)
    let perDay = 86_400_000_000 / Double(record.series.duration)
    let cost = record.cost
    summary.attemptsAboveTwinPerDevice = Double(cost.attempts - twin.cost.attempts) / devices
    summary.attemptsPerDeviceDay = Double(cost.attempts) / devices * perDay
    summary.attemptsPerDeviceDayP99 = Double(cost.attemptsP99) * perDay
    summary.bytesPerDeviceDay = Double(cost.bytes) / devices * perDay
    summary.bytesPerDeviceDayP99 = Double(cost.bytesP99) * perDay
    summary.radioWakeUpsPerDeviceDay = Double(cost.radioWakeUps) / devices * perDay
    summary.radioWakeUpsPerDeviceDayP99 = Double(cost.radioWakeUpsP99) * perDay
    summary.devicesThatLostEventsShare = Double(cost.devicesThatLostEvents) / devices
  }
}
