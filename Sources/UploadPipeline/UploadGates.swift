import UploadGating
import UploadRetry

/// Gates between the upload loop and the network (`ClientGates`): whether a run may start, whether an upload may leave, and
/// what came back. Only clients with `ClientOptions.keepsGates` come here.
extension UploadClientHost where Self: ~Copyable {
  /// A part's state in a client's row.
  @inlinable
  @inline(__always)
  func part<State>(_ place: Int, _ client: ClientIndex, as _: State.Type) -> UnsafeMutablePointer<State> {
    (gateRow(of: client) + place)
      .assumingMemoryBound(to: State.self)
  }

  @inlinable
  func hold(_ client: ClientIndex) -> UnsafeMutablePointer<GateHold> {
    part(0, client, as: GateHold.self)
  }
  @inlinable
  func words(_ place: Int, _ client: ClientIndex) -> UnsafeMutablePointer<UInt32> {
    part(place, client, as: UInt32.self)
  }

  // MARK: Runs

  @inlinable
  public func forgetHold(_ client: ClientIndex) { hold(client).pointee = GateHold() }

  /// Makes whatever was held before a matter of the trigger's own run. A run that has its slots is the exception: it goes on
  /// (T2), unless the client has no such runs.
  @inlinable
  public func forgetHoldAtTrigger(_ client: ClientIndex, whole: Bool = false, at now: Int64) {
    if whole || !isAmidWholeRun(hold(client).pointee) { forgetHold(client) }
    endThrottlePause(client, at: now)
  }

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

  /// Whether a run that has reserved its slots waits for the next of them.
  @inlinable
  func isAmidWholeRun(_ held: GateHold) -> Bool {
    options.pointee.gates.reservesWholeRun && held.flags.contains([.wakes, .resumes])
      && !held.flags.contains(.fromStart)
  }

  /// Whether a run may start. One that goes on where it was held keeps what it was.
  ///
  /// `byTrigger` becomes that of a held run, and `cursor` where it goes on.
  @inlinable
  @inline(never)
  public mutating func gatesLetRunStart(
    _ client: ClientIndex, byTrigger: inout Bool, cursor: inout UInt32, at now: Int64, _ sink: Sink
  ) -> Bool {
    let held = hold(client).pointee
    forgetHold(client)
    let resumes = held.flags.contains(.resumes) && (!byTrigger || isAmidWholeRun(held))
    if resumes {
      byTrigger = byTrigger || held.flags.contains(.byTrigger)
      if !held.flags.contains(.fromStart) {
        cursor = self.cursor(of: client, behind: 0)
        if options.pointee.hasLanes { laneState(of: client).pointee.resumes = true }
      }
    } else if let budget = options.pointee.gates.retryBudget {
      budget.startRun(&part(options.pointee.gateLayout.budget, client, as: RetryBudget.State.self).pointee)
    }
    guard options.pointee.gates.reservesWholeRun, cursor == 0, let gate = options.pointee.gates.rateGate
    else {
      return true
    }
    let due = min(countDue(client, byTrigger: byTrigger, at: now), gate.first.slots)
    let log = words(options.pointee.gateLayout.rateLog, client)
    guard due > 0, let time = gate.earliest(for: due, in: .first, log: log, now: now),
      time > now
    else { return true }
    var flags: GateHold.Flags = [.wakes, .resumes, .fromStart]
    if byTrigger { flags.insert(.byTrigger) }
    note(hold: GateHold(until: time, flags: flags), client, at: now)
    rest(client, at: now, sink)
    return false
  }

  /// Notes that the requests of `n` batches are held by themselves (K1, K2), the first of them until then.
  @inlinable
  public mutating func noteHeld(_ n: Int64 = 1, until: Int64, _ client: ClientIndex, at now: Int64) {
    let flags = resuming(client).union([.skips, .fromStart])
    note(hold: GateHold(until: until, flags: flags), times: n, client, at: now)
  }

  /// The flags of a hold with which the wake-up goes on.
  @inlinable
  func resuming(_ client: ClientIndex) -> GateHold.Flags {
    state(of: client).pointee.flags.contains(.byTrigger) ? [.resumes, .byTrigger] : .resumes
  }

