import UploadRetry

/// A client's options beside its Settings: plain values, the same for all clients of a host.
public struct ClientOptions: Sendable {
  /// Uploads at once, 1 … ; `UInt32.max`: no limit (S3).
  public var uploads: UInt32 = 1 {
    didSet { uploads = max(uploads, 1) }
  }
  /// One retry record for the client, whose events are chunked anew at each flush; else one for each sealed batch (S2).
  public var isRebatch = false {
    didSet { setGrowsNewest() }
  }
  /// Whether new events may become part of the newest batch.
  public private(set) var growsNewest = false
  /// The effect of a flush that comes while uploads run (S17).
  public var flushWhileUploading = FlushWhileUploading.joins {
    didSet { setGrowsNewest() }
  }
  /// Whether a batch takes new events until it fails, and then stays as it is. A 429 that makes the client wait is no failure of
  /// a batch. *files* only.
  public var growsUntilFailure = false {
    didSet { setGrowsNewest() }
  }
  /// *rebatch*: the client acts when the last upload of a flush has been answered; nil: after each.
  public var flushEnd: (any FlushEndRules)? {
    didSet { actsAtFlushEnd = flushEnd != nil }
  }
  /// A host that names its own rules needs no more.
  public package(set) var actsAtFlushEnd = false
  /// A 429 ends the running loop (S3), even if it asks for no wait.
  public var rateLimitEndsLoop = true
  /// Any failure of an upload ends it: nothing more leaves before the next trigger or the end of a wait.
  public var failureEndsLoop = false
  /// When retry state is saved, and what a launch makes of it (S18).
  public var saving = Saving.atOnce
  /// The triggers that make the client flush (S17).
  public var triggers = ClientTriggers.all
  /// The count trigger makes flushes while uploads fail: from a failure until a run of the loop has none.
  public var countFlushWhileFailing = true
  /// The count is compared with all events that the client holds, at each new one.
  public var countsHeldEvents = false
  /// A wake-up comes when a wait is over; else retries happen at triggers only (S17).
  public var wakesByTimer = false
  /// Triggers that cut a wait of the client short (D7).
  public var triggersThatSkipWaits: ClientTriggers = []
  /// Events of a batch at most. 1 … 65,535.
  public var maximumBatchEvents: UInt32 = 500 {
    didSet { maximumBatchEvents = min(max(maximumBatchEvents, 1), UInt32(UInt16.max)) }
  }
  /// Events held at most, and batches (*files* only; `UInt32.max`: any number); `overflow` says which are lost beyond that.
  public var limit: UInt32 = 1_000
  public var batchLimit = UInt32.max
  public var overflow = Overflow.dropsOldest
  /// What a batch that waits leaves of the uploads at once. *files* only, and not beside gates that have runs, or lanes.
  public var whileWaiting = WhileWaiting.frees
  /// Whether a batch that waits holds its upload's place.
  @inlinable public var blocks: Bool { if case .blocks = whileWaiting { true } else { false } }
  /// Whether the running loop goes back for a batch whose wait is over. Where uploads overlap, new batches may keep a loop running
  /// for good; a client whose gates plan runs waits for its end.
  @inlinable var goesBack: Bool {
    guard uploads > 1, wakesByTimer, !isRebatch, !blocks, !planLoops else { return false }
    if case .joins = flushWhileUploading { return true }
    return false
  }
  /// Whether a batch that waits is in nobody's way, and the oldest events make room for the newest.
  package var makesRoomAtOnce: Bool { !blocks && batchLimit == .max && overflow == .dropsOldest }
  /// Whether a batch that is answered 413 is cut in two. *files* only.
  public var splitsOn413 = false
  /// How long it takes to refresh credentials (O9), microseconds.
  public var credentialRefresh: Int64 = 1_000_000
  /// A 401 refreshes the credentials and sends the batch once more; a second one is as the tables say (O9).
  public var refreshesCredentials = false
  /// The switches of the retry machine, and what one shipped client decides otherwise.
  public var policy = RetryPolicy()
  public var quirks: (any RetryQuirks)? {
    didSet { hasQuirks = quirks != nil }
  }
  public private(set) var hasQuirks = false
  public var gates = ClientGates() {
    didSet {
      gateLayout = ClientGates.Layout(gates)
      keepsGates = !gates.isEmpty
      hasLanes = gates.lanes != nil
      planLoops = gates.planLoops
    }
  }
  /// Where the gates' states lie in a client's row.
  public private(set) var gateLayout = ClientGates.Layout(ClientGates())
  /// Whether there are gates at all.
  public private(set) var keepsGates = false
  /// Whether the loop goes over two lanes (O8).
  public private(set) var hasLanes = false
  @usableFromInline private(set) var planLoops = false

  /// The document's own client.
  public init() {}

  private mutating func setGrowsNewest() {
    growsNewest = isRebatch || growsUntilFailure || flushWhileUploading == .queued
  }
}

/// The effect of a flush that comes while uploads run (S17).
public enum FlushWhileUploading: String, Sendable, Hashable, CaseIterable {
  /// The running loop goes on with what it seals.
  case joins
  /// Nothing: it does not even seal.
  case ignored
  /// A whole loop follows when the running one ends; one for each such flush. A loop goes over what was sealed at its start.
  /// Events that come during a loop stay one open batch until the next loop begins.
  case queued
}

/// What a batch that waits for its next try leaves of the uploads at once.
public enum WhileWaiting: String, Sendable, Hashable, CaseIterable {
  /// Its place is free: other batches leave meanwhile.
  case frees
  /// Nothing: the worker that sent it sleeps until the wait is over, and takes no other batch.
  case blocks
}

