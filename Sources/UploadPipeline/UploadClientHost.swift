import UploadGating
import UploadRetry

/// What a client runs on: memory for its queue, a way to send, and ears for what it does. The client itself, which is everything
/// between "events come in" and "a request leaves", is in the extensions of this protocol, once:
/// - `UploadLoop`: what a trigger or a wake-up starts, and in which order the loop asks (S3, S16, S17);
/// - `UploadAnswers`: what the end of an upload does;
/// - `UploadLanes`: the same in two lanes (O8);
/// - `UploadGates`: what stands between the loop and the network (`ClientGates`);
/// - `UploadSealing`: how events become batches, and which go when there are too many;
/// - `UploadRestart`: what a client knows after its process has ended (S18).
///
/// A host keeps one client or millions: `client` is its place in the host's memory. Batches have numbers of the host's choice but 0,
/// which stands for none; a batch is a range of events, which are numbered per client in the order of their creation. Times are
/// microseconds on one clock. A fleet of a million devices keeps flat rows, and all of this is specialised for them; an app keeps an
/// array (`UploadClient`).
///
/// Much is `mutating` that changes nothing: for a call that is not inlined a borrowed host would be copied, all of its row pointers.
public protocol UploadClientHost: ~Copyable {
  /// Where requests and wake-ups go.
  associatedtype Sink
  /// Random words for one retry's jitter.
  associatedtype Draws: RandomNumberGenerator

  // MARK: The client

  /// What all clients of this host are; the address stays.
  var options: UnsafePointer<ClientOptions> { get }
  /// The decisions that a client's Settings lead to.
  func machine(of client: ClientIndex) -> Unmanaged<RetryStateMachine>
  func state(of client: ClientIndex) -> UnsafeMutablePointer<ClientState>
  /// The parts of `ClientGates`, laid out by `ClientOptions.gateLayout`; asked for with gates only.
  func gateRow(of client: ClientIndex) -> UnsafeMutableRawPointer
  /// Uploads under way.
  func uploads(of client: ClientIndex) -> UInt32
  /// The running loop goes on with batches from this event number on. A client with one upload at a time may keep none: it goes
  /// on behind event `ordinal`, the batch whose upload has ended.
  func cursor(of client: ClientIndex, behind ordinal: UInt32) -> UInt32
  mutating func setCursor(_ cursor: UInt32, of client: ClientIndex)
  /// A loop starts: it passes over batches from `end` on.
  mutating func startLoop(of client: ClientIndex, cursor: UInt32, end: UInt32)
  /// Whole loops that wait for the running one to end (`FlushWhileUploading.queued`).
  func queuedLoops(of client: ClientIndex) -> UInt16
  mutating func setQueuedLoops(_ n: UInt16, of client: ClientIndex)
  /// What is saved of a client that does not save at once (`Saving`).
  func saved(of client: ClientIndex) -> UnsafeMutablePointer<SavedState>
  /// The number that the next event will have.
  func nextOrdinal(of client: ClientIndex) -> UInt32

  // MARK: The queue

  /// The batch with the oldest events; none: the client holds none.
  func oldest(of client: ClientIndex) -> BatchIndex
  /// The one with the newest.
  func newest(of client: ClientIndex) -> BatchIndex
  /// The batch behind one; none: there is none.
  func newer(than batch: BatchIndex) -> BatchIndex
  func firstOrdinal(of batch: BatchIndex) -> UInt32
  func events(of batch: BatchIndex) -> UInt32
  /// When its first event was created.
  func queuedAt(_ batch: BatchIndex) -> Int64
  func isUploading(_ batch: BatchIndex) -> Bool
  /// Whether it has been sent.
  func hasBeenSent(_ batch: BatchIndex) -> Bool
  /// Whether its latest upload was not its first.
  func isRetry(_ batch: BatchIndex) -> Bool
  /// Whether some upload of it ended without an answer.
  func hasUnknownOutcome(_ batch: BatchIndex) -> Bool
  /// A question has settled what became of it (O4).
  mutating func outcomeIsKnown(_ batch: BatchIndex)
  /// Whether the upload under way is a question.
  func isAsking(_ batch: BatchIndex) -> Bool
  /// All events that have become batches and have not left.
  func heldEvents(of client: ClientIndex) -> UInt32
  /// *files*: the batch's own record. *rebatch*: the client's.
  func retryState(of batch: BatchIndex, _ client: ClientIndex) -> BatchRetryState
  mutating func setRetryState(_ state: BatchRetryState, of batch: BatchIndex, _ client: ClientIndex)
  /// The first batch from event number `cursor` on that is due and not under way, taken out of the due ones, or none.
  mutating func takeNextDue(_ client: ClientIndex, from cursor: UInt32, at now: Int64) -> BatchIndex
  /// The same in one lane of two (O8), which stays where it is.
  mutating func nextDue(
    _ client: ClientIndex, in lane: PriorityLanes.Lane, from cursor: UInt32, at now: Int64
  ) -> BatchIndex
  /// A batch that is due is taken out of the due ones.
  mutating func take(_ batch: BatchIndex, _ client: ClientIndex)
  /// It is due, in its place by age.
  mutating func putBack(_ batch: BatchIndex, _ client: ClientIndex)
  /// It is due, behind all that are.
  mutating func putLast(_ batch: BatchIndex, _ client: ClientIndex)
  /// It is due at a time to come.
  mutating func putOff(_ batch: BatchIndex, until due: Int64, _ client: ClientIndex)
  /// Whether it is due at triggers only, not at wake-ups (S15).
  mutating func setWaitsForTrigger(_ waits: Bool, _ batch: BatchIndex)
  /// The first batch from event number `cursor` on that is not under way, due or not, or none. It stays where it is.
  mutating func nextHeld(_ client: ClientIndex, from cursor: UInt32) -> BatchIndex
  /// How many batches a loop over all of them would find due.
  mutating func countDue(_ client: ClientIndex, byTrigger: Bool, at now: Int64) -> Int
  /// Whether a batch is due that a wake-up may take.
  mutating func hasDue(_ client: ClientIndex) -> Bool
  /// When the first of the batches that are put off is due; nil: there is none.
  mutating func firstDue(_ client: ClientIndex) -> Int64?
  /// No batch is due or put off any more; each is told anew.
  mutating func forgetDueTimes(_ client: ClientIndex)
  /// When a batch that is put off is due; 0: it is not put off. For snapshots; may take long.
  func dueTimes(of client: ClientIndex) -> [BatchIndex: Int64]

