import Conformance
import FleetExperiments
import FleetReports
import TextEscaping

struct ExecFindings: Sendable {
  /// How a requirement stands.
  struct Row: Sendable {
    var requirement: String
    var title: String
    var verdict: Word
    var cases: Int
    /// Why nothing was judged.
    var reason: String?
  }

  enum Word: String, Sendable, CaseIterable {
    case holds
    case fails = "does not hold"
    case inconclusive
    case notApplicable = "not applicable"
  }

  var command: String
  var outcomes: [ExecConformance.Outcome]
  var inexpressible: [(vector: VectorCase, reason: String)]
  var fetchesSettings: Bool
  /// Where the exchanges are.
  var folder: String?
  var seconds: Double

  static func word(_ verdict: ProcessVerdict) -> Word {
    switch verdict {
    case .holds: .holds
    case .fails: .fails
    case .inconclusive: .inconclusive
    case .notApplicable: .notApplicable
    }
  }

  /// Each requirement once: the worst of its cases.
  var rows: [Row] {
    ProcessCases.requirements.map { id, title in
      let words = outcomes.filter { $0.vector.requirement == id }.map { Self.word($0.verdict) }
      let worst: [Word] = [.fails, .inconclusive, .holds]
      let verdict = worst.first(where: words.contains) ?? .notApplicable
      let reason =
        verdict == .notApplicable
        ? ProcessCases.obstacle(id, fetchesSettings: fetchesSettings)
          ?? outcomes.first { $0.vector.requirement == id }.map { Self.remark($0.verdict) ?? "" }
          ?? "no case of it was judged" : nil
      return Row(requirement: id, title: title, verdict: verdict, cases: words.count, reason: reason)
    }
  }

  func count(_ word: Word) -> Int { rows.count { $0.verdict == word } }

  var counts: String {
    "\(FigureText.count(count(.holds), "requirement")) hold\(count(.holds) == 1 ? "s" : ""), \(count(.fails)) "
      + "\(count(.fails) == 1 ? "does" : "do") not, \(count(.inconclusive)) inconclusive, "
      + "\(count(.notApplicable)) not applicable"
  }

  /// Returns the remark beside the verdict's word.
  static func remark(_ verdict: ProcessVerdict) -> String? {
    switch verdict {
    case .holds(let note): note
    case .fails(let reasons): reasons.joined(separator: "; ")
    case .inconclusive(let reason), .notApplicable(let reason): reason
    }
  }

  func path(of id: String) -> String? { folder.map { "\($0)/\(id).json" } }

  func text(width: Int) -> String {
    let table = TextTable(
      header: ["requirement", "what it says", "verdict", "cases"],
      rows: rows.map { [$0.requirement, $0.title, $0.verdict.rawValue, "\($0.cases)"] }, words: 3
    ).terminal(width: width)
    var text =
      "\(command): \(FigureText.count(outcomes.count, "case")) in \(Int(seconds.rounded())) s\n\n\(table)\n\(counts)\n"
    for (word, title) in [
      (Word.fails, "Does not hold"), (.inconclusive, "Inconclusive"), (.holds, "Holds, with a remark"),
    ] {
      let told = outcomes.filter { Self.word($0.verdict) == word && Self.remark($0.verdict) != nil }
      if told.isEmpty { continue }
      text += "\n\(title):\n"
      for outcome in told { text += line(outcome) }
    }
    text += "\nNot applicable:\n"
    for row in rows where row.verdict == .notApplicable {
      text += "  \(row.requirement.padded(to: 5))\(row.reason ?? "")\n"
    }
    for outcome in outcomes where Self.word(outcome.verdict) == .notApplicable { text += line(outcome) }
    let others = inexpressible.count
    if others > 0 {
      text +=
        "  \(FigureText.count(others, "vector")) without a case; --json names each, with the reason\n"
    }
    return text
  }

  private func line(_ outcome: ExecConformance.Outcome) -> String {
    let file = Self.word(outcome.verdict) == .holds ? nil : path(of: outcome.vector.id)
    return
      "  \(outcome.vector.requirement.padded(to: 5))\(outcome.vector.id): \(Self.remark(outcome.verdict) ?? "")"
      + (outcome.log == nil ? "" : file.map { " (\($0))" } ?? "") + "\n"
  }

