import Foundation
import Testing

@Suite("compare --shard")
struct ShardCommandTests {
  /// Two variants under three seeds, with room enough that no twin sees a refusal.
  private static let command = [
    "compare", "s.json5", "--quiet", "--set", "tapi.bucket.burst=100", "--seeds", "3",
  ]

  @Test("shards leave the journal of one process, and without --shard its files")
  func shards() throws {
    let scratch = try Scratch.with()
    let whole = try scratch.run(Self.command + ["--journal", "whole", "--out", "o"])
    for shard in 1...4 {
      let output = try scratch.run(
        Self.command + ["--journal", "parts", "--shard", "\(shard)/4"], code: 0, says: "")
      let runs = shard % 2 == 0 ? "2 runs" : "1 run"
      #expect(output.standardOutput == "parts: \(runs) of shard \(shard)/4 are there\n")
    }
    let journal = try scratch.files(in: "whole")
    // Six runs, and what makes it a journal.
    #expect(try scratch.files(in: "parts") == journal && journal.count == 6 + 1)
    let read = try scratch.run(Self.command + ["--journal", "parts", "--out", "p"])
    #expect(read == whole && read.code == 0)
    #expect(scratch.names(in: "o") == scratch.names(in: "p"))
    for ending in [".csv", ".svg"] {
      #expect(try scratch.files(in: "o", ending) == scratch.files(in: "p", ending))
    }
    #expect(try scratch.json("p/run.json")["wall"]?["runsWithTwins"]?.number == 0, "nothing is made anew")
    // What is damaged is named, and made again.
    let runs = scratch.runs("parts")
    try scratch.remove("parts/" + runs[0])
    try scratch.write("parts/" + runs[1], Array(journal[runs[1]]!.dropLast(9)))
    try scratch.run(
      Self.command + ["--journal", "parts", "--shard", "1/1"], code: 0,
      says: "parts/\(runs[1]): warning: is damaged")
    #expect(try scratch.files(in: "parts") == journal)
  }
}
