import Foundation
import Testing

@Suite("Documented commands")
struct DocumentedCommandTests {
  /// Every line that begins with `fleetsim` in a block of shell commands, continued lines joined, comments cut off.
  private static let commands: [(page: String, words: [String])] = {
    let sources = Tool.repository.appending(path: "Sources")
    let inside = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
    let pages = ["README.md"] + inside.filter { $0.hasSuffix(".md") }.map { "Sources/" + $0 }
    return pages.sorted().flatMap { page -> [(String, [String])] in
      guard let text = try? String(contentsOf: Tool.repository.appending(path: page), encoding: .utf8) else {
        return []
      }
      return text.components(separatedBy: "```sh\n").dropFirst().flatMap { block -> [(String, [String])] in
        let shell = block.components(separatedBy: "```")[0].replacing("\\\n", with: " ")
        return shell.split(separator: "\n").compactMap { line in
          let command = line.components(separatedBy: " #")[0]
          guard let start = command.firstMatch(of: #/^(?:swift run -c release )?fleetsim /#) else {
            return nil
          }
          return (page, command[start.range.upperBound...].split(separator: " ").map(String.init))
        }
      }
    }
  }()

  @Test("there are some in README and guides, fleetsim has their options, and their experiments are there")
  func commands() throws {
    #expect(Self.commands.count >= 20 && Self.commands.contains { $0.page == "README.md" })
    var screens: [String: String] = [:]
    for (page, words) in Self.commands {
      let name = words[0]
      let screen = try screens[name] ?? Scratch().run(["help", name]).standardOutput
      screens[name] = screen
      #expect(screen.hasPrefix("OVERVIEW"), "\(page): fleetsim \(name)")
      for option in words.dropFirst() where option.hasPrefix("--") {
        #expect(screen.contains("  \(option) "), "\(page): fleetsim \(name) \(option)")
      }
      for word in words where word.hasPrefix("experiments/") {
        let path = Tool.repository.appending(path: word).path
        #expect(FileManager.default.fileExists(atPath: path), "\(page): \(word)")
      }
    }
  }
}
