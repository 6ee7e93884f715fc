/// An answer as people read it: the finding, then what it rests on, a line each.
///
/// ```swift
/// var story = Story("Use full", basis: "8 seeds")
/// story.add(.reason, "caught up after 26 min; additive:10 31 min")
/// ```
package struct Story: Sendable, Hashable {
  /// The subject of a line, in the order in which people ask.
  package enum Subject: String, Sendable, Hashable, CaseIterable {
    /// Whether what was required is kept.
    case required
    /// What a file does to a client, whatever runs show.
    case breaks
    /// Fleets that do not hold their load without any incident.
    case unwell
    case reason, worse, price, better, same, cause
    /// Events that the server never gets.
    case lost
    case fails
    /// Keys that no client reads.
    case unread
    case next, open, possible, battery, risk
    /// What limits the answer.
    case note
  }

  package struct Line: Sendable, Hashable {
    package var subject: Subject
    package var text: String
  }

  /// The answer in one line, without a full stop.
  package var finding: String
  /// What it comes from: devices, seeds, runs.
  package var basis: String
  private var texts: [Subject: [String]] = [:]
  package var lines: [Line] {
    Subject.allCases.flatMap { subject in self[subject].map { Line(subject: subject, text: $0) } }
  }

  package init(_ finding: String, basis: String = "") { (self.finding, self.basis) = (finding, basis) }

  /// Adds a line behind those of its subject; nil: nothing.
  package mutating func add(_ subject: Subject, _ text: String?) {
    if let text { texts[subject, default: []].append(text) }
  }

  /// Adds a line for each text, of many the first ones and how many more there are.
  package mutating func add(_ subject: Subject, _ texts: [String], atMost most: Int = 3) {
    let shown = texts.count - most == 1 ? texts.count : most
    for text in texts.prefix(shown) { add(subject, text) }
    if texts.count > shown { add(subject, "and \(texts.count - shown) more") }
  }

  package subscript(_ subject: Subject) -> [String] { texts[subject] ?? [] }

  /// The finding and its basis: `Use full (8 seeds)`.
  package var title: String { basis.isEmpty ? finding : "\(finding) (\(basis))" }

  /// Everything in one line.
  package var text: String {
    ([title] + lines.map { "\($0.subject.rawValue): \($0.text)" }).joined(separator: "; ")
  }

  /// `a, b and c`
  package static func list(_ names: [String], _ conjunction: String = "and") -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " \(conjunction) " + last
  }
}
