import SimulationKernel
import UploadRetry

/// Clients that read a row's version, and write the row if it still has that version; who comes too late waits and starts over,
/// until each has written once. Ways take |normal(10 ms, 2 ms)|.
///
/// Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog (2015).
package struct OptimisticContest {
  package var clients: Int
  package var jitter: Jitter
  /// Microseconds.
  package var base: Int64
  static let cap: Int64 = 2_000_000

  /// The published names. There "exponential" is without jitter, and "none" is without a wait.
  package static let strategies: [(name: Substring, jitter: Jitter, base: Int64)] = [
    ("Exponential", .none, 5_000), ("Decorr", .decorrelated, 5_000), ("EqualJitter", .equal, 5_000),
    ("FullJitter", .full, 5_000), ("None", .none, 0),
  ]

  package init(clients: Int, jitter: Jitter, base: Int64) {
    (self.clients, self.jitter, self.base) = (clients, jitter, base)
  }

  /// Writes that were tried, and when the last client knew of its success.
  package func run(_ key: RandomKey) -> (calls: Int, microseconds: Int64) {
    var random = RandomStream(key)
    func way() -> Int64 {
      let unit = (Double(random.next() >> 12) + 0.5) * 0x1p-52
      return abs(10_000 + Int64(2_000 * DeterministicMath.inverseNormalCDF(unit)))
    }
    func word(_ time: Int64, _ client: Int, isWrite: Bool) -> UInt64 {
      UInt64(time) << 10 | UInt64(client) << 1 | (isWrite ? 1 : 0)
    }
    var arrivals = WordHeap()
    for client in 0..<clients { arrivals.push(word(way(), client, isWrite: false)) }
    var (version, calls, end) = (0, 0, Int64(0))
    var read = Array(repeating: 0, count: clients)
    var failures = Array(repeating: 0, count: clients)
    var waits = Array(repeating: Int64(0), count: clients)
    while arrivals.first != .max {
      let next = arrivals.popFirst()
      let (time, client) = (Int64(next >> 10), Int(next >> 1 & 511))
      if next & 1 == 0 {
        read[client] = version
        arrivals.push(word(time + way() + way(), client, isWrite: true))
        continue
      }
      calls += 1
      let answer = time + way()
      if read[client] == version {
        version += 1
        end = max(end, answer)
        continue
      }
      // The published program counts a failure before it asks how long to wait.
      failures[client] += 1
      waits[client] = jitter.delay(
        retryCount: failures[client], base: base, cap: Self.cap, previousDelay: waits[client],
        clampAfterJitter: false, word: random.next())
      arrivals.push(word(answer + waits[client] + way(), client, isWrite: false))
    }
    return (calls, end)
  }
}
