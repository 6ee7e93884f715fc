import Foundation
import Testing

/// What comments cite must be there for whoever reads them.
@Suite("What comments cite")
struct RequirementTests {
  private static let page = "Sources/fleetsim/fleetsim.docc/3-reference/requirements.md"

  /// The numbers that have a row in the page.
  private static func entries() throws -> [String] {
    try Repository.text(page).matches(of: #/\n\| ([A-Z]\d*) \|/#).map { String($0.1) }
  }

  @Test("every requirement has one entry, in order")
  func order() throws {
    let entries = try Self.entries()
    var last: (letter: Character, number: Int)?
    for entry in entries where entry.count > 1 {
      let (letter, number) = (entry.first!, Int(entry.dropFirst())!)
      #expect(number == (last?.letter == letter ? last!.number + 1 : 1), "\(entry)")
      last = (letter, number)
    }
    #expect(Set(entries.map { $0.prefix(1) }) == ["S", "K", "O", "T", "D", "J"])
  }

  @Test("every number of a requirement in a comment, a string or a page has an entry")
  func cited() throws {
    let entries = Set(try Self.entries())
    for path in Repository.sources + Repository.pages {
      for (line, id) in Self.numbers(in: try Repository.text(path), isPage: path.hasSuffix(".md")) {
        #expect(entries.contains(id), "\(path):\(line): \(id)")
      }
    }
  }

  /// What looks like the number of a requirement: in pages anywhere, in sources behind `//` and where it is a whole string.
  private static func numbers(in text: String, isPage: Bool) -> [(line: Int, id: String)] {
    let bytes = Array(text.utf8)
    func byte(_ index: Int) -> UInt8 { bytes.indices.contains(index) ? bytes[index] : 0 }
    func isWord(_ byte: UInt8) -> Bool {
      byte == 95 || byte >= 128 || isDigit(byte) || (65...90).contains(byte & 0xDF)
    }
    func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    var found: [(Int, String)] = []
    var (line, isComment) = (1, false)
    for (start, letter) in bytes.enumerated() {
      if letter == UInt8(ascii: "\n") { (line, isComment) = (line + 1, false) }
      if letter == UInt8(ascii: "/"), byte(start + 1) == letter { isComment = true }
      guard "SKOTDJ".utf8.contains(letter), !isWord(byte(start - 1)), isDigit(byte(start + 1)) else {
        continue
      }
      let end = start + (isDigit(byte(start + 2)) ? 3 : 2)
      let quote = UInt8(ascii: "\"")
      let isString = byte(start - 1) == quote && byte(end) == quote
      guard !isWord(byte(end)), isPage || isComment || isString else { continue }
      found.append((line, String(decoding: bytes[start..<end], as: UTF8.self)))
    }
    return found
  }

  @Test("every page that a comment names is there, and so is its section")
  func pages() throws {
    let pages = Dictionary(grouping: Repository.pages) { String($0.split(separator: "/").last!) }
    for path in Repository.sources where try Repository.text(path).contains(".md") {
      for (number, line) in try Repository.lines(path) {
        guard let comment = line.firstMatch(of: #/\/\/.*\.md.*/#)?.0 else { continue }
        for match in comment.matches(of: #/([\w-]+\.md)(?:, ([^).:]+)\))?/#) {
          let found = try #require(pages[String(match.1)], "\(path):\(number): \(match.1)")
          guard let section = match.2 else { continue }
          let texts = try found.map(Repository.text)
          #expect(texts.contains { $0.contains("\n## \(section)\n") }, "\(path):\(number): \(match.0)")
        }
      }
    }
  }
}

extension Repository {
  static func lines(_ path: String) throws -> [(number: Int, line: Substring)] {
    try text(path).utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
      .map {
        ($0 + 1, Substring($1))
      }
  }
}
