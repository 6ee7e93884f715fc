import Conformance
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
    meaning: "what a scenario amounts to.",
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
    meaning: "with `--client`: what a client makes of a Settings file.",
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

/// What `presets` shows.
struct PresetFindings: Sendable {
  var presets: [ClientPreset]

  private struct Value: Sendable {
    var entry: ClientPreset.Switch
    var preset: ClientPreset
    var documents: String { entry.value(.tapiDocument) }
  }

  static let document = CommandDocument<PresetFindings>(
    meaning: "the switches of each client.",
    shape: JSONShape([
      .list(
        "presets", "All of them, or the one that was named.",
        JSONShape<ClientPreset>([
          .init("name", "As a cohort's `client`.") { $0.name },
          .init("meaning", "What it is.") { $0.meaning },
          .list(
            "switches", "In what clients differ.",
            JSONShape<Value>([
              .init("path", "Its path in a cohort.") { $0.entry.path },
              .init("value", "As this preset has it.") { $0.entry.value($0.preset) },
              .init("document", "As the document has it.") { $0.documents },
              .init("differs", "Whether the two differ.") { $0.entry.value($0.preset) != $0.documents },
              .init("requirement", "The requirement that it belongs to.") { $0.entry.requirement },
              .init("meaning", "What it decides.") { $0.entry.meaning },
              .init("allowed", "Its values; a capital letter stands for a number.") { $0.entry.values },
              .init("source", "The place in the SDK's source; null: none is named.") {
                $0.preset.source(of: $0.entry.path)
              },
            ])
          ) { preset in ClientPreset.switches.map { Value(entry: $0, preset: preset) } },
        ])
      ) { $0.presets }
    ]))
}

/// What `conformance` found.
struct ConformanceFindings: Sendable {
  var reports: [ConformanceReport]

  static let document = CommandDocument<ConformanceFindings>(
    meaning: "how each case ended.",
    shape: JSONShape([
      .init("verdict", "How many cases passed, failed and deviate, a sentence for each client.") {
        $0.reports.map { "\($0.client): \($0.counts)" }.joined(separator: "\n")
      },
      .list("clients", "Each client that was tested.", report) { $0.reports },
    ]))

  private static let report = JSONShape<ConformanceReport>([
    .init("client", "Its name.") { $0.client },
    .init("passed", "Cases.") { $0.total(\.passed) },
    .init("failed", "Cases. The exit code is 1 if there is one.") { $0.total(\.failed) },
    .init("deviates", "Cases in which the client differs as they say.") { $0.total(\.deviates) },
    .list(
      "requirements", "The same by requirement.",
      JSONShape<ConformanceReport.Row>([
        .init("requirement", "Its number.") { $0.requirement },
        .init("title", "What it says.") { $0.title },
        .init("passed", "Cases.") { $0.passed },
        .init("failed", "Cases.") { $0.failed },
        .init("deviates", "Cases.") { $0.deviates },
      ])
    ) { $0.rows },
    .list("cases", "In the order of the files.", result) { $0.results },
  ])

  private static let result = JSONShape<CaseResult>([
    .init("id", "The case's name.") { $0.id },
    .init("requirement", "What it tests.") { $0.requirement },
    .init("says", "What has to happen.") { $0.says },
    .init("file", "Its vector file.") { $0.file },
    .init("line", "Where it begins.") { $0.line },
    .choice("level", "How it ended.", ["passed", "failed", "deviates"]) {
      switch $0.verdict {
      case .passed: "passed"
      case .failed: "failed"
      case .deviates: "deviates"
      }
    },
    .init("reason", "Why the client deviates.") {
      if case .deviates(let reason) = $0.verdict { reason } else { nil as String? }
    },
    .list(
      "mismatches", "What was other than expected.",
      JSONShape<Mismatch>([
        .init("line", "The step.") { $0.line }, .init("message", "What, expected and got.") { $0.message },
      ])
    ) { if case .failed(let mismatches) = $0.verdict { mismatches } else { [] } },
  ])
}
