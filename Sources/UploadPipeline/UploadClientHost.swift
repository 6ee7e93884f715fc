import UploadGating
import UploadRetry

/// The ground that a client runs on: memory for its queue, a way to send, and ears for what it does. The client itself is
/// everything between "events come in" and "a request leaves". The extensions of this protocol hold it, once.
/// - `UploadLoop`: what a trigger or a wake-up starts, and in which order the loop asks (S3, S16, S17);
/// - `UploadAnswers`: what the end of an upload does;
/// - `Gates/Lanes`: a loop over two lanes (O8);
/// - `ClientGates`, `GateHolds`: what stands between the loop and the network;
/// - `UploadSealing`: how events become batches, and which go when there are too many;
/// - `UploadRestart`: what a client knows after its process has ended (S18).
///
/// A host keeps one client or millions: `client` is its place in the host's memory. Batches have numbers of the host's choice but
/// 0, which stands for none. A batch is a range of events; these are numbered per client in the order of their creation. Times
/// are microseconds on one clock. A fleet of a million devices keeps flat rows, and all of this is specialised for them; an app
/// keeps an array (`UploadClient`).
///
/// Much is `mutating` that changes nothing: for a call that is not inlined a borrowed host would be copied, all of its row pointers.
public protocol UploadClientHost: UploadQueue, UploadEffects, ~Copyable {
  /// The rules of a client that acts when a flush ends (`ClientOptions.flushEnd`).
  associatedtype FlushEnd: FlushEndRules = LinkedFlushEnd
}

/// The memory of a host: its clients, and the batches that each of them holds.
public protocol UploadQueue: ~Copyable {
  /// The options of all clients of this host; the address stays.
  var options: UnsafePointer<ClientOptions> { get }
  /// The decisions that a client's Settings lead to.
  func machine(of client: ClientIndex) -> Unmanaged<RetryStateMachine>
  func state(of client: ClientIndex) -> UnsafeMutablePointer<ClientState>
  /// The parts of `ClientGates`, laid out by `ClientOptions.gateLayout`; asked for with gates only.
  func gateRow(of client: ClientIndex) -> UnsafeMutableRawPointer
  /// The saved state of a client that does not save at once (`Saving`).
  func saved(of client: ClientIndex) -> UnsafeMutablePointer<SavedState>
  /// Whole loops that wait for the running one to end (`FlushWhileUploading.queued`).
  func queuedLoops(of client: ClientIndex) -> UnsafeMutablePointer<UInt16>
  func queue(of client: ClientIndex) -> ClientQueue
  /// All events that have become batches and have not left.
  func heldEvents(of client: ClientIndex) -> UInt32
  /// How many batches these are. Asked for with `ClientOptions.batchLimit` only.
  func heldBatches(of client: ClientIndex) -> UInt32
  /// How many batches wait for a time after `now`; those whose time has come are due from now on. Asked for with
  /// `WhileWaiting.blocks` only.
  mutating func waitingBatches(of client: ClientIndex, at now: Int64) -> UInt32
  /// When the wait of the first of them is over; nil: there is none.
  mutating func firstWait(of client: ClientIndex) -> Int64?

  /// The running loop continues with batches from this event number on. A client with one upload at a time may keep none: it
  /// continues behind event `ordinal`, the batch whose upload has ended.
  func cursor(of client: ClientIndex, behind ordinal: UInt32) -> UInt32
  mutating func setCursor(_ cursor: UInt32, of client: ClientIndex)
  /// A loop starts: it passes over batches from `end` on.
  mutating func startLoop(of client: ClientIndex, cursor: UInt32, end: UInt32)

  /// The running loop passes over batches from this event number on. Asked for with `FlushWhileUploading.queued` only.
  func loopEnd(of client: ClientIndex) -> UInt32

  func batch(_ batch: BatchIndex) -> QueuedBatch
  /// Until when the request that a batch makes next is held, microseconds (K2), also if that is over; nil: it has not drawn. Asked for
  /// with `ClientGates.projectDelay` only; an attempt of the batch makes it nil.
  func delayEnd(of batch: BatchIndex) -> Int64?
  mutating func change(_ batch: BatchIndex, _ change: BatchChange)
  /// *files*: the batch's own record. *rebatch*: the client's.
  func retryState(of batch: BatchIndex, _ client: ClientIndex) -> BatchRetryState
  mutating func setRetryState(_ state: BatchRetryState, of batch: BatchIndex, _ client: ClientIndex)

