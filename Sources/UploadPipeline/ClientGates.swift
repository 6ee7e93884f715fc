import UploadGating
import UploadRetry

/// The gates between a device's upload loop and the network, beside the client's retry state. They are parts of `UploadGating`;
/// any of them may go with any client. Each device has its own.
///
/// A part that is nil costs nothing. A held upload stays in the queue. Where the wait has an end, a wake-up comes then with
/// `RetryWakeUp.timer`; otherwise the next trigger tries again.
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
  /// O6: how the breaker's open times are spread.
  public var openTimeJitter = Jitter.none
  /// K1: counts 4xx.
  public var failureWindow: FailureWindow?
  /// K2: counts 429 and 503. A request draws its delay once, when the loop first looks at it; its retry is another request.
  public var projectDelay: ProjectDelay?
  /// O3.
  public var retryBudget: RetryBudget?
  /// Rejections at the client, by the server's acceptance lately.
  public var throttle: AdaptiveThrottle?
  /// O5: uploads at once and events in a batch, both within what the cohort allows.
  public var controller: BackpressureController?
  /// O4: an upload whose outcome is unknown is asked for before it is sent again, which takes a request of its own.
  public var reconciles = false
  /// The client loses the events that are flushed while a 429 makes it wait; false: it holds them.
  public var losesWhileRateLimited = false
  /// O8: the loop first takes operations that the user waits for. Only *files* clients have lanes, without `reservesWholeRun`,
  /// without cutting on 413 and without limits that are checked before a batch is due.
  public var lanes: PriorityLanes?

  /// No gate at all.
  public init() {}

  /// Whether there is nothing to ask.
  public var isEmpty: Bool { Self.parts.allSatisfy { $0.bytes(self) == nil } }

  /// Whether a part of them counts or plans by whole runs, so that a run can't start over on its way.
  var planLoops: Bool {
    reservesWholeRun || restartsRun || lanes != nil || projectDelay != nil || retryBudget?.perRun != nil
  }

  /// The gates that lose what they stop, by the names that scenarios give them.
  public var refusing: [String] {
    [
      (failureWindow?.refuses ?? false, "failureWindow"),
      (breaker?.failsWhenOpen ?? false, "breaker"),
      (losesWhileRateLimited, "losesWhileRateLimited"),
      (retryBudget?.decidesAtFailures ?? false, "retryThrottling"),
      (retryBudget?.refusesWhenSpent ?? false, "retryBudget"),
    ].filter { $0.0 }.map { $0.1 }
  }

  /// Bytes that each device's gates take beside its record.
  public var bytesPerDevice: Int { isEmpty ? 0 : Layout(self).stride }
}

extension ClientGates {
  /// The places of the parts' states in a device's row of the gate table. The value 0 stands for "not there", as the row begins
  /// with what every gated device has.
  public struct Layout: Sendable {
    public var throttle = 0
    /// When the pause after its latest rejection ends, microseconds.
    public var throttlePauseEnd = 0
    public var failureWindow = 0
    public var projectDelay = 0
    public var budget = 0
    public var controller = 0
    public var pace = 0
    /// `SentUpload` for each upload that may be under way.
    public var sentUploads = 0
    public var lanes = 0
    public var rateLog = 0
    public var breaker = 0
    /// Bytes of a row.
    public private(set) var stride = MemoryLayout<GateHold>.stride

    public init(_ gates: ClientGates) {
      for part in ClientGates.parts {
        guard let place = part.place, let bytes = part.bytes(gates) else { continue }
        place(&self, stride)
        stride += (bytes + 7) / 8 * 8
      }
    }
  }

  /// A part of the gates: the place of its state, nil for one without, and its size in bytes. The size is nil where the part is
  /// not there.
  private typealias Part = (place: ((inout Layout, Int) -> Void)?, bytes: (ClientGates) -> Int?)

  /// Every part, in the order of the rows.
  private static var parts: [Part] {
    [
      ({ $0.throttle = $1 }, { size(of: AdaptiveThrottle.State.self, if: $0.throttle != nil) }),
      ({ $0.throttlePauseEnd = $1 }, { size(of: Int64.self, if: $0.throttle != nil) }),
      (
        { $0.failureWindow = $1 },
        { $0.failureWindow.map { $0.queries * MemoryLayout<FailureWindow.State>.stride } }
      ),
      ({ $0.projectDelay = $1 }, { size(of: ProjectDelay.State.self, if: $0.projectDelay != nil) }),
      ({ $0.budget = $1 }, { size(of: RetryBudget.State.self, if: $0.retryBudget != nil) }),
      ({ $0.controller = $1 }, { size(of: BackpressureController.State.self, if: $0.controller != nil) }),
      ({ $0.pace = $1 }, { size(of: BackpressureController.Pace.self, if: $0.controller?.paces == true) }),
      (
        { $0.sentUploads = $1 },
        {
          $0.controller.flatMap {
            $0.needsLatencies ? $0.longestConcurrency * MemoryLayout<SentUpload>.stride : nil
          }
        }
      ),
      ({ $0.lanes = $1 }, { size(of: LaneState.self, if: $0.lanes != nil) }),
      ({ $0.rateLog = $1 }, { $0.rateGate.map { $0.logWords * 4 } }),
      ({ $0.breaker = $1 }, { $0.breaker.map { $0.stateWords * 4 } }),
      (nil, { $0.reconciles ? 0 : nil }), (nil, { $0.losesWhileRateLimited ? 0 : nil }),
    ]
  }

  private static func size<State>(of _: State.Type, if isThere: Bool) -> Int? {
    isThere ? MemoryLayout<State>.stride : nil
  }
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
