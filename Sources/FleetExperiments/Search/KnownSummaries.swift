import FleetMetrics
import FleetSimulation
import ScenarioModel

/// Summaries of runs that other scenarios come to as well: those that differ in Settings that no client asked for, such as waits
/// for 429s where the server sends none, or a higher limit on retries where a lower one was never reached.
struct KnownSummaries: Sendable {
  private struct Entry {
    var counts: [Int]
    var reachedLimit: Bool
    var summary: RunSummary
  }

  private var entries: [Scenario: [Entry]] = [:]

  subscript(scenario: Scenario) -> RunSummary? {
    let (key, counts) = scenario.withoutRetryCounts
    return entries[key]?.first { entry in
      entry.counts == counts || !entry.reachedLimit && zip(counts, entry.counts).allSatisfy { $0 >= $1 }
    }?.summary
  }

  mutating func add(_ summary: RunSummary, of scenario: Scenario, record: RunRecord, twin: RunRecord) {
    let (key, counts) = scenario.withoutRetryCounts
    let reachedLimit = record.reachedRetryLimit || twin.reachedRetryLimit
    entries[key, default: []].append(Entry(counts: counts, reachedLimit: reachedLimit, summary: summary))
  }
}
