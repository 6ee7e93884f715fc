import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// The messages of a format about problems in its files; as it stands here, those of scenarios.
package struct Wording: Sendable {
  /// The message about a missing key that must be there.
  package var missing: @Sendable (ScenarioSchema.Key) -> String = {
    "missing; write for example \($0.name): \($0.example)"
  }
  /// The message about an unknown key, with the known ones; nil: such a key is passed over.
  package var unknownKey: (@Sendable (_ key: String, _ known: [String]) -> String)? = { key, known in
    "unknown key\(Spelling.hint(for: key, among: known)) Allowed here: \(known.joined(separator: ", "))"
  }
  /// The message about a value at a key where another is expected.
  package var unexpected: @Sendable (_ expected: String, _ key: String, _ found: String) -> String = {
    "expected \($0), found \($2)"
  }
  /// Whether what was found is repeated; else its kind is.
  package var showsValues = true
  /// Whether a message without a path has a column.
  package var showsColumns = true
  /// Whether elements are written `cases[0]`, not `cases.0`.
  package var bracketsIndices = false
  /// Whether only the first problem is told, by the order of keys; what is no object has none of them.
  package var tellsFirst = false

  package init() {}

  /// Returns the wording for a file of its own: `a baseline is an object, { scenarios: … }; found a list`.
  package static func file(of name: String, as example: String) -> Wording {
    var wording = Wording()
    wording.unknownKey = { key, known in
      let hint = nearest(to: key, among: known).map { "; did you mean '\($0)'?" } ?? "."
      return "there is no such key in \(name)\(hint) Allowed: \(known.joined(separator: ", "))"
    }
    wording.unexpected = { expected, key, found in
      key.isEmpty
        ? "\(name) is an object, \(example); found \(found)" : "expected \(expected), found \(found)"
    }
    (wording.showsValues, wording.showsColumns) = (false, false)
    return wording
  }
}

