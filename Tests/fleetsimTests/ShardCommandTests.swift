import Foundation
import Testing

@Suite("compare --shard")
struct ShardCommandTests {
  /// Two variants under three seeds, with room enough that no twin sees a refusal.
  private static let command = [
    "compare", "s.json5", "--quiet", "--set", "tapi.bucket.burst=100", "--seeds", "3",
  ]

  private func files(_ scratch: Scratch, _ folder: String) throws -> [String: [UInt8]] {
    try scratch.files().filter { $0.key.hasPrefix(folder + "/") }.reduce(into: [:]) {
      $0[String($1.key.dropFirst(folder.count + 1))] = $1.value
    }
  }

  @Test("shards leave the journal of one process, and the same command without --shard its files")
  func shards() throws {
    let scratch = try Scratch.with()
    let whole = try scratch.run(Self.command + ["--journal", "whole", "--out", "o"])
    for shard in 1...4 {
      let output = try scratch.run(
        Self.command + ["--journal", "parts", "--shard", "\(shard)/4"], code: 0, says: "")
      let runs = shard % 2 == 0 ? "2 runs" : "1 run"
      #expect(output.standardOutput == "parts: \(runs) of shard \(shard)/4 are there\n")
    }
    let journal = try files(scratch, "whole")
    // Six runs, and what makes it a journal.
    #expect(try files(scratch, "parts") == journal && journal.count == 6 + 1)
    let read = try scratch.run(Self.command + ["--journal", "parts", "--out", "p"])
    #expect(read == whole && read.code == 0)
    let (one, other) = (try files(scratch, "o"), try files(scratch, "p"))
    #expect(one.keys == other.keys)
    for name in one.keys where name != "run.json" && name != "report.html" {
      #expect(one[name] == other[name], "\(name)")
    }
    #expect(try scratch.text("p/run.json").contains("\"runsWithTwins\": 0,"), "nothing is made anew")
  }

  @Test("what is damaged is named, and made again")
  func damaged() throws {
    let scratch = try Scratch.with()
    try scratch.run(Self.command + ["--journal", "d"])
    let before = try files(scratch, "d")
    let runs = scratch.runs("d")
    try scratch.remove("d/" + runs[0])
    try scratch.write("d/" + runs[1], String(decoding: before[runs[1]]!.dropLast(9), as: UTF8.self))
    try scratch.run(
      Self.command + ["--journal", "d", "--shard", "1/1"], code: 0, says: "d/\(runs[1]): warning: is damaged")
    #expect(try files(scratch, "d") == before)
  }
}
