import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// What `tune` was asked to do.
struct TuneRequest: Sendable {
  enum Budget: Sendable {
    case standard
    case runs(Int)
    /// Wall time, seconds.
    case seconds(Double)
  }

  var inputs: [InputRequest]
  var space: SearchSpace
  var objectives: [TuneObjective]
  var constraints: [TuneConstraint]
  var seeds: Int
  /// What is not known of the scenarios.
  var uncertainty: Uncertainty
  var budget = Budget.standard
  var across = TuneStudy.Across.mean
  /// What candidates race on; nil: the smallest part that serves.
  var raceScale: Scaling?
  /// Share of the events created that may be undelivered beyond today's.
  var allowedLoss = 0.0
  /// Whose keys are searched; nil: those of the scenarios' clients.
  var client: ClientPreset?
  /// Whether keys may be searched that no client reads.
  var allowsAllKeys = false
  /// Of the draw of candidates.
  var seed: UInt64 = 1
  var journalPath: String?

  /// - Throws: `UsageError`; `CommandFailure` and `ScenarioProblems` about the search-space file.
  init(_ parsed: ParsedArguments) throws {
    let input = try InputRequest(parsed)
    inputs = parsed.positional.map { path in
      var one = input
      one.scenarioPath = path
      return one
    }
    if let text = parsed.value("seed"), let number = UInt64(text) { seed = number }
    let file = try parsed.value("space").map { try SearchFile(text: InputFile.text($0), name: $0) }
    let parameters = try parsed.values("search").map { text in
      try Self.reading(text, "--search <path=values>") { () throws(RangeProblem) in try SearchParameter(text)
      }
    }
    do {
      space = try SearchSpace((file?.parameters ?? []) + parameters)
    } catch {
      throw UsageError(error.description)
    }
    for parameter in space.parameters {
      guard parameter.path.hasPrefix(SearchableSettings.prefix) else {
        throw UsageError(
          "'\(parameter.path)' is no key of Settings: a search changes what the CDN serves, as "
            + "settings.backoffConfig.maxBackoffInterval; use compare or stability for anything else.")
      }
      if let value = parameter.values.first(where: { $0.hasSuffix(Override.clampSuffix) }) {
        throw UsageError(
          "'\(value)' is no value of Settings: \(Override.clampSuffix) is a switch of the client.")
      }
    }
    let objectives = try parsed.values("objective").map { text in
      try Self.reading(text, "--objective <metric>") { () throws(RangeProblem) in try TuneObjective(text) }
    }
    self.objectives =
      !objectives.isEmpty
      ? objectives : file.map(\.objectives).flatMap { $0.isEmpty ? nil : $0 } ?? TuneObjective.standard
    let constraints = try parsed.values("constraint").map { text in
      try Self.reading(text, "--constraint <metric<=value>") { () throws(RangeProblem) in
        try TuneConstraint(text)
      }
    }
    self.constraints = (file?.constraints ?? []) + constraints
    client = try parsed.value("client").map { try ClientPreset.named($0, kind: "client") }
    allowsAllKeys = parsed.has("all-keys")
    let uncertainty = try Self.uncertainty(parsed, file, space)
    self.uncertainty = uncertainty
    seeds =
      try RunRequest.count(parsed, "seeds", "n", through: 10_000)
      ?? (uncertainty.isEmpty ? TuneStudy.defaultSeeds : TuneStudy.defaultDraws)
    if !uncertainty.isEmpty, seeds < TuneStudy.fewestDraws {
      throw UsageError(
        "With --uncertain each seed is a draw, and a worst tenth takes at least \(TuneStudy.fewestDraws): give --seeds "
          + "\(TuneStudy.fewestDraws) or more.")
    }
    if let text = parsed.value("budget") { budget = try Self.budget(text) }
    if let text = parsed.value("across") {
      guard let across = TuneStudy.Across(rawValue: text) else {
        throw UsageError("The value '\(text)' is invalid for '--across <how>': mean or worst.")
      }
      self.across = across
    }
    if let text = parsed.value("race-scale") {
      guard let scale = Scaling(text) else {
        throw UsageError(
          "The value '\(text)' is invalid for '--race-scale <1:k>': a part of the fleet, as 1:4.")
      }
      raceScale = scale
    }
    if let text = parsed.value("allow-loss") {
      let digits = text.hasSuffix("%") ? String(text.dropLast()) : text
      guard let value = Quantity(digits)?.value, value >= 0, value <= (text.hasSuffix("%") ? 100 : 1) else {
        throw UsageError("The value '\(text)' is invalid for '--allow-loss <share>': a share as 0.1%.")
      }
      allowedLoss = text.hasSuffix("%") ? value / 100 : value
    }
    journalPath = JournalDirectory.path(parsed)
  }

  /// What is not known: of the search-space file, then of the options.
  private static func uncertainty(_ parsed: ParsedArguments, _ file: SearchFile?, _ space: SearchSpace) throws
    -> Uncertainty
  {
    var uncertainty = file?.uncertainty ?? Uncertainty()
    for text in parsed.values("uncertain") {
      let table = text.contains("=") ? nil : try InputFile.text(text)
      uncertainty = try reading(text, "--uncertain <what>") { () throws(RangeProblem) in
        var more = uncertainty
        if let table { try more.add(table: table, name: text) } else { try more.add(text) }
        return more
      }
    }
    let searched = Set(space.parameters.map(\.path))
    if let both = uncertainty.paths.first(where: searched.contains) {
      throw UsageError("'\(both)' is to be searched and uncertain at once; leave one of them out.")
    }
    return uncertainty
  }

  private static func budget(_ text: String) throws -> Budget {
    if let runs = Int(text), runs > 0 { return .runs(runs) }
    if let span = try? Units.span(text), span > .zero { return .seconds(Double(span.microseconds) / 1e6) }
    throw UsageError(
      "The value '\(text)' is invalid for '--budget <budget>': a number of runs, as 2000, or a time, as 20m.")
  }

  private static func reading<Value>(
    _ text: String, _ option: String, _ body: () throws(RangeProblem) -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch {
      throw UsageError("The value '\(text)' is invalid for '\(option)': \(error.description)")
    }
  }
}
