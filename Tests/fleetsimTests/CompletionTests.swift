import CommandLineInterface
import Foundation
import Testing

/// What shells complete, and the manual page: both are made of the declarations of the commands.
@Suite("Completions and the manual page")
struct CompletionTests {
  private static let script =
    (try? Tool.run(["help", "completions", "bash"], in: Tool.repository).standardOutput) ?? ""

  /// What bash has to offer for a line, with the cursor at its end: the words that readline would be given, sorted.
  private static let expected: [(line: String, words: [String])] = [
    ("fleetsim val", ["validate"]), ("fleetsim d", ["decide"]),
    ("fleetsim --v", ["--version"]),
    ("fleetsim compare --se", ["--seed", "--seeds", "--set", "--settings"]),
    (
      "fleetsim compare cdn.json --jitter ",
      [
        "additive:10", "additive:10:2s", "additive:2s", "between:2s:10s", "decorrelated", "equal", "full",
        "none", "symmetric:10",
      ]
    ),
    ("fleetsim compare cdn.json --jitter none,f", ["none,full"]),
    ("fleetsim compare cdn.json --jitter full,none,f", []),
    (
      "fleetsim compare cdn.json --jitter=none,add",
      ["none,additive:10", "none,additive:10:2s", "none,additive:2s"]
    ),
    ("fleetsim compare cdn.json --jitter additive:", ["10", "10:2s", "2s"]),
    ("fleetsim check cdn.json --format=", ["github", "junit", "text"]),
    ("fleetsim presets toggl", ["toggl", "toggl-push"]),
    ("fleetsim conformance --client data", ["datafly"]),
    ("fleetsim tune --objective undel", ["undelivered_events"]),
    ("fleetsim init --client toggl-", ["toggl-push"]), ("fleetsim run --color a", ["always", "auto"]),
    ("fleetsim help exit", ["exit-codes"]),
    ("fleetsim help completions ", ["bash", "fish", "json", "scenario", "zsh"]),
    ("fleetsim run c", ["cdn.json"]), ("fleetsim run --settings ", ["cdn.json", "out"]),
    ("fleetsim run --out ", ["out"]), ("fleetsim report o", ["out"]),
    ("fleetsim run --seed ", []), ("fleetsim unknown ", []),
  ]

  /// What it offers, a line each, by one shell for all of them.
  private static let offered: (lines: [String], complaints: String) = {
    // Readline takes = and : for words of their own.
    let driver = #"""
      eval "$0"
      for COMP_LINE in "$@"; do
        COMP_POINT=${#COMP_LINE}
        text=${COMP_LINE//=/ = }; text=${text//:/ : }
        read -r -a COMP_WORDS <<<"$text"
        case $COMP_LINE in *' ') COMP_WORDS+=('') ;; esac
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMPREPLY=()
        _fleetsim
        printf '%s\n' "$(printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | tr '\n' ' ')"
      done
      """#
    guard let scratch = try? Scratch(["cdn.json": "{}", "out/x": ""]) else { return ([], "no folder") }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["--norc", "--noprofile", "-c", driver, script] + expected.map(\.line)
    process.currentDirectoryURL = scratch.url
    let path = Tool.executable.deletingLastPathComponent().path + ":" + (Running.variables["PATH"] ?? "")
    process.environment = Running.variables.merging(["PATH": path]) { $1 }
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    do { try process.run() } catch { return ([], "\(error)") }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complaints = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init), complaints)
  }()

  @Test("bash completes commands, options and their values", arguments: expected.indices)
  func bash(place: Int) throws {
    let (line, words) = Self.expected[place]
    #expect(Self.offered.complaints == "")
    let offered = try #require(Self.offered.lines.indices.contains(place) ? Self.offered.lines[place] : nil)
    #expect(offered.split(separator: " ").map(String.init) == words, "\(line)")
  }

  static let commands = CommandSpecification.fleetsim.subcommands

  func text(_ arguments: [String]) throws -> String {
    try Scratch().run(arguments, code: 0, says: "").standardOutput
  }

  /// What is offered for a line, without the meanings.
  private func offers(_ line: String) throws -> [String] {
    try text(["help", "complete", line]).split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
  }

  @Test(
    "every option of every command is offered; a transcript has what is offered where an argument stands")
  func offers() throws {
    for command in Self.commands {
      let offered = try offers("fleetsim \(command.name) --")
      #expect(offered == command.options.map { "--\($0.name)" } + ["--color", "--version", "--help"])
    }
    #expect(try offers("") == offers("fleetsim "))
  }

  @Test("the manual page has every command, option and exit code, in mdoc that is well formed")
  func manual() throws {
    let lines = try text(["help", "man"]).components(separatedBy: "\n")
    let sections = lines.filter { $0.hasPrefix(".Sh ") }
    #expect(sections == ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES"].map { ".Sh " + $0 })
    for command in Self.commands {
      let start = try #require(lines.firstIndex(of: ".Ss \(command.name)"))
      let part = lines[(start + 1)...].prefix { !$0.hasPrefix(".S") }
      for option in command.options {
        let end = "Fl \\-\(option.name)\(option.valueName.map { " Ar " + $0 } ?? "")"
        #expect(
          part.contains { $0.hasPrefix(".It ") && $0.hasSuffix(end) }, "\(command.name) --\(option.name)")
      }
      #expect(part.count { $0 == ".El" } == part.count { $0.hasPrefix(".Bl ") })
      #expect(part.count { $0 == ".Ed" } == part.count { $0.hasPrefix(".Bd ") })
    }
    #expect(lines.contains(".It 131") && lines.contains { $0.hasPrefix("Quit (Ctrl-\\e);") })
    let known = [
      "Dd", "Dt", "Os", "Sh", "Ss", "Nm", "Nd", "Cm", "Ar", "Op", "Pp", "Bl", "It", "El", "Bd", "Ed",
    ]
    for line in lines.dropLast() {
      #expect(!line.isEmpty && !line.hasPrefix("'"))
      if line.hasPrefix(".") { #expect(known.contains(String(line.dropFirst().prefix(2))), "\(line)") }
    }
    // A sentence begins a line, and none of text is long: mandoc's lint asks for both.
    for line in lines where !line.hasPrefix(".") && !line.contains("fleetsim ") {
      #expect(line.count <= 80 && !line.contains(/[.] [A-Z]/), "\(line)")
    }
  }
}
