import ScenarioModel
import SimulationKernel
import TextEscaping
import UploadRetry

extension JSON5Parser {
  /// Parses the text of a file, for a user to mend.
  /// - Parameter whole: says that it is an object; nil: it may be anything.
  /// - Parameter isServed: whether a CDN serves it to SDKs: then a file named .json is JSON.
  package static func parse(
    _ text: String, file: String, source: Int32 = 0, _ whole: String? = nil, isServed: Bool = false
  ) throws(ScenarioProblems) -> PositionedValue {
    func problem(_ position: Position, _ message: String) -> ScenarioProblems {
      let (line, column) = (Int(position.line), Int(position.column))
      let problem = Diagnostic(file: file, line: line, column: column, message: message)
      return ScenarioProblems(diagnostics: [problem])
    }
    let tree: PositionedValue
    do throws(JSON5Error) {
      tree = try parse(text, source: source, isJSON: isServed && file.hasSuffix(".json"))
    } catch { throw problem(error.position, error.message) }
    guard let whole, tree.members == nil else { return tree }
    throw problem(tree.position, "\(whole); found \(tree.kind)")
  }
}

extension Position {
  /// For sentences: ` on line 7`, or of what stands in no file ` given by an option`.
  var clause: String { self == .commandLine ? " given by an option" : " on line \(line)" }
}

extension PositionedValue {
  /// Replaces or appends the member `key`; anything but an object becomes one.
  mutating func setMember(_ key: String, to value: PositionedValue) {
    var members = members ?? []
    if let index = members.firstIndex(where: { $0.key == key }) {
      members[index].value = value
    } else {
      members.append(.init(key: key, keyPosition: value.position, value: value))
    }
    content = .object(members)
  }

  /// Returns this object with some of its members as another has them.
  func taking(_ keys: Set<String>, from other: PositionedValue) -> PositionedValue {
    let own = (members ?? []).filter { !keys.contains($0.key) }
    return PositionedValue(
      .object(own + (other.members ?? []).filter { keys.contains($0.key) }), at: position)
  }

  /// What a path leads to.
  subscript(path keys: some Sequence<String>) -> PositionedValue? { keys.reduce(Optional(self)) { $0?[$1] } }

  /// The last value on the way along keys and numbers: how far down it is, where it stands, and where its key does.
  func deepest(_ parts: [String]) -> (depth: Int, position: Position, keyPosition: Position) {
    var (node, key, depth) = (self, position, 0)
    for part in parts {
      if let elements = node.elements, let index = Int(part), elements.indices.contains(index) {
        (node, key) = (elements[index], elements[index].position)
      } else if let member = node.members?.first(where: { $0.key == part }) {
        (node, key) = (member.value, member.keyPosition)
      } else {
        break
      }
      depth += 1
    }
    return (depth, node.position, key)
  }
}

extension [PositionedValue] {
  /// The place of the element that has that name, or that number.
  func place(of part: String) -> Int? {
    firstIndex { ScenarioPaths.name(of: $0) == part } ?? Int(part).flatMap { indices.contains($0) ? $0 : nil }
  }
}

extension ExactDecimal {
  /// Reads a number; nil for anything else.
  package init?(_ node: PositionedValue?) {
    guard case .number(let text)? = node?.content else { return nil }
    self.init(text)
  }
}

/// The values of which a normalised scenario and a schema are made.
extension PositionedValue {
  static func number(_ text: String) -> Self { Self(.number(text), at: .commandLine) }
  static func text(_ text: String) -> Self { Self(.string(text), at: .commandLine) }
  static func bool(_ value: Bool) -> Self { Self(.bool(value), at: .commandLine) }
  static func span(_ span: Span) -> Self { .text(Units.text(span)) }
  static func millionths(_ value: Int64) -> Self { .number(Units.seconds(microseconds: value)) }
  static func list(_ elements: [Self]) -> Self { Self(.array(elements), at: .commandLine) }
  static var null: Self { Self(.null, at: .commandLine) }
  static func members(_ members: [(String, Self)]) -> Self {
    Self(.object(members.map { .init(key: $0, keyPosition: .commandLine, value: $1) }), at: .commandLine)
  }

  init(_ value: SettingsValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .number(let value):
      let infinite = value < 0 ? "-1e999" : "1e999"
      self = .number(value.isInfinite ? infinite : Int(exactly: value).map { "\($0)" } ?? "\(value)")
    case .string(let text): self = .text(text)
    case .array(let elements): self = .list(elements.map(Self.init))
    case .object(let members): self = .members(members.map { ($0.key, Self($0.value)) })
    }
  }
}

/// Writes trees as JSON.
package enum JSONText {
  /// Two spaces a level, one member a line; lists of scalars on one line. Ends without a line feed. Text that was written so comes
  /// back as it was.
  package static func pretty(_ node: PositionedValue, indent: String = "") -> String {
    let deeper = indent + "  "
    switch node.content {
    case .object(let members) where !members.isEmpty:
      let lines = members.map { deeper + $0.key.asJSON + ": " + pretty($0.value, indent: deeper) }
      return "{\n" + lines.joined(separator: ",\n") + "\n" + indent + "}"
    case .array(let elements) where elements.contains { $0.members != nil || $0.elements != nil }:
      let lines = elements.map { deeper + pretty($0, indent: deeper) }
      return "[\n" + lines.joined(separator: ",\n") + "\n" + indent + "]"
    default: return compact(node)
    }
  }

  /// On one line.
  package static func compact(_ node: PositionedValue) -> String {
    switch node.content {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let text): text
    case .string(let text): text.asJSON
    case .array(let elements): "[" + elements.map(compact).joined(separator: ", ") + "]"
    case .object(let members) where members.isEmpty: "{}"
    case .object(let members):
      "{ " + members.map { $0.key.asJSON + ": " + compact($0.value) }.joined(separator: ", ") + " }"
    }
  }
}

extension String {
  /// In double quotes, escaped as JSON wants it.
  package var asJSON: String { Escaping.json(self) }
}

extension ScenarioDecoder {
  /// Elements whose names stand before.
  mutating func reportSecondNames(
    of elements: [PositionedValue], _ what: String, path: (_ index: Int) -> String
  ) {
    var known: [String: Position] = [:]
    for (index, element) in elements.enumerated() {
      guard let name = ScenarioPaths.name(of: element) else { continue }
      if let first = known[name] {
        let message = "a second \(what) named \(quoted(name)); the first is\(first.clause)"
        report(message, at: element, path(index), ["name"])
      }
      known[name] = known[name] ?? element.position
    }
  }
}

/// How cohorts are named in paths.
enum ScenarioPaths {
  /// `fleet.phones`, or `fleet.0` where there is no proper name.
  static func cohort(_ index: Int, of elements: [PositionedValue]) -> String {
    "fleet." + (name(of: elements[index]) ?? "\(index)")
  }

  /// The message that no cohort has a name, with the names that there are.
  static func noCohort(_ name: String, among names: [String]) -> String {
    "no cohort is called \(quoted(name))\(Spelling.hint(for: name, among: names)) The cohorts: "
      + names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
  }

  /// The name of a cohort, or of another element of a list that has one.
  static func name(of element: PositionedValue) -> String? {
    if let name = element["name"]?.text, PathText.isName(name) { name } else { nil }
  }
}
