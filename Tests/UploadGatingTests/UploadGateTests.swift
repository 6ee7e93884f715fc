import Testing
import UploadGating

@Suite("Upload gate (S16, S17)")
struct UploadGateTests {
  @Test("A new gate is ready")
  func fresh() {
    #expect(UploadGate().isReady(at: 0))
    #expect(UploadGate().state(at: 0) == .ready)
    #expect(UploadGate().state(at: .max) == .ready)
  }

  @Test("The wait ends at waitUntil, that instant included")
  func boundary() {
    var gate = UploadGate()
    gate.pause(until: 1_000)
    #expect(gate.state(at: 0) == .waiting(until: 1_000))
    #expect(gate.state(at: 999) == .waiting(until: 1_000))
    #expect(!gate.isReady(at: 999))
    #expect(gate.state(at: 1_000) == .ready)
    #expect(gate.state(at: 1_001) == .ready)
  }

  @Test("READY, 2xx: READY")
  func readyThenSuccess() {
    var gate = UploadGate()
    gate.reset()
    #expect(gate.state(at: 0) == .ready)
  }

  @Test("READY, 429: WAITING")
  func readyThenRateLimit() {
    var gate = UploadGate()
    gate.pause(until: 10)
    #expect(gate.state(at: 9) == .waiting(until: 10))
  }

  @Test("WAITING, waitUntilTime reached: READY, and a later 429 makes it wait again")
  func waitingThenReached() {
    var gate = UploadGate()
    gate.pause(until: 10)
    #expect(gate.state(at: 10) == .ready)
    gate.pause(until: 30)
    #expect(gate.state(at: 29) == .waiting(until: 30))
    #expect(gate.state(at: 30) == .ready)
  }

  @Test("WAITING, another 429: the wait announced last counts, longer or shorter")
  func waitingThenRateLimit() {
    var gate = UploadGate()
    gate.pause(until: 10)
    gate.pause(until: 20)
    #expect(gate.state(at: 15) == .waiting(until: 20))
    gate.pause(until: 12)
    #expect(gate.state(at: 12) == .ready)
  }

  @Test("WAITING, 2xx of an upload under way: READY")
  func waitingThenSuccess() {
    var gate = UploadGate()
    gate.pause(until: .max)
    gate.reset()
    #expect(gate.state(at: 0) == .ready)
    #expect(gate == UploadGate())
  }

  @Test("No time makes it trap, and it takes eight bytes")
  func anyTime() {
    #expect(MemoryLayout<UploadGate>.size == 8)
    for until in [Int64.min, -1, 0, 1, .max - 1, .max] {
      var gate = UploadGate()
      gate.pause(until: until, kind: .backoff)
      gate.pause(until: until, kind: .rateLimit)
      #expect(gate.waitUntil == min(max(until, 0), .max / 2))
      #expect(gate.isReady(at: .max))
    }
  }
}