  /// Holds one batch back while the loop goes on with others.
  @inlinable
  mutating func skip(until: Int64, _ client: ClientIndex, at now: Int64) -> GateVerdict {
    note(hold: GateHold(until: until, flags: .skips), client, at: now)
    return .skipped
  }

  @inlinable
  mutating func note(hold new: GateHold, times n: Int64 = 1, _ client: ClientIndex, at now: Int64) {
    let hold = hold(client)
    // Where one run has several holds, the one that ends first is worth a look.
    if hold.pointee.until == 0 {
      hold.pointee = new
    } else {
      hold.pointee.until = min(hold.pointee.until, new.until)
      hold.pointee.flags.formUnion(new.flags)
    }
    count(n, .heldLoops, client, at: now)
    observe(.heldByGate(until: new.until == .max ? nil : new.until), client, at: now)
  }

  /// When a held client is to be woken; nil: by the next trigger, or nothing is held.
  @inlinable
  mutating func gateWakeUp(_ client: ClientIndex, at now: Int64) -> (isHeld: Bool, until: Int64?) {
    let hold = hold(client).pointee
    if hold.until <= now { return (false, nil) }
    let wakes = options.pointee.wakesByTimer || hold.flags.contains(.wakes)
    return (true, wakes && hold.until != .max ? hold.until : nil)
  }

  /// Whether a wake-up finds a running loop that was held.
  @inlinable
  func isHeldLoop(_ client: ClientIndex) -> Bool { hold(client).pointee.until != 0 }

  // MARK: Before an upload

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
    let (gates, layout) = (options.pointee.gates, options.pointee.gateLayout)
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
        let state = part(layout.projectDelay, client, as: ProjectDelay.State.self).pointee
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

