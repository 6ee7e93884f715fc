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

  /// The gates without those that lose what they stop, and the names that scenarios give these.
  public var withoutRefusals: (gates: ClientGates, names: [String]) {
    var (gates, names) = (self, [String]())
    func end(_ isOn: Bool?, _ name: String, _ end: (inout ClientGates) -> Void) {
      guard isOn == true else { return }
      names.append(name)
      end(&gates)
    }
    end(failureWindow?.refuses, "failureWindow") { $0.failureWindow = nil }
    end(breaker?.failsWhenOpen, "breaker") { $0.breaker = nil }
    end(losesWhileRateLimited, "losesWhileRateLimited") { $0.losesWhileRateLimited = false }
    end(retryBudget?.decidesAtFailures, "retryThrottling") { $0.retryBudget = nil }
    end(retryBudget?.refusesWhenSpent, "retryBudget") { $0.retryBudget = nil }
    return (gates, names)
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

/// Who is asked, one after the other, of a client with `ClientOptions.keepsGates`.
extension UploadClientHost where Self: ~Copyable {
  /// Asked for each batch that is due, before anything is decided about the batch itself.
  @inlinable
  @inline(never)
  mutating func gatesSay(of batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> GateVerdict {
    var look = GateHold(flags: resuming(client))
    if let verdict = throttleSays(client, at: now, look) { return verdict }
    if let verdict = requestGatesSay(of: batch, client, at: now) { return verdict }
    if let verdict = breakerSays(client, at: now, &look) { return verdict }
    if look.until == 0 {
      if let verdict = controllerSays(client, at: now, &look) { return verdict }
      rateGateSays(client, at: now, &look)
    }
    if look.until == 0 {
      // A hold that makes the loop skip batches still holds.
      if !hold(client).pointee.flags.contains(.skips) { forgetHold(client) }
      return .allowed
    }
    note(hold: look, client, at: now)
    return .held
  }

  /// Asked for a batch that would be sent now; a grant takes what the gates count.
  @inlinable
  @inline(never)
  mutating func gatesLetLeave(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> GateVerdict {
    let isRetry = self.batch(batch).attempts > 0
    if isRetry {
      if let verdict = budgetStopsRetry(client, at: now) { return verdict }
      if let verdict = breakerStopsRetry(client, at: now) { return verdict }
    }
    if let verdict = throttleStops(batch, client, at: now) { return verdict }
    budgetTakes(client, at: now, isRetry: isRetry)
    breakerTakes(client, at: now, isRetry: isRetry)
    rateGateTakes(client, at: now)
    controllerTakes(batch, client, at: now)
    return .allowed
  }

  /// Tells the gates how an upload has ended.
  @inlinable
  @inline(never)
  mutating func gatesHear(
    _ response: UploadResponse, of batch: BatchIndex, _ client: ClientIndex, at now: Int64
  ) {
    let answer = GateAnswer(response)
    breakerHears(answer, of: batch, client, at: now)
    requestGatesHear(answer, of: batch, client, at: now)
    budgetHears(answer, of: batch, client, at: now)
    throttleHears(answer, client, at: now)
    controllerHears(answer, of: batch, client, at: now)
  }

  // MARK: Restarts

  /// Restores a launched client's knowledge of its gates: everything, if it keeps state, but for uploads that were under way.
  @inlinable
  public mutating func relaunchGates(_ client: ClientIndex, keepingState keepsState: Bool, at now: Int64) {
    forgetHold(client)
    relaunchRequestGates(client)
    relaunchController(client)
    if keepsState {
      relaunchBreaker(client, at: now)
    } else {
      gateRow(of: client)
        .initializeMemory(as: UInt8.self, repeating: 0, count: options.pointee.gateLayout.stride)
    }
  }
}
