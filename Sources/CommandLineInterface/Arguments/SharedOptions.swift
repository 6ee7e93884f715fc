import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel

// Options that several commands have, and how their values are read.

extension ValueReader where Value == String {
  package static let text = ValueReader { $0 }
  /// A command of the shell.
  static let shell = ValueReader("a command of the shell is expected.") {
    $0.allSatisfy(\.isWhitespace) ? nil : $0
  }
}

extension ValueReader where Value == Int {
  package static func count(_ range: ClosedRange<Int>) -> ValueReader {
    ValueReader("a whole number from \(range.lowerBound) to \(range.upperBound).") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension ValueReader where Value == Span {
  /// A span as scenarios write them.
  package static let span = ValueReader { try Units.span($0) }
}

extension ValueReader where Value: CaseIterable & RawRepresentable<String> {
  /// One of the names of an enumeration.
  static var name: ValueReader { ValueReader(.one(of: Value.allCases.map(\.rawValue)), read: named) }

  /// - Throws: `InvalidValue` about a name that there is not.
  @Sendable fileprivate static func named(_ name: String) throws(InvalidValue) -> Value {
    if let value = Value(rawValue: name) { return value }
    let names = Value.allCases.map(\.rawValue)
    throw InvalidValue(
      name, rest: "\(InvalidValue.hint(name, names)) Allowed: \(names.joined(separator: ", ")).")
  }
}

extension ValueReader {
  /// Different names of an enumeration, with commas between.
  static func names<Name>() -> ValueReader
  where Value == [Name], Name: CaseIterable & RawRepresentable<String> & SendableMetatype {
    ValueReader(.several(of: Name.allCases.map(\.rawValue))) { list in
      try ValueReader<[String]>.words(list).map { try ValueReader<Name>.named($0) }
    }
  }
}

extension [Requirement] {
  /// - Throws: `UsageError` about one that a run alone can't break.
  func checkEachRun() throws(UsageError) {
    guard let asked = first(where: \.allowsFailures) else { return }
    throw UsageError(
      "'\(asked.text)' lets some runs fail, and every run has to keep what '--require' asks: write 'failures = 0'."
    )
  }
}

extension ValueReader where Value == [ClientPreset] {
  /// Clients that fleetsim has, or client files, with commas between.
  static let clientsOrFiles = ValueReader(
    .several(of: ClientPreset.names),
    readingFiles: { list, files in
      try ValueReader<[String]>.words(list).map { try ClientPreset.namedOrFile($0, files) }
    })
}

extension ValueReader where Value == [String] {
  /// Different words with commas between.
  @Sendable static func words(_ list: String) throws(InvalidValue) -> [String] {
    let items = VariantChoice.splitList(list)
    if items.contains("") { throw InvalidValue("there is nothing between two commas.") }
    if let item = items.firstRepeated { throw InvalidValue("'\(item)' is there twice.") }
    return items
  }
}

/// `path=value` on the command line.
struct Assignment: Sendable {
  /// As given.
  var text: String
  var path: String
  var value: String

  init(_ text: String, example: String = "duration=1h") throws(InvalidValue) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw InvalidValue("it is written as \(example).")
    }
    (self.text, path, value) = (text, parts[0], parts[1])
  }

  var overrides: [Override] { Override.choosing(path, value) }
}

extension Option where Value == String {
  static var scenario: Self { Self("scenario", help: "The scenario file (JSON5).") }
}

extension Option where Value == [String] {
  static var scenarios: Self { Self("scenario", help: "Scenario files (JSON5).") }
}

