import FleetExperiments
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import ShippedClients
import SimulationKernel
import TAPIModel

/// What `validate` found of a scenario that can be run.
struct ScenarioFindings: Sendable {
  var path: String
  var scenario: Scenario
  var warnings: [String]
  var load: NormalLoad
  var choices: [VariantChoice]
  var clients: ClientDifferences
  var notes: [String]

  private static func seconds(_ span: Span) -> Double { Double(span.microseconds) / 1e6 }
  private static func finite(_ ratio: Double) -> Double? { ratio.isFinite ? ratio : nil }

  static let document = CommandDocument<ScenarioFindings>(
    commands: ["validate"], meaning: "what a scenario amounts to.",
    shape: JSONShape([
      .init("scenario", "The scenario file as it was named. One that is wrong prints no document.") {
        $0.path
      },
      .init("verdict", "That it is valid.") { "\($0.path): valid" },
      .init("question", "The scenario's question.") { $0.scenario.question },
      .init("warnings", "What standard error has of warnings.") { $0.warnings },
      .init("notes", "In what the scenario is so small that chance decides.") { $0.notes },
      .init("seed", "Of all randomness.") { $0.scenario.seed },
      .init("duration_s", "Virtual length of a run.") { seconds($0.scenario.duration) },
      .list(
        "cohorts", "The fleet.",
        JSONShape<Cohort>([
          .init("name", "Its name.") { $0.name },
          .init("devices", "How many devices.") { $0.devices },
          .init("client", "The client preset.") { $0.client },
        ])
      ) { $0.scenario.fleet },
      .object(
        "load", "What the fleet asks of the server when nothing fails.",
        JSONShape<NormalLoad>([
          .init("batches_per_second", "Mean over the run.") { $0.batchesPerSecond },
          .init("events_per_second", "Mean over the run.") { $0.eventsPerSecond },
          .init("peak_batches_per_second", "At its peak.") { $0.peakBatchesPerSecond },
          .init("capacity_rps", "Requests that the server can serve a second.") { $0.capacityPerSecond },
          .init("utilisation_ratio", "Load divided by capacity; null: there is none.") {
            finite($0.utilisation)
          },
          .init("peak_utilisation_ratio", "The same at the peak.") { finite($0.peakUtilisation) },
        ])
      ) { $0.load },
      .init("memory_bytes", "What one run is expected to take.") { MemoryEstimate($0.scenario).expected },
      .list(
        "incidents", "On the timeline of the server.",
        JSONShape<Incident>([
          .init("what", "In words.") { $0.kind.phrase },
          .init("from_s", "When it begins.") { seconds($0.start - .start) },
          .init("for_s", "How long it lasts.") { seconds($0.duration) },
        ])
      ) { $0.scenario.tapi.incidents },
      .list(
        "actions", "What operators do.",
        JSONShape<ServerAction>([
          .init("what", "In words.") { $0.kind.phrase },
          .init("from_s", "When it begins.") { seconds($0.start - .start) },
          .init("for_s", "How long it holds; null: until the next on the same, or the end of the run.") {
            $0.duration.map(seconds)
          },
        ])
      ) { $0.scenario.tapi.actions },
      .init("variants", "The names of what its compare section asks for.") { $0.choices.map(\.name) },
      .list(
        "presetDifferences", "In what cohorts are not as the client preset that they name.",
        ComparisonFindings.presetDifference
      ) { $0.clients.lines },
    ]))
}

/// What `validate --client` found in a Settings file.
struct SettingsFindings: Sendable {
  var path: String
  var client: String
  var verdict: String
  var findings: [(line: Int, finding: SettingsFinding)]

  private struct Finding: Sendable {
    var line: Int
    var finding: SettingsFinding
  }

  static let document = CommandDocument<SettingsFindings>(
    commands: ["validate"], meaning: "with `--client`: what a client makes of a Settings file.",
    shape: JSONShape([
      .init("settings", "The Settings file as it was named.") { $0.path },
      .init("client", "The client preset.") { $0.client },
      .init("verdict", "How many findings there are, and of which kind.") { $0.verdict },
      .init("isHarmful", "Whether these Settings harm the client: the exit code is 1.") {
        $0.findings.contains { $0.finding.effect.isHarmful }
      },
      .list(
        "findings", "In the order of the file.",
        JSONShape<Finding>([
          .init("line", "Where it stands.") { $0.line },
          .init("path", "In the file; empty: the file as a whole.") { $0.finding.path },
          .choice(
            "effect", "What it leads to.", SettingsFinding.Effect.allCases.map(\.rawValue)
          ) { $0.finding.effect.rawValue },
          .init("isHarmful", "Whether Settings with it are better not published.") {
            $0.finding.effect.isHarmful
          },
          .init("message", "What is wrong, what it does, what would be right.") { $0.finding.message },
          .init("source", "The place in the SDK's source.") { $0.finding.source },
        ])
      ) { $0.findings.map { Finding(line: $0.line, finding: $0.finding) } },
    ]))
}
