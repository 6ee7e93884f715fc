import Foundation
import Testing

@Suite("Links of the documents")
struct LinkTests {
  @Test("every link leads to a file, and to a heading of it", arguments: Repository.pages)
  func resolve(page path: String) throws {
    let page = try Repository.page(path)
    let scheme = /^[a-z]+:/
    for (line, target) in page.links where target.firstMatch(of: scheme) == nil {
      let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let folder = Repository.root.appending(path: path).deletingLastPathComponent()
      let file = parts[0].isEmpty ? path : String(parts[0])
      let place = (parts[0].isEmpty ? Repository.root : folder).appending(path: file).standardized
      #expect(FileManager.default.fileExists(atPath: place.path), "\(path):\(line): \(target) leads nowhere")
      guard parts.count == 2, place.pathExtension == "md",
        let named = try? Repository.page(Repository.path(of: place))
      else { continue }
      #expect(
        named.anchors.contains(String(parts[1])),
        "\(path):\(line): \(target) leads to no heading")
    }
  }

  @Test("every path of a source that a page names is there", arguments: Repository.pages)
  func paths(page: String) throws {
    let text = try Repository.text(page)
    guard ["`Sources/", "`Tests/", "`experiments/"].contains(where: text.holds) else { return }
    let named = text.matches(of: /`((?:Sources|Tests|experiments)\/[\w.+\/-]+)`/)
    for path in named.map(\.1) {
      let place = Repository.root.appending(path: String(path))
      #expect(FileManager.default.fileExists(atPath: place.path), "\(page) names \(path)")
    }
  }

  @Test("every suite that a page names is one that `--filter` finds", arguments: Repository.pages)
  func suites(page: String) throws {
    let text = try Repository.text(page)
    guard text.holds("Tests") else { return }
    let names = Repository.suites.reduce(into: []) { $0 += [$1.key] + $1.value }
    for name in text.matches(of: /\b[A-Z]\w*Tests\b/).map({ String($0.0) }) {
      #expect(names.contains(name), "\(page) names \(name), which is no suite and no test target")
    }
  }

  @Test(
    "every command of tests in a page filters suites of the targets that it builds",
    arguments: Repository.pages)
  func filters(page: String) throws {
    let text = try Repository.text(page)
    guard text.holds("swift test") else { return }
    let commands =
      text
      .matches(of: /(?:FLEETSIM_TESTS=([\w,]+) )?swift test[^`\n]*? --filter '?([\w|\\]+)/)
    for command in commands {
      let targets = command.1?.split(separator: ",").map(String.init) ?? Array(Repository.suites.keys)
      let names = targets.flatMap { [$0] + (Repository.suites[$0] ?? []) }
      for word in command.2.split(whereSeparator: { #"\|"#.contains($0) }) {
        #expect(names.contains { $0.hasPrefix(word) }, "\(page): \(command.0): there is no \(word)")
      }
    }
  }

  @Test(
    "every name of the code that a page of how to add something has is in the code",
    arguments: Repository.pages.filter { $0.contains("/adding-") })
  func names(page: String) throws {
    let prose = try Repository.page(page).prose.joined(separator: "\n")
    for (_, name) in prose.matches(of: /`([A-Za-z]\w*(?:\.\w+)*)(?:\([\w:]*\)|[!?])?`/).map(\.output) {
      if name.hasSuffix(".swift") {
        #expect(Repository.sources.contains { $0.hasSuffix("/\(name)") }, "\(page) names \(name)")
      } else {
        let words = name.split(separator: ".").map(String.init)
        #expect(words.allSatisfy(Repository.hasWord), "\(page) names \(name)")
      }
    }
  }

  @Test("every client file is in the list of those that the binary carries")
  func clients() throws {
    let list = try Repository.text("Sources/ClientFiles/ClientFiles.c")
    for path in Repository.files(in: ["Sources/ClientFiles/clients"], [".json5"]) {
      let name = path.dropFirst("Sources/ClientFiles/clients/".count).dropLast(".json5".count)
      let entry =
        "{\"\(name)\", false, (const char[]){\n#embed \"clients/\(name).json5\" suffix(, 0)\n    }},"
      #expect(
        list.replacing("true, (", with: "false, (").contains(entry),
        "Sources/ClientFiles/ClientFiles.c needs the entry \(entry)")
    }
  }

  @Test("every page of a catalog can be reached from the README")
  func reachable() throws {
    var reached: Set<String> = []
    var open = ["README.md"]
    while let path = open.popLast() {
      guard reached.insert(path).inserted else { continue }
      let folder = Repository.root.appending(path: path).deletingLastPathComponent()
      for (_, target) in try Repository.page(path).links
      where target.hasSuffix(".md") && !target.contains(":") {
        open.append(Repository.path(of: folder.appending(path: target).standardized))
      }
    }
    for page in Repository.pages where page.contains(".docc/") { #expect(reached.contains(page), "\(page)") }
  }

  @Test("the catalog's first page lists every page by need, in the order of the folders")
  func listed() throws {
    let folder = "Sources/fleetsim/fleetsim.docc/"
    let links = try Repository.page(folder + "fleetsim.md").links.map(\.target).filter {
      !$0.hasPrefix("../")
    }
    let pages = Repository.pages.filter { $0.hasPrefix(folder) && !$0.contains("/adding-") }
    #expect(Set(links) == Set(pages.map { String($0.dropFirst(folder.count)) }).subtracting(["fleetsim.md"]))
    let folders = links.map { $0.prefix { $0 != "/" } }
    #expect(folders == folders.sorted())
  }

  @Test("the README has at most 12 KB")
  func readme() throws { #expect(try Repository.text("README.md").utf8.count <= 12 << 10) }
}
