import UploadGating

/// Rejections at the client by the server's acceptance lately: `ClientGates.throttle`.
extension UploadClientHost where Self: ~Copyable {
  /// A trigger ends the pause after a rejection at the client. One of the same instant does not: it would ask with the same word.
  @inlinable
  func endThrottlePause(_ client: ClientIndex, at now: Int64) {
    guard let throttle = options.pointee.gates.throttle else { return }
    let end = throttlePauseEnd(client)
    if end.pointee != now &+ throttle.pause { end.pointee = 0 }
  }

  @inlinable
  func throttlePauseEnd(_ client: ClientIndex) -> UnsafeMutablePointer<Int64> {
    part(options.pointee.gateLayout.throttlePauseEnd, client, as: Int64.self)
  }

  @inlinable
  mutating func throttleSays(_ client: ClientIndex, at now: Int64, _ look: GateHold) -> GateVerdict? {
    guard options.pointee.gates.throttle != nil, case let end = throttlePauseEnd(client).pointee, end > now
    else { return nil }
    // An answer, or another hold's end, goes on with the loop before the pause is over.
    let held = hold(client).pointee.until
    if held <= now || held > end { note(hold: GateHold(until: end, flags: look.flags), client, at: now) }
    return .held
  }

  @inlinable
  func throttleState(of client: ClientIndex) -> UnsafeMutablePointer<AdaptiveThrottle.State> {
    part(options.pointee.gateLayout.throttle, client, as: AdaptiveThrottle.State.self)
  }

  @inlinable
  mutating func throttleStops(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> GateVerdict? {
    guard let throttle = options.pointee.gates.throttle else { return nil }
    let word = word(.gate(at: now), for: batch, client)
    guard throttle.rejects(&throttleState(of: client).pointee, now: now, word: word) else { return nil }
    count(1, .throttledRequests, client, at: now)
    let end = now + throttle.pause
    throttlePauseEnd(client).pointee = end
    note(hold: GateHold(until: end, flags: resuming(client)), client, at: now)
    return .held
  }

  @inlinable
  func throttleHears(_ answer: GateAnswer, _ client: ClientIndex, at now: Int64) {
    guard answer.isSuccess, let throttle = options.pointee.gates.throttle else { return }
    throttle.recordAccept(&throttleState(of: client).pointee, now: now)
  }
}
