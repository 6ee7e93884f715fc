import UploadGating
import UploadRetry

/// What all gates share: their states' places in memory, and holds.
extension UploadClientHost where Self: ~Copyable {
  /// A part's state in a client's row.
  @inlinable
  @inline(__always)
  func part<State>(_ place: Int, _ client: ClientIndex, as _: State.Type) -> UnsafeMutablePointer<State> {
    (gateRow(of: client) + place).assumingMemoryBound(to: State.self)
  }

  @inlinable
  func hold(_ client: ClientIndex) -> UnsafeMutablePointer<GateHold> {
    part(0, client, as: GateHold.self)
  }

  /// Whether a gate holds what the client would send.
  package func isHeldByGate(_ client: ClientIndex, at now: Int64) -> Bool {
    options.pointee.keepsGates && hold(client).pointee.until > now
  }

  @inlinable
  public func forgetHold(_ client: ClientIndex) { hold(client).pointee = GateHold() }

  /// Makes whatever was held before a matter of the trigger's own run. A run that has its slots is the exception: it goes on
  /// (T2), unless the client has no such runs.
  @inlinable
  public func forgetHoldAtTrigger(_ client: ClientIndex, whole: Bool = false, at now: Int64) {
    if whole || !isAmidWholeRun(hold(client).pointee) { forgetHold(client) }
    endThrottlePause(client, at: now)
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
    } else {
      budgetStartsRun(client)
    }
    guard cursor == 0, let time = rateGateHoldsRun(client, byTrigger: byTrigger, at: now) else { return true }
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

/// How an upload ended, as gates hear it.
@usableFromInline
struct GateAnswer {
  /// 0: no answer.
  @usableFromInline let status: Int

  @inlinable
  init(_ response: UploadResponse) {
    status = if case .status(let status, _) = response { status } else { 0 }
  }

  @inlinable var isSuccess: Bool { (200...299).contains(status) }
  @inlinable var isFailure: Bool { status == 0 || status == 429 || status >= 500 }
}

/// An upload under way, of a client that wants to know how long answers take.
@usableFromInline
struct SentUpload: BitwiseCopyable {
  /// The number of its first event, plus one; 0: none.
  @usableFromInline var name: UInt64
  /// Microseconds.
  @usableFromInline var time: Int64

  @usableFromInline
  init(name: UInt64, time: Int64) {
    self.name = name
    self.time = time
  }
}

/// A gated device's memory of the hold that its loop met last.
@usableFromInline
struct GateHold: BitwiseCopyable {
  /// When it is worth while to look again, microseconds; 0: nothing is held, `.max`: not before the next trigger.
  @usableFromInline var until: Int64 = 0
  @usableFromInline var flags: Flags = []

  @usableFromInline
  init(until: Int64 = 0, flags: Flags = []) {
    self.until = until
    self.flags = flags
  }

  @usableFromInline
  struct Flags: OptionSet, BitwiseCopyable {
    @usableFromInline var rawValue: UInt32

    @usableFromInline init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A wake-up comes at `until` whatever `RetryWakeUp` says.
    @usableFromInline static var wakes: Flags { Flags(rawValue: 1) }
    /// The wake-up goes on with the held run instead of starting one.
    @usableFromInline static var resumes: Flags { Flags(rawValue: 2) }
    /// The held run was started by a trigger.
    @usableFromInline static var byTrigger: Flags { Flags(rawValue: 4) }
    /// The held run has not begun (T2).
    @usableFromInline static var fromStart: Flags { Flags(rawValue: 8) }
    /// One batch is held while the loop goes on with others.
    @usableFromInline static var skips: Flags { Flags(rawValue: 16) }
  }
}
