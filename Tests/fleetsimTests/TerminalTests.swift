import CommandLineInterface
import FleetReports
import Testing

@Suite("Text on a terminal")
struct TerminalTests {
  private let narrow = Terminal(columns: 40, isColoured: false)
  private let pipe = Terminal(columns: nil, isColoured: false)

  @Test("Long lines are wrapped at spaces and keep their indent; a file's lines stay whole")
  func wrapping() {
    let text = "  a line of more than forty columns, which is cut at spaces\nshort\n"
    let rows = narrow.prepared(text).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(rows == ["  a line of more than forty columns,", "  which is cut at spaces", "short", ""])
    #expect(pipe.prepared(text) == text)
    let word = String(repeating: "x", count: 60)
    #expect(
      narrow.prepared("  memory    about 125.7 MiB a run, at most 660 MiB")
        == "  memory    about 125.7 MiB a run, at\n            most 660 MiB")
    #expect(narrow.prepared("see \(word) there") == "see\n\(word)\nthere")
  }

  @Test("Control characters are shown, not obeyed", arguments: [false, true])
  func harmless(isColoured: Bool) {
    #expect(Terminal(columns: nil, isColoured: isColoured).prepared("a\u{1B}[31mb") == "a\\u{1B}[31mb")
  }

  /// A text as a terminal with colours has it: `<1m` for bold, and `>` for the end of any.
  private func marked(_ text: String, headline: String, columns: Int? = nil) -> String {
    Terminal(columns: columns, isColoured: true).prepared(text, headline: headline)
      .replacing("\u{1B}[0m", with: ">").replacing("\u{1B}[", with: "<")
  }

  @Test("No line begins with what job runners take for a command, not even in bold or indented")
  func commands() {
    for text in ["::error::x", "  ::set-output name=a::b", "a ##[error]x"] {
      for headline in ["", text] {
        let shown = pipe.prepared(text, headline: headline).unicodeScalars.drop { $0.properties.isWhitespace }
        #expect(!shown.starts(with: "::".unicodeScalars), "\(String(shown))")
        #expect(!String(shown).utf8.contains("##[".utf8), "\(String(shown))")
      }
    }
  }

  @Test("Colours are there only where they are asked for, and never change what is said")
  func colours() {
    let headline = "full brings the fleet back best"
    let text = headline + ": fast\nfile: error: x\n✓ full  1\nworse recovery_s: +3 %\n"
    #expect(
      marked(text, headline: headline)
        == "<1mfull brings the fleet back best>: fast\nfile: <1;31merror:> x\n<32m✓ full  1>\n"
        + "<31mworse recovery_s: +3 %>\n")
    #expect(pipe.prepared(text, headline: headline) == text)
    // In a narrow window each row of a headline is bold, and nothing behind it.
    let long = "one two three four five six seven eight nine ten"
    #expect(
      marked(long + " (5 seeds)\n", headline: long, columns: 40)
        == "<1mone two three four five six seven eight>\n<1mnine ten> (5 seeds)\n")
  }

  @Test("A table that is too wide breaks titles, then cells, then becomes blocks")
  func tables() {
    let table = TextTable(
      header: ["strategy", "recovered in", "extra attempts"],
      rows: [["decorrelated", "12 min 30 s\n± 1 min 12 s", "219\n± 3"], ["none", "never", "7"]])
    let wide = table.terminal(width: 60).split(separator: "\n")
    #expect(wide.count == 3 && wide[0].hasSuffix("recovered in  extra attempts"))
    #expect(wide[1] == "decorrelated  12 min 30 s ± 1 min 12 s         219 ± 3")
    let narrow = table.terminal(width: 40)
    #expect(
      narrow == """
                                       extra
        strategy      recovered in  attempts
        decorrelated   12 min 30 s       219
                      ± 1 min 12 s       ± 3
        none                 never         7

        """)
    #expect(
      table.terminal(width: 20) == """
        decorrelated
          recovered in    12 min 30 s ± 1 min 12 s
          extra attempts  219 ± 3
        none
          recovered in    never
          extra attempts  7

        """)
    for width in [20, 25, 30, 40, 60] {
      let rows = Set(table.terminal(width: width).split(separator: "\n").filter { $0.contains("never") })
      #expect(rows.count == 1, "no two names become the same")
    }
  }

  @Test("A table of words is cut at the end of them, where nothing else gives way")
  func words() {
    let table = TextTable(
      header: ["id", "what it says", "n"],
      rows: [["S1", String(repeating: "word ", count: 12), "7"]], words: 2)
    let lines = table.terminal(width: 40).split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 40 } && lines.last?.hasSuffix("…  7") == true)
  }

  @Test("A page of Markdown is readable: no marks of headings and code")
  func help() {
    let page = "### `a.csv`\n\nOne row.\n\n- `x_s` (s; default `1`): Time.\n  - `y`: Rest.\n"
    #expect(
      HelpScreen.readable(page) == "a.csv\n\nOne row.\n\n- x_s (s; default 1): Time.\n  - y: Rest.\n")
  }
}
