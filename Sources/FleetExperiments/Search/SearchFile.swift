import ScenarioFormat

/// A search-space file (JSON5): `search`, and if it likes `objectives`, `constraints` and `uncertain`.
package struct SearchFile: Sendable {
  package var parameters: [SearchParameter] = []
  package var objectives: [TuneObjective] = []
  package var constraints: [TuneConstraint] = []
  package var uncertainty = Uncertainty()

  private init() {}

  /// - Throws: `ScenarioProblems` with every problem in the file.
  package init(text: String, name: String) throws {
    var wording = Wording.file(of: "a search space", as: "{ search: { … } }")
    wording.missing = { _ in Self.expected }
    self = try Self.record.read(text: text, name: name, wording)
  }

  private static let expected =
    "an object of paths and ranges or lists is expected, as "
    + "{ \"settings.backoffConfig.baseBackoffInterval\": \"0.1..10:log\" }"

  private static let record = Record(
    SearchFile(),
    [
      Field(
        reading: "search", \.parameters,
        .members([], unless: { $0.members?.isEmpty ?? true ? expected : nil }) {
          $0.append(try parameter($1))
        },
        isRequired: true),
      Field(reading: "objectives", \.objectives, texts { try TuneObjective($0) }),
      Field(reading: "constraints", \.constraints, texts { try TuneConstraint($0) }),
      Field(
        reading: "uncertain", \.uncertainty,
        .members(
          Uncertainty(),
          unless: {
            $0.members == nil ? "an object of paths and ranges is expected; found \($0.kind)" : nil
          },
          add: { uncertainty, member in
            guard let range = member.value.text else {
              throw RangeProblem(
                "expected a range, as \"1000/s..1600/s\" or \"1m..3m..9m\"; found \(member.value.kind).")
            }
            try uncertainty.add(path: member.key, range: range)
          })),
    ])

  private static func parameter(_ member: PositionedValue.Member) throws(RangeProblem) -> SearchParameter {
    switch member.value.content {
    case .string(let range): return try SearchParameter(path: member.key, range: range)
    case .array(let elements):
      var values: [String] = []
      for element in elements {
        switch element.content {
        case .number(let text), .string(let text): values.append(text)
        case .bool(let value): values.append("\(value)")
        default:
          throw RangeProblem("a value to choose is a number, a text, true or false; found \(element.kind).")
        }
      }
      return try SearchParameter(path: member.key, values: values)
    default:
      throw RangeProblem(
        "expected a range, as \"0.1..10:log\", or a list of values; found \(member.value.kind).")
    }
  }

  private static func texts<Value: Sendable>(
    _ make: @escaping @Sendable (String) throws -> Value
  ) -> Kind<[Value]> {
    Kind<Value>.made { node in
      guard let text = node.text else {
        throw RangeProblem("expected a text, found \(node.kind)")
      }
      return try make(text)
    }.list(0 ... .max, of: " of texts", isIndexed: false)
  }
}
