import CommandLineInterface
import FleetExperiments
import Foundation
import Testing

/// Ctrl-C and other signals: noted by a command, and in a process of its own.
@Suite("Interruption")
struct InterruptionTests {
  @Test("a log gets a line of progress each half minute, and none of what is quiet or short")
  func progressInLogs() throws {
    for isShown in [true, false] {
      let log = try Capture()
      var (times, asked): ([Double], Int) = ([], 0)
      var lines: [Substring] { log.text.split(separator: "\n") }
      func progress() -> ComparisonControl.Progress {
        asked += 1
        return ComparisonControl().progress
      }
      var line = ProgressLine(
        isShown: isShown, startedAt: 100, Console(errors: log.descriptor, variables: [:]))
      for now in stride(from: 100.0, through: 200, by: 1) {
        let before = lines.count
        line.update(progress(), now: now)
        if lines.count > before { times.append(now - 100) }
      }
      #expect(times == (isShown ? [31, 62, 93] : []))
      // The sums are made for what is shown alone.
      #expect(asked == times.count)
      #expect(lines.allSatisfy { $0.hasPrefix("virtual ") } && (log.text.isEmpty || log.text.hasSuffix("\n")))
    }
  }

  @Test("SIGTERM ends a command while it reads or parses a large input, wherever the input is")
  func largeInput() throws {
    let scratch = try Scratch.with()
    // Some 15 MB that are parsed and told about, and 60 MB that have no end before their reader has.
    try scratch.write("keys.json5", "{" + (0..<1_500_000).map { "a\($0):1" }.joined(separator: ",") + "}")
    // A pipe holds less than a megabyte: what has begun is being read.
    let digits =
      "(head -c 1000000 /dev/zero | tr '\\0' 1; : >begun; head -c 59000000 /dev/zero | tr '\\0' 1; "
      + "for i in $(seq 9000); do printf 1 || exit; sleep 0.1; done) >pipe 2>/dev/null & :"
    for (arguments, shell) in [
      (["validate", "keys.json5"], nil), (["validate", "s.json5", "--settings", "keys.json5"], nil),
      (["validate", "pipe"], digits),
      (["calibrate", "s.json5", "--observed", "pipe", "--fit", "tapi.bucket.capacity=1/s..2/s"], digits),
    ] as [([String], String?)] {
      let begun = scratch.url.appendingPathComponent("begun").path
      try? FileManager.default.removeItem(atPath: begun)
      let pipe = scratch.url.appendingPathComponent("pipe").path
      try? FileManager.default.removeItem(atPath: pipe)
      #expect(mkfifo(pipe, 0o600) == 0)
      let output = try Tool.process(
        arguments, in: scratch.url, signal: SIGTERM,
        when: { shell == nil || FileManager.default.fileExists(atPath: begun) }, shell: shell)
      #expect(output.code == 143)
      #expect(output.standardError == "Terminated: nothing was written.\n")
    }
  }

  @Test(
    "Ctrl-C is 130, Ctrl-\\ is 131, SIGTERM 143, SIGHUP 129; the output directory is as it was",
    arguments: [
      (SIGINT, Int32(130), "Interrupted"), (SIGTERM, 143, "Terminated"), (SIGQUIT, 131, "Quit"),
      (SIGHUP, 129, "Hung up"),
    ])
  func interrupt(signal: Int32, code: Int32, word: String) throws {
    let scratch = try Scratch.with(and: ["endless.json5": Scenarios.endless])
    try scratch.run("run s.json5 --seed 5 -q --out out", code: 0)
    let before = try scratch.files()
    let command = ["run", "endless.json5", "--out"]
    for output in [
      try scratch.run(command + ["out"], signal: signal),
      try scratch.run(["compare"] + command.dropFirst() + ["out"], signal: signal),
      try Tool.process(command + ["a/out"], in: scratch.url, signal: signal),
    ] {
      #expect(output.code == code && output.standardError == "\(word): nothing was written.\n", "\(output)")
      #expect(try scratch.files() == before && !scratch.contents.contains("a"))
    }
  }
}
