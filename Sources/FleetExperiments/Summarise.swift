import FleetMetrics

/// The summary row of a run, from its record and its twin's.
func summarise(_ record: RunRecord, twin: RunRecord, name: String, seed: UInt64) -> RunSummary {
  RunSummary(run: name, seed: seed)
}
