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
    ("fleetsim trace cdn.json --format p", ["perfetto"]),
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
    guard let scratch = try? Scratch() else { return ([], "no folder") }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["--norc", "--noprofile", "-c", driver, script] + expected.map(\.line)
    process.currentDirectoryURL = scratch.url
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    do {
      try scratch.write("cdn.json", "{}")
      try scratch.write("out/x", "")
      try process.run()
    } catch {
      return ([], "\(error)")
    }
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
    let scratch = try Scratch()
    let output = try scratch.run(arguments)
    #expect(output.code == 0 && output.standardError == "")
    return output.standardOutput
  }

  @Test("zsh and fish know every option of every command")
  func otherShells() throws {
    let (zsh, fish) = (
      try text(["help", "completions", "zsh"]), try text(["help", "completions", "fish"])
    )
    #expect(zsh.hasPrefix("#compdef fleetsim\n"))
    for command in Self.commands {
      let part = try #require(zsh.components(separatedBy: "\n    \(command.name)) _arguments ").last)
        .components(separatedBy: ";;")[0]
      for option in command.options {
        let zshForm =
          "--\(option.name)" + (option.short != nil ? "}" : option.valueName == nil ? "'[" : "'=[")
        #expect(part.contains(zshForm), "\(command.name) \(zshForm)")
        #expect(
          fish.contains(
            "-n '__fleetsim_at \(command.name)' \(option.short.map { "-s \($0) " } ?? "")-l \(option.name) "))
      }
    }
    #expect(zsh.contains("scenario'\\''s, for the clients that fetch any]:file:_files'"))
    #expect(
      zsh.contains(
        #":a,b,c:_sequence compadd - none additive\:10 additive\:2s additive\:10\:2s symmetric\:10 "#
          + #"full equal decorrelated between\:2s\:10s'"#))
    #expect(zsh.contains("'1::a,b,c:_sequence compadd - tapi-document segment-swift "))
    #expect(zsh.contains("'2::what:(scenario json bash zsh fish)'"))
    #expect(
      fish.contains("-l out -x -a '(__fish_complete_directories)'") && fish.contains("-l settings -r -F"))
    // Quotes of each line are closed.
    for line in fish.split(separator: "\n") where line.hasPrefix("complete") {
      #expect(line.replacing("\\'", with: "").count { $0 == "'" } % 2 == 0, "\(line)")
    }
  }

  @Test(
    "an unknown shell is 64, with those that there are; so is a word too many",
    arguments: [
      (["completions", "tcsh"], "There are no completions for 'tcsh'; there are for bash, zsh, fish."),
      (["completions"], "Missing expected argument '<what>': one of bash, zsh, fish."),
      (["man", "run"], "Unexpected argument 'run'"), (["run", "json"], "Unexpected argument 'json'"),
    ])
  func unknownShell(words: [String], message: String) throws {
    let scratch = try Scratch()
    let output = try scratch.run("help", words, code: 64)
    #expect(output.standardError.hasPrefix("Error: \(message)\n"))
  }

  @Test("the manual page has every command, option and exit code, in mdoc that is well formed")
  func manual() throws {
    let lines = try text(["help", "man"]).split(separator: "\n", omittingEmptySubsequences: false).map(
      String.init)
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
