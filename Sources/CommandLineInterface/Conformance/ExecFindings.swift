import Conformance
import FleetExperiments
import FleetReports
import TextEscaping

extension ProcessVerdict {
  enum Level: String, Sendable, CaseIterable {
    case holds
    case fails = "does not hold"
    case inconclusive
    case notApplicable = "not applicable"
  }

  var level: Level {
    switch self {
    case .holds: .holds
    case .fails: .fails
    case .inconclusive: .inconclusive
    case .notApplicable: .notApplicable
    }
  }

  /// What stands beside the level.
  var remark: String? {
    switch self {
    case .holds(let note): note
    case .fails(let reasons): reasons.joined(separator: "; ")
    case .inconclusive(let reason), .notApplicable(let reason): reason
    }
  }
}

struct ExecFindings: Sendable {
  /// How a requirement stands.
  struct Row: Sendable {
    var requirement: String
    var title: String
    var level: ProcessVerdict.Level
    var outcomes: [ExecConformance.Outcome]
    /// Why nothing was judged.
    var reason: String?
  }

  var command: String
  var outcomes: [ExecConformance.Outcome]
  var inexpressible: [(vector: VectorCase, reason: String)]
  var fetchesSettings: Bool
  /// Where the exchanges are.
  var folder: String?
  var seconds: Double

  /// Each requirement once: the worst of its cases.
  var rows: [Row] {
    ProcessCases.requirements.map { id, title in
      let own = outcomes.filter { $0.vector.requirement == id }
      let worst: [ProcessVerdict.Level] = [.fails, .inconclusive, .holds]
      let level = worst.first(where: own.map(\.level).contains) ?? .notApplicable
      let reason =
        level == .notApplicable
        ? ProcessCases.obstacle(id, fetchesSettings: fetchesSettings) ?? own.first.map(\.remark)
          ?? "no case of it was judged" : nil
      return Row(requirement: id, title: title, level: level, outcomes: own, reason: reason)
    }
  }

  func count(_ level: ProcessVerdict.Level) -> Int { rows.count { $0.level == level } }

  var counts: String {
    "\(FigureText.count(count(.holds), "requirement")) hold\(count(.holds) == 1 ? "s" : ""), \(count(.fails)) "
      + "\(count(.fails) == 1 ? "does" : "do") not, \(count(.inconclusive)) inconclusive, "
      + "\(count(.notApplicable)) not applicable"
  }

  /// The file of an outcome's exchange.
  private func file(_ outcome: ExecConformance.Outcome) -> String? {
    outcome.log == nil ? nil : folder.map { "\($0)/\(outcome.vector.id).json" }
  }

  /// The remark on an outcome, and where to see more.
  private func reason(_ outcome: ExecConformance.Outcome) -> String {
    outcome.remark + (outcome.level == .holds ? "" : file(outcome).map { " (\($0))" } ?? "")
  }

  func text(width: Int) -> String {
    let table = TextTable(
      header: ["requirement", "what it says", "verdict", "cases"],
      rows: rows.map { [$0.requirement, $0.title, $0.level.rawValue, "\($0.outcomes.count)"] }, words: 3
    ).terminal(width: width)
    func lines(_ level: ProcessVerdict.Level) -> [String] {
      outcomes.filter { $0.level == level && $0.verdict.remark != nil }.map {
        "\($0.vector.requirement.padded(to: 5))\($0.vector.id): \(reason($0))"
      }
    }
    let vectors = FigureText.count(inexpressible.count, "vector")
    let sections = [
      ("Does not hold", lines(.fails)), ("Inconclusive", lines(.inconclusive)),
      ("Holds, with a remark", lines(.holds)),
      (
        "Not applicable",
        rows.filter { $0.level == .notApplicable }.map {
          $0.requirement.padded(to: 5) + ($0.reason ?? "")
        } + lines(.notApplicable)
          + (inexpressible.isEmpty ? [] : ["\(vectors) without a case; --json names each, with the reason"])
      ),
    ]
    return
      "\(command): \(FigureText.count(outcomes.count, "case")) in \(Int(seconds.rounded())) s\n\n\(table)\n\(counts)\n"
      + sections.filter { !$1.isEmpty }.map { title, lines in
        "\n\(title):\n" + lines.map { "  \($0)\n" }.joined()
      }.joined()
  }

  // MARK: Files

  /// How the file of an exchange begins.
  static let exchangeStart = "{\n  \"program\": \"fleetsim\",\n  \"exchange\": "

