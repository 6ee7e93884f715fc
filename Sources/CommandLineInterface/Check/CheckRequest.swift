/// What `check` was asked to do.
struct CheckRequest: Sendable {
  enum Format: String, CaseIterable, Sendable {
    case text, github, junit, json
  }

  var scenarioPaths: [String]
  /// nil: `baseline.json` beside each scenario.
  var baselinePath: String?
  var records: Bool
  /// nil: as recorded, or ten.
  var seeds: Int?
  /// `path=value`, as given.
  var overrides: [String]
  var format: Format
  var jobs: Int?
  var memory: MemoryLimit
  var checks: Bool
  var isQuiet: Bool

  static let defaultSeeds = 10
  static let mostSeeds = 10_000

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments) throws {
    scenarioPaths = parsed.positional
    baselinePath = parsed.value("baseline")
    records = parsed.has("record")
    overrides = parsed.values("set") + (parsed.value("scale").map { ["scale=\($0)"] } ?? [])
    for text in overrides { _ = try InputRequest.overrides(text) }
    format = parsed.has("json") ? .json : .text
    if parsed.has("json"), parsed.has("format") || records {
      throw UsageError(
        "The option '--json' prints what a check found: it goes neither with '--format' nor with '--record'.")
    }
    if let name = parsed.value("format") {
      guard let known = Format(rawValue: name) else {
        throw UsageError(
          "The value '\(name)' is invalid for '--format <format>': \(Format.allCases.map(\.rawValue).joined(separator: ", "))."
        )
      }
      format = known
    }
    jobs = try RunRequest.count(parsed, "jobs", "n", through: 1_024)
    seeds = try RunRequest.count(parsed, "seeds", "n", through: Self.mostSeeds)
    if let seeds, seeds < 2 {
      throw UsageError("The value '1' is invalid for '--seeds <n>': one seed has no interval; at least 2.")
    }
    if seeds != nil, !records {
      throw UsageError("The option '--seeds' goes with '--record': a check takes the seeds of the baseline.")
    }
    memory = try MemoryLimit(parsed)
    checks = parsed.has("check")
    isQuiet = parsed.has("quiet")
  }
}
