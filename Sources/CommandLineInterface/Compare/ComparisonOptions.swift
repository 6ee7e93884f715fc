import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import UploadRetry

/// The options that vary something between the variants of a scenario.
struct AxisOptions: ParameterGroup {
  @Option(
    "client", "a,b,c", clientNames,
    help: "Clients to compare, for every cohort: names that fleetsim presets lists, or client files.")
  private var clients: [VariantChoice]?
  @Option(
    "jitter", "a,b,c", strategies,
    help:
      "Jitter strategies to compare: \(Jitter.names.joined(separator: ", ")). With +clamp behind a name, "
      + "backoff plus jitter is clamped to the cap again, as shipped clients do.")
  private var jitters: [VariantChoice]?
  @Option(
    "vary", "path=a,b,c", each: VariedKey.reader,
    help:
      "Values to compare for a key of the scenario, as tapi.bucket.capacity=2000/s,4000/s; fleet.* stands for every cohort. "
      + "label=path=value is one variant with a name of its own, and the same label again adds a key to it.")
  private var varied: [VariedKey]
  @Option(
    "rollout", "file", .text,
    help: "Compare shares of the fleet that have the Settings of this file from the start of the run.")
  private var rollout: String?
  @Option("share", "a,b,c", percents, help: "The shares for --rollout, in percent. (default: 0,50,100)")
  private var shares: [Int64]?

  /// - Throws: `UsageError` about what the scenario has already.
  func check(_ scenario: Scenario) throws {
    guard let rollout, let cohort = scenario.fleet.first(where: { $0.rollout != nil }) else { return }
    throw UsageError(
      "'--rollout \(rollout)' would replace the rollout that \(cohort.name) has in the scenario: take that out, or vary its share with "
        + "--vary fleet.\(cohort.name).rollout.share=0%,50%,100%.")
  }

  /// The options that were given beside --vary, by the key that each chooses values of.
  private func owners(settings: [String]) -> [String: String] {
    let given = [
      (Override.clientPath, "--client", clients != nil), (Override.jitterPath, "--jitter", jitters != nil),
      (Override.settingsPath, "--settings", settings.count > 1),
    ]
    return Dictionary(uniqueKeysWithValues: given.filter(\.2).map { ($0.0, $0.1) })
  }

  /// The option that chooses the values of a key.
  func option(of path: String) -> String? { owners(settings: [])[path] }

  /// Returns an axis for each option that was given.
  /// - Parameter settings: Settings files; several are an axis.
  /// - Throws: `UsageError` about a key that two options vary, and options that do not go together.
  func axes(settings: [String] = []) throws -> [[VariantChoice]] {
    var owners = owners(settings: settings)
    var axes = [clients, jitters].compactMap(\.self)
    if settings.contains("") { throw UsageError("'--settings' has nothing between two commas.") }
    if settings.count > 1 {
      if let twice = settings.first(where: { file in settings.count { $0 == file } > 1 }) {
        throw UsageError("'--settings' names '\(twice)' twice.")
      }
      axes.append(VariantChoice.axis(ScenarioFile.Axis(path: Override.settingsPath, values: settings)))
    }
    if let rollout {
      axes.append(VariantChoice.shares(shares ?? [0, 500_000, 1_000_000], of: rollout))
    } else if shares != nil {
      throw UsageError(
        "'--share' says how much of the fleet has the Settings of '--rollout <file>': give both.")
    }
    // Variants with labels, in the order of these.
    var labelled: [VariantChoice] = []
    for key in varied {
      guard let label = key.label else { continue }
      let overrides = Override.choosing(key.path, key.values[0])
      if let index = labelled.firstIndex(where: { $0.name == label }) {
        labelled[index].overrides += overrides
      } else {
        labelled.append(VariantChoice(name: label, overrides: overrides, isLabelled: true))
      }
    }
    if !labelled.isEmpty { axes.append(labelled) }
    for key in varied where key.label == nil {
      if let owner = owners.updateValue("--vary", forKey: key.path) {
        throw UsageError(
          "The value '\(key.text)' is invalid for '\($varied.synopsis)': "
            + "\(owner == "--vary" ? "another " : "")'\(owner)' chooses values of \(key.path) already; name them all there."
        )
      }
      axes.append(VariantChoice.axis(ScenarioFile.Axis(path: key.path, values: key.values)))
    }
    return axes
  }