  /// The first batch from event number `cursor` on that is due and not under way, taken out of the due ones, or none.
  mutating func takeNextDue(_ client: ClientIndex, from cursor: UInt32, at now: Int64) -> BatchIndex
  /// Notes the holds of the batches that the running loop would find held (`BatchSchedule.held`) and isn't offered, from event
  /// number `cursor` to before `end`. Returns where it goes on: behind the last of them.
  mutating func passHeld(_ client: ClientIndex, from cursor: UInt32, to end: UInt32, at now: Int64) -> UInt32
  /// The first batch from event number `cursor` on that the running loop may ask for, or none. It stays where it is.
  mutating func next(
    _ scan: QueueScan, _ client: ClientIndex, from cursor: UInt32, at now: Int64
  ) -> BatchIndex
  /// A batch that is not under way becomes due, waits, or is taken.
  mutating func schedule(_ batch: BatchIndex, _ schedule: BatchSchedule, _ client: ClientIndex)
  /// How many batches a loop over all of them would find due.
  mutating func countDue(_ client: ClientIndex, byTrigger: Bool, at now: Int64) -> Int
  /// When the first batch is due that a wake-up may take, 0 for one that is due; nil: there is none.
  mutating func firstDue(_ client: ClientIndex) -> Int64?
  /// No batch is due or waits any more; each is scheduled anew.
  mutating func forgetDueTimes(_ client: ClientIndex)
  /// When each waiting batch is due. For snapshots; may take long.
  func dueTimes(of client: ClientIndex) -> [BatchIndex: Int64]

  /// Becomes the newest batch.
  mutating func append(
    _ events: UInt32, firstOrdinal: UInt32, firstTime: Int64, _ client: ClientIndex, at now: Int64)
  /// So many events become batches now, and the next event has number `ordinal`.
  mutating func willSeal(_ n: UInt32, through ordinal: UInt32, _ client: ClientIndex)
  /// The newest batch, which is not under way, leaves the queue, and its events are again such as no flush has sealed.
  mutating func unsealNewest(_ client: ClientIndex)
  /// When the event `n` behind event `ordinal`, created at `time`, was created.
  mutating func skip(_ n: UInt32, from ordinal: UInt32, at time: Int64, _ client: ClientIndex) -> (
    Int64, UInt32
  )
  /// *rebatch*: batches of unknown outcome are as others from now on, but for those under way. With a `maximum` all batches are cut
  /// anew, with so many events each at most; no upload is under way then. A wake-up's loop takes no events that wait for a trigger: its
  /// batches have none of them.
  mutating func rechunk(_ client: ClientIndex, atMost maximum: UInt32?, at now: Int64)
  /// 413: a batch becomes two, both due; false: it can't.
  mutating func split(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> Bool
}

/// A host's services for a client, and its listeners.
public protocol UploadEffects: ~Copyable {
  /// Where requests and wake-ups go.
  associatedtype Sink
  /// Random words for one retry's jitter.
  associatedtype Draws: RandomNumberGenerator

  /// A request leaves. `asQuery`: it asks whether the batch was applied (O4).
  mutating func send(
    _ batch: BatchIndex, _ client: ClientIndex, retryCount: UInt16, asQuery: Bool, at now: Int64, _ sink: Sink
  )
  /// An upload is over, however it ended.
  mutating func endUpload(
    _ batch: BatchIndex, _ response: UploadResponse, _ client: ClientIndex, at now: Int64)
  /// The batch leaves the queue: delivered.
  mutating func settle(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64)
  /// The batch leaves the queue: given up. With `oldest` (*rebatch*) only so many of its events do, not all.
  mutating func giveUp(
    _ batch: BatchIndex, oldest: UInt32?, _ loss: ClientLoss, _ client: ClientIndex, at now: Int64)
  /// The client asks to be woken at `due`; an earlier wish is forgotten.
  mutating func wake(_ client: ClientIndex, at due: Int64, _ sink: Sink)
  /// Draws for what follows a batch's latest attempt, named by its number. An attempt is one of its kind for good, where failures
  /// may count from 0 again.
  ///
  /// - Parameters:
  ///   - batch: the batch.
  ///   - question: when a question about it ended (O4), if that is what follows: of several the time tells which.
  ///   - client: whose batch it is.
  func draws(for batch: BatchIndex, question: Int64?, _ client: ClientIndex) -> Draws
  mutating func word(_ purpose: WordPurpose, for batch: BatchIndex, _ client: ClientIndex) -> UInt64

