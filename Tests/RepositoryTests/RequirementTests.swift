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

  /// How a number of a requirement begins.
  private static let openings = ["S", "K", "O", "T", "D", "J"].flatMap { letter in
    (0...9).map { "\(letter)\($0)" }
  }

  /// What looks like the number of a requirement: in pages anywhere, in sources behind `//` and where it is a whole string.
  private static func numbers(in text: String, isPage: Bool) -> [(line: Int, id: String)] {
    var found: [(Int, String)] = []
    text.withCString { bytes in
      func byte(_ index: Int) -> UInt8 { index < 0 ? 0 : UInt8(bitPattern: bytes[index]) }
      /// Whether `//` is before a place in its line.
      func isComment(_ start: Int) -> Bool {
        var place = start - 1
        while place > 0, byte(place) != UInt8(ascii: "\n") {
          if byte(place) == UInt8(ascii: "/"), byte(place - 1) == UInt8(ascii: "/") { return true }
          place -= 1
        }
        return false
      }
      let quote = UInt8(ascii: "\"")
      for opening in openings {
        var place = bytes
        while let match = strstr(place, opening) {
          let start = UnsafePointer(match) - bytes
          place = UnsafePointer(match) + 2
          let end = start + (Repository.isDigit(byte(start + 2)) ? 3 : 2)
          guard !Repository.isWord(byte(start - 1)), !Repository.isWord(byte(end)) else { continue }
          let isString = byte(start - 1) == quote && byte(end) == quote
          guard isPage || isString || isComment(start) else { continue }
          let id = (start..<end).map { Character(Unicode.Scalar(byte($0))) }
          let line = (0..<start).count { byte($0) == UInt8(ascii: "\n") } + 1
          found.append((line, String(id)))
        }
      }
    }
    return found
  }

  @Test("every page that a comment names is there, and so is its section")
  func pages() throws {
    let pages = Dictionary(grouping: Repository.pages) { String($0.split(separator: "/").last!) }
    for path in Repository.sources where try Repository.text(path).holds(".md") {
      for (number, line) in try Repository.lines(path) where String(line).holds(".md") {
        guard let comment = line.firstMatch(of: #/\/\/.*\.md.*/#)?.0 else { continue }
        for match in comment.matches(of: #/([\w-]+\.md)(?:, ([^).:]+)\))?/#) {
          let found = try #require(pages[String(match.1)], "\(path):\(number): \(match.1)")
          guard let section = match.2 else { continue }
          let texts = try found.map(Repository.text)
          #expect(texts.contains { $0.holds("\n## \(section)\n") }, "\(path):\(number): \(match.0)")
        }
      }
    }
  }
}
