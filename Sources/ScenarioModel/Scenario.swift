import ShippedClients
import ShippedQuirks
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// Everything a run depends on, besides the version of the program: normalised and valid.
///
/// A scenario file (`ScenarioFile`) is decoded into this; tests build it directly.
public struct Scenario: Sendable, Hashable {
  /// The question that the scenario is to answer, for reports; a run does not depend on it.
  public var question: String?
  /// Names every random draw of the run: one seed, one run, to the byte.
  public var seed: UInt64
  /// Positive, at most 366 days.
  public var duration: Span
  /// The width of a row of the time series; at least 1 ms, at most `duration`; at most 100,000 rows.
  public var interval: Span
  /// The endpoint that the whole fleet shares, with its incidents.
  public var tapi: TAPIConfiguration
  /// At least one; devices are numbered through all cohorts in this order.
  public var fleet: [Cohort]
  /// Messages that make people open apps; at most `PushCampaign.maximumNumber`.
  public var push: [PushCampaign] = []
  /// 1 of so many of everything: what a `scale` left of a larger scenario. For reports; a run does not depend on it.
  public var scale = 1
  /// Whether requests wait in an endless line for the server instead of being refused: the scenario is another's `ideal`.
  public internal(set) var isIdeal = false

  public init(
    seed: UInt64 = 1, duration: Span, interval: Span = .seconds(1), tapi: TAPIConfiguration, fleet: [Cohort]
  ) {
    self.seed = seed
    self.duration = duration
    self.interval = interval
    self.tapi = tapi
    self.fleet = fleet
  }

  /// The twin run (definitions.md, Recovery): the same scenario and seed without its incidents, those of clients included, and without
  /// what operators do about them.
  public var withoutIncidents: Scenario {
    var twin = self
    twin.tapi.incidents = []
    twin.tapi.actions = []
    twin.push.removeAll { $0.every == nil }
    for i in twin.fleet.indices {
      if twin.fleet[i].rollout?.isAction ?? false { twin.fleet[i].rollout = nil }
      twin.fleet[i].spikes.removeAll { $0.every == nil }
      twin.fleet[i].connectivity?.interruptions = []
    }
    return twin
  }

  /// Whether nothing tells it from its twin.
  public var isItsOwnTwin: Bool {
    !hasIncidents && tapi.actions.isEmpty && !fleet.contains { $0.rollout?.isAction ?? false }
  }
}

/// Devices that share everything but their randomness.
@dynamicMemberLookup
public struct Cohort: Sendable, Hashable {
  /// Unique in the fleet: paths (`fleet.phones.devices`) and reports name the cohort by it.
  public var name: String
  /// 1 … 4 * 10^9.
  public var devices: Int
  /// The client that the defaults came from; a run depends on the values alone.
  public var preset = ClientPreset()
  /// What its clients do: the preset's, but for what the scenario says.
  public var behaviour = ClientBehaviour()
  /// When each device creates events, whatever becomes of its uploads.
  public var events: EventProcess
  /// The triggers that make a device seal its events and ask for uploads.
  public var flush: FlushPolicy
  /// The client gives an upload up after this long; at least 1 ms.
  public var timeout: Span
  /// The time-out of clients that have none of their own (requirement S9).
  public static let defaultTimeout = Span.seconds(30)
  /// The time-out of a client that notices earlier that it gets no connection. Such a client knows that the server has got
  /// nothing. `nil`: the client does not tell the two apart. At least 1 ms, at most `timeout`.
  public var connectTimeout: Span? = nil
  /// One-way latency, each way drawn apart. Its smallest value is at least 1 ms.
  public var latency: Distribution
  /// Bandwidth and loss; by default there is no limit and nothing gets lost.
  public var link = Link()
  /// How the clients keep connections, where `TAPIConfiguration.connections` makes them cost something.
  public var connection = ConnectionHabits()
  /// When devices are offline; nil: never.
  public var connectivity: Connectivity? = nil
  /// Whether each device holds a stream, a watch or a long poll open. A device whose own is cut off (`Incident.Kind.cut`) has an
  /// event to send, and its first attempt has failed without a status.
  public var holdsOpen = false
  /// When the app is in the foreground; nil: it runs all the time, and neither comes nor goes.
  public var sessions: Sessions? = nil
  /// When the operating system lets the app send in the background; nil: it does not, as the app is closed. With `sessions` only.
  public var os: BackgroundWindows? = nil
  /// Of an ideal run: the clients stand for pages, which do nothing while closed.
  package internal(set) var diesWhenClosed = false
  /// The Settings that every device starts with; a launch may change them (`rollout`, an outage of the CDN).
  public var settings: HTTPConfig
  /// App launches and kills; nil: every app runs from before the start to the end.
  public var lifecycle: Lifecycle? = nil
  /// Settings published during the run (S19); nil: none.
  public var rollout: SettingsRollout? = nil
  /// Events that come together at each time of `events`. 1 … 1000; not with spikes that create events.
  public var eventsAtOnce: Int = 1
  /// Whether its events are polls: a request each, none while the one before is under way or waits. One that is not made is no
  /// event. What `holdOnePoll` sets goes with it.
  public var polls = false
  /// The moments at which many of the devices act together; at most 100.
  public var spikes: [Spike] = []
  /// The bytes of one event; `requestBytes` are those of one request without its events. They count for the cost to the device,
  /// the time on a slow link and limits on the size of a batch.
  public var eventBytes: Int
  public var requestBytes: Int
  /// The tenant that the server knows the cohort's uploads by (S1), for its `KeyLimit`s; nil: the cohort's name.
  public var writeKey: String? = nil
  /// The write key by which the server knows the cohort's uploads.
  package var effectiveWriteKey: String { writeKey ?? name }