  mutating func count(_ n: Int64, _ count: ClientCount, _ client: ClientIndex, at now: Int64)
  /// The event is made only if somebody listens.
  mutating func observe(_ event: @autoclosure () -> ClientEvent, _ client: ClientIndex, at now: Int64)
  /// A batch that must not have come up: a bug of the host.
  mutating func report(_ bug: String, _ client: ClientIndex, at now: Int64)
}

/// The contents of a client's queue.
@frozen
public struct ClientQueue: BitwiseCopyable, Sendable {
  /// The batch with the oldest events, and the one with the newest; none: the client holds none.
  public var oldest: BatchIndex
  public var newest: BatchIndex
  /// The number that the next event will have.
  public var nextOrdinal: UInt32
  /// Uploads under way.
  public var uploads: UInt32

  @inlinable
  @inline(__always)
  public init(oldest: BatchIndex, newest: BatchIndex, nextOrdinal: UInt32, uploads: UInt32) {
    self.oldest = oldest
    self.newest = newest
    self.nextOrdinal = nextOrdinal
    self.uploads = uploads
  }
}

/// A batch in a queue.
@frozen
public struct QueuedBatch: Sendable {
  /// The batch behind it; none: there is none.
  public var newer: BatchIndex
  public var firstOrdinal: UInt32
  public var events: UInt32
  /// When its first event was created.
  public var createdAt: Int64
  /// How often it has been sent, questions aside.
  public var attempts: UInt16
  public var isUploading: Bool
  /// Whether the upload under way is a question (O4).
  public var isAsking: Bool
  /// Whether some upload of it ended without an answer.
  public var hasUnknownOutcome: Bool
  /// Whether it is due at triggers only, not at wake-ups (S15).
  public var waitsForTrigger: Bool
  /// How an upload ended whose flush is not over (`ClientOptions.flushEnd`); nil: the batch has not been answered.
  public var result: UploadResult?