/// Turns a tree into a `Scenario` and collects every problem on the way.
///
/// A reading function returns nil when it has reported a problem. The caller goes on with some stand-in, so that the problems
/// behind it are found too. Whether there was a problem is asked once, at the end.
package struct ScenarioDecoder {
  typealias Shape = ScenarioSchema.Shape

  /// Names of the files by `Position.source`.
  let sources: [String]
  var wording = Wording()
  /// The names so far, where a file may speak of nothing else.
  package var names: Set<String> = []
  /// The arrival rates in files that the scenario names; those that could not be read have been reported.
  var rateFiles: [String: [ArrivalRates.Row]] = [:]
  /// The client files that the scenario names, those of the same name read once; what could not be read has been reported.
  var clientFiles: [String: PositionedValue] = [:]
  var clients: [String: ClientPreset?] = [:]
  /// Whether what is read is a client that ships with the tool.
  var readsShippedClient = false
  /// The Settings of the client file that is read, without its switches.
  var clientDefaults = HTTPConfig()
  /// Whether they may drop a 429.
  var overrides429 = false
  /// Whether it asks for Settings, whose limits the client's own values have then.
  var fetchesSettings = true
  /// How long the run is, once that is known.
  var duration: Span?
  /// The scenario's values for every cohort that does not set its own: `network`, and `policyOfAll`, which takes precedence over
  /// the preset of a cohort's client.
  var ofAll = Cohort.standIn
  var policyOfAll: PositionedValue?
  /// nil: the document's.
  var clientOfAll: ClientPreset?
  /// The Settings of each cohort, and the number of the one that is being read.
  var settingsOfCohorts: [CohortSettings] = []
  var cohort: Int?
  var settings: CohortSettings {
    cohort.flatMap { $0 < settingsOfCohorts.count ? settingsOfCohorts[$0] : nil } ?? CohortSettings()
  }
  /// Parts that have been read before, or once they have been read.
  var fleet: Reading<[Cohort]>?
  var server: Reading<TAPIConfiguration?>?
  /// Actions that are rollouts, by the numbers of their cohorts.
  var publications: [Int: Publication] = [:]
  private(set) var diagnostics: [Diagnostic] = []
  package private(set) var hasErrors = false
  private(set) var unreported = 0
  /// A file of a million mistakes need not print a million lines.
  static let maximumDiagnostics = 1_000

  package init(sources: [String]) { self.sources = sources }

  // MARK: Reporting

  package mutating func report(_ message: String, at position: Position, _ path: String) {
    add(.error, message, at: position, path)
  }

  mutating func warn(_ message: String, at position: Position, _ path: String) {
    add(.warning, message, at: position, path)
  }

  /// Says something of the value that keys lead to in an object; where there is none, at the place of what would hold it.
  mutating func report(
    _ message: String, at node: PositionedValue, _ path: String, _ keys: [String],
    _ severity: Diagnostic.Severity = .error
  ) {
    add(severity, message, at: node.deepest(keys).position, keys.reduce(path, join))
  }

  mutating func add(_ severity: Diagnostic.Severity, _ message: String, at position: Position, _ path: String)
  {
    add(
      Diagnostic(
        severity: severity, file: Self.name(of: position, in: sources),
        line: position == .commandLine ? nil : Int(position.line),
        column: position == .commandLine || !wording.showsColumns ? nil : Int(position.column), path: path,
        message: message))
  }

  mutating func add(_ diagnostic: Diagnostic) {
    if diagnostic.severity == .error { hasErrors = true }
    if diagnostics.count < Self.maximumDiagnostics {
      diagnostics.append(diagnostic)
    } else {
      unreported += 1
    }
  }

  /// Everything reported, with a last line for what was too much to list.
  var all: [Diagnostic] {
    guard unreported > 0, let last = diagnostics.last else { return diagnostics }
    var more = last
    more.severity = hasErrors ? .error : .warning
    more.path = ""
    more.message = "and \(unreported) more problems"
    return diagnostics + [more]
  }

  /// Reads a part, unless that has been done.
  mutating func once<Value>(
    _ part: WritableKeyPath<Self, Reading<Value>?>, _ read: (inout Self) -> Value
  ) -> Value {
    if let known = self[keyPath: part] {
      for problem in known.diagnostics { add(problem) }
      return known.value
    }
    let reported = diagnostics.count
    let value = read(&self)
    self[keyPath: part] = Reading(value: value, diagnostics: Array(diagnostics[reported...]))
    return value
  }

  static func name(of position: Position, in sources: [String]) -> String {
    sources.indices.contains(Int(position.source)) ? sources[Int(position.source)] : "--set"
  }

  // MARK: Objects

  mutating func object(
    _ node: PositionedValue, _ path: String, _ keys: [ScenarioSchema.Key]
  ) -> PositionedValue? {
    object(node, path, keys.map(\.name), keys.filter(\.isRequired))
  }

  /// Checks that a value is an object with keys of these names and no others, the required ones included. An empty name is none.
  mutating func object(
    _ node: PositionedValue, _ path: String, _ names: [String], _ required: [ScenarioSchema.Key]
  ) -> PositionedValue? {
    if node.members == nil, !wording.tellsFirst {
      unexpected(node, "an object", path)
      return nil
    }
    for member in node.members(besides: names) {
      unknownKey(member, path, names.filter { !$0.isEmpty })
    }
    for key in required where node[key.name] == nil && !wording.tellsFirst {
      report(wording.missing(key), at: node.position, join(path, key.name))
    }
    return node
  }

  mutating func unknownKey(_ member: PositionedValue.Member, _ path: String, _ names: [String]) {
    // Looking for what was meant takes time, which a message that nobody sees is not worth.
    if wording.unknownKey != nil, diagnostics.count >= Self.maximumDiagnostics {
      unreported += 1
      hasErrors = true
      return
    }
    if let message = wording.unknownKey?(member.key, names) {
      report(message, at: member.keyPosition, join(path, member.key))
    }
  }

  package mutating func unexpected(_ node: PositionedValue, _ expected: String, _ path: String) {
    report(wording.unexpected(expected, key(of: path), describe(node)), at: node.position, path)
  }

  /// The last key of a path.
  package func key(of path: String) -> String { String(path.split(separator: ".").last ?? "") }

  /// The one member of an object that says which form a value has.
  mutating func onlyMember(
    _ node: PositionedValue, _ path: String, of names: [String]
  ) -> PositionedValue.Member? {
    let present = (node.members ?? []).filter { names.contains($0.key) }
    if present.count > 1 {
      report(
        "\(present.map(\.key).joined(separator: " and ")) exclude each other; keep one",
        at: present[1].keyPosition, path)
      return nil
    }
    return present.first
  }

  package func join(_ path: String, _ key: String) -> String {
    if PathText.isPlain(key) { return path.isEmpty ? key : path + "." + key }
    return path + "[\(quoted(key))]"
  }

  func element(_ index: Int, of path: String) -> String {
    wording.bracketsIndices ? "\(path)[\(index)]" : join(path, "\(index)")
  }

  /// Text in quotes, numbers as written.
  func shown(_ node: PositionedValue) -> String {
    if let text = node.text { quoted(text) } else { describe(node) }
  }

  /// The value for a message: short values as written, others by kind.
  func describe(_ node: PositionedValue) -> String {
    if !wording.showsValues { return node.kind }
    return switch node.content {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let text): String(text.prefix(40))
    case .string(let text): "the string \(quoted(text))"
    case .array, .object: node.kind
    }
  }

  // MARK: Scalars

  mutating func string(_ node: PositionedValue, _ path: String) -> String? {
    if let text = node.text { return text }
    unexpected(node, "a string", path)
    return nil
  }

  /// One of a few words.
  mutating func word<Value>(
    _ node: PositionedValue, _ path: String, _ words: [(word: String, value: Value)]
  ) -> Value? {
    let names = words.map(\.word)
    guard let text = node.text else {
      unexpected(node, "one of \(list(names))", path)
      return nil
    }
    if let match = words.first(where: { $0.word == text }) { return match.value }
    report(
      "\(quoted(text)) is not known\(Spelling.hint(for: text, among: names)) Allowed: \(list(names))",
      at: node.position, path)
    return nil
  }

  /// A whole number. `orWord` names the text allowed in its place, for messages.
  mutating func count(
    _ node: PositionedValue, _ path: String, in range: ClosedRange<Int>, orWord: String? = nil
  ) -> Int? {
    number(
      node, path, in: Int64(range.lowerBound)...Int64(range.upperBound), parts: 1,
      finer: "not a whole number",
      "whole numbers from \(range.lowerBound) to \(range.upperBound)" + (orWord.map { " or \"\($0)\"" } ?? "")
    ).map { Int($0) }
  }

  /// A number that is whole in `parts` to one. `finer` and `allowed` are for messages.
  package mutating func number(
    _ node: PositionedValue, _ path: String, in range: ClosedRange<Int64>, parts: UInt64, finer: String,
    _ allowed: String
  ) -> Int64? {
    var problem = "expected a number, found \(describe(node))"
    if case .number(let text) = node.content {
      let value = ExactDecimal(text)?.times(parts)
      if case .exact(let value)? = value, range.contains(value) { return value }
      problem = "\(text.prefix(40)) is \(value == .fraction ? finer : "out of range")"
    } else if let text = node.text, ExactDecimal(text) != nil {
      problem += "; leave the quotes out"
    }
    report("\(problem); allowed: \(allowed)", at: node.position, path)
    return nil
  }

  // MARK: Values with units

  /// The text of a value with a unit.
  mutating func unitText(
    _ node: PositionedValue, _ path: String, _ what: String, example: String, unit: String
  ) -> String? {
    switch node.content {
    case .string(let text) where ExactDecimal(text) == nil: return text
    case .number(let text), .string(let text):
      // A plain number is shown with the unit; a negative or an absurd one is not repeated as if it were right.
      let isPlain = text.utf8.count <= 12 && text.utf8.allSatisfy { Ascii.isDigit($0) || $0 == Ascii.dot }
      let right = isPlain ? quoted(text + unit) : "a value like " + quoted(example)
      report("missing unit: write " + right, at: node.position, path)
    default:
      unexpected(node, "\(what) such as \"\(example)\"", path)
    }
    return nil
  }

  /// Reads a text with a unit, and reports what is wrong with it.
  mutating func unit<Value>(
    _ node: PositionedValue, _ path: String, _ read: () throws(Units.Problem) -> Value
  ) -> Value? {
    do throws(Units.Problem) {
      return try read()
    } catch {
      report(error.message, at: node.position, path)
      return nil
    }
  }

  func list(_ words: [String]) -> String {
    words.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}