  /// How long it takes to refresh credentials (O9).
  public var credentialRefresh = Span.seconds(1)
  /// The source of `settings`, where clients read as a shipped SDK does. Such an SDK takes values that no normal form of the
  /// document's can say. `nil`: nothing but `settings` is known.
  public var settingsSource: SettingsValue? = nil

  public init(
    name: String, devices: Int, events: EventProcess,
    flush: FlushPolicy = .init(), queue: QueuePolicy = .init(), retries: RetryWakeUp = .gate,
    uploadConcurrency: Int = 1, timeout: Span = defaultTimeout,
    latency: Distribution = .logNormal(
      median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(5)),
    settings: HTTPConfig = .init(), policy: ClientPolicy = ClientPolicy(), eventBytes: Int = 1_000,
    requestBytes: Int = 500
  ) {
    self.name = name
    self.devices = devices
    self.events = events
    self.flush = flush
    behaviour.queue = queue
    behaviour.retries = retries
    behaviour.uploadConcurrency = uploadConcurrency
    self.timeout = timeout
    self.latency = latency
    self.settings = settings
    behaviour.policy = policy
    self.eventBytes = eventBytes
    self.requestBytes = requestBytes
  }

  public subscript<Value>(dynamicMember path: WritableKeyPath<ClientBehaviour, Value>) -> Value {
    @inline(__always) get { behaviour[keyPath: path] }
    @inline(__always) set { behaviour[keyPath: path] = newValue }
  }
}

/// When a device creates events.
public enum EventProcess: Sendable, Hashable {
  /// Independent exponential gaps with this mean.
  case poisson(meanGap: Span)
  /// One event every `every`. `.flush`: created at the instant of the device's flush phase; `.random`: a phase
  /// of its own.
  case periodic(every: Span, phase: EventPhase)
  /// Poisson with the rate of `meanGap` times a factor that varies in time.
  case varying(meanGap: Span, RateCurve)
  /// Poisson with a rate measured in production, divided over the cohort's devices.
  case replay(ArrivalRates)
}

/// Where a device's periodic events lie in time.
public enum EventPhase: Sendable, Hashable {
  /// The first event is at a time of its own, uniform within a period.
  case random
  /// The first event is at the start of the device's flush interval; without an interval, at the start of the run.
  case flush
}

extension Cohort {
  /// Each event is a flush, and the device holds one batch of one event, whatever its client does otherwise.
  package mutating func holdOnePoll() {
    polls = true
    flush = FlushPolicy(count: 1, interval: nil)
    (behaviour.queue.maximumBatchEvents, behaviour.queue.batchLimit) = (1, 1)
    (behaviour.queue.overflow, behaviour.queue.growsUntilFailure) = (.refusesNewest, false)
    (behaviour.flushWhileUploading, behaviour.countsAllEvents, behaviour.countsHeldEvents) = (
      .joins, false, false
    )
    behaviour.countFlushWhileFailing = true
    behaviour.triggers.formUnion(ClientTriggers([.count]))
  }

  /// Events that make a flush; nil: no count does. An event may count twice (`countOfAnEvent`). A count that goes on over flushes
  /// then has to be met exactly, and one that starts over has to be reached.
  public var eventsUntilFlush: Int? {
    flush.count.map { count in
      if count % behaviour.countOfAnEvent == 0 { return count / behaviour.countOfAnEvent }
      return behaviour.countsAllEvents ? count : count / behaviour.countOfAnEvent + 1
    }
  }
}

