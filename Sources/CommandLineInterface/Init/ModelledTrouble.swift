import FleetExperiments
import ScenarioFormat
import SimulationKernel

/// How long the trouble of an outage lasts in the model, held against how long it lasted, and which figures that nobody measured
/// would explain a difference.
struct ModelledTrouble {
  /// A value of a key, and the trouble with it.
  private typealias Trial = (words: String, override: Override, trouble: Span?)

  private let lasted: Span
  /// From the outage's beginning until nobody is turned away any more; nil: not within the run.
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
    var possible = [
      ("capacity that comes back slowly", "tapi.incidents.0.warmUp", spans([0.5, 1, 2])),
      ("Retry-After", "tapi.overload.retryAfter", ["none", "60s", "5m"]),
      ("Retry-After in the outage", "tapi.incidents.0.retryAfter", ["60s", "5m"]),
    ]
    if let capacity = draft.capacity.flatMap({ Quantity($0) }) {
      let values = [0.7, 1.5].map { Quantity(value: capacity.value * $0, unit: capacity.unit).text() }
      possible.append(("the capacity", "tapi.bucket.capacity", values))
    }
    // A server that is gone has no Retry-After, and a small fleet may not stand a lower capacity.
    let changes = possible.flatMap { words, path, values in
      values.map { (words: words, override: Override(path: path, value: $0)) }
    }.filter { (try? draft.file.decode(overrides: [$0.override], isVariant: true)) != nil }
    trials = zip(changes, try troubles(changes.map(\.override))).map { ($0.words, $0.override, $1) }
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
      "With its outage the trouble lasts \(words(trouble)) in the model, and lasted \(words(lasted))"
    if trials.isEmpty { return "\n\(opening): less than a factor of two apart.\n" }
    let names = trials.map(\.words).uniqued
    let lines = names.compactMap { name -> String? in
      let own = trials.filter { $0.words == name }
      let fits = own.filter { explains($0.trouble) }
      guard let key = fits.first?.override.path else { return nil }
      let texts = fits.map { "\($0.override.value) (\(words($0.trouble)))" }.joined(separator: ", ")
      return "  \(name), \(key): \(texts)\n"
        + "    fleetsim compare \(path) --vary \(key)=\(own.map(\.override.value).joined(separator: ","))\n"
    }
    let tried = names.joined(separator: " nor ")
    return lines.isEmpty
      ? "\n\(opening). Neither \(tried) alone explains that; with what was measured fleetsim calibrate fits several.\n"
      : "\n\(opening). What nobody measured may explain that:\n" + lines.joined()
  }
}
