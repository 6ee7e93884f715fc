/// CONTRACT (the scenario author fills this in): a scenario file, read, overridden and decoded.

/// One thing wrong, or repaired, in a file or on the command line.
public struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
  public enum Severity: Sendable, Hashable { case error, warning }
  public var severity: Severity
  /// The file as the user named it, or `--set`.
  public var file: String
  public var line: Int?
  public var column: Int?
  /// Dotted path, `tapi.bucket.capacity`; empty for the whole file.
  public var path: String
  /// What is wrong, what is allowed, did you mean.
  public var message: String
  public init(
    severity: Severity = .error, file: String, line: Int? = nil, column: Int? = nil, path: String = "", message: String
  ) {
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.path = path
    self.message = message
  }
  /// `file:line: path: message`.
  public var description: String {
    var s = file
    if let line { s += ":\(line)" }
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

/// `path=value` from the command line or from `compare:`.
public struct Override: Sendable, Hashable {
  public var path: String
  /// JSON5 if it parses as such, else a plain string.
  public var value: String
  public init(path: String, value: String) {
    self.path = path
    self.value = value
  }
}

/// A scenario file with everything it refers to, before overrides.
public struct ScenarioFile: Sendable {
  /// What `decode` made.
  public struct Decoded: Sendable {
    public var scenario: Scenario
    /// Repairs of Settings and the like.
    public var warnings: [Diagnostic]
    /// The whole scenario as normalised JSON (for `run.json`), pretty-printed, two spaces.
    public var normalisedJSON: String
    /// The `compare:` section: one axis per path, values as written.
    public var axes: [Axis]
  }
  public struct Axis: Sendable, Hashable {
    public var path: String
    public var values: [String]
    public init(path: String, values: [String]) {
      self.path = path
      self.values = values
    }
  }

  /// Parses scenario text. `readFile` resolves paths in it (`settings: "settings.json"`, relative to the scenario) to text, or throws a
  /// `Diagnostic`-able error; it is called at most once a path.
  /// - Throws: `ScenarioProblems`.
  public init(
    text: String, name: String, settingsText: (text: String, name: String)? = nil,
    readFile: (String) throws -> String
  ) throws {
    fatalError("CONTRACT")
  }

  /// Applies overrides in order, then decodes.
  /// - Throws: `ScenarioProblems` with every problem there is.
  public func decode(overrides: [Override] = []) throws -> Decoded { fatalError("CONTRACT") }
}
