import TestClients
import TestSupport
import Testing

@Suite("What random scenarios of the engines draw")
struct RandomScenarioCoverageTests {
  @Test("every key, kind and switch of the format is drawn, but for the gaps that are written down")
  func drawsAll() throws {
    var drawn = DrawnKeys(.run)
    for seed in 0..<600 as Range<UInt64> { try drawn.add(RandomScenario.scenario(seed: seed)) }
    let never = drawn.missing.map { $0 + "\n" }.joined()
    #expect(
      try Snapshot.recorded(in: DrawnKeys.file("engines"), now: never) == never,
      "never drawn: \(never) Draw it in RandomScenario.")
  }
}