  private static let strategies = ValueReader(.several(of: Jitter.examples)) { list in
    let names = try ValueReader<[String]>.words(list)
    for name in names {
      let clamps = name.hasSuffix(Override.clampSuffix)
      let strategy = clamps ? String(name.dropLast(Override.clampSuffix.count)) : name
      guard Jitter(name: strategy) == nil else { continue }
      if let form = Jitter.allowedForm(of: strategy) {
        throw UsageError("'\(name)' is no jitter strategy: allowed is \(form).")
      }
      throw UsageError(
        "The jitter strategy '\(strategy)' does not exist.\(UsageError.hint(strategy, Jitter.examples)) "
          + "Allowed: \(Jitter.allowedNames); each may end in \(Override.clampSuffix).")
    }
    return names.map(VariantChoice.jitter)
  }

  private static let clientNames = ValueReader(.several(of: ClientPreset.names)) { list in
    let names = try ValueReader<[String]>.words(list)
    for name in names where !ClientPreset.isFileName(name) {
      _ = try ClientPreset.named(name)
    }
    return VariantChoice.axis(ScenarioFile.Axis(path: Override.clientPath, values: names))
  }

  /// Shares of a fleet in percent, with or without the sign; parts per million.
  private static let percents = ValueReader { list in
    try ValueReader<[String]>.words(list).map { text in
      let share = text.hasSuffix("%") ? text : text + "%"
      guard let parts = try? Units.partsPerMillion(share), (0...1_000_000).contains(parts) else {
        throw InvalidValue(text, rest: ": a share is 0 to 100, in percent.")
      }
      return parts
    }
  }
}

/// `path=a,b,c` or `label=path=value` on the command line.
struct VariedKey: Sendable {
  /// As given.
  var text: String
  /// nil: the values name the variants.
  var label: String?
  var path: String
  var values: [String]

  /// Reads a label before the first `=` if that text does not begin with a key of scenarios, and the text behind it
  /// does.
  static let reader = ValueReader { text in
    var label: String?
    var key = try Assignment(text, example: "tapi.bucket.capacity=2000/s,4000/s")
    if !Override.isPath(key.path), let inner = key.value.split(separator: "=").first,
      Override.isPath(String(inner))
    {
      label = key.path
      key = try Assignment(key.value, example: "new=settings=new.json")
    }
    do {
      let values = try ValueReader<[String]>.words(key.value)
      if let label, values.count > 1 {
        throw InvalidValue("'\(label)' names one variant, and so has one value.")
      }
      return VariedKey(text: text, label: label, path: key.path, values: values)
    } catch var error as InvalidValue {
      error.part = key.value
      throw error
    }
  }
}

struct ReplicationOptions: ParameterGroup {
  @Option(
    "seeds", "n", .count(2...mostSeeds),
    help: "Run n seeds, from 2. (default: as many as decide, within --budget; one with --seed)")
  private var seeds: Int?
  @Option(
    "budget", "attempts", .attempts,
    help:
      "Where the seeds are as many as decide: the most attempts to simulate, twins aside. A first seed is run in any case, and "
      + "480 are the most. (default: \(SeedPlan().budgetText))")
  var budget: Int64?
  @Option(
    "shard", "i/N", part,
    help:
      "Make part i of N of the runs of --seeds, as 2/4, into --journal: the parts at once, on any machines. When all are there, "
      + "the same command without --shard compares them.")
  var shard: RunShard?

  private static let mostSeeds = 100_000
  private static let part = ValueReader(
    "the number of the part and of all parts, from 1/1 to N/N, as 2/4.", value: RunShard.init)

  /// The plan but for its first seed, the scenario's.
  /// - Parameter isOneSeed: whether there is one where nobody says how many.
  func plan(isOneSeed: Bool) throws(UsageError) -> ReplicationPlan {
    if shard != nil, seeds == nil {
      throw UsageError("'--shard' goes with '--seeds', which says how many runs there are.")
    }
    if let seeds {
      if budget != nil {
        throw UsageError("'--budget' goes without '--seeds', which says how many there are.")
      }
      return ReplicationPlan(firstSeed: 0, count: seeds)
    }
    if isOneSeed, budget != nil { throw UsageError("'--budget' does not go with '--seed', which is one.") }
    return isOneSeed
      ? .one(seed: 0) : ReplicationPlan(firstSeed: 0, until: budget.map(SeedPlan.init) ?? SeedPlan())
  }
}
