/// What a client keeps across restarts (S18): the gate's wait, the global count, and the state of its batches.
///
/// Times are wall-clock microseconds since 1970-01-01T00:00:00Z, because monotonic clocks start over at a
/// reboot: a client whose machine runs on a monotonic clock shifts its times by the difference of the two when
/// it saves, and back when it loads.
///
/// A client lives with it like this, and then never uploads a settled batch twice:
/// 1. *What exists* is said by the stored events alone, never by the snapshot, which only says how to treat it.
/// 2. *Before an upload* it saves, with the batch marked `isInFlight`. (Leaving that out costs the mark only.)
/// 3. *When the machine says delivered or dropped*, it deletes the batch's events, and that settles the batch;
///    then it saves. A kill between the two leaves a record without events, which means nothing. The other
///    order would for a while have events without a record, which look like a batch that never failed.
/// 4. *At start* it loads, validates, drops records without events, and gives a fresh record to events that
///    have none. So a torn, lost or outdated snapshot costs waits and counts, but no batch, and brings none
///    back.
///
/// An upload that was under way at the kill has an unknown outcome: the batch is not settled and is due again.
/// If the server had accepted it, that is the duplicate that no client can avoid and a server recognises by
/// message id (O4).
public struct RetrySnapshot: Sendable, Hashable {
  /// The pipeline waits until this time; 0 when it is ready.
  public var waitUntil: Int64
  /// The wait is a backoff of the whole client, not a rate limit.
  public var isWaitBackoff: Bool
  /// The global count.
  public var pipeline: PipelineRetryState
  /// Which batches have state, and what state; the order is the caller's.
  public var batches: [Batch]

  /// One batch.
  public struct Batch: Sendable, Hashable {
    /// The caller's name for it, unique among the batches.
    public var id: UInt64
    /// Its retry state.
    public var state: BatchRetryState
    /// An upload of it was under way when the snapshot was made.
    public var isInFlight: Bool

    public init(id: UInt64, state: BatchRetryState = .init(), isInFlight: Bool = false) {
      self.id = id
      self.state = state
      self.isInFlight = isInFlight
    }
  }

  /// Fresh state, unless told otherwise.
  public init(
    waitUntil: Int64 = 0, isWaitBackoff: Bool = false, pipeline: PipelineRetryState = .init(),
    batches: [Batch] = []
  ) {
    self.waitUntil = waitUntil
    self.isWaitBackoff = isWaitBackoff
    self.pipeline = pipeline
    self.batches = batches
  }
}

// MARK: - Where it is kept

/// What a store has.
public enum StoredRetrySnapshot: Sendable, Hashable {
  /// Nothing has been saved yet.
  case none
  case snapshot(RetrySnapshot)
  /// There is something, but no snapshot can be made of it: torn, corrupt, of another version, not readable.
  case unusable(reason: String)
}

/// A place that keeps one client's snapshot.
///
/// `save` must be atomic: whenever the process ends, `load` finds the old snapshot or the new one. A store that
/// cannot promise it is still safe, since the checksum shows a torn snapshot, but then waits are lost.
public protocol RetrySnapshotStore {
  /// What was saved last; a failure to read is `.unusable`.
  func load() -> StoredRetrySnapshot
  /// Replaces what is there; throws if it could not, and then the old snapshot is still there.
  mutating func save(_ snapshot: RetrySnapshot) throws
}

extension RetrySnapshotStore {
  /// Loads, validates and repairs (S18): always gives state that can be used, fresh if there is no other.
  ///
  /// - Parameters: as of `RetrySnapshot.validated`.
  public func restore(
    now: Int64, config: HTTPConfig, policy: RetryPolicy = .tapiDocument
  ) -> (snapshot: RetrySnapshot, repairs: [SnapshotRepair]) {
    switch load() {
    case .none: (RetrySnapshot(), [])
    case .snapshot(let snapshot): snapshot.validated(now: now, config: config, policy: policy)
    case .unusable(let reason): (RetrySnapshot(), [.init(.unreadable(reason: reason))])
    }
  }
}

extension StoredRetrySnapshot {
  /// What bytes from a file, a database or a defaults entry are: a snapshot, or why not.
  public init(bytes: [UInt8]) {
    do throws(RetrySnapshotError) {
      self = .snapshot(try RetrySnapshot.decode(bytes))
    } catch {
      self = .unusable(reason: error.description)
    }
  }
}
