import UploadRetry

/// One thing wrong, or repaired, in a file or on the command line.
public struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
  /// Whether the scenario can be run in spite of it.
  public enum Severity: Sendable, Hashable {
    /// Nothing runs.
    case error
    /// The scenario runs: a value was repaired as an SDK would do, or what is asked for is probably not what is meant.
    case warning
  }
  /// Whether the scenario can be run in spite of it.
  public var severity: Severity
  /// The file as the user named it, or `--set`.
  public var file: String
  public var line: Int?
  /// In Unicode scalars, from 1.
  public var column: Int?
  /// Dotted path, `tapi.bucket.capacity`; empty for the whole file.
  public var path: String
  /// The problem, the allowed values, and a "did you mean".
  public var message: String
  public init(
    severity: Severity = .error, file: String, line: Int? = nil, column: Int? = nil, path: String = "",
    message: String
  ) {
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.path = path
    self.message = message
  }
  /// `file:line: path: message`; without a path (a syntax error) `file:line:column: message`.
  public var description: String {
    var s = file
    if let line {
      s += ":\(line)"
      if path.isEmpty, let column { s += ":\(column)" }
    }
    s += ": "
    if severity == .warning { s += "warning: " }
    if !path.isEmpty { s += path + ": " }
    return s + message
  }
}

/// All problems of a file at once.
public struct ScenarioProblems: Error, Sendable, CustomStringConvertible {
  public var diagnostics: [Diagnostic]
  public init(diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }
  public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}

/// "Did you mean": the candidate nearest to what was written.
enum Spelling {
  /// `; did you mean "x"?`, or nothing.
  static func hint(for word: String, among candidates: [String]) -> String {
    nearest(to: word, among: candidates).map { "; did you mean \(quoted($0))?" } ?? "."
  }
}
