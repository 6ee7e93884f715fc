import FleetMetrics
import ScenarioModel

/// A run that stands between two slices, so that the page which waits for it stays alive.
package final class SlicedRun {
  package let scenario: Scenario
  private var engine: WindowedEngine

  package init(_ scenario: Scenario) {
    var options = RunOptions()
    options.threads = 1
    self.scenario = scenario
    engine = WindowedEngine(scenario, options: options)
  }

  /// Runs on to `time`, microseconds, or to the end. Returns whether it has ended.
  package func run(until time: Int64) -> Bool {
    do {
      return try engine.run(control: RunControl(), until: WindowedEngine.Halt(time: time))
    } catch {
      fatalError("nobody cancels it, and its checks are off")
    }
  }

  /// What is known so far. O(rows + devices).
  package var record: RunRecord { engine.record(as: scenario) }
}
