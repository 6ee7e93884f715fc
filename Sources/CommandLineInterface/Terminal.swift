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
  ///   - variables: `NO_COLOR`, unless empty (no-color.org), and `TERM` say what is left out.
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

  /// Writes a message, in place of a line that a terminal shows of progress; nothing can be done if that fails.
  func printError(_ text: String) {
    drawError((isatty(errors) == 1 && !isDumb ? Self.newLine : "") + terminal(errors).prepared(text))
  }

  /// Begins a terminal's line anew.
  static let newLine = "\r\u{1B}[K"

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

  /// The text as this stream is to get it: nothing of it acts on a terminal or a job runner.
  /// - Parameter headline: what the first line that begins with it has in bold.
  package func prepared(_ text: String, headline: String = "") -> String {
    func harmless(_ line: Substring) -> String { Escaping.withoutCommands(String(line)) }
    var headline = harmless(Escaping.visible(headline)[...])
    return Escaping.visible(text).split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        let line = harmless(line)
        var bold = 0
        if !headline.isEmpty, line.hasPrefix(headline) { (bold, headline) = (headline.count, "") }
        let rows = columns.map { Self.wrapped(line, at: $0) } ?? [line]
        return rows.map { row in
          defer { bold -= row.count + 1 }
          return isColoured ? Self.coloured(row, bold: max(bold, 0)) : row
        }.joined(separator: "\n")
      }
      .joined(separator: "\n")
  }

  // MARK: As wide as the window

  /// Returns lines of at most `columns`, cut at spaces; a text without a space stays whole. Later lines are indented as the
  /// first, or as the text behind a label and two spaces.
  private static func wrapped(_ line: String, at columns: Int) -> [String] {
    guard line.count > columns else { return [line] }
    let leading = line.prefix { $0 == " " }.count
    let label = line.prefixMatch(of: /( *[^ ]+ {2,})[^ ]/)?.output.1.count ?? leading
    let start = label <= columns / 3 ? label : leading
    let indent = String(repeating: " ", count: start)
    return line.dropFirst(start).split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      .filled { row, _ in start + row.count <= columns }.enumerated()
      .map { ($0 == 0 ? line.prefix(start) : indent[...]) + $1 }
  }

  // MARK: Colours

  private static let good = ["✓ ", "better "]
  private static let bad = ["✗ ", "worse ", "breaks ", "fails ", "unwell "]

  /// First bold, then by what a row says: harm red, warnings yellow, the best of a table green.
  private static func coloured(_ row: String, bold: Int) -> String {
    func paint(_ code: String, _ text: some StringProtocol) -> String { "\u{1B}[\(code)m\(text)\u{1B}[0m" }
    var text = bold > 0 ? paint("1", row.prefix(bold)) + row.dropFirst(bold) : row
    let start = row.drop { $0 == " " }
    if good.contains(where: start.hasPrefix) { return paint("32", text) }
    if bad.contains(where: start.hasPrefix) { return paint("31", text) }
    for (word, code) in [("error:", "1;31"), ("warning:", "1;33")] {
      if let range = text.firstRange(of: word),
        range.lowerBound == text.startIndex || text[..<range.lowerBound].hasSuffix(" ")
      {
        text.replaceSubrange(range, with: paint(code, word))
        break
      }
    }
    return text
  }
}
