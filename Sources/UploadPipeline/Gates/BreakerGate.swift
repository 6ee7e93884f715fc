import UploadGating
import UploadRetry

/// O6: `ClientGates.breaker`, of all uploads or of retries alone.
extension UploadClientHost where Self: ~Copyable {
  @inlinable
  func breakerWords(of client: ClientIndex) -> UnsafeMutablePointer<UInt32> {
    part(options.pointee.gateLayout.breaker, client, as: UInt32.self)
  }

  @inlinable
  mutating func breakerSays(
    _ client: ClientIndex, at now: Int64, _ look: inout GateHold
  ) -> GateVerdict? {
    guard let breaker = options.pointee.gates.breaker, !breaker.retriesOnly else { return nil }
    switch breaker.permission(breakerWords(of: client), now: now) {
    case .allowed, .allowedAsProbe: break
    case .refused where breaker.failsWhenOpen, .refusedWhileProbing where breaker.failsWhenOpen:
      return .refused
    case .refused(let end): look.until = max(look.until, end)
    case .refusedWhileProbing:
      if uploads(of: client) > 0 { return .held }  // An answer goes on with the loop.
      look.until = .max
    }
    return nil
  }

  @inlinable
  mutating func breakerStopsRetry(_ client: ClientIndex, at now: Int64) -> GateVerdict? {
    guard let breaker = options.pointee.gates.breaker, breaker.retriesOnly else { return nil }
    let permission = breaker.permission(breakerWords(of: client), now: now)
    if permission == .allowed || permission == .allowedAsProbe { return nil }
    if breaker.failsWhenOpen { return .refused }
    // While a probe is out, until the next trigger.
    var until = Int64.max
    if case .refused(let end) = permission { until = end }
    return skip(until: until, client, at: now)
  }

  @inlinable
  func breakerTakes(_ client: ClientIndex, at now: Int64, isRetry: Bool) {
    guard let breaker = options.pointee.gates.breaker, isRetry || !breaker.retriesOnly else { return }
    breaker.take(breakerWords(of: client), now: now)
  }

  @inlinable
  mutating func breakerHears(
    _ answer: GateAnswer, of batch: BatchIndex, _ client: ClientIndex, at now: Int64
  ) {
    guard let breaker = options.pointee.gates.breaker else { return }
    let jitter = options.pointee.gates.openTimeJitter
    var word: UInt64 = 0
    if answer.isFailure, jitter != .none {
      var draws = draws(for: batch, question: now, client)
      word = draws.next()
    }
    let openTime = breaker.record(failed: answer.isFailure, breakerWords(of: client), now: now) {
      jitter.delay(of: $0, longest: breaker.longestOpenTime, word: word)
    }
    if openTime > 0 {
      count(1, .breakerOpenings, client, at: now)
      count(openTime, .breakerOpenMicroseconds, client, at: now)
    }
  }

  @inlinable
  func relaunchBreaker(_ client: ClientIndex, at now: Int64) {
    guard let breaker = options.pointee.gates.breaker else { return }
    let jitter = options.pointee.gates.openTimeJitter
    breaker.relaunch(breakerWords(of: client), now: now) {
      jitter.delay(of: $0, longest: breaker.longestOpenTime, word: .max)
    }
  }
}
