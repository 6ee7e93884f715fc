import ScenarioModel
import UploadRetry

/// Which other files a scenario names.
enum FileReferences {
  /// The names of Settings files in the scenario, each once, with where it first stands. `onlyCompared`: the
  /// Settings that cohorts start with are replaced, so their files are not read.
  static func settings(
    in root: PositionedValue, onlyCompared: Bool
  ) -> [(path: String, node: PositionedValue)] {
    var values: [(path: String, node: PositionedValue?)] = []
    if !onlyCompared { values.append(("settings", root["settings"])) }
    if let cohorts = root["fleet"]?.elements {
      for (index, cohort) in cohorts.enumerated() {
        let place = ScenarioPaths.cohort(index, of: cohorts)
        if !onlyCompared { values.append((place + ".settings", cohort["settings"])) }
        values.append((place + ".rollout.settings", cohort["rollout"]?["settings"]))
      }
    }
    for axis in root["compare"]?.members ?? [] {
      guard case .array(let elements) = axis.value.content else { continue }
      let parts = PathText.parse(axis.key) ?? []
      let isOfCohort = parts.first == "fleet" && parts.count > 2
      for (index, element) in elements.enumerated() {
        let place = "compare[\(quoted(axis.key))][\(index)]"
        switch isOfCohort ? Array(parts[2...]) : parts {
        case ["settings"], ["rollout", "settings"]: values.append((place, element))
        case ["rollout"]: values.append((place + ".settings", element["settings"]))
        default: break
        }
      }
    }
    return named(values)
  }

  /// The names of client files, each once, with where it first stands.
  static func clients(in root: PositionedValue) -> [(path: String, node: PositionedValue)] {
    var values: [(path: String, node: PositionedValue?)] = [("client", root["client"])]
    if let cohorts = root["fleet"]?.elements {
      for (index, cohort) in cohorts.enumerated() {
        values.append((ScenarioPaths.cohort(index, of: cohorts) + ".client", cohort["client"]))
      }
    }
    for axis in root["compare"]?.members ?? [] {
      guard case .array(let elements) = axis.value.content, (PathText.parse(axis.key) ?? []).last == "client"
      else { continue }
      for (index, element) in elements.enumerated() {
        values.append(("compare[\(quoted(axis.key))][\(index)]", element))
      }
    }
    return named(values).filter {
      if case .string(let name) = $0.node.content { ClientPreset.isFileName(name) } else { false }
    }
  }

  /// The names of files with arrival rates, each once, with where it first stands.
  static func rates(in root: PositionedValue) -> [(path: String, node: PositionedValue)] {
    var values: [(path: String, node: PositionedValue?)] = []
    if let cohorts = root["fleet"]?.elements {
      for (index, cohort) in cohorts.enumerated() {
        let place = ScenarioPaths.cohort(index, of: cohorts)
        values.append((place + ".events.csv", cohort["events"]?["csv"]))
      }
    }
    for axis in root["compare"]?.members ?? [] {
      guard case .array(let elements) = axis.value.content else { continue }
      let parts = PathText.parse(axis.key) ?? []
      guard parts.first == "fleet", parts.count > 2 else { continue }
      for (index, element) in elements.enumerated() {
        let place = "compare[\(quoted(axis.key))][\(index)]"
        switch Array(parts[2...]) {
        case ["events", "csv"]: values.append((place, element))
        case ["events"]: values.append((place + ".csv", element["csv"]))
        default: break
        }
      }
    }
    return named(values).filter { !ArrivalRateTable.isTable($0.node) }
  }

  private static func named(
    _ values: [(path: String, node: PositionedValue?)]
  ) -> [(path: String, node: PositionedValue)] {
    var seen: Set<String> = []
    return values.compactMap { path, node in
      guard let node, let name = node.text, seen.insert(name).inserted else { return nil }
      return (path, node)
    }
  }
}
