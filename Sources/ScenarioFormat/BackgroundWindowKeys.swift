import ScenarioModel
import SimulationKernel

/// `os`: when an app in the background may send.
extension BackgroundWindows {
  fileprivate static let keys = ObjectKeys(
    BackgroundWindows(first: .hours(1)),
    [
      Field(
        "first", \.first, .span(from: .seconds(1)),
        "From the foreground to the first window; also the first gap behind it.",
        example: "\"1h\""),
      Field(
        "growth", \.growthPartsPerMillion, .number(1_000_000...100_000_000, allowed: "1 to 100"),
        "By how much each gap is longer than the one before."),
      Field(
        "longest", \.longest, Kind<Span>.span(from: .seconds(1)).orNothing, "The longest gap.",
        defaultValue: .said("as long as first")),
      Field("length", \.length, .span(from: .milliseconds(1)), "How long a window is open."),
      Field(
        "flexibility", \.flexibility, .span(from: .zero),
        "Each window opens at a random time in so long a span."),
      Field(
        "align", \.alignment, .choice,
        "The grid that windows move back to, in steps of first: from leaving the foreground, the device's own, or the run's clock."
      ),
      .order("first", \.first, "longest", \.longest),
      .refusal("growth") { _, windows in
        windows.growthPartsPerMillion > 1_000_000 && (windows.longest ?? windows.first) == windows.first
          ? "gaps do not grow beyond longest, which is \(Units.text(windows.first)) as first is; set longest"
          : nil
      },
    ])
}

extension Kind where Value == BackgroundWindows {
  /// `"android-doze"`, or the windows themselves.
  static let backgroundWindows = Kind.object(BackgroundWindows.keys).or(
    Kind<BackgroundWindows.System>.choice, { $0.windows }, part: \.system)
}

extension ScenarioDecoder {
  /// Windows that open after the end of the run.
  mutating func checkWindows(_ fleet: [Cohort], _ duration: Span, _ root: PositionedValue) {
    guard let nodes = root["fleet"]?.elements else { return }
    for (index, node) in nodes.enumerated() {
      guard let os = node["os"], let name = ScenarioPaths.name(of: node),
        let windows = fleet.first(where: { $0.name == name })?.os, windows.first >= duration
      else { continue }
      let path = join(ScenarioPaths.cohort(index, of: nodes), "os")
      let problem =
        "no window opens in this run for an app that leaves the foreground: the first comes \(Units.text(windows.first)) "
        + "later, and the run lasts \(Units.text(duration)); set a longer duration, or a shorter first"
      if os.text == nil {
        report(problem, at: (os["first"] ?? os).position, join(path, "first"))
      } else {
        warn(problem, at: os.position, path)
      }
    }
  }
}