  /// An exchange as JSON; times are seconds since the process was started.
  static func exchange(_ outcome: ExecConformance.Outcome, _ log: ExchangeLog) -> String {
    func time(_ microseconds: Int64) -> JSONValue { .decimal(Double(microseconds) / 1e6) }
    let uploads = log.uploads.map { upload -> JSONValue in
      [
        "arrived": time(upload.arrivedAt), "ended": upload.endedAt.map(time).json,
        "status": upload.status.json, "retryAfter": upload.retryAfter.json, "hungUp": upload.wasGivenUp,
        "target": upload.target, "headers": upload.headers.map { "\($0.name): \($0.value)" },
        "bodyBytes": upload.bodyBytes, "events": upload.events,
      ]
    }
    let end =
      switch log.child.end {
      case .exited(let status): "exit status \(status)"
      case .signalled(let number): "signal \(number)"
      case .stopped: "ended by fleetsim"
      case .unstartable(let reason): reason
      }
    return JSONValue.text([
      "program": "fleetsim", "exchange": outcome.vector.id, "requirement": outcome.vector.requirement,
      "says": outcome.vector.says, "verdict": outcome.level.rawValue, "remark": outcome.verdict.remark.json,
      "uploads": uploads, "settingsFetches": log.settingsFetches.map(time), "end": end,
      "endedAt": time(log.endedAt), "lastLine": log.child.lastLine,
      "lastComplaint": log.child.lastComplaint,
    ]) + "\n"
  }

  /// How a JUnit file of fleetsim begins.
  static let junitStart =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fleetsim conformance\""

  /// A suite a requirement, a case a case; what says nothing is skipped.
  var junit: String {
    func counts(_ all: [ExecConformance.Outcome]) -> String {
      let failures = all.count { $0.level == .fails }
      let skipped = all.count { [.inconclusive, .notApplicable].contains($0.level) }
      return "tests=\"\(all.count)\" failures=\"\(failures)\" skipped=\"\(skipped)\""
    }
    let suites = rows.map { row -> String in
      let name = Escaping.markup("\(row.requirement) \(row.title)")
      let cases = row.outcomes.map { outcome -> String in
        let opening =
          "    <testcase classname=\"\(row.requirement)\" name=\"\(Escaping.markup(outcome.vector.id))\""
        if outcome.level == .holds { return "\(opening)/>\n" }
        let element = outcome.level == .fails ? "failure" : "skipped"
        let message = Escaping.markup(reason(outcome))
        return "\(opening)>\n      <\(element) message=\"\(message)\"/>\n    </testcase>\n"
      }
      return "  <testsuite name=\"\(name)\" \(counts(row.outcomes))>\n\(cases.joined())  </testsuite>\n"
    }
    return "\(Self.junitStart) \(counts(outcomes))>\n\(suites.joined())</testsuites>\n"
  }

  // MARK: JSON

  static let document = CommandDocument<ExecFindings>(
    meaning: "how a command stands to each requirement.",
    shape: JSONShape([
      .init("verdict", "How many requirements hold, do not, are inconclusive or not applicable.") {
        $0.counts
      },
      .init("exec", "The command.") { $0.command },
      .list(
        "requirements", "Each of them.",
        JSONShape<Row>([
          .init("requirement", "Its number.") { $0.requirement },
          .init("title", "What it says.") { $0.title },
          .choice("level", "The worst of its cases.") { $0.level },
          .init("cases", "How many were made of it.") { $0.outcomes.count },
          .init("reason", "Why it is not applicable.") { $0.reason },
        ])
      ) { $0.rows },
      .list("cases", "In the order of the requirements.", outcome) { found in
        found.outcomes.map { ($0, found.file($0)) }
      },
      .list(
        "inexpressible", "Vectors without a case, most because no process can be asked for them.",
        JSONShape<(vector: VectorCase, reason: String)>([
          .init("id", "The vector's name.") { $0.vector.id },
          .init("requirement", "What it tests.") { $0.vector.requirement },
          .init("reason", "Why it is left out.") { $0.reason },
        ])
      ) { $0.inexpressible },
    ]))

  private static let outcome = JSONShape<(ExecConformance.Outcome, String?)>([
    .init("id", "The case's name.") { $0.0.vector.id },
    .init("requirement", "What it tests.") { $0.0.vector.requirement },
    .init("says", "What has to happen.") { $0.0.vector.says },
    .choice("level", "How it ended.") { $0.0.level },
    .init("remark", "What was seen, or why nothing can be said.") { $0.0.verdict.remark },
    .init("uploads", "How many came.") { $0.0.log?.uploads.count ?? 0 },
    .init("exchange", "The file of the exchange.") { $0.1 },
  ])
}
