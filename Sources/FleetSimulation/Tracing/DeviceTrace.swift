import FleetMetrics
import ScenarioModel
import UploadGating
import UploadPipeline
import UploadRetry

/// Everything that happened to one device in a run, in order.
///
/// A run that is traced gives the same record as one that is not.
public struct DeviceTrace: Sendable {
  /// Its global number: 0 … devices of all cohorts − 1.
  public var device: Int
  /// Its number within its cohort.
  public var numberInCohort: Int
  public var cohort: Cohort
  public var seed: UInt64
  /// Microseconds; the run ends before it.
  public var duration: Int64
  /// The server's incidents meanwhile, and operators' actions.
  public var incidents: [IncidentSpan]
  /// The header whose wait stands in an answer: the one that the client goes by (O11).
  public var waitHeader = "Retry-After"
  /// Whether a fetch of Settings is a request.
  public var fetchesSettings = false
  /// Events that the device holds when the run is over.
  public var queuedAtEnd = 0
  public var events: [Event]

  public struct Event: Sendable, Hashable {
    /// Virtual microseconds since the start of the run; events of one instant are in the order of their happening.
    public var time: Int64
    public var kind: Kind
    /// Events that the device holds after it, those under way included.
    public var queuedEvents: Int
    /// So many of these no flush has made a batch of.
    public var unsealedEvents = 0
    /// The others.
    public var sealedEvents: Int { queuedEvents - unsealedEvents }
    /// Until when the pipeline waits after it, microseconds; at or before `time`: READY (S16).
    public var waitUntil: Int64
  }

  /// A batch is named by the number of its first event; events are numbered per device from 0. A batch that is chunked anew
  /// (`QueuePolicy.Mode.rebatch`) may have another first event afterwards.
  public enum Kind: Sendable, Hashable {
    /// Something asks for a flush (S17); it finds this many events that no flush has sealed.
    case trigger(Trigger, newEvents: Int)
    /// A flush made a batch.
    case sealed(batch: Int, events: Int)
    /// The gate was closed: nothing leaves (S16, S17).
    case heldBack
    /// A gate of `ClientGates` holds an upload back, until this time or, with nil, until a trigger tries again.
    case heldByGate(until: Int64?)
    /// The device is offline: nothing leaves.
    case heldBackOffline
    /// The network is gone, and with it the uploads under way; or it is back.
    case wentOffline(uploadsCutOff: Int)
    case cameOnline
    /// A session begins or ends (`Sessions`).
    case cameToForeground, wentToBackground
    /// In the background the operating system lets the app send (`BackgroundWindows`), and no longer.
    case windowOpened, windowClosed
    /// In the background, outside such a window: nothing leaves.
    case heldBackBySystem
    /// An upload that the network loses, or its answer; or one that ends unsent for want of a connection or of time.
    case lost(batch: Int, attempt: Int, LossOnTheWay)
    /// A batch was too large (413): it keeps its first events, the others become a batch of their own.
    case split(batch: Int, events: Int, into: Int)
    /// A loop runs already; whether it goes on with what is new, or ignores the flush (S17).
    case alreadyUploading(joins: Bool)
    /// An upload leaves; `attempt` counts from 1. `retryCount` is its `X-Retry-Count`, nil without the header (S2).
    case sent(batch: Int, events: Int, attempt: Int, retryCount: Int?)
    /// A question leaves: whether the earlier upload of a batch was applied (O4).
    case asked(batch: Int)
    /// The client learns how an upload ended; no status: it gave up waiting.
    case answered(batch: Int, attempt: Int, UploadResponse)
    /// What ends next has no answer because its connection was refused.
    case refused(batch: Int, attempt: Int)
    /// The client's decision after the answer.
    case decided(batch: Int, RetryOutcome)
    /// Events are given up: a batch, or with overflow in *rebatch* the oldest events of one. The server has `accepted` of them, which
    /// the client does not know; the others are lost, unless an upload of theirs is still open.
    case dropped(batch: Int, events: Int, accepted: Int, Loss)
    /// The server accepts an upload that the client has given up; the client does not know.
    case acceptedUnheard(batch: Int, attempt: Int)
    /// A limit was reached that makes the whole client start afresh (`RetryPolicy.limitReached`).
    case stateReset
    /// The app was killed and launched again (S18), and fetched these Settings (S19).
    case launched(LaunchSettings, uploadsCutOff: Int)
    /// The running app fetched Settings; those published during the run, if a fetch is no request.
    case fetchedSettings
    /// A request for Settings leaves.
    case askedForSettings
    /// A request for Settings brought none.
    case gotNoSettings(UploadResponse)
  }

