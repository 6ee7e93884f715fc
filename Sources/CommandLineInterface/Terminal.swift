import FleetExperiments
import TextEscaping

extension String {
  /// With blanks behind it, up to a width.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }
}

/// Standard output and error of a command, without buffering.
package struct Console: Sendable {
  package var (output, errors): (Int32, Int32)
  var colour = Terminal.Colour.auto
  private let isPlain: Bool
  /// Whether no line of a terminal can be rewritten.
  let isDumb: Bool

  /// - Parameters:
  ///   - output: a descriptor, as `errors`.
  ///   - variables: `NO_COLOR`, unless it is empty (no-color.org), and `TERM` say what a terminal does without.
  package init(
    output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO,
    variables: Variables
  ) {
    (self.output, self.errors) = (output, errors)
    isDumb = variables["TERM"] == "dumb"
    isPlain = isDumb || !(variables["NO_COLOR"] ?? "").isEmpty
  }

  /// Describes a stream as it is now: a window may have been made wider.
  ///
  /// Colours are for terminals, unless they are plain.
  func terminal(_ descriptor: Int32) -> Terminal {
    let isTerminal = isatty(descriptor) == 1
    var size = winsize()
    let hasSize = isTerminal && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return Terminal(
      columns: isTerminal ? hasSize ? Int(size.ws_col) : 80 : nil,
      isColoured: colour == .always || (colour == .auto && isTerminal && !isPlain))
  }

  /// How wide tables on standard output may be.
  var columns: Int { terminal(output).columns ?? 110 }

  /// Writes results for people, as standard output is to get them (`Terminal`); a reader that has gone away (`| head`) is no
  /// error.
  /// - Throws: `CommandFailure` 74, for example on a full disk.
  /// - Parameter headline: what the text says first, for bold letters.
  func print(_ text: String, headline: String = "") throws(CommandFailure) {
    try printData(terminal(output).prepared(text, headline: headline))
  }

  /// Writes what programs read, as it is.
  /// - Throws: `CommandFailure` 74, for example on a full disk.
  func printData(_ text: String) throws(CommandFailure) {
    if Self.writeAll(Array(text.utf8), to: output) || errno == EPIPE { return }
    throw CommandFailure(
      .inputOutput,
      errno == EBADF
        ? "standard output: is closed or not for writing; send it to a file, or to /dev/null"
        : "standard output: cannot be written: \(systemMessage())")
  }

  /// Writes a message; nothing can be done if that fails.
  func printError(_ text: String) { drawError(terminal(errors).prepared(text)) }

  /// Writes to a terminal's line as it is.
  func drawError(_ text: String) { _ = Self.writeAll(Array(text.utf8), to: errors) }

  /// Whether all of `bytes` went out; `errno` says why not.
  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = write(descriptor, buffer.baseAddress! + done, buffer.count - done)
        if count < 0, errno != EINTR { return false }
        done += max(0, count)
      }
      return true
    }
  }
}

/// The destination of a stream, for which text is made ready: harmless, as wide as the window, with colours if it has them.
package struct Terminal: Sendable {
  /// Columns of the window; nil of a file or a pipe, whose lines stay whole.
  package var columns: Int?
  package var isColoured: Bool

  package init(columns: Int?, isColoured: Bool) {
    self.columns = columns.map { max($0, 40) }
    self.isColoured = isColoured
  }

  package enum Colour: String, CaseIterable, Sendable { case auto, always, never }

  /// Enclose what is to be set in bold: two characters for private use, which no text has once its hidden ones are shown.
  private static let (boldOn, boldOff): (Character, Character) = ("\u{10FFF0}", "\u{10FFF1}")

  /// The text as this stream is to get it: nothing of it acts on a terminal or a job runner.
  /// - Parameter headline: the part of it to be set in bold where it stands first, on one line.
  package func prepared(_ text: String, headline: String = "") -> String {
    var text = Escaping.visible(text)
    if !headline.isEmpty, let range = text.firstRange(of: Escaping.visible(headline)) {
      text.replaceSubrange(range, with: "\(Self.boldOn)\(text[range])\(Self.boldOff)")
    }
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        let line = Self.withoutCommands(line)
        let rows = columns.map { Self.wrapped(line, at: $0) } ?? [line]
        return rows.map { isColoured ? Self.coloured($0) : Self.plain($0) }.joined(separator: "\n")
      }
      .joined(separator: "\n")
  }

  private static func withoutCommands(_ line: Substring) -> String {
    guard line.unicodeScalars.first == "\u{10FFF0}" else { return Escaping.withoutCommands(String(line)) }
    return String(boldOn) + Escaping.withoutCommands(String(line.dropFirst()))
  }

  // MARK: As wide as the window

  /// Returns lines of at most `columns`, cut at spaces; a text without a space stays whole. Later lines are indented as the
  /// first, or as the text behind a label and two spaces.
  private static func wrapped(_ line: String, at columns: Int) -> [String] {
    guard width(line) > columns else { return [line] }
    let leading = line.prefix { $0 == " " }.count
    let label = line.prefixMatch(of: /( *[^ ]+ {2,})[^ ]/)?.output.1.count ?? leading
    let start = label <= columns / 3 ? label : leading
    let indent = String(repeating: " ", count: start)
    return line.dropFirst(start).split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      .filled { row, _ in width(String(line.prefix(start))) + width(row) <= columns }.enumerated()
      .map { ($0 == 0 ? line.prefix(start) : indent[...]) + $1 }
  }

  private static func width(_ text: String) -> Int { text.count { $0 != boldOn && $0 != boldOff } }

  // MARK: Colours

  private static func plain(_ row: String) -> String { row.filter { $0 != boldOn && $0 != boldOff } }

  private static let good = ["✓ ", "better "]
  private static let bad = ["✗ ", "worse ", "breaks ", "fails ", "unwell "]

  /// Bold, and by what a row says: errors and harm red, warnings yellow, the best of a table green.
  private static func coloured(_ row: String) -> String {
    func paint(_ code: String, _ text: some StringProtocol) -> String { "\u{1B}[\(code)m\(text)\u{1B}[0m" }
    var row = row.replacing(String(boldOn), with: "\u{1B}[1m").replacing(String(boldOff), with: "\u{1B}[0m")
    let start = row.drop { $0 == " " }
    if good.contains(where: start.hasPrefix) { return paint("32", row) }
    if bad.contains(where: start.hasPrefix) { return paint("31", row) }
    for (word, code) in [("error:", "1;31"), ("warning:", "1;33")] {
      if let range = row.firstRange(of: word),
        range.lowerBound == row.startIndex || row[..<range.lowerBound].hasSuffix(" ")
      {
        row.replaceSubrange(range, with: paint(code, word))
        break
      }
    }
    return row
  }
}