  /// New events come in, which have no numbers yet but the next; a host that draws events by itself need not listen.
  mutating func note(_ n: UInt32, eventsCreatedAt time: Int64, _ client: ClientIndex)
  /// So many events are about to become batches; they have, and the next event has number `ordinal`.
  mutating func willSeal(_ n: UInt32, _ client: ClientIndex)
  mutating func didSeal(through ordinal: UInt32, _ client: ClientIndex)
  /// Becomes the newest batch.
  mutating func append(
    _ events: UInt32, firstOrdinal: UInt32, firstTime: Int64, _ client: ClientIndex, at now: Int64)
  /// When the event `n` behind event `ordinal`, created at `time`, was created.
  mutating func skip(_ n: UInt32, from ordinal: UInt32, at time: Int64, _ client: ClientIndex) -> (
    Int64, UInt32
  )
  /// *rebatch*: the newest batch gets more events.
  mutating func extend(_ batch: BatchIndex, by n: UInt32, _ client: ClientIndex)
  /// *rebatch*: batches of unknown outcome are as others from now on, and may be cut; those under way are not.
  mutating func forgetBoundaries(_ client: ClientIndex)
  /// *rebatch*: batches are cut anew, with so many events each at most. No upload is under way.
  mutating func rechunk(_ client: ClientIndex, atMost maximum: UInt32, at now: Int64)
  /// *rebatch*: the oldest events of a batch are lost, but not all of them.
  mutating func trim(
    _ batch: BatchIndex, by n: UInt32, _ loss: ClientLoss, _ client: ClientIndex, at now: Int64)
  /// *rebatch*: how many of the oldest events were created before `time`. No upload is under way.
  mutating func countEvents(of client: ClientIndex, before time: Int64) -> UInt32
  /// How an upload ended whose flush goes on; nil: the batch has not been answered (`ClientOptions.actsAtFlushEnd`).
  func result(of batch: BatchIndex) -> UploadResult?
  mutating func setResult(_ result: UploadResult?, of batch: BatchIndex)
  /// 413: a batch becomes two, both due; false: it can't.
  mutating func split(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64) -> Bool

  // MARK: What it does

  /// A request leaves. `asQuery`: it asks whether the batch was applied (O4).
  mutating func send(
    _ batch: BatchIndex, _ client: ClientIndex, retryCount: UInt16, asQuery: Bool, at now: Int64, _ sink: Sink
  )
  /// An upload is over, however it ended.
  mutating func endUpload(
    _ batch: BatchIndex, _ response: UploadResponse, _ client: ClientIndex, at now: Int64)
  /// The batch leaves the queue: delivered.
  mutating func settle(_ batch: BatchIndex, _ client: ClientIndex, at now: Int64)
  /// The batch leaves the queue: given up.
  mutating func giveUp(_ batch: BatchIndex, _ loss: ClientLoss, _ client: ClientIndex, at now: Int64)
  /// The client asks to be woken at `due`; an earlier wish is forgotten.
  mutating func wake(_ client: ClientIndex, at due: Int64, _ sink: Sink)
  /// Draws for a batch's retry, named by how often it has failed.
  func draws(for batch: BatchIndex, failures: UInt16, _ client: ClientIndex) -> Draws
  /// A word for a gate's decision about a batch's latest attempt; of several at one attempt `now` tells which.
  mutating func gateWord(for batch: BatchIndex, _ client: ClientIndex, at now: Int64?) -> UInt64

  /// A word that tells which query a batch is (K1): the same each time it is sent.
  mutating func queryWord(of batch: BatchIndex, _ client: ClientIndex) -> UInt64

  // MARK: Who listens

  mutating func count(_ n: Int64, _ count: ClientCount, _ client: ClientIndex, at now: Int64)
  /// Whether anybody hears `observe`.
  func isObserved(_ client: ClientIndex) -> Bool
  mutating func observe(_ event: ClientEvent, _ client: ClientIndex, at now: Int64)
  /// A batch that must not have come up: a bug of the host.
  mutating func report(_ bug: String, _ client: ClientIndex, at now: Int64)
}

extension UploadClientHost where Self: ~Copyable {
  public mutating func note(_ n: UInt32, eventsCreatedAt time: Int64, _ client: ClientIndex) {}
}

/// What a client has saved that does not save at once.
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
  /// By the retry machine: lost, or blocked (`RetryPolicy.givenUp`).
  case limit(DropReason)
  /// The queue was full.
  case overflow
  /// A gate refused it (`ClientGates.refusesWhileBlocked`).
  case refused
  /// The client took it for delivered, and the server had not accepted it.
  case discarded
}

/// What a client does that somebody may want to count.
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
  /// What the client makes of an answer.
  case decided(batch: UInt32, RetryOutcome)
  /// A limit was reached that makes the whole client start afresh.
  case stateReset
}
