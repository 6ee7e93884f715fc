import UploadRetry

/// A whole upload client for an app: events come in, requests go out, and nothing else decides.
///
/// A client keeps no payload and no clock. Events are numbers, 0 for the first that was ever added; the app keeps what they stand for, tells
/// what happens and when (microseconds since 1970), and does what `takeActions` says:
/// ```swift
/// var client = UploadClient(options: ClientOptions(), config: settings, flushCount: FlushCount(20))
/// client.add(1, at: now)                        // an event was tracked
/// client.trigger(.interval, at: now)            // the flush timer, the background, the network …
/// for action in client.takeActions() {
///   if case .send(let batch, let events, let retryCount, _) = action { upload(events, retryCount, as: batch) }
/// }
/// client.answered(batch, .status(503, retryAfter: nil), at: now)
/// ```
public struct UploadClient: ~Copyable {
  /// The app's tasks, and the events that it may want to log.
  public enum Action: Sendable {
    /// An upload of these events leaves; `retryCount` is its `X-Retry-Count`, nil without the header. `asksWhetherApplied`: instead
    /// of the events a question goes out, whether the earlier upload of them was applied (O4).
    case send(batch: BatchIndex, Range<UInt32>, retryCount: UInt16?, asksWhetherApplied: Bool)
    /// These events need not be kept any more.
    case delivered(Range<UInt32>)
    case lost(Range<UInt32>, ClientLoss)
    /// With `ClientOptions.wakesByTimer`: the trigger `wakeUp` is to come then.
    case wake(at: Int64)
    /// For a log.
    case step(ClientEvent)
  }

  package var triggered: TriggeredClient<ArrayQueue>

  /// - `config`: the Settings as they were read.
  /// - `flushCount`: how many events make a flush.
  /// - `random`: words for jitter, uniform.
  public init(
    options: ClientOptions, config: HTTPConfig, flushCount: FlushCount = FlushCount(20),
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    triggered = TriggeredClient(
      ArrayQueue(
        options, machine: RetryStateMachine(config: config, policy: options.policy, quirks: options.quirks),
        random: RandomWords(random)),
      flushCount: flushCount)
  }

  /// So many events have been created; they may be a flush.
  public mutating func add(_ events: Int, at now: Int64) {
    triggered.add(UInt32(clamping: events), at: now, ())
  }

  /// Something that may make the client flush has happened (`ClientOptions.triggers`).
  public mutating func trigger(_ trigger: ClientTrigger, at now: Int64) {
    triggered.trigger(trigger, at: now, ())
  }

  /// An upload has ended. Answers for batches that are not under way are ignored: a time-out has come before them.
  public mutating func answered(_ batch: BatchIndex, _ response: UploadResponse, at now: Int64) {
    guard triggered.host.batches.contains(where: { $0.id == batch && $0.isUploading }) else { return }
    triggered.answered(response, batch, at: now, ())
  }

  /// The answer to a question has come: whether the upload was applied (O4).
  public mutating func answered(_ batch: BatchIndex, wasApplied: Bool, at now: Int64) {
    guard triggered.host.batches.contains(where: { $0.id == batch && $0.isUploading && $0.isAsking }) else {
      return
    }
    triggered.hear(wasApplied: wasApplied, batch, at: now, ())
  }

  /// The network is there, or not: without it nothing leaves. Uploads under way end on their own.
  public mutating func setOnline(_ isOnline: Bool) {
    let state = triggered.host.state(of: .only)
    if isOnline { state.pointee.flags.remove(.offline) } else { state.pointee.flags.insert(.offline) }
  }

  /// The batches that the client holds, oldest first; the app stores which events each has, for `launch`.
  public var held: [HeldBatch] { triggered.held }

  /// The snapshot that the app has to store, whenever it has changed (S18).
  public var snapshot: RetrySnapshot { triggered.host.retrySnapshot(of: .only) }

  /// The client was launched: it finds `stored`, with the events that it held when its process ended. Call it before the first
  /// trigger; returns what had to be repaired.
  ///
  /// - `batches`: oldest first.
  /// - `nextEvent`: the number of the next event, so that no number comes twice; nil: the one behind those that are held.
  public mutating func launch(
    _ stored: RetrySnapshot, holding batches: [(firstEvent: UInt32, events: UInt32, createdAt: Int64)],
    nextEvent: UInt32? = nil, at now: Int64
  ) -> [SnapshotRepair] {
    for batch in batches {
      triggered.host.adopt(
        firstEvent: batch.firstEvent, events: batch.events, createdAt: batch.createdAt, at: now)
    }
    if let nextEvent { triggered.host.setNextOrdinal(nextEvent) }
    let repairs = triggered.host.restore(stored, .only, at: now)
    for batch in stored.batches where batch.isInFlight {
      triggered.host.noteUnknownOutcome(ofBatchFrom: batch.id)
    }
    return repairs
  }

  /// Returns the client's actions since the app last asked.
  public mutating func takeActions() -> [Action] {
    defer { triggered.host.actions = [] }
    return triggered.host.actions
  }
}

/// A source that has been drawn from once, for as long as the process of an app lives.
struct SameWord: RandomNumberGenerator {
  let word: UInt64
  func next() -> UInt64 { word }
}

/// Random words for one client, behind a reference, so that a copy draws on.
package final class RandomWords: RandomNumberGenerator {
  private var generator: any RandomNumberGenerator
  init(_ generator: any RandomNumberGenerator) { self.generator = generator }
  package func next() -> UInt64 { generator.next() }
}