/// The events that a full queue loses.
public enum Overflow: String, Sendable, Hashable, CaseIterable {
  /// The oldest of those that are not under way make room.
  case dropsOldest
  /// New batches for which there is no room.
  case refusesNewest
}

/// When retry state is saved, and what a launch makes of it (S18).
public enum Saving: String, Sendable, Hashable, CaseIterable {
  /// With every change; a launch repairs what can't be (`RetrySnapshot.validated`).
  case atOnce
  /// With every change; a launch takes it as it is.
  case atOnceAsItIs
  /// After each answer; a launch takes it as it is. A restart forgets what a loop has found out before a send.
  case afterAnswers
  /// A second after the latest change; a launch takes it as it is.
  case delayed
  /// Never: a launched client starts afresh.
  case never
}

/// The triggers that may make a client flush (S17).
public enum ClientTrigger: String, Sendable, Hashable, CaseIterable {
  /// As many new events as the flush policy's count.
  case count
  case interval
  /// The app asks for it.
  case manual
  /// The network is back.
  case reconnect
  /// The app comes to the foreground, a launch included; it goes to the background.
  case foreground, background
  /// The due time of a wait, which a client with a timer is woken at; it seals nothing.
  case wakeUp
}

/// A set of triggers.
public struct ClientTriggers: OptionSet, Sendable, Hashable {
  public var rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public init(_ triggers: [ClientTrigger]) {
    rawValue = ClientTrigger.allCases.enumerated().reduce(0) { bits, entry in
      triggers.contains(entry.element) ? bits | 1 << UInt8(entry.offset) : bits
    }
  }

  /// Every kind.
  public static let all = ClientTriggers(ClientTrigger.allCases)

  /// Its triggers, in the order of their declaration.
  public var kinds: [ClientTrigger] { ClientTrigger.allCases.filter(contains) }

  public func contains(_ trigger: ClientTrigger) -> Bool { isSuperset(of: ClientTriggers([trigger])) }
}

/// The rules of a client that acts when the last upload of a flush has been answered. They stand in place of the loop's own
/// steps; until then queue and state stay as they are. *rebatch* only. The one shipped client that does so is in `ShippedQuirks`.
///
/// The host of a fleet names it as its `FlushEnd`, and is specialised for it; an app's is told in `ClientOptions.flushEnd`.
public protocol FlushEndRules: Sendable {
  init()
  /// A flush begins, or a wake-up comes.
  func run<Host: UploadClientHost & ~Copyable>(
    _ host: inout Host, _ client: ClientIndex, byTrigger: Bool, at now: Int64, _ sink: Host.Sink)
  /// One of its uploads has ended.
  func hear<Host: UploadClientHost & ~Copyable>(
    _ response: UploadResponse, of batch: BatchIndex, _ host: inout Host, _ client: ClientIndex,
    at now: Int64, _ sink: Host.Sink)
  /// All of them have.
  func finish<Host: UploadClientHost & ~Copyable>(_ host: inout Host, _ client: ClientIndex, at now: Int64)
}

/// The rules that the client's options name (`ClientOptions.flushEnd`).
public struct LinkedFlushEnd: FlushEndRules {
  @inlinable
  public init() {}

  public func run<Host: UploadClientHost & ~Copyable>(
    _ host: inout Host, _ client: ClientIndex, byTrigger: Bool, at now: Int64, _ sink: Host.Sink
  ) {
    host.options.pointee.flushEnd?.run(&host, client, byTrigger: byTrigger, at: now, sink)
  }

  public func hear<Host: UploadClientHost & ~Copyable>(
    _ response: UploadResponse, of batch: BatchIndex, _ host: inout Host, _ client: ClientIndex,
    at now: Int64, _ sink: Host.Sink
  ) {
    host.options.pointee.flushEnd?.hear(response, of: batch, &host, client, at: now, sink)
  }

  public func finish<Host: UploadClientHost & ~Copyable>(
    _ host: inout Host, _ client: ClientIndex, at now: Int64
  ) {
    host.options.pointee.flushEnd?.finish(&host, client, at: now)
  }
}

/// The count trigger (S17): how many events make a flush.
public struct FlushCount: Sendable, Hashable {
  /// Events that make a flush, 1 … ; nil: no count does.
  public let count: Int?
  /// How much an event counts.
  public let countOfAnEvent: Int
  /// The count goes on over flushes for other reasons; else it starts over at each flush, whether something leaves or not.
  public let countsAllEvents: Bool
  private var counted = 0

  public init(_ count: Int?, countOfAnEvent: Int = 1, countsAllEvents: Bool = false) {
    self.count = count.map { max($0, 1) }
    self.countOfAnEvent = max(countOfAnEvent, 1)
    self.countsAllEvents = countsAllEvents
  }

  /// New events come in; returns whether they make a flush.
  public mutating func add(_ events: Int) -> Bool {
    guard let count else { return false }
    if !countsAllEvents {
      counted += events * countOfAnEvent
      return counted >= count
    }
    for _ in 0..<events {
      counted += countOfAnEvent
      if counted % count == 0 {
        counted = 0
        return true
      }
    }
    return false
  }

  /// A flush has come, for whatever reason.
  public mutating func flushed() { if !countsAllEvents { counted = 0 } }

  /// The process has ended; the count was in memory.
  public mutating func restart() { counted = 0 }
}
