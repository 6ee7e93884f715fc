import FleetExperiments
import ScenarioFormat
import ScenarioModel
import UploadRetry

/// What varies between the variants of a scenario.
struct AxisOptions: ParameterGroup {
  @Option(
    "jitter", "a,b,c", .jitters,
    help:
      "Jitter strategies to compare: \(Jitter.names.joined(separator: ", ")). With +clamp behind a name, "
      + "backoff plus jitter is clamped to the cap again, as shipped clients do.")
  var jitters: [VariantChoice]?
  @Option(
    "vary", "path=a,b,c", each: VariedKey.reader,
    help: "Values to compare for a key of the scenario, as tapi.bucket.capacity=2000/s,4000/s.")
  var varied: [VariedKey]

  /// As given.
  var words: [String] { $jitters.words + $varied.words }

  /// What was asked for, an axis for each option.
  /// - Throws: `UsageError` about a key that two options vary.
  func axes(clients: [VariantChoice]? = nil) throws -> [[VariantChoice]] {
    var owners: [String: String] = [:]
    if clients != nil { owners[Override.clientPath] = "'--client'" }
    if jitters != nil { owners[Override.jitterPath] = "'--jitter'" }
    var axes = [clients, jitters].compactMap(\.self)
    for key in varied {
      if let owner = owners.updateValue("another '--vary'", forKey: key.path) {
        throw UsageError(
          "The value '\(key.text)' is invalid for '\($varied.synopsis)': \(owner) chooses values of \(key.path) already; name them all there."
        )
      }
      axes.append(VariantChoice.axis(ScenarioFile.Axis(path: key.path, values: key.values)))
    }
    return axes
  }
}

/// `path=a,b,c` on the command line.
struct VariedKey: Sendable {
  /// As given.
  var text: String
  var path: String
  var values: [String]

  static let reader = ValueReader { text in
    let key = try Assignment.reader(example: "tapi.bucket.capacity=2000/s,4000/s").read(text)
    do {
      return VariedKey(text: text, path: key.path, values: try ValueReader.list().read(key.value))
    } catch var error as InvalidValue {
      error.part = key.value
      throw error
    }
  }
}

extension ValueReader where Value == [VariantChoice] {
  fileprivate static let jitters = ValueReader(.several(of: Jitter.examples)) { list in
    let names = try ValueReader<[String]>.list().read(list)
    for name in names {
      let clamps = name.hasSuffix(Override.clampSuffix)
      let strategy = clamps ? String(name.dropLast(Override.clampSuffix.count)) : name
      guard Jitter(name: strategy) == nil else { continue }
      if let form = Jitter.allowedForm(of: strategy) {
        throw UsageError("'\(name)' is no jitter strategy: allowed is \(form).")
      }
      let hint = nearest(to: strategy, among: Jitter.examples).map { " Did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "The jitter strategy '\(strategy)' does not exist.\(hint) Allowed: \(Jitter.allowedNames); each may end in "
          + "\(Override.clampSuffix).")
    }
    return names.map(VariantChoice.jitter)
  }

  fileprivate static let clients = ValueReader(.several(of: ClientPreset.names)) { list in
    let names = try ValueReader<[String]>.list().read(list)
    for name in names where !ClientPreset.isFileName(name) {
      _ = try ClientPreset.named(name, kind: "client")
    }
    return VariantChoice.axis(ScenarioFile.Axis(path: Override.clientPath, values: names))
  }
}

extension Option where Value == [VariantChoice]? {
  static var clients: Self {
    Self(
      "client", "a,b,c", .clients,
      help: "Clients to compare, for every cohort: names that fleetsim presets lists, or client files.")
  }
}