  @inlinable
  @inline(__always)
  public init(
    newer: BatchIndex, firstOrdinal: UInt32, events: UInt32, createdAt: Int64, attempts: UInt16,
    isUploading: Bool, isAsking: Bool, hasUnknownOutcome: Bool, waitsForTrigger: Bool, result: UploadResult?
  ) {
    self.newer = newer
    self.firstOrdinal = firstOrdinal
    self.events = events
    self.createdAt = createdAt
    self.attempts = attempts
    self.isUploading = isUploading
    self.isAsking = isAsking
    self.hasUnknownOutcome = hasUnknownOutcome
    self.waitsForTrigger = waitsForTrigger
    self.result = result
  }
}

/// How one upload of a flush ended (`ClientOptions.flushEnd`).
@frozen
public enum UploadResult: Sendable, Hashable, BitwiseCopyable {
  /// 2xx.
  case delivered
  /// A status that is not retried.
  case dropped
  /// The batch is tried again. `wait`: what the server asked to wait, microseconds; nil: nothing. `isRateLimit`: a 429.
  case failed(wait: Int64?, isRateLimit: Bool)
}

/// A change of a batch in its place.
@frozen
public enum BatchChange {
  /// A question has settled what became of it (O4).
  case outcomeIsKnown
  /// Whether it is due at triggers only, not at wake-ups (S15).
  case waitsForTrigger(Bool)
  /// The request that it makes next is held until then, microseconds (K2); nil: that request has yet to draw.
  case drawsDelay(until: Int64?)
  /// *rebatch*: the newest of a client gets more events.
  case grows(by: UInt32, of: ClientIndex)
  /// How its upload ended, or that its flush is over.
  case result(UploadResult?)
}

/// When a loop takes a batch.
@frozen
public enum BatchSchedule {
  /// Due, in its place by age.
  case due
  /// Due, behind all that are.
  case dueLast
  /// Due, and a gate holds its request by itself (K1, K2). A host may offer it again only when its own delay
  /// (`delayEnd`) is over, if it tells the loop of it (`passHeld`).
  case held
  /// Due at a time to come.
  case waiting(until: Int64)
  /// A loop has taken it out of the due ones.
  case taken
}

/// The batches that a loop looks for.
@frozen
public enum QueueScan {
  /// Batches of one lane that are due (O8).
  case due(in: PriorityLanes.Lane)
  /// All that are not under way.
  case held
}

/// The purpose of a random word about a batch.
@frozen
public enum WordPurpose {
  /// A gate's decision about the latest attempt; of several at one attempt the time tells which.
  case gate(at: Int64)
  /// The choice of the batch's query (K1): the same each time it is sent.
  case query
}

// Parts of the values that hosts keep together.
extension UploadClientHost where Self: ~Copyable {
  @inlinable
  @inline(__always)
  public func oldest(of client: ClientIndex) -> BatchIndex { queue(of: client).oldest }
  @inlinable
  @inline(__always)
  public func newest(of client: ClientIndex) -> BatchIndex { queue(of: client).newest }
  @inlinable
  @inline(__always)
  public func nextOrdinal(of client: ClientIndex) -> UInt32 { queue(of: client).nextOrdinal }
  @inlinable
  @inline(__always)
  public func uploads(of client: ClientIndex) -> UInt32 { queue(of: client).uploads }
  @inlinable
  @inline(__always)
  public func newer(than batch: BatchIndex) -> BatchIndex { self.batch(batch).newer }
  @inlinable
  @inline(__always)
  public func firstOrdinal(of batch: BatchIndex) -> UInt32 { self.batch(batch).firstOrdinal }
  @inlinable
  @inline(__always)
  public func events(of batch: BatchIndex) -> UInt32 { self.batch(batch).events }
  @inlinable
  @inline(__always)
  public func result(of batch: BatchIndex) -> UploadResult? { self.batch(batch).result }
  @inlinable
  @inline(__always)
  public func isUploading(_ batch: BatchIndex) -> Bool { self.batch(batch).isUploading }
  @inlinable
  @inline(__always)
  public func hasUnknownOutcome(_ batch: BatchIndex) -> Bool { self.batch(batch).hasUnknownOutcome }
}

/// The saved state of a client that does not save at once.
@frozen
public struct SavedState: BitwiseCopyable, Sendable {
  public var gate: UploadGate
  public var pipeline: PipelineRetryState
  /// *rebatch*: the client's record.
  public var record: BatchRetryState
  /// The latest change, which a client that saves later may not have saved.
  public var changedAt: Int64

  /// Nothing has been saved.
  @inlinable
  public init() {
    gate = UploadGate()
    pipeline = PipelineRetryState()
    record = BatchRetryState()
    changedAt = .min
  }
}

/// How a batch is given up.
@frozen
public enum ClientLoss: Sendable, Hashable {
  /// By the retry machine: lost, or blocked (`ClientPolicy.givenUp`).
  case limit(DropReason)
  /// The queue was full.
  case overflow
  /// A gate refused it (`ClientGates.withoutRefusals`).
  case refused
  /// The client took it for delivered, and the server had not accepted it.
  case discarded
}

/// A client's act that somebody may want to count.
@frozen
public enum ClientCount: Sendable {
  /// Clients that rest with batches: up and down.
  case resting
  /// A loop that a gate held.
  case heldLoops
  case throttledRequests
  case breakerOpenings, breakerOpenMicroseconds
  case credentialRefreshes
  /// A wait that a failed upload puts on its batch or on the client begins: its length.
  case backoffMicroseconds
}

/// A step of a client, for a log (S20). A batch is named by the number of its first event.
@frozen
public enum ClientEvent: Sendable {
  /// The gate was closed (S16), or there is no network: nothing leaves.
  case heldBack, heldBackOffline
  /// A gate of `ClientGates` holds an upload back, until this time or, with nil, until a trigger tries again.
  case heldByGate(until: Int64?)
  /// A loop runs already; whether it goes on with what is new.
  case alreadyUploading(joins: Bool)
  /// The client's decision on an answer.
  case decided(batch: UInt32, RetryOutcome)
  /// A limit was reached that makes the whole client start afresh.
  case stateReset
}
