import Foundation

/// The files of this repository, as its documents and its habits see them.
enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    if let text = texts[path] { return text }
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The lines of a file, with their numbers.
  static func lines(_ path: String) throws -> [(number: Int, line: Substring)] {
    let lines = try splitSources[path] ?? text(path).lines
    return lines.enumerated().map { ($0 + 1, $1) }
  }

  static func page(_ path: String) throws -> Page {
    if let page = parsedPages[path] { return page }
    return Page(text: try text(path))
  }

  /// What is read once for all tests.
  private static let texts: [String: String] = {
    var texts: [String: String] = [:]
    for path in sources + pages {
      texts[path] = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
    return texts
  }()

  /// The lines of the sources, split once for all tests.
  private static let splitSources: [String: [Substring]] = {
    var lines: [String: [Substring]] = [:]
    for path in sources { lines[path] = try? text(path).lines }
    return lines
  }()

  private static let parsedPages: [String: Page] = {
    var parsed: [String: Page] = [:]
    for path in pages { parsed[path] = (try? text(path)).map { Page(text: $0) } }
    return parsed
  }()

  /// The path of a place in the repository, from the root on.
  static func path(of place: URL) -> String {
    String(place.path.dropFirst(root.standardized.path.count + 1))
  }

  /// The paths under these folders, from the root on, that end in one of `endings`; in order.
  static func files(in folders: [String], _ endings: [String]) -> [String] {
    folders.flatMap { folder -> [String] in
      let inside = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      return (inside?.compactMap { $0 as? String } ?? [])
        .filter { path in endings.contains { path.hasSuffix($0) } }
        .map { folder + "/" + $0 }
    }.sorted()
  }

  /// Every page that people read: README, CHANGELOG, the catalogs, and the pages of experiments, results and tests.
  static let pages =
    ["README.md", "CHANGELOG.md"] + files(in: ["Sources", "Tests", "experiments", "results"], [".md"])

  /// The suites of each test target, which `swift test --filter` takes beside the targets' names; a file's name is none.
  static let suites: [String: Set<String>] = {
    let declaration = /(?:@\w+(?:\(.*\))? )*(?:(?:final|private) )*(?:struct|enum|class|extension) (\w+)/
    var suites: [String: Set<String>] = [:]
    for path in files(in: ["Tests"], [".swift"]) {
      guard let text = try? text(path), text.holds("@Test"), let lines = try? lines(path) else { continue }
      // What is indented declares nothing for the whole file.
      for (_, line) in lines where line.utf8.first.map({ $0 != UInt8(ascii: " ") }) ?? false {
        guard let match = line.prefixMatch(of: declaration) else { continue }
        suites[String(path.split(separator: "/")[1]), default: []].insert(String(match.1))
      }
    }
    return suites
  }()

  /// The sources, one after the other.
  private static let code = sources.map { (try? text($0)) ?? "" }.joined(separator: "\n")

  /// Whether the sources have a word, alone or between what is part of no word.
  static func hasWord(_ word: String) -> Bool {
    code.withCString { code in
      var place = code
      while let found = strstr(place, word) {
        let end = found + word.utf8.count
        let isAtBeginning = UnsafePointer(found) == code || !isWord(UInt8(bitPattern: found[-1]))
        if isAtBeginning, !isWord(UInt8(bitPattern: end[0])) { return true }
        place = UnsafePointer(end)
      }
      return false
    }
  }

  /// Whether a byte is of a word: a letter, a digit, an underscore, or a part of a character outside ASCII.
  static func isWord(_ byte: UInt8) -> Bool {
    byte == 95 || byte >= 128 || isDigit(byte) || (byte & 0xDF >= 65 && byte & 0xDF <= 90)
  }

  static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

  /// The Swift and C sources, tests among them.
  static let sources = ["Package.swift"] + files(in: ["Sources", "Tests"], [".swift", ".c", ".h"])
}

// The tests are not optimised: what looks at each byte is left to the system's library.
extension String {
  /// Whether a text is in it, byte by byte.
  func holds(_ part: String) -> Bool { withCString { strstr($0, part) != nil } }

  /// Its lines; the last is empty where it ends in a line feed.
  var lines: [Substring] {
    var ends: [Int] = []
    withCString { bytes in
      var place = bytes
      while let end = strchr(place, 10) {
        ends.append(UnsafePointer(end) - bytes)
        place = UnsafePointer(end) + 1
      }
    }
    var (lines, start) = ([Substring](), startIndex)
    for end in ends {
      let end = utf8.index(startIndex, offsetBy: end)
      lines.append(self[start..<end])
      start = utf8.index(after: end)
    }
    return lines + [self[start...]]
  }
}

/// A page of Markdown without its code.
struct Page {
  /// Its lines; those of code blocks are empty.
  let prose: [Substring]
  /// The blocks of code, by the language after the fence.
  let blocks: [(language: String, text: String)]
  /// Where its links and pictures lead, with the line that each stands on.
  let links: [(line: Int, target: String)]
  /// The names by which GitHub links to its headings.
  let anchors: Set<String>

  init(text: String) {
    var prose: [Substring] = []
    var blocks: [(language: String, text: String)] = []
    var isInside = false
    for line in text.lines {
      let isFence = line.drop { $0 == " " }.hasPrefix("```")
      if isFence {
        if !isInside { blocks.append((String(line.drop { $0 == " " || $0 == "`" }), "")) }
        isInside.toggle()
      } else if isInside {
        blocks[blocks.count - 1].text += line + "\n"
      }
      prose.append(isFence || isInside ? "" : line)
    }
    self.prose = prose
    self.blocks = blocks
    links = Self.links(prose)
    anchors = Self.anchors(prose)
  }

  private static func links(_ prose: [Substring]) -> [(line: Int, target: String)] {
    let (code, link) = (/`[^`]*`/, /\]\(([^)\s]+)\)/)
    return prose.enumerated().flatMap { index, line -> [(Int, String)] in
      guard String(line).holds("](") else { return [] }
      return line.replacing(code, with: "`").matches(of: link).map { (index + 1, String($0.1)) }
    }
  }

  private static func anchors(_ prose: [Substring]) -> Set<String> {
    let mark = /[^\p{L}\p{N}_ -]/
    return Set(
      prose.filter { $0.hasPrefix("#") }.map { heading in
        heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
          .replacing(mark, with: "").replacing(" ", with: "-")
      })
  }
}