extension ValueReader where Value: FixedWidthInteger {
  /// A number as people write it: `20_000`, `500k`, `1.5M`, `2G`.
  /// - Parameter allowed: what would be right, as a sentence's second half.
  package static func people(_ range: ClosedRange<Value>, _ allowed: String) -> ValueReader {
    let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "G": 1e9]
    return ValueReader(allowed) { text in
      let factor = text.last.flatMap { factors[$0] }
      let digits = text.dropLast(factor == nil ? 0 : 1).filter { $0 != "_" && $0 != "," }
      guard digits.replacing(".", with: "").isDigits, let number = Double(digits) else { return nil }
      return Value(exactly: (number * (factor ?? 1)).rounded()).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension ValueReader where Value == Int64 {
  /// A number of simulated attempts.
  static let attempts = people(1 ... .max, "a number of attempts from 1 on, as 500k, 20M or 2G.")
}

extension StringProtocol {
  /// Whether it is made of ASCII's digits alone: a number of Swift may have a sign.
  var isDigits: Bool { utf8.allSatisfy { (48...57).contains($0) } }
}

extension Option where Value == String? {
  static var scale: Self {
    Self(
      "scale", "1:n", .text,
      help:
        "The scenario at a part of its size: devices, capacity and limits divided by n, the burst not below 20 tokens, or 200 where "
        + "devices send all batches at once. Refused where so few are left that chance decides.")
  }
}

extension Option where Value == [DecisionCriterion] {
  static var allowed: Self {
    Self(
      "allow", "criterion", each: .name,
      help: "What may get worse: \(DecisionCriterion.allCases.map(\.rawValue).joined(separator: ", ")).")
  }
}

extension Option where Value == MemoryLimit {
  static var memoryLimit: Self {
    Self(
      wrappedValue: .machine, "memory-limit", "size", ValueReader(read: MemoryLimit.init),
      help:
        "Refuse a run that is expected to need more, as 20GiB; none: whatever it needs. (default: what the machine has)"
    )
  }
}

extension Flag {
  static var json: Flag {
    Flag(
      "json",
      help: "Print one JSON document in place of tables and sentences ('fleetsim help schema json').")
  }
  static var verbose: Flag { Flag("verbose", help: "Print every line and table of the answer.") }
}

/// How a scenario is changed before it is decoded.
struct InputOptions: ParameterGroup {
  @Option(
    "seed", "n", ValueReader<UInt64>("a whole number from 0 to 2^64-1.") { $0.isDigits ? UInt64($0) : nil },
    help: "Seed of all randomness, 0 to 2^64-1, in place of the scenario's.")
  var seed: UInt64?
  @Option private var settingsText: String?
  @Option(
    "set", "path=value", each: ValueReader { try Assignment($0) },
    help:
      "Set a key of the scenario, as duration=1h or fleet.phones.timeout=30s; fleet.* stands for every cohort. Later ones win."
  )
  var settings: [Assignment]
  @Option(.scale) var scale: String?
  let omitted: Set<String>
  private let severalSettings: Bool

  /// - Parameter severalSettings: whether `--settings` takes several files, with commas between.
  init(without less: Set<String> = [], severalSettings: Bool = false) {
    _settingsText = Option(
      "settings", severalSettings ? "a,b,c" : "file", .text,
      help: "Settings JSON as the CDN serves it, in place of the scenario's, for the clients that fetch any"
        + (severalSettings ? "; of several files, a variant for each." : "."))
    self.severalSettings = severalSettings
    omitted = less
  }

  /// As given, without the scale.
  var words: [String] { $seed.words + $settingsText.words + $settings.words }

  /// The Settings files that were given.
  var settingsFiles: [String] {
    settingsText.map { severalSettings ? VariantChoice.splitList($0) : [$0] } ?? []
  }
  /// The file that stands for the scenario's Settings; nil: none is given, or several are compared.
  var settingsPath: String? { settingsFiles.count == 1 ? settingsFiles[0] : nil }

  /// In order; later ones win.
  var overrides: [Override] {
    settings.flatMap(\.overrides) + (scale.map { [Override(path: Override.scalePath, value: $0)] } ?? [])
      + (seed.map { [Override(path: "seed", value: String($0))] } ?? [])
  }
}