  /// Asked for each batch that is due, before anything is decided about the batch itself.
  @inlinable
  @inline(never)
  mutating func gatesSay(of batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> GateVerdict {
    let (gates, layout) = (options.pointee.gates, options.pointee.gateLayout)
    var until: Int64 = 0
    var flags = resuming(client)
    if gates.throttle != nil, case let end = throttlePauseEnd(client).pointee, end > now {
      // An answer, or another hold's end, goes on with the loop before the pause is over.
      let held = hold(client).pointee.until
      if held <= now || held > end { note(hold: GateHold(until: end, flags: flags), client, at: now) }
      return .held
    }
    if gates.failureWindow != nil || gates.projectDelay != nil {
      if isRefused(batch, client, at: now) { return .refused }
      let end = heldByItself(batch, client, at: now)
      if end > 0 {
        noteHeld(until: end, client, at: now)
        return .skipped
      }
    }
    if let breaker = gates.breaker, !breaker.retriesOnly {
      switch breaker.permission(words(layout.breaker, client), now: now) {
      case .allowed, .allowedAsProbe: break
      case .refused where breaker.failsWhenOpen, .refusedWhileProbing where breaker.failsWhenOpen:
        return .refused
      case .refused(let end): until = max(until, end)
      case .refusedWhileProbing:
        if uploads(of: client) > 0 { return .held }  // An answer goes on with the loop.
        until = .max
      }
    }
    if until == 0 {
      if let controller = gates.controller {
        let state = part(layout.controller, client, as: BackpressureController.State.self)
        if Int(uploads(of: client)) >= controller.concurrency(state.pointee) { return .held }
        if controller.paces {
          let end = controller.earliest(
            part(layout.pace, client, as: BackpressureController.Pace.self).pointee)
          if end > now {
            until = end
            flags.insert(.wakes)
          }
        }
      }
      if let gate = gates.rateGate {
        let log = words(layout.rateLog, client)
        if let end = gate.earliest(log: log, now: now), end > now {
          until = max(until, end)
          flags.insert(.wakes)
          if gates.restartsRun, let slot = gate.earliest(in: .first, log: log, now: now), slot > now {
            until = slot
            flags.insert(.fromStart)
          }
        }
      }
    }
    if until == 0 {
      // A hold that makes the loop skip batches still holds.
      if !hold(client).pointee.flags.contains(.skips) { forgetHold(client) }
      return .allowed
    }
    note(hold: GateHold(until: until, flags: flags), client, at: now)
    return .held
  }

  /// Asked for a batch that would be sent now; a grant takes what the gates count.
  @inlinable
  @inline(never)
  mutating func gatesLetLeave(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> GateVerdict {
    let (gates, layout) = (options.pointee.gates, options.pointee.gateLayout)
    let isRetry = self.batch(batch).attempts > 0
    let budget = part(layout.budget, client, as: RetryBudget.State.self)
    if isRetry, let rule = gates.retryBudget, !rule.decidesAtFailures || options.pointee.actsAtFlushEnd {
      switch rule.permission(budget.pointee, now: now) {
      case .allowed: break
      case .refusedForThisRun where rule.refusesWhenSpent, .refused where rule.refusesWhenSpent:
        return .refused
      case .refusedForThisRun, .refused(until: nil):
        return skip(until: .max, client, at: now)
      case .refused(let until?):
        return skip(until: max(until, now + 1), client, at: now)
      }
    }
    if isRetry, let breaker = gates.breaker, breaker.retriesOnly {
      let permission = breaker.permission(words(layout.breaker, client), now: now)
      if permission != .allowed, permission != .allowedAsProbe {
        if breaker.failsWhenOpen { return .refused }
        // While a probe is out, until the next trigger.
        var until = Int64.max
        if case .refused(let end) = permission { until = end }
        return skip(until: until, client, at: now)
      }
    }
    if let throttle = gates.throttle {
      let state = part(layout.throttle, client, as: AdaptiveThrottle.State.self)
      if throttle.rejects(&state.pointee, now: now, word: self.word(.gate(at: now), for: batch, client)) {
        count(1, .throttledRequests, client, at: now)
        let end = now + throttle.pause
        throttlePauseEnd(client).pointee = end
        note(hold: GateHold(until: end, flags: resuming(client)), client, at: now)
        return .held
      }
    }
    if let rule = gates.retryBudget {
      if isRetry {
        rule.take(&budget.pointee, now: now)
      } else {
        rule.recordRequest(&budget.pointee, now: now)
      }
    }
    if let breaker = gates.breaker, isRetry || !breaker.retriesOnly {
      breaker.take(words(layout.breaker, client), now: now)
    }
    if let gate = gates.rateGate { gate.take(log: words(layout.rateLog, client), now: now) }
    if let controller = gates.controller {
      if controller.paces {
        part(layout.pace, client, as: BackpressureController.Pace.self).pointee.latest = now
      }
      if controller.needsLatencies { noteSent(batch, controller, client, at: now) }
    }
    return .allowed
  }

  /// Events of a batch at most, now.
  @inlinable
  @inline(never)
  mutating func gatedMaximumBatch(_ client: ClientIndex) -> UInt32 {
    guard let controller = options.pointee.gates.controller else { return options.pointee.maximumBatchEvents }
    let state = part(options.pointee.gateLayout.controller, client, as: BackpressureController.State.self)
    return min(UInt32(controller.batchEvents(state.pointee)), options.pointee.maximumBatchEvents)
  }

  // MARK: After an upload

  /// Tells the gates how an upload has ended.
  @inlinable
  @inline(never)
  mutating func gatesHear(
    _ response: UploadResponse, of batch: BatchIndex, _ client: ClientIndex, at now: Int64
  ) {
    let (gates, layout) = (options.pointee.gates, options.pointee.gateLayout)
    // 0 stands for no answer.
    let status = if case .status(let status, _) = response { status } else { 0 }
    let isSuccess = (200...299).contains(status)
    let failed = status == 0 || status == 429 || status >= 500
    if let breaker = gates.breaker {
      let jitter = gates.openTimeJitter
      var word: UInt64 = 0
      if failed, jitter != .none {
        var draws = draws(for: batch, question: now, client)
        word = draws.next()
      }
      let openTime = breaker.record(failed: failed, words(layout.breaker, client), now: now) {
        jitter.delay(of: $0, longest: breaker.longestOpenTime, word: word)
      }
      if openTime > 0 {
        count(1, .breakerOpenings, client, at: now)
        count(openTime, .breakerOpenMicroseconds, client, at: now)
      }
    }
    if let rule = gates.failureWindow, (400...499).contains(status),
      let window = failureWindow(of: batch, client)
    {
      rule.recordFailure(&window.pointee, now: now)
    }
    if let delay = gates.projectDelay {
      let state = part(layout.projectDelay, client, as: ProjectDelay.State.self)
      if isSuccess { delay.recordSuccess(&state.pointee) }
      if ProjectDelay.counts(status: status) {
        delay.recordFailure(&state.pointee, status: status, now: now)
      }
    }
    if let budget = gates.retryBudget {
      let state = part(layout.budget, client, as: RetryBudget.State.self)
      if isSuccess {
        budget.recordSuccess(
          &state.pointee, isRetry: self.batch(batch).attempts > 1, now: now)
      } else if failed {
        budget.recordFailure(&state.pointee, hasAnswer: status != 0, now: now)
      }
    }
    if isSuccess, let throttle = gates.throttle {
      throttle.recordAccept(
        &part(layout.throttle, client, as: AdaptiveThrottle.State.self).pointee, now: now)
    }
    if let controller = gates.controller {
      let latency = controller.needsLatencies ? takeLatency(of: batch, controller, client, at: now) : nil
      let signal = controller.signal(status: status, latency: latency)
      controller.record(
        signal, &part(layout.controller, client, as: BackpressureController.State.self).pointee)
      if controller.paces {
        controller.record(signal, &part(layout.pace, client, as: BackpressureController.Pace.self).pointee)
      }
    }
  }

  /// When an upload left, in a place that is free: there are as many as uploads at once.
  @inlinable
  func noteSent(
    _ batch: BatchIndex, _ controller: BackpressureController, _ client: ClientIndex, at now: Int64
  ) {
    let places = part(options.pointee.gateLayout.sentUploads, client, as: SentUpload.self)
    let name = UInt64(firstOrdinal(of: batch)) + 1
    for index in 0..<controller.longestConcurrency where places[index].name == 0 || places[index].name == name
    {
      places[index] = SentUpload(name: name, time: now)
      return
    }
  }

  /// How long an answer took; nil: the upload is not known any more.
  @inlinable
  func takeLatency(
    of batch: BatchIndex, _ controller: BackpressureController, _ client: ClientIndex, at now: Int64
  ) -> Int64? {
    let places = part(options.pointee.gateLayout.sentUploads, client, as: SentUpload.self)
    let name = UInt64(firstOrdinal(of: batch)) + 1
    for index in 0..<controller.longestConcurrency where places[index].name == name {
      places[index].name = 0
      return now - places[index].time
    }
    return nil
  }

  /// Whether the budget gives a failed batch up, which the machine would try again.
  @inlinable
  @inline(never)
  func gatesRefuseRetry(_ outcome: RetryOutcome, _ client: ClientIndex, at now: Int64) -> Bool {
    guard let rule = options.pointee.gates.retryBudget, rule.decidesAtFailures, outcome.isRetry else {
      return false
    }
    let state = part(options.pointee.gateLayout.budget, client, as: RetryBudget.State.self)
    return rule.permission(state.pointee, now: now) != .allowed
  }

  // MARK: Restarts

  /// Restores a launched client's knowledge of its gates: everything, if it keeps state, but for uploads that were under way.
  @inlinable
  public mutating func relaunchGates(_ client: ClientIndex, keepingState keepsState: Bool, at now: Int64) {
    forgetHold(client)
    let layout = options.pointee.gateLayout
    if options.pointee.gates.projectDelay != nil {
      // A launched app makes its requests anew.
      var batch = oldest(of: client)
      while batch != .noBatch {
        change(batch, .drawsDelay(until: nil))
        batch = newer(than: batch)
      }
    }
    if let controller = options.pointee.gates.controller, controller.needsLatencies {
      // Nothing is under way any more.
      part(layout.sentUploads, client, as: SentUpload.self)
        .update(repeating: SentUpload(name: 0, time: 0), count: controller.longestConcurrency)
    }
    if !keepsState {
      gateRow(of: client).initializeMemory(as: UInt8.self, repeating: 0, count: layout.stride)
    } else if let breaker = options.pointee.gates.breaker {
      let words = words(layout.breaker, client)
      let jitter = options.pointee.gates.openTimeJitter
      breaker.relaunch(words, now: now) {
        jitter.delay(of: $0, longest: breaker.longestOpenTime, word: .max)
      }
    }
  }
}

/// Where a running loop is in each lane (O8). The loop's own cursor is that of the background.
@usableFromInline
struct LaneState: BitwiseCopyable {
  /// The loop goes on with interactive batches from this event number on.
  @usableFromInline var cursor: UInt32 = 0
  @usableFromInline var order = PriorityLanes.State()
  /// `order` once the loop has passed the batch that was taken, and before it passed the latest.
  @usableFromInline var next = PriorityLanes.State()
  @usableFromInline var previous = PriorityLanes.State()
  /// The loop that starts goes on with a held run.
  @usableFromInline var resumes = false
}

/// The loop over due batches in two lanes: what the user waits for first, each lane from its oldest to its newest batch, once.
/// Only clients with `ClientGates.lanes` come here.
extension UploadClientHost where Self: ~Copyable {
  @inlinable
  func laneState(of client: ClientIndex) -> UnsafeMutablePointer<LaneState> {
    part(options.pointee.gateLayout.lanes, client, as: LaneState.self)
  }

  /// The lane of a batch: that of its first event. Interactive, where there are no lanes.
  @inlinable
  public mutating func lane(of batch: BatchIndex, _ client: ClientIndex) -> PriorityLanes.Lane {
    options.pointee.gates.lanes?.lane(word: word(.query, for: batch, client)) ?? .interactive
  }

  @inlinable
  @inline(never)
  mutating func beginLanes(_ client: ClientIndex, cursor: UInt32) {
    let state = laneState(of: client)
    if !state.pointee.resumes { state.pointee.cursor = cursor }
    state.pointee.resumes = false
  }

  /// The next due batch of the lane whose turn it is, taken out of the due ones, or none.
  @inlinable
  @inline(never)
  mutating func takeNextOfLanes(_ client: ClientIndex, from cursor: UInt32, at now: Int64) -> BatchIndex {
    guard let lanes = options.pointee.gates.lanes else { return .noBatch }
    let state = laneState(of: client)
    let interactive = next(.due(in: .interactive), client, from: state.pointee.cursor, at: now)
    let background = next(.due(in: .background), client, from: cursor, at: now)
    state.pointee.next = state.pointee.order
    let lane = lanes.next(
      &state.pointee.next, interactiveDue: interactive != .noBatch, backgroundDue: background != .noBatch)
    guard let lane else {
      // One pass, as in `continueLoop`.
      if options.pointee.flushWhileUploading != .joins { state.pointee.cursor = .max }
      return .noBatch
    }
    let batch = lane == .interactive ? interactive : background
    schedule(batch, .taken, client)
    return batch
  }

  /// The loop goes on behind a batch.
  @inlinable
  @inline(never)
  mutating func passInLane(_ batch: BatchIndex, _ client: ClientIndex, _ cursor: inout UInt32) {
    let state = laneState(of: client)
    state.pointee.previous = state.pointee.order
    state.pointee.order = state.pointee.next
    move(to: firstOrdinal(of: batch) &+ 1, inLaneOf: batch, client, &cursor)
  }

  @inlinable
  @inline(never)
  mutating func move(
    to ordinal: UInt32, inLaneOf batch: BatchIndex, _ client: ClientIndex, _ cursor: inout UInt32
  ) {
    if lane(of: batch, client) == .interactive {
      laneState(of: client).pointee.cursor = ordinal
    } else {
      cursor = ordinal
      setCursor(ordinal, of: client)
    }
  }
}

/// The gates' verdict on an upload.
@usableFromInline
enum GateVerdict {
  case allowed
  /// The upload goes back into the queue, and the loop sends nothing more for now.
  case held
  /// The upload goes back into the queue, and the loop goes on with others.
  case skipped
  /// The batch is lost, and the loop goes on with others.
  case refused
}
