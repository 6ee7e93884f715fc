import FleetExperiments
import FleetMetrics
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// How long the trouble of an outage lasts in the model, held against how long it lasted, and which figures that nobody measured
/// would explain a difference.
struct ModelledTrouble {
  /// A key, and the trouble with each value.
  private struct Trial {
    var words: String
    var path: String
    var values: [String]
    var troubles: [Span?] = []
  }

  private let lasted: Span
  /// From the outage's beginning until its server turns nobody away any more; nil: not within the run.
  private let trouble: Span?
  /// From the outage's beginning to the run's end.
  private let watched: Span
  /// Empty where there is nothing to explain.
  private var trials: [Trial] = []

  init(of draft: InitCommand.Draft, lasted: Span, _ environment: CommandEnvironment) throws {
    let scenario = try draft.file.decode().scenario
    let outage = scenario.tapi.incidents[0]
    self.lasted = lasted
    watched = scenario.duration - (outage.start - .start)
    func troubles(_ overrides: [Override?]) throws -> [Span?] {
      let scenarios = try overrides.map {
        try draft.file.decode(overrides: [$0].compactMap(\.self), isVariant: true).scenario
      }
      let runs = try environment.inBackground(showsProgress: true) { control in
        try Runs(.summary, workers: onlineProcessors(), control: control).values(of: scenarios)
      }.value
      return runs.map { run in run.healthyTime.map { outage.duration + Span(microseconds: $0) } }
    }
    trouble = try troubles([nil])[0]
    if explains(trouble) { return }
    func spans(_ factors: [Double]) -> [String] {
      factors.map {
        Units.text(Span(microseconds: Int64(Double(lasted.microseconds) * $0 / 1e6) * 1_000_000))
      }
    }
    var possible: [Trial] = []
    /// A server that is gone has no Retry-After, and a part of the fleet may be too small for a lower capacity.
    func add(_ words: String, _ path: String, _ values: [String]) {
      let values = values.filter {
        (try? draft.file.decode(overrides: [Override(path: path, value: $0)], isVariant: true)) != nil
      }
      if !values.isEmpty { possible.append(Trial(words: words, path: path, values: values)) }
    }
    add("capacity after the restart", "tapi.incidents.0.warmUp", spans([0.5, 1, 2]))
    add("Retry-After", "tapi.overload.retryAfter", ["none", "60s", "5m"])
    add("Retry-After in the outage", "tapi.incidents.0.retryAfter", ["60s", "5m"])
    if let capacity = draft.capacity.flatMap({ Quantity($0) }) {
      let values = [0.7, 1.5].map { factor in
        var value = capacity
        value.value *= factor
        return value.text()
      }
      add("the capacity", "tapi.bucket.capacity", values)
    }
    trials = possible
    let all = trials.flatMap { trial in trial.values.map { Override(path: trial.path, value: $0) } }
    var made = try troubles(all)[...]
    for index in trials.indices {
      let count = trials[index].values.count
      trials[index].troubles = Array(made.prefix(count))
      made = made.dropFirst(count)
    }
  }

  /// Whether the two are at most a factor of two apart.
  private func explains(_ trouble: Span?) -> Bool {
    guard let trouble else { return false }
    return trouble + trouble >= lasted && lasted + lasted >= trouble
  }

  func text(_ path: String) -> String {
    func words(_ span: Span?) -> String {
      span.map { FigureText.span($0.microseconds) } ?? "more than \(FigureText.span(watched.microseconds))"
    }
    let opening =
      "The trouble of such an outage lasts \(words(trouble)) in the model, and lasted \(words(lasted))"
    if trials.isEmpty { return "\n\(opening): less than a factor of two apart.\n" }
    let lines = trials.compactMap { trial -> String? in
      let fits = zip(trial.values, trial.troubles).filter { explains($0.1) }
      guard !fits.isEmpty else { return nil }
      let texts = fits.map { "\($0.0) (\(words($0.1)))" }.joined(separator: ", ")
      return "  \(trial.words), \(trial.path): \(texts)\n"
        + "    fleetsim compare \(path) --vary \(trial.path)=\(trial.values.joined(separator: ","))\n"
    }
    let tried = trials.map(\.words).joined(separator: " nor ")
    return lines.isEmpty
      ? "\n\(opening). Neither \(tried) alone explains that; with what was measured fleetsim calibrate fits several.\n"
      : "\n\(opening). What nobody measured may explain that:\n" + lines.joined()
  }
}
