import UploadGating

/// What holds requests one by one: `ClientGates.failureWindow` (K1) and `projectDelay` (K2).
extension UploadClientHost where Self: ~Copyable {
  /// The window that a batch's query belongs to (K1); nil: there is none, or it is exempt.
  @inlinable
  mutating func failureWindow(of batch: BatchIndex, _ client: ClientIndex) -> UnsafeMutablePointer<
    FailureWindow.State
  >? {
    guard let rule = options.pointee.gates.failureWindow,
      let index = rule.window(of: word(.query, for: batch, client))
    else { return nil }
    return part(options.pointee.gateLayout.failureWindow, client, as: FailureWindow.State.self) + index
  }

  /// Until when a batch is held by what holds requests one by one (K1, K2); 0: it is not.
  @inlinable
  @inline(never)
  mutating func heldByItself(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> Int64 {
    let gates = options.pointee.gates
    var until: Int64 = 0
    if let window = failureWindow(of: batch, client), let rule = gates.failureWindow,
      let end = rule.blockedUntil(window.pointee, now: now)
    {
      until = end
    }
    if let delay = gates.projectDelay {
      if let end = delayEnd(of: batch) {
        if end > now { until = max(until, end) }
      } else {
        // The request is made now: neither failures nor successes to come change how long it is held.
        let state = projectDelayState(of: client).pointee
        let word = self.word(.gate(at: Int64(delay.failures(state))), for: batch, client)
        let end = delay.heldUntil(state, now: now, word: word)
        change(batch, .drawsDelay(until: end ?? now))
        if let end { until = max(until, end) }
      }
    }
    return until
  }

  /// Whether a batch's query is blocked and lost with it (K1).
  @inlinable
  mutating func isRefused(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> Bool {
    guard let rule = options.pointee.gates.failureWindow, rule.refuses,
      let window = failureWindow(of: batch, client)
    else { return false }
    return rule.blockedUntil(window.pointee, now: now) != nil
  }

  @inlinable
  func projectDelayState(of client: ClientIndex) -> UnsafeMutablePointer<ProjectDelay.State> {
    part(options.pointee.gateLayout.projectDelay, client, as: ProjectDelay.State.self)
  }

  @inlinable
  mutating func requestGatesSay(of batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> GateVerdict? {
    guard options.pointee.gates.failureWindow != nil || options.pointee.gates.projectDelay != nil
    else { return nil }
    if isRefused(batch, client, at: now) { return .refused }
    let end = heldByItself(batch, client, at: now)
    if end == 0 { return nil }
    noteHeld(until: end, client, at: now)
    return .skipped
  }

  @inlinable
  mutating func requestGatesHear(
    _ answer: GateAnswer, of batch: BatchIndex, _ client: ClientIndex, at now: Int64
  ) {
    if let rule = options.pointee.gates.failureWindow, (400...499).contains(answer.status),
      let window = failureWindow(of: batch, client)
    {
      rule.recordFailure(&window.pointee, now: now)
    }
    if let delay = options.pointee.gates.projectDelay {
      let state = projectDelayState(of: client)
      if answer.isSuccess { delay.recordSuccess(&state.pointee) }
      if ProjectDelay.counts(status: answer.status) {
        delay.recordFailure(&state.pointee, status: answer.status, now: now)
      }
    }
  }

  /// A launched app makes its requests anew.
  @inlinable
  mutating func relaunchRequestGates(_ client: ClientIndex) {
    guard options.pointee.gates.projectDelay != nil else { return }
    var batch = oldest(of: client)
    while batch != .noBatch {
      change(batch, .drawsDelay(until: nil))
      batch = newer(than: batch)
    }
  }
}
