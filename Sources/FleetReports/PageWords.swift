import ReportFiles

/// The words that pages use in a sense of their own, as definitions.md defines them: a section of `words.txt` for each case.
package enum PageWords: String, CaseIterable {
  case comparison, replications, decision, calibration, limit, tune, live

  package var terms: [(term: String, meaning: String)] { Self.sections[rawValue] ?? [] }

  package func terms(_ names: [String]) -> [(term: String, meaning: String)] {
    names.compactMap { name in terms.first { $0.term == name } }
  }

  private static let sections = {
    var sections: [String: [(term: String, meaning: String)]] = [:]
    var section = ""
    for block in String(cString: fleetsim_words_txt()).split(separator: "\n\n") {
      let lines = block.split(separator: "\n").map(String.init)
      if lines[0].hasPrefix("# ") {
        section = String(lines[0].dropFirst(2))
      } else {
        sections[section, default: []].append((lines[0], lines.dropFirst().joined(separator: " ")))
      }
    }
    return sections
  }()
}
