import Testing

/// How plain the documents are: sentences of at most 25 words, which begin with what they are about.
@Suite("Prose")
struct ProseTests {
  /// A sentence may have so many words; some need more.
  private static let longest = 25
  private static let inverted = ["What", "Who", "Whoever", "Of", "That", "Nor", "So", "None", "Where"]

  /// README, the guides, and the pages of the experiments.
  private static let pages = Repository.pages.filter {
    $0 == "README.md" || $0.contains(".docc/") || $0.hasPrefix("experiments/")
  }

  /// The sentences of each page, told apart once for all tests.
  private static let pageSentences: [String: [Substring]] = {
    var all: [String: [Substring]] = [:]
    for path in pages { all[path] = (try? Repository.text(path)).map(sentences) }
    return all
  }()

  /// The sentences of a page, without its code, tables, headings, pictures and addresses.
  static func sentences(_ text: String) -> [Substring] {
    let lines = text.replacing(#/(?s)```.*?```/#, with: "").split(
      separator: "\n", omittingEmptySubsequences: false)
    let prose = lines.filter { line in
      let opening = line.drop { $0.isWhitespace }
      return !["|", "#", "<", "!["].contains(where: { opening.hasPrefix($0) })
    }.joined(separator: "\n").replacing(#/\[([^\]]*)\]\([^)]*\)/#) { $0.1 }
    let paragraphs = prose.split(separator: #/\n\s*\n|\n\s*[-*][ ]|\n\s*\d+\.[ ]/#)
    return paragraphs.flatMap { paragraph -> [Substring] in
      let line = paragraph.trimmingPrefix(#/\s*([-*]|\d+\.)[ ]/#).split { $0.isWhitespace }.joined(
        separator: " ")
      var (sentences, start) = ([Substring](), line.startIndex)
      for match in line.matches(of: #/[.?!][ ](?=[A-Z*`])/#) {
        sentences.append(line[start..<match.range.upperBound])
        start = match.range.upperBound
      }
      return sentences + [line[start...]]
    }.filter { $0.split(separator: " ").count >= 3 }
  }

  private static func isLong(_ sentence: Substring) -> Bool { sentence.split(separator: " ").count > longest }

  private static func isInverted(_ sentence: Substring) -> Bool {
    guard let first = sentence.split(separator: " ").first else { return false }
    return inverted.contains(String(first)) && sentence.last { !$0.isWhitespace } != "?"
  }

  @Test("sentences are told apart, and links count by their text")
  func counting() {
    let text = """
      # What is this?

      One [two three](a/b.md). *Four* five six? Of all.

      - What it is stands last.
        It goes on.

      | a | b |

      ```sh
      no sentence at all
      ```
      """
    let sentences = Self.sentences(text)
    #expect(sentences.map { $0.split(separator: " ").count } == [3, 3, 5, 3])
    #expect(sentences.filter(Self.isInverted).count == 1)
  }

  @Test("at most 12 % of the documents' sentences have more than 25 words, and at most 1 % are turned round")
  func plain() throws {
    var (all, long, inverted) = (0, [String](), [String]())
    for path in Self.pages {
      for sentence in try #require(Self.pageSentences[path]) {
        all += 1
        if Self.isLong(sentence) { long.append("\(path): \(sentence)") }
        if Self.isInverted(sentence) { inverted.append("\(path): \(sentence)") }
      }
    }
    #expect(all > 2_000)
    #expect(long.count * 100 <= 12 * all, "\(long.joined(separator: "\n"))")
    #expect(inverted.count * 100 <= all, "\(inverted.joined(separator: "\n"))")
  }

  @Test("no page has a third of its sentences long", arguments: pages)
  func page(path: String) throws {
    let sentences = try #require(Self.pageSentences[path])
    #expect(sentences.count(where: Self.isLong) * 3 <= max(sentences.count, 6), "\(path)")
  }
}
