import FleetMetrics
import FleetSimulation

/// CONTRACT: runs variants of a scenario side by side.
public struct Variant: Sendable {
  public var name: String
  public var scenario: Scenario
  public init(name: String, scenario: Scenario) {
    self.name = name
    self.scenario = scenario
  }
}

public struct VariantResult: Sendable {
  public var name: String
  public var record: RunRecord
  /// The same variant without its incidents.
  public var twin: RunRecord
  public var summary: RunSummary
  public init(name: String, record: RunRecord, twin: RunRecord, summary: RunSummary) {
    self.name = name
    self.record = record
    self.twin = twin
    self.summary = summary
  }
}
