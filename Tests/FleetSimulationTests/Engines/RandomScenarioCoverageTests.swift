import Foundation
import TestClients
import TestSupport
import Testing

@Suite("What random scenarios of the engines draw")
struct RandomScenarioCoverageTests {
  @Test("every key, kind and switch of the format is drawn, but for the gaps that are written down")
  func drawsAll() throws {
    var drawn = DrawnKeys(.run)
    func never() -> String { drawn.missing.map { $0 + "\n" }.joined() }
    let recorded = try String(contentsOf: DrawnKeys.file("engines"), encoding: .utf8)
    for seed in 0..<600 as Range<UInt64> {
      try drawn.add(RandomScenario.scenario(seed: seed))
      // That a gap is none any more may be seen later, if exhaustive.
      if !TestDepth.isExhaustive, seed % 50 == 49, never() == recorded { break }
    }
    let never = never()
    #expect(
      try Snapshot.recorded(in: DrawnKeys.file("engines"), now: never) == never,
      "never drawn: \(never) Draw it in RandomScenario.")
  }
}