  // MARK: Files

  /// How the file of an exchange begins.
  static let exchangeStart = "{\n  \"program\": \"fleetsim\",\n  \"exchange\": "

  /// An exchange as JSON; times are seconds since the process was started.
  static func exchange(_ vector: ProcessCase, _ log: ExchangeLog, _ verdict: ProcessVerdict) -> String {
    func time(_ microseconds: Int64) -> JSONValue { .decimal(Double(microseconds) / 1e6) }
    let uploads = log.uploads.map { upload -> JSONValue in
      .object([
        ("arrived", time(upload.arrivedAt)), ("ended", upload.endedAt.map(time) ?? .null),
        ("status", upload.status.json), ("retryAfter", upload.retryAfter.json),
        ("hungUp", .bool(upload.wasGivenUp)), ("target", .string(upload.target)),
        ("headers", .array(upload.headers.map { .string("\($0.name): \($0.value)") })),
        ("bodyBytes", .integer(Int64(upload.bodyBytes))), ("events", upload.events.json),
      ])
    }
    let end =
      switch log.child.end {
      case .exited(let status): "exit status \(status)"
      case .signalled(let number): "signal \(number)"
      case .stopped: "ended by fleetsim"
      case .unstartable(let reason): reason
      }
    return JSONValue.text(
      .object([
        ("program", .string("fleetsim")), ("exchange", .string(vector.id)),
        ("requirement", .string(vector.requirement)), ("says", .string(vector.says)),
        ("verdict", .string(word(verdict).rawValue)), ("remark", remark(verdict).json),
        ("uploads", .array(uploads)), ("settingsFetches", .array(log.settingsFetches.map(time))),
        ("end", .string(end)), ("endedAt", time(log.endedAt)), ("lastLine", .string(log.child.lastLine)),
        ("lastComplaint", .string(log.child.lastComplaint)),
      ])) + "\n"
  }

  /// How a JUnit file of fleetsim begins.
  static let junitStart =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fleetsim conformance\""

  /// A suite a requirement, a case a case; what says nothing is skipped.
  var junit: String {
    func counts(_ all: [ExecConformance.Outcome]) -> String {
      let failures = all.count { Self.word($0.verdict) == .fails }
      let skipped = all.count { [.inconclusive, .notApplicable].contains(Self.word($0.verdict)) }
      return "tests=\"\(all.count)\" failures=\"\(failures)\" skipped=\"\(skipped)\""
    }
    let suites = rows.map { row -> String in
      let own = outcomes.filter { $0.vector.requirement == row.requirement }
      let name = Escaping.markup("\(row.requirement) \(row.title)")
      let cases = own.map { outcome -> String in
        let opening =
          "    <testcase classname=\"\(row.requirement)\" name=\"\(Escaping.markup(outcome.vector.id))\""
        let word = Self.word(outcome.verdict)
        guard word != .holds else { return "\(opening)/>\n" }
        let file = outcome.log == nil ? "" : path(of: outcome.vector.id).map { " (\($0))" } ?? ""
        let remark = Escaping.markup((Self.remark(outcome.verdict) ?? "") + file)
        let element = word == .fails ? "failure" : "skipped"
        return "\(opening)>\n      <\(element) message=\"\(remark)\"/>\n    </testcase>\n"
      }
      return "  <testsuite name=\"\(name)\" \(counts(own))>\n\(cases.joined())  </testsuite>\n"
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
          .choice("level", "The worst of its cases.") { $0.verdict },
          .init("cases", "How many were made of it.") { $0.cases },
          .init("reason", "Why it is not applicable.") { $0.reason },
        ])
      ) { $0.rows },
      .list("cases", "In the order of the requirements.", outcome) { found in
        found.outcomes.map { ($0, found.path(of: $0.vector.id)) }
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
    .choice("level", "How it ended.") { word($0.0.verdict) },
    .init("remark", "What was seen, or why nothing can be said.") { remark($0.0.verdict) },
    .init("uploads", "How many came.") { $0.0.log?.uploads.count ?? 0 },
    .init("exchange", "The file of the exchange.") { $0.0.log == nil ? nil : $0.1 },
  ])
}
