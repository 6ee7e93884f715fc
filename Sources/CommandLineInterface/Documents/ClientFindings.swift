import Conformance
import ScenarioFormat
import ScenarioModel

/// What `presets` shows.
struct PresetFindings: Sendable {
  var presets: [ClientPreset]

  private struct Value: Sendable {
    var entry: ClientPreset.Switch
    var preset: ClientPreset
    var documents: String { entry.value(.tapiDocument) }
  }

  static let document = CommandDocument<PresetFindings>(
    commands: ["presets"], meaning: "the switches of each client.",
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
    commands: ["conformance"], meaning: "how each case ended.",
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
