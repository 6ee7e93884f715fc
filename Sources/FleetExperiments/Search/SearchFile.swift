import ScenarioFormat
import UploadRetry

/// A search-space file (JSON5): `search`, and if it likes `objectives`, `constraints` and `uncertain`.
package struct SearchFile: Sendable {
  package var parameters: [SearchParameter] = []
  package var objectives: [TuneObjective] = []
  package var constraints: [TuneConstraint] = []
  package var uncertainty = Uncertainty()

  /// - Throws: `ScenarioProblems` with every problem in the file.
  package init(text: String, name: String) throws {
    let root = try JSON5Parser.parse(text, file: name)
    var problems: [Diagnostic] = []
    func report(_ node: PositionedValue, _ path: String, _ message: String) {
      problems.append(Diagnostic(file: name, line: Int(node.position.line), path: path, message: message))
    }
    let allowed = ["search", "objectives", "constraints", "uncertain"]
    guard let members = root.members else {
      report(root, "", "a search space is an object, { search: { … } }; found \(root.kind)")
      throw ScenarioProblems(diagnostics: problems)
    }
    for member in members where !allowed.contains(member.key) {
      let hint = nearest(to: member.key, among: allowed).map { "; did you mean '\($0)'?" } ?? ""
      report(
        member.value, member.key,
        "there is no such key in a search space\(hint) Allowed: \(allowed.joined(separator: ", "))")
    }
    guard let search = root["search"]?.members, !search.isEmpty else {
      report(
        root["search"] ?? root, "search",
        "an object of paths and ranges or lists is expected, as { \"settings.backoffConfig.baseBackoffInterval\": \"0.1..10:log\" }"
      )
      throw ScenarioProblems(diagnostics: problems)
    }
    for member in search {
      do {
        parameters.append(try Self.parameter(member))
      } catch {
        report(member.value, "search[\"\(member.key)\"]", error.description)
      }
    }
    for (text, node) in Self.texts(root["objectives"], "objectives", report) {
      do {
        objectives.append(try TuneObjective(text))
      } catch {
        report(node, "objectives", error.description)
      }
    }
    for (text, node) in Self.texts(root["constraints"], "constraints", report) {
      do {
        constraints.append(try TuneConstraint(text))
      } catch {
        report(node, "constraints", error.description)
      }
    }
    if let uncertain = root["uncertain"], uncertain.members == nil {
      report(uncertain, "uncertain", "an object of paths and ranges is expected; found \(uncertain.kind)")
    }
    for member in root["uncertain"]?.members ?? [] {
      do {
        guard case .string(let range) = member.value.content else {
          throw RangeProblem(
            "expected a range, as \"1000/s..1600/s\" or \"1m..3m..9m\"; found \(member.value.kind).")
        }
        try uncertainty.add(path: member.key, range: range)
      } catch {
        report(member.value, "uncertain[\"\(member.key)\"]", "\(error)")
      }
    }
    if !problems.isEmpty { throw ScenarioProblems(diagnostics: problems) }
  }

  private static func parameter(_ member: PositionedValue.Member) throws(RangeProblem) -> SearchParameter {
    switch member.value.content {
    case .string(let range): return try SearchParameter(path: member.key, range: range)
    case .array(let elements):
      var values: [String] = []
      for element in elements {
        guard let text = text(element) else {
          throw RangeProblem("a value to choose is a number, a text, true or false; found \(element.kind).")
        }
        values.append(text)
      }
      return try SearchParameter(path: member.key, values: values)
    default:
      throw RangeProblem(
        "expected a range, as \"0.1..10:log\", or a list of values; found \(member.value.kind).")
    }
  }

  private static func text(_ node: PositionedValue) -> String? {
    switch node.content {
    case .number(let text), .string(let text): text
    case .bool(let value): "\(value)"
    default: nil
    }
  }

  private static func texts(
    _ node: PositionedValue?, _ path: String, _ report: (PositionedValue, String, String) -> Void
  ) -> [(String, PositionedValue)] {
    guard let node else { return [] }
    guard case .array(let elements) = node.content else {
      report(node, path, "expected a list of texts, found \(node.kind)")
      return []
    }
    return elements.compactMap { element in
      if case .string(let text) = element.content { return (text, element) }
      report(element, path, "expected a text, found \(element.kind)")
      return nil
    }
  }
}
