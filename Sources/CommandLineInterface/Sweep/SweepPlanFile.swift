import FleetExperiments
import FleetMetrics
import ScenarioFormat

/// `plan.json`: the grid of a sweep and all that merging it needs.
struct SweepPlanFile: Sendable {
  /// The version of the program that made it.
  var version = CommandLineTool.version
  var title: String
  var question: String?
  /// The sweep's command line, without what does not change its results.
  var arguments: [String]
  /// The scenario before the variants' overrides, as normalised JSON.
  var scenario: String
  var plan: SweepPlan
  /// SHA-256 of all else, as the file has it.
  private var digest = ""

  init(title: String, question: String? = nil, arguments: [String], scenario: String, plan: SweepPlan) {
    (self.title, self.question, self.arguments) = (title, question, arguments)
    (self.scenario, self.plan) = (scenario, plan)
  }

  var text: String {
    let content = content
    let digest = SHA256.hexadecimal(Array(content.utf8))
    return content.dropLast("\n}".count) + ",\n  \"sha256\": \"\(digest)\"\n}\n"
  }

  /// All but the digest.
  private var content: String { JSONValue.text(.object(members)) }

  private var members: [(String, JSONValue)] {
    let variants = plan.variants.map { variant in
      JSONValue.object([
        ("name", .string(variant.name)),
        ("overrides", .array(variant.overrides.map(ComparisonFindings.override.json))),
        ("digest", .string(variant.digest)), ("twinDigest", .string(variant.twinDigest)),
        ("idealDigest", .string(variant.idealDigest)),
        ("twinGroup", .integer(Int64(variant.twinGroup))), ("scale", .integer(Int64(variant.scale))),
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
    return members
  }
}

extension SweepPlanFile {
  /// - Throws: `CommandFailure` 66, 65.
  init(contentsOf path: String, _ files: Files) throws(CommandFailure) {
    let text = String(decoding: try files.ownBytes(path), as: UTF8.self)
    do throws(ScenarioProblems) {
      self = try Self.record.read(text: text, name: path, .ofProgram)
    } catch {
      throw CommandFailure(.data, error.first + "; a file that 'fleetsim sweep' wrote is expected")
    }
    guard plan.results != CommandLineTool.resultsVersion || digest == SHA256.hexadecimal(Array(content.utf8))
    else {
      throw CommandFailure(
        .data,
        "\(path): was changed since fleetsim wrote it (its SHA-256 is not the one at its end); make the sweep anew in another directory"
      )
    }
  }

  private static let record = ObjectKeys(
    SweepPlanFile(
      title: "", arguments: [], scenario: "",
      plan: SweepPlan(results: 0, variants: [SweepPlan.Variant](), seeds: SeedRange(first: 0, count: 1))),
    [
      .check { decoder, node, path, _ in
        if case .string("fleetsim")? = node["program"]?.content { return true }
        let problem = node["program"] == nil ? "'program' is missing" : "this is no plan of fleetsim"
        decoder.report(problem, at: node.position, path)
        return false
      },
      Field(reading: "title", \.title, .text, isRequired: true),
      Field(reading: "question", \.question, Kind<String>.text.orNothing),
      Field(reading: "arguments", \.arguments, Kind<String>.text.list(0 ... .max), isRequired: true),
      Field(reading: "scenario", \.scenario, .made { $0.prettyJSON + "\n" }, isRequired: true),
      Field(reading: "seeds", \.plan.seeds, .seeds(1...SweepCommand.mostRuns), isRequired: true),
      Field(reading: "variants", \.plan.variants, Kind.object(variant).list(0 ... .max), isRequired: true),
      .check { decoder, node, path, file in
        let variants = file.plan.variants
        if let wrong = variants.firstIndex(where: { !variants.indices.contains($0.twinGroup) }),
          let nodes = node["variants"]?.elements
        {
          return Kind<Int>.digits(0...variants.count - 1)
            .read(&decoder, nodes[wrong]["twinGroup"] ?? nodes[wrong], "twinGroup") != nil
        }
        let seeds = file.plan.seeds.count
        if !variants.isEmpty, variants.count <= SweepCommand.mostRuns / seeds { return true }
        decoder.report(
          "there are \(variants.count) variants under \(FigureText.count(seeds, "seed"))", at: node.position,
          path)
        return false
      },
      Field(reading: "version", \.version, .text, isRequired: true),
      Field(reading: "results", \.plan.results, .digits(0...1_000_000)),
      Field(reading: "sha256", \.digest, .text),
    ])

  private static let variant = ObjectKeys(
    SweepPlan.Variant(name: "", overrides: [], digest: "", twinDigest: "", idealDigest: "", twinGroup: 0),
    [
      Field(reading: "overrides", \.overrides, Kind.object(override).list(0 ... .max), isRequired: true),
      Field(reading: "name", \.name, .text, isRequired: true),
      Field(reading: "digest", \.digest, .text, isRequired: true),
      Field(reading: "twinDigest", \.twinDigest, .text, isRequired: true),
      Field(reading: "idealDigest", \.idealDigest, .text, isRequired: true),
      Field(reading: "twinGroup", \.twinGroup, .digits(0...SweepCommand.mostRuns), isRequired: true),
      Field(reading: "scale", \.scale, .digits(1...1_000_000)),
    ])

  private static let override = ObjectKeys(
    Override(path: "", value: ""),
    [
      Field(reading: "path", \.path, .text, isRequired: true),
      Field(reading: "value", \.value, .text, isRequired: true),
    ])
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
