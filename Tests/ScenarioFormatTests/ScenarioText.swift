import ScenarioFormat
import Testing

/// Scenario texts for the tests: the smallest valid one with parts of it replaced.
struct ScenarioText {
  var duration = "'2h'"
  var bucket = "bucket: { capacity: '4000/s' }"
  /// More members of `tapi`.
  var tapi = ""
  var cohort = "name: 'phones', devices: 10, events: '6/min'"
  /// More members at the top.
  var top = ""

  /// Line 1 has the top, line 2 `tapi`, line 3 the cohort, line 4 the additions.
  var text: String {
    """
    { format: 1, duration: \(duration),
      tapi: { \(bucket), \(tapi) },
      fleet: [{ \(cohort) }],
      \(top) }
    """.replacing(", }", with: " }")
  }

  struct NoFile: Error, CustomStringConvertible { var description: String { "No such file" } }

  func file(settings: (text: String, name: String)? = nil, files: [String: String] = [:]) throws
    -> ScenarioFile
  {
    try ScenarioFile(text: text, name: "s.json5", settingsText: settings) { name in
      guard let text = files[name] else { throw NoFile() }
      return text
    }
  }

  func decode(_ overrides: [String: String] = [:]) throws -> ScenarioFile.Decoded {
    try file().decode(overrides: overrides.sorted { $0.key < $1.key }.map(Override.init(path:value:)))
  }

  /// What `decode` says: the errors, or the warnings of a scenario that is fine.
  func messages(overrides: [Override] = [], files: [String: String] = [:]) -> [String] {
    do {
      return try file(files: files).decode(overrides: overrides).warnings.map(\.description)
    } catch {
      return (error as? ScenarioProblems)?.diagnostics.map(\.description) ?? ["\(error)"]
    }
  }
}
