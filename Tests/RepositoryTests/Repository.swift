import Foundation

/// The files of this repository, as its documents and its habits see them.
enum Repository {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
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
    var suites: [String: Set<String>] = [:]
    for path in files(in: ["Tests"], [".swift"]) {
      guard let text = try? text(path), text.contains("@Test") else { continue }
      for match in text.matches(
        of: /(?m)^(?:@\w+(?:\(.*\))? )*(?:(?:final|private) )*(?:struct|enum|class|extension) (\w+)/)
      {
        suites[String(path.split(separator: "/")[1]), default: []].insert(String(match.1))
      }
    }
    return suites
  }()

  /// Every word of the sources.
  static let words: Set<String> = {
    var words: Set<String> = []
    for path in sources {
      guard let text = try? text(path) else { continue }
      words.formUnion(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    }
    return words
  }()

  /// The Swift and C sources, tests among them.
  static let sources = ["Package.swift"] + files(in: ["Sources", "Tests"], [".swift", ".c", ".h"])
}

/// A page of Markdown without its code.
struct Page {
  /// Its lines; those of code blocks are empty.
  let prose: [Substring]
  /// The blocks of code, by the language after the fence.
  let blocks: [(language: String, text: String)]

  init(_ path: String) throws { self.init(text: try Repository.text(path)) }

  init(text: String) {
    var prose: [Substring] = []
    var blocks: [(language: String, text: String)] = []
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
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
  }

  /// Where its links and pictures lead, with the line that each stands on.
  var links: [(line: Int, target: String)] {
    prose.enumerated().flatMap { index, line in
      line.replacing(/`[^`]*`/, with: "`").matches(of: /\]\(([^)\s]+)\)/).map { (index + 1, String($0.1)) }
    }
  }

  /// The names by which GitHub links to its headings.
  var anchors: Set<String> {
    Set(
      prose.filter { $0.hasPrefix("#") }.map { heading in
        heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
          .replacing(/[^\p{L}\p{N}_ -]/, with: "").replacing(" ", with: "-")
      })
  }
}
