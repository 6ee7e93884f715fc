import FleetExperiments
import ScenarioFormat

/// `plan.json`: the grid of a sweep and all that merging it needs.
struct SweepPlanFile: Sendable {
  /// Of the program that made it.
  var version = CommandLineTool.version
  var title: String
  var question: String?
  /// The sweep's command line, without what does not change its results.
  var arguments: [String]
  /// The scenario before the variants' overrides, as normalised JSON.
  var scenario: String
  var plan: SweepPlan

  var text: String {
    let variants = plan.variants.map { variant in
      JSONValue.object([
        ("name", .string(variant.name)),
        (
          "overrides",
          .array(
            variant.overrides.map { .object([("path", .string($0.path)), ("value", .string($0.value))]) })
        ),
        ("digest", .string(variant.digest)), ("twinDigest", .string(variant.twinDigest)),
        ("twinGroup", .integer(Int64(variant.twinGroup))),
      ])
    }
    var members: [(String, JSONValue)] = [
      ("program", .string("fleetsim")), ("version", .string(version)),
      ("results", .integer(Int64(plan.results))), ("title", .string(title)),
    ]
    if let question { members.append(("question", .string(question))) }
    members += [
      ("arguments", .array(arguments.map { .string($0) })),
      (
        "seeds",
        .object([("first", .unsigned(plan.seeds.first)), ("count", .integer(Int64(plan.seeds.count)))])
      ),
      ("variants", .array(variants)), ("scenario", .raw(scenario)),
    ]
    return JSONValue.text(.object(members)) + "\n"
  }
}

extension SweepPlanFile {
  /// - Throws: `CommandFailure` 66, 65.
  init(contentsOf path: String) throws(CommandFailure) {
    let text = try InputFile.text(path, limit: 1 << 30)
    do throws(Problem) {
      try self.init(text)
    } catch {
      throw CommandFailure(
        .data, "\(path):\(error.line): \(error.message); a file that 'fleetsim sweep' wrote is expected")
    }
  }

  struct Problem: Error {
    var line: Int
    var message: String
  }

  private init(_ text: String) throws(Problem) {
    let root: PositionedValue
    do throws(JSON5Error) {
      root = try JSON5Parser.parse(text)
    } catch {
      throw Problem(line: Int(error.position.line), message: error.message)
    }
    let reader = PlanReader()
    guard try reader.text(root, "program") == "fleetsim" else {
      throw Problem(line: 1, message: "this is no plan of fleetsim")
    }
    title = try reader.text(root, "title")
    question = root["question"] == nil ? nil : try reader.text(root, "question")
    arguments = []
    for element in try reader.list(root, "arguments") { arguments.append(try reader.text(element)) }
    scenario = try reader.member(root, "scenario").prettyJSON + "\n"
    let seeds = try reader.member(root, "seeds")
    let range = SeedRange(
      first: try reader.number(seeds, "first", 0 ... .max),
      count: Int(try reader.number(seeds, "count", 1...UInt64(SweepCommand.mostRuns))))
    let list = try reader.list(root, "variants")
    var variants: [SweepPlan.Variant] = []
    for element in list {
      var overrides: [Override] = []
      for override in try reader.list(element, "overrides") {
        overrides.append(
          Override(path: try reader.text(override, "path"), value: try reader.text(override, "value")))
      }
      variants.append(
        SweepPlan.Variant(
          name: try reader.text(element, "name"), overrides: overrides,
          digest: try reader.text(element, "digest"), twinDigest: try reader.text(element, "twinDigest"),
          twinGroup: Int(try reader.number(element, "twinGroup", 0...UInt64(list.count - 1)))))
    }
    guard !variants.isEmpty, variants.count <= SweepCommand.mostRuns / range.count else {
      throw Problem(
        line: 1,
        message:
          "there are \(variants.count) variants under \(FigureText.count(range.count, "seed"))"
      )
    }
    version = try reader.text(root, "version")
    let results = root["results"] == nil ? 0 : Int(try reader.number(root, "results", 0...1_000_000))
    plan = SweepPlan(results: results, variants: variants, seeds: range)
  }
}

/// Reads what a program wrote: the first thing that is not as expected ends it.
private struct PlanReader {
  typealias Problem = SweepPlanFile.Problem

  func member(_ node: PositionedValue, _ key: String) throws(Problem) -> PositionedValue {
    if let member = node[key] { return member }
    throw Problem(line: Int(node.position.line), message: "'\(key)' is missing")
  }

  func text(_ node: PositionedValue, _ key: String) throws(Problem) -> String {
    try text(try member(node, key))
  }

  func text(_ node: PositionedValue) throws(Problem) -> String {
    if case .string(let text) = node.content { return text }
    throw Problem(line: Int(node.position.line), message: "expected a string, found \(node.kind)")
  }

  func list(_ node: PositionedValue, _ key: String) throws(Problem) -> [PositionedValue] {
    let node = try member(node, key)
    if case .array(let elements) = node.content { return elements }
    throw Problem(line: Int(node.position.line), message: "expected a list for '\(key)', found \(node.kind)")
  }

  func number(
    _ node: PositionedValue, _ key: String, _ range: ClosedRange<UInt64>
  ) throws(Problem) -> UInt64 {
    let node = try member(node, key)
    if case .number(let digits) = node.content, let value = UInt64(digits), range.contains(value) {
      return value
    }
    throw Problem(
      line: Int(node.position.line),
      message: "'\(key)' is a whole number from \(range.lowerBound) to \(range.upperBound)")
  }
}

extension SweepPlan {
  /// In what another plan differs, for a message.
  func difference(from other: SweepPlan) -> String {
    let mine = Dictionary(variants.map { ($0.name, $0.digest) }, uniquingKeysWith: { first, _ in first })
    for variant in other.variants {
      guard let digest = mine[variant.name] else { return "it has no variant '\(variant.name)'" }
      if digest != variant.digest { return "its scenario is another for '\(variant.name)'" }
    }
    return
      "its seeds are \(seeds.count) from \(seeds.first), not \(other.seeds.count) from \(other.seeds.first)"
  }
}
