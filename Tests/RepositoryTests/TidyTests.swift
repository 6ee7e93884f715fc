import Foundation
import Testing

/// Habits that the linter does not know.
@Suite("Tidiness")
struct TidyTests {
  /// Files whose lines are data, each as long as its case.
  private static let data = [
    "Tests/ScenarioFormatTests/MessageGoldens": "a message stands on one line, as people see it",
    "Tests/ShippedClientsTests/RecordedSettingsTests.swift":
      "a Settings document that was recorded stands on one line",
    "Tests/FleetMetricsTests/CSVTests.swift": "a row of a CSV file stands on one line",
  ]

  @Test("no line has more than 150 characters, in comments and strings neither")
  func lineLength() throws {
    for path in Repository.sources where !Self.data.keys.contains(where: path.hasPrefix) {
      for (number, line) in try Repository.lines(path) {
        guard line.utf8.count > 150 else { continue }
        #expect(line.count <= 150, "\(path):\(number) has \(line.count)")
      }
    }
  }

  @Test("no file has more than 800 lines")
  func fileLength() throws {
    for path in Repository.sources {
      let count = try Repository.lines(path).count - 1
      #expect(count <= 800, "\(path) has \(count): it tells more than one story")
    }
  }

  /// Files of fewer than 30 lines that declare no type of their own name, and why they are files.
  private static let small = [
    "Sources/fleetsim/main.swift": "the program",
    "Sources/fleetsim/WallClock.swift": "the only place that reads a clock",
    "Sources/CommandLineInterface/SystemCalls.swift": "the only place that imports the system's library",
    "Sources/CMemory/include/CMemory.h": "a C target has a header",
    "Sources/ConformanceVectors/include/ConformanceVectors.h": "a C target has a header",
    "Sources/Playground/C/Musl.h": "declares what a browser's build takes from its C library",
    "Sources/Playground/StandIns/ShippedClients/SettingsDialect+Reading.swift":
      "has the name of what it stands in for",
    "Tests/TestOrder/TestOrder.c": "runs before Swift does",
    "Tests/TestOrder/include/TestOrder.h": "a C target has a header",
    "Tests/FleetMetricsTests/HandMade.swift": "records that several suites of the target make by hand",
    "Sources/ClientFiles/include/ClientFiles.h": "a C target has a header",
    "Sources/ReportFiles/include/ReportFiles.h": "a C target has a header",
    "Sources/CSystem/include/CSystem.h": "a C target has a header",
    "Sources/CSystem/CSystem.c": "calls of the system that Swift does not import",
    "Sources/ReportFiles/ReportFiles.c":
      "style sheets and a script of pages as the compiler's #embed takes them",
    "Tests/TestClients/ClientsOfFiles.swift": "policies of files, for tests of modules that read none",
  ]

  @Test("a file of fewer than 30 lines declares a type of its name, or has a reason")
  func smallFiles() throws {
    for path in Repository.sources where Self.small[path] == nil {
      guard try Repository.lines(path).count <= 30 else { continue }
      let text = try Repository.text(path)
      let name = path.split(separator: "/").last!.split(separator: ".")[0]
      let declares = try Regex(#"(?m)^(@\w+ )*.*\b(struct|enum|class|protocol|extension) \#(name)\b"#)
      #expect(text.contains(declares), "\(path) could be a part of another file")
    }
    for path in Self.small.keys { #expect(Repository.sources.contains(path), "\(path) is gone") }
  }

  @Test("no module of the program imports Foundation, which is nearly three quarters of a static one")
  func foundation() throws {
    for path in Repository.sources
    where path.hasPrefix("Sources/")
      && !path.hasPrefix("Sources/RetryStateStore/")
    {
      let text = try Repository.text(path)
      guard text.holds("import Foundation") else { continue }
      #expect(!text.contains(/(?m)^ *[a-z]* ?import Foundation/), "\(path)")
    }
  }

  @Test("package, pages, CI and containers name one version of Swift")
  func swiftVersion() throws {
    let package = try Repository.text("Package.swift")
    let version = try #require(package.firstMatch(of: /^\/\/ swift-tools-version: (\d+\.\d+)\n/)).1
    let guides = Repository.pages.filter { $0 == "README.md" || $0.contains(".docc/") }
    let scripts = Repository.files(in: [".ci", ".github", "experiments/app"], [""])
    let naming = /(?:swift-tools-version: |\bswift:|\bSwift |toolchain, )(\d+\.\d+)/
    var named = 0
    for path in guides + scripts {
      guard let text = try? Repository.text(path) else { continue }
      for line in text.lines where String(line).holds("wift") || String(line).holds("toolchain, ") {
        for match in line.matches(of: naming) {
          named += 1
          #expect(match.1 == version, "\(path): \(match.0)")
        }
      }
    }
    #expect(named >= 10)
  }

  @Test("CI takes actions by their commit, and packages of Python by their hashes")
  func pinned() throws {
    let scripts =
      Repository.files(in: [".ci", ".github"], [""]) + Repository.files(in: ["experiments"], [".sh", ".py"])
    var (actions, packages) = (0, 0)
    for path in scripts {
      for line in (try? Repository.text(path))?.lines ?? [] {
        if line.contains(/^[ -]*uses: [^.]/) {
          actions += 1
          #expect(line.contains(#/@[0-9a-f]{40} /#), "\(path): \(line)")
        }
        if line.contains(/\bpip"? install\b/) {
          packages += 1
          #expect(line.contains(/--require-hashes -r [\w\/.]*requirements\.lock/), "\(path): \(line)")
        }
      }
    }
    #expect(actions >= 10 && packages >= 5)
  }

  @Test("the changelog has an Unreleased section first, and Added, Changed and Fixed in each")
  func changelog() throws {
    let lines = try Repository.lines("CHANGELOG.md").map(\.line)
    let releases = lines.filter { $0.hasPrefix("## ") }
    #expect(lines.first == "# Changelog" && releases.first == "## Unreleased")
    var section: Substring?
    for line in lines.dropFirst() {
      if line.hasPrefix("## ") { section = nil }
      if line.hasPrefix("### ") {
        section = line.dropFirst(4)
        #expect(["Added", "Changed", "Fixed"].contains(section), "\(line)")
      }
      if line.hasPrefix("- ") { #expect(section != nil, "\(line) stands in no section") }
    }
  }

  @Test("the guides and the engine have no words that only their author understands")
  func privateWords() throws {
    let guides = Repository.pages.filter { $0 == "README.md" || $0.contains(".docc/") }
    let engine = Repository.sources.filter {
      $0.hasPrefix("Sources/FleetSimulation/") || $0.hasPrefix("Sources/TAPIModel/")
    }
    for path in guides + engine {
      let text = try Repository.text(path).lowercased()
      for word in ["quiet", "alike", "plainly", "patient", "the long way"] {
        // The commands have an option --quiet.
        if word == "quiet", guides.contains(path) { continue }
        #expect(!text.holds(word), "\(path): \(word)")
      }
    }
  }
}