/// When a device flushes (S17). At least one of the two is set.
public struct FlushPolicy: Sendable, Hashable {
  /// Events since the last flush that make one; nil: no count trigger. 1 … 10^6.
  public var count: Int?
  /// nil: no interval trigger. At least 1 ms.
  public var interval: Span?
  /// Whether devices start at random phases of the interval, or all together.
  public var isSynchronised: Bool
  /// The offset into each interval at which devices flush that start together. Less than the interval.
  public var phase = Span.zero
  /// The share of the devices that start together; the others have random phases. Parts per million; with `isSynchronised` only.
  public var togetherPartsPerMillion: Int64 = 1_000_000
  /// Devices that start together do so at random times in so long a span from `phase` on. Less than the interval.
  public var spread = Span.zero
  /// What the interval starts anew from.
  public var rearm = Rearm.fixedRate
  /// Each device's clock is fast or slow by up to so much, drawn evenly: its intervals are that much shorter or longer. 0 … 10,000
  /// parts per million.
  public var driftPartsPerMillion: Int64 = 0

  /// What the interval of a device starts anew from, besides a launch and the begin of a session.
  public enum Rearm: String, Sendable, Hashable, CaseIterable {
    /// Nothing: a timer that fires at a fixed rate.
    case fixedRate
    /// Each flush, whatever made it.
    case afterFlush
    /// Each flush, and the end of the uploads that it starts. While they run no interval ends.
    case afterAnswer
    /// Nothing, not even a launch or a session: the wall clock says when a device flushes.
    case wallClock

    /// Whether a flush starts the interval anew, whatever made it.
    public var restartsAtFlush: Bool { self == .afterFlush || self == .afterAnswer }
  }

  public init(count: Int? = 20, interval: Span? = .seconds(30), isSynchronised: Bool = false) {
    self.count = count
    self.interval = interval
    self.isSynchronised = isSynchronised
  }

  /// Whether devices flush at phases that change, or that some of them share.
  var hasLivingPhases: Bool {
    guard interval != nil else { return false }
    return isSynchronised && (togetherPartsPerMillion < 1_000_000 || spread > .zero) || rearm != .fixedRate
      || driftPartsPerMillion > 0
  }
}

/// The handling of a device's events between their creation and their delivery.
public struct QueuePolicy: Sendable, Hashable {
  /// The way in which a flush treats events that have not been delivered.
  public enum Mode: Sendable, Hashable {
    /// Each flush seals a batch with a retry record of its own.
    case files
    /// Events are re-chunked at each flush; one retry record for the device.
    case rebatch
  }
  /// Batch files, or chunks made anew at each flush.
  public var mode: Mode
  /// Sealed events held at most; `overflow` says which are lost beyond that when a flush seals. 1 … 10^6, or `Int.max`: no limit.
  public var limit: Int
  /// Batches held at most, those under way among them; `Int.max`: no limit. *files* only.
  public var batchLimit = Int.max
  /// `refusesNewest` in *files* only.
  public var overflow = Overflow.dropsOldest
  /// Events in one batch at most. 1 … 65,535.
  public var maximumBatchEvents: Int
  /// Bytes of one request at most, by `Cohort.eventBytes` and `requestBytes`; nil: no limit.
  public var maximumBatchBytes: Int? = nil
  /// Whether a batch of several events that is answered 413 is cut in two, both to be sent afresh. *files* only.
  public var splitsOn413 = false
  /// Whether a batch takes new events, up to its size, until it fails (`ClientOptions.growsUntilFailure`). *files* only.
  public var growsUntilFailure = false
  public init(mode: Mode = .files, limit: Int = .max, maximumBatchEvents: Int = 500) {
    self.mode = mode
    self.limit = limit
    self.maximumBatchEvents = maximumBatchEvents
  }
}

/// The trigger that makes a device try a batch again once its wait is over.
public enum RetryWakeUp: Sendable, Hashable {
  /// Retries happen only at a trigger (S17).
  case gate
  /// A wake-up at the due time.
  case timer
}

extension Scenario {
  /// The cuts that concern a cohort.
  package func cuts(of cohort: Cohort) -> [Incident] {
    guard cohort.holdsOpen else { return [] }
    return tapi.incidents.filter {
      if case .cut(let cohorts, _) = $0.kind { cohorts?.contains(cohort.name) ?? true } else { false }
    }
  }

  /// The flush interval of most devices, if phases change: `Synchrony` is measured in it.
  package var synchronyPeriod: Span? {
    guard fleet.contains(where: { $0.flush.hasLivingPhases || $0.os != nil }) else { return nil }
    var devices: [Span: Int] = [:]
    for cohort in fleet {
      if let interval = cohort.flush.interval { devices[interval, default: 0] += cohort.devices }
    }
    return devices.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }

  /// How long a recovery has to hold (`RunAnalysis.lookAhead`): the longest flush interval, at least a minute.
  package var recoveryHold: Span { max(fleet.compactMap { $0.flush.interval }.max() ?? .zero, .seconds(60)) }
}
