import UploadGating

/// What stands between a device's upload loop and the network, beside the client's retry state: parts of `UploadGating`, any
/// of which may go with any client. Each device has its own.
///
/// A part that is nil costs nothing. A held upload stays in the queue; where the wait has an end, a wake-up comes then with
/// `RetryWakeUp.timer`, and otherwise the next trigger tries again.
public struct ClientGates: Sendable, Hashable {
  /// T1: sliding windows, alone or two in series. Their waits end by a wake-up whatever `retries` says, because they are waits
  /// inside a run.
  public var rateGate: RateGate?
  /// T2: a run starts only when the first window has a slot for each batch that is due, up to all of its slots.
  public var reservesWholeRun = false
  /// T3: a run that finds no slot in the first window waits for one and starts over.
  public var restartsRun = false
  /// O6: after 429, 5xx and no answer at all it opens; other answers are successes of the host. One that stops retries alone
  /// holds a batch back while the loop goes on with others.
  public var breaker: CircuitBreaker?
  /// K1: counts 4xx.
  public var failureWindow: FailureWindow?
  /// K1: what is asked for while the window blocks is refused and lost, not held.
  public var refusesWhileBlocked = true
  /// K2: counts 429 and 503.
  public var projectDelay: ProjectDelay?
  /// O3.
  public var retryBudget: RetryBudget?
  /// Rejections at the client, by the server's acceptance lately.
  public var throttle: AdaptiveThrottle?
  /// How long a rejected upload is held, microseconds.
  public var throttlePause: Int64 = 1_000_000
  /// O5: uploads at once and events in a batch, both within what the cohort allows.
  public var controller: BackpressureController?
  /// O4: an upload whose outcome is unknown is asked for before it is sent again, which takes a request of its own.
  public var reconciles = false
  /// O8: the loop takes what the user waits for first. *files* only, without `reservesWholeRun`,
  /// without cutting on 413 and without limits that are checked before a batch is due.
  public var lanes: PriorityLanes?

  /// No gate at all.
  public init() {}

  /// Whether there is nothing to ask.
  public var isEmpty: Bool { self == ClientGates() || parts == 0 }

  private var parts: Int {
    [
      rateGate != nil, breaker != nil, failureWindow != nil, projectDelay != nil, retryBudget != nil,
      throttle != nil, controller != nil, reconciles, lanes != nil,
    ].count { $0 }
  }
}

extension ClientGates {
  /// Where each part's state lies in a device's row of the gate table; 0 stands for "not there", as the row begins with what
  /// every gated device has.
  public struct Layout: Sendable {
    public var rateLog = 0
    public var breaker = 0
    public var failureWindow = 0
    public var projectDelay = 0
    public var budget = 0
    public var throttle = 0
    public var controller = 0
    public var pace = 0
    /// `SentUpload` for each upload that may be under way.
    public var sentUploads = 0
    public var lanes = 0
    /// Bytes of a row.
    public private(set) var stride: Int

    public init(_ gates: ClientGates) {
      stride = MemoryLayout<GateHold>.stride
      func take(_ bytes: Int?) -> Int {
        guard let bytes else { return 0 }
        let place = stride
        stride += (bytes + 7) / 8 * 8
        return place
      }
      throttle = take(gates.throttle.map { _ in MemoryLayout<AdaptiveThrottle.State>.stride })
      failureWindow = take(gates.failureWindow.map { $0.queries * MemoryLayout<FailureWindow.State>.stride })
      projectDelay = take(gates.projectDelay.map { _ in MemoryLayout<ProjectDelay.State>.stride })
      budget = take(gates.retryBudget.map { _ in MemoryLayout<RetryBudget.State>.stride })
      controller = take(gates.controller.map { _ in MemoryLayout<BackpressureController.State>.stride })
      pace = take(
        gates.controller.flatMap { $0.paces ? MemoryLayout<BackpressureController.Pace>.stride : nil })
      sentUploads = take(
        gates.controller.flatMap {
          $0.needsLatencies ? $0.longestConcurrency * MemoryLayout<SentUpload>.stride : nil
        })
      lanes = take(gates.lanes.map { _ in MemoryLayout<LaneState>.stride })
      rateLog = take(gates.rateGate.map { $0.logWords * 4 })
      breaker = take(gates.breaker.map { $0.stateWords * 4 })
    }
  }

  /// Bytes that each device's gates take beside its record.
  public var bytesPerDevice: Int { isEmpty ? 0 : Layout(self).stride }
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

/// What a gated device remembers of the hold that its loop met last.
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
