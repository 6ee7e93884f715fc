/// Texts of others made harmless for the place where they are put: names of scenarios, folders and variants, answers of servers.
///
/// All of it goes by Unicode scalars. By Characters a `<` behind U+0600 is none: the two are one Character, and what looks for `<`
/// passes it by.
package enum Escaping {
  /// Whether a scalar is not seen, or turns the direction of what stands beside it: controls, format characters, separators of
  /// lines and paragraphs, private use and what is no character.
  ///
  /// Source of the categories: Unicode Standard Annex 44, `General_Category`.
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value < 0x20 }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: return true
    default: return scalar.properties.isNoncharacterCodePoint
    }
  }

  /// For people: what is hidden is shown as `\u{202E}`, but for line feeds and tabs.
  package static func visible(_ text: String) -> String {
    replacing(text) { $0 == "\n" || $0 == "\t" ? nil : shown($0) }
  }

  /// On one line: line feeds and tabs are shown, too.
  package static func line(_ text: String) -> String { replacing(text, shown) }

  /// For HTML, XHTML, XML and SVG, in elements and in quoted attributes.
  package static func markup(_ text: String) -> String {
    replacing(text) { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "'": "&#39;"
      case "\t", "\n": nil
      default: shown(scalar)
      }
    }
  }

  /// A string of JSON in its double quotes (RFC 8259, section 7). It is read back as it was.
  package static func json(_ text: String) -> String {
    "\"" + replacing(text, quoted) + "\""
  }

  /// A string of JSON within a page: none of its characters can end a `script` or a CDATA section, or begin a comment.
  package static func script(_ text: String) -> String {
    let escaped = replacing(text) { scalar in
      switch scalar {
      case "<", ">", "&", "'": units(of: scalar)
      default: quoted(scalar)
      }
    }
    return "\"" + escaped + "\""
  }

  /// The value of a label of OpenMetrics, or a help text (OpenMetrics 1.0, `escaped-string`).
  package static func label(_ text: String) -> String {
    replacing(text) { scalar in
      switch scalar {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "\n": "\\n"
      default: shown(scalar).map { "\\" + $0 }
      }
    }
  }

  /// A cell of a table in Markdown.
  package static func cell(_ text: String) -> String {
    replacing(text) { scalar in
      switch scalar {
      case "|": "\\|"
      case "<": "&lt;"
      case "\n": " "
      default: shown(scalar)
      }
    }
  }

  // MARK: What job runners read

  /// What a workflow command of GitHub says, behind its second `::`.
  package static func commandMessage(_ text: String) -> String { replacing(text, ofCommand) }

  /// A property of a workflow command of GitHub.
  package static func commandProperty(_ text: String) -> String {
    replacing(text) { scalar in
      switch scalar {
      case ":": "%3A"
      case ",": "%2C"
      default: ofCommand(scalar)
      }
    }
  }

  /// A line without a command of a job runner: `::error::` behind any white space, `##[error]` and `##vso[` anywhere.
  package static func withoutCommands(_ line: String) -> String {
    let scalars = Array(line.unicodeScalars)
    let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? 0
    var text = String.UnicodeScalarView()
    for (i, scalar) in scalars.enumerated() {
      let rest = scalars[i...]
      let isWorkflow = i == start && rest.starts(with: "::".unicodeScalars)
      let isLogging = i > 0 && scalars[i - 1] == "#" && isNameOfCommand(rest)
      if isWorkflow || isLogging { text.append("\\") }
      text.append(scalar)
    }
    return String(text)
  }

  /// `#[` or `#vso[`, behind a `#`.
  private static func isNameOfCommand(_ rest: ArraySlice<Unicode.Scalar>) -> Bool {
    rest.first == "#" && rest.dropFirst().drop { $0.properties.isAlphabetic }.first == "["
  }

  // MARK: Parts

  private static func ofCommand(_ scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "%": "%25"
    case "\r": "%0D"
    case "\n": "%0A"
    default: shown(scalar)
    }
  }

  private static func shown(_ scalar: Unicode.Scalar) -> String? {
    isHidden(scalar) ? "\\u{\(String(scalar.value, radix: 16, uppercase: true))}" : nil
  }

  private static func quoted(_ scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "\"": "\\\""
    case "\\": "\\\\"
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: isHidden(scalar) ? units(of: scalar) : nil
    }
  }

  /// `\u003c`, and two of them beyond U+FFFF.
  private static func units(of scalar: Unicode.Scalar) -> String {
    UTF16.encode(scalar)!.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }

  private static func replacing(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
    guard text.unicodeScalars.contains(where: { replacement($0) != nil }) else { return text }
    // A view of scalars copies all that is there with each text that is appended.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if let other = replacement(scalar) {
        bytes += other.utf8
      } else if let unchanged = UTF8.encode(scalar) {
        bytes += unchanged
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
