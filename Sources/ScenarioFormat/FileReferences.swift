import ScenarioModel
import UploadRetry

/// Which other files a scenario names.
enum FileReferences {
  typealias Reference = (path: String, node: PositionedValue)

  /// The names of Settings files in the scenario, each once, with where it first stands. `onlyCompared`: the
  /// Settings that cohorts start with are replaced, so their files are not read.
  static func settings(in root: PositionedValue, onlyCompared: Bool) -> [Reference] {
    let start = onlyCompared ? [] : [["settings"]]
    return values(
      in: root, atRoot: start, ofCohorts: start + [["rollout", "settings"]],
      compared: [["settings"], ["rollout", "settings"]])
  }

  /// The names of client files, each once, with where it first stands.
  static func clients(in root: PositionedValue) -> [Reference] {
    let paths = [["client"]]
    return values(in: root, atRoot: paths, ofCohorts: paths, compared: paths)
      .filter { ClientPreset.isFileName($0.node.text ?? "") }
  }

  /// The names of files with arrival rates, each once, with where it first stands.
  static func rates(in root: PositionedValue) -> [Reference] {
    let paths = [["events", "csv"]]
    return values(in: root, atRoot: [], ofCohorts: paths, compared: paths)
      .filter { !ArrivalRateTable.isTable($0.node) }
  }

  /// The texts at these paths of the scenario and of its cohorts, and those that `compare` puts there; each once.
  private static func values(
    in root: PositionedValue, atRoot: [[String]], ofCohorts: [[String]], compared: [[String]]
  ) -> [Reference] {
    var values: [(path: String, node: PositionedValue?)] = []
    func add(_ path: some Sequence<String>, of node: PositionedValue, _ place: String) {
      let path = Array(path)
      let places = (place.isEmpty ? [] : [place]) + path
      values.append((places.joined(separator: "."), path.reduce(Optional(node)) { $0?[$1] }))
    }
    for path in atRoot { add(path, of: root, "") }
    let cohorts = root["fleet"]?.elements ?? []
    for (index, cohort) in cohorts.enumerated() {
      for path in ofCohorts { add(path, of: cohort, ScenarioPaths.cohort(index, of: cohorts)) }
    }
    for axis in root["compare"]?.members ?? [] {
      let parts = PathText.parse(axis.key) ?? []
      let rest = parts.first == "fleet" && parts.count > 2 ? Array(parts[2...]) : parts
      for (index, element) in (axis.value.elements ?? []).enumerated() {
        for path in compared where !rest.isEmpty && path.starts(with: rest) {
          add(path.dropFirst(rest.count), of: element, "compare[\(quoted(axis.key))][\(index)]")
        }
      }
    }
    var seen: Set<String> = []
    return values.compactMap { path, node in
      guard let node, let name = node.text, seen.insert(name).inserted else { return nil }
      return (path, node)
    }
  }
}
