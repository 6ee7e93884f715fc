import FleetExperiments

/// One line on a terminal, rewritten in place: how far, how fast, how long still.
struct ProgressLine {
  private let isShown: Bool
  private let startedAt: Double
  private var shownAt: Double?

  /// Shows nothing unless standard error is a terminal that can rewrite a line.
  init(isShown: Bool, startedAt: Double) {
    let terminal = getenv("TERM").map { String(cString: $0) }
    self.isShown = isShown && isatty(STDERR_FILENO) == 1 && terminal != "dumb"
    self.startedAt = startedAt
  }

  /// Redraws the line, at most five times a second; not at all for what ends within half a second.
  mutating func update(_ progress: ComparisonControl.Progress, now: Double) {
    guard isShown, now - startedAt > 0.5, now - (shownAt ?? 0) > 0.2 else { return }
    shownAt = now
    // One column less than there are: some terminals wrap when the last one is written.
    let columns = (Terminal(of: STDERR_FILENO).columns ?? 80) - 1
    Console.drawError("\r\u{1B}[K" + Self.text(progress, elapsed: now - startedAt).prefix(columns))
  }

  mutating func clear() {
    guard shownAt != nil else { return }
    shownAt = nil
    Console.drawError("\r\u{1B}[K")
  }

  /// Fits into 79 columns.
  static func text(_ progress: ComparisonControl.Progress, elapsed: Double) -> String {
    let virtual = Double(progress.virtualTime) / 1e6
    var text = progress.runs > 1 ? "\(progress.finishedRuns) of \(progress.runs) runs done, " : ""
    text += "virtual \(clock(virtual)) of \(clock(Double(progress.duration) / 1e6))"
    guard elapsed > 0, progress.share > 0 else { return text }
    text += ", \(FigureText.grouped(whole(virtual / elapsed)))x real time"
    return text + ", \(clock(elapsed * (1 - progress.share) / progress.share)) left"
  }

  private static func clock(_ seconds: Double) -> String {
    let total = whole(seconds)
    let (hours, minutes, rest) = (total / 3_600, total / 60 % 60, total % 60)
    let two = { (n: Int64) in n < 10 ? "0\(n)" : "\(n)" }
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
  }

  private static func whole(_ value: Double) -> Int64 {
    value >= 0 && value < 1e15 ? Int64(value.rounded()) : 0
  }
}