  public enum Trigger: Sendable, Hashable {
    /// As many events as the flush policy's count.
    case count
    case interval
    case launch
    /// Many devices flush together (`Spike`).
    case spike
    /// The network is back.
    case reconnect
    /// A session begins or ends (`Sessions`).
    case foreground, background
    /// The operating system lets the app send in the background (`BackgroundWindows`).
    case window
    /// A wait is over, with `RetryWakeUp.timer`.
    case wakeUp

    /// The client's own kind of trigger; nil: it is none of a client's.
    var ofClient: ClientTrigger? {
      switch self {
      case .count: .count
      case .interval: .interval
      case .launch, .foreground: .foreground
      case .background: .background
      case .reconnect: .reconnect
      case .wakeUp: .wakeUp
      case .spike, .window: nil
      }
    }
  }

  public enum LossOnTheWay: Sendable, Hashable {
    case request, answer, noConnection, tooSlow, cut
  }

  public enum Loss: Sendable, Hashable {
    case limit(DropReason)
    /// The queue was full.
    case overflow
    /// A gate refused it (`ClientGates.withoutRefusals`).
    case refused
    /// Not lost, but kept with a reason (`ClientPolicy.givenUp`).
    case blocked
  }

  public enum LaunchSettings: UInt16, Sendable, Hashable {
    /// The scenario's own, from the start.
    case base
    /// Settings published during the run.
    case rollout
    /// The CDN was down: the defaults.
    case builtIn
  }
}

/// Collects what happens to the one traced device.
package final class DeviceTracer {
  package fileprivate(set) var events: [DeviceTrace.Event] = []
  package fileprivate(set) var queuedAtEnd = 0
  package init() {}
}

extension DeviceShard {
  /// From now on `tracer` hears of a device; nil: of none.
  mutating func trace(_ device: DeviceIndex?, _ tracer: DeviceTracer) {
    tracing = (device ?? .noDevice, tracer)
  }

  var isTraced: Bool { tracing.device != .noDevice }

  /// Whether somebody wants to hear of a device: one comparison.
  @inline(__always)
  func isTraced(_ device: DeviceIndex) -> Bool { device == tracing.device }

  /// Tells of a device what has happened to it, if somebody wants to hear of it.
  @inline(__always)
  func trace(_ event: @autoclosure () -> DeviceTrace.Kind, _ device: DeviceIndex, at now: Int64) {
    if isTraced(device) { tell(event(), device, at: now) }
  }

  @inline(never)
  private func tell(_ event: DeviceTrace.Kind, _ device: DeviceIndex, at now: Int64) {
    let unsealed = Int(max(0, unsealedEvents(device, through: now)))
    tracing.tracer?.events.append(
      DeviceTrace.Event(
        time: now, kind: event, queuedEvents: Int(heldEvents(of: device)) + unsealed,
        unsealedEvents: unsealed,
        waitUntil: self[device].pointee.gate.waitUntil))
  }

  /// The run is over.
  func traceEnd() {
    if !isTraced { return }
    let unsealed = Int(unsealedEvents(tracing.device, through: plan.pointee.end &- 1))
    tracing.tracer?.queuedAtEnd = Int(heldEvents(of: tracing.device)) + unsealed
  }

  /// Before the send, which counts the attempt.
  func tracedSend(_ batch: BatchIndex, _ retryCount: UInt16) -> DeviceTrace.Kind {
    .sent(
      batch: Int(batches[batch].firstOrdinal), events: Int(batches[batch].events),
      attempt: batches[batch].attempts == .max ? 2 : Int(batches[batch].attempts) + 1,
      retryCount: options.pointee.policy.headerValue(retryCount).map(Int.init))
  }

  /// A batch that has left the queue; its record still tells which it was.
  func tracedDrop(_ batch: BatchIndex, accepted: Int64, _ reason: Measure) -> DeviceTrace.Kind {
    .dropped(
      batch: Int(batches[batch].firstOrdinal), events: Int(batches[batch].events), accepted: Int(accepted),
      .init(reason))
  }

  func traceUnheard(_ delivery: Delivery, at now: Int64) {
    trace(
      .acceptedUnheard(
        batch: Int(batches[delivery.batch].firstOrdinal), attempt: Int(delivery.attempt)), delivery.device,
      at: now)
  }
}

extension DeviceTrace.Loss {
  init(_ counter: Measure) {
    if let reason = counter.dropReason {
      self = .limit(reason)
    } else if counter == .refusedByGate {
      self = .refused
    } else {
      self = counter.blockReason == nil ? .overflow : .blocked
    }
  }
}
