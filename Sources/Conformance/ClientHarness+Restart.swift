import UploadGating
import UploadRetry

/// Death and rebirth of the client: batch files stay, retry state comes from its snapshot (S18).
extension ClientHarness {
  /// The process ends at once, whatever it is doing, and starts again.
  mutating func restart(_ saved: VectorStep.SavedState, at now: Int64) {
    let store = HarnessStore(saved: snapshot(), state: options.isPersistent ? saved : .missing)
    (isLooping, isEnding, eventsSinceFlush) = (false, false, 0)
    let (snapshot, repairs) = store.restore(now: now, config: machine.config, policy: machine.policy)
    gate = UploadGate()
    if snapshot.waitUntil != 0 {
      gate.pause(until: snapshot.waitUntil, kind: snapshot.isWaitBackoff ? .backoff : .rateLimit)
    }
    pipeline = snapshot.pipeline
    clientRetry = snapshot.batches.first { $0.id == Self.clientID }?.state ?? BatchRetryState()
    for index in batches.indices {
      let id = UInt64(batches[index].number)
      batches[index].retry = snapshot.batches.first { $0.id == id }?.state ?? BatchRetryState()
      batches[index].isInFlight = false
      batches[index].waitsForTrigger = false
    }
    seen.restored = store.isUsable ? .intact : .fresh
    if store.isUsable, repairs.contains(where: \.isOfBadState) { seen.restored = .repaired }
  }

  /// The name of the one record of a client that has only one.
  private static let clientID = UInt64.max

  private func snapshot() -> RetrySnapshot {
    var snapshot = RetrySnapshot(
      waitUntil: gate.waitUntil, isWaitBackoff: gate.kind == .backoff, pipeline: pipeline)
    if preset.hasOneRetryRecord {
      snapshot.batches = [.init(id: Self.clientID, state: clientRetry)]
    } else {
      snapshot.batches = batches.map {
        .init(id: UInt64($0.number), state: $0.retry, isInFlight: $0.isInFlight)
      }
    }
    return snapshot
  }
}

/// What the client finds at its start.
private struct HarnessStore: RetrySnapshotStore {
  let saved: RetrySnapshot
  let state: VectorStep.SavedState

  func load() -> StoredRetrySnapshot {
    var bytes = saved.encoded()
    switch state {
    case .missing: return .none
    case .intact: break
    case .corrupt: bytes[bytes.count / 2] ^= 0x10
    case .torn: bytes.removeLast(bytes.count / 2)
    }
    return StoredRetrySnapshot(bytes: bytes)
  }

  mutating func save(_ snapshot: RetrySnapshot) { self = HarnessStore(saved: snapshot, state: .intact) }

  var isUsable: Bool {
    if case .snapshot = load() { true } else { false }
  }
}

extension SnapshotRepair {
  /// Whether the state could not be used as it was; that a wait is over or an upload was cut off is no fault.
  fileprivate var isOfBadState: Bool {
    switch kind {
    case .waitIsOver, .unknownOutcome: false
    default: true
    }
  }
}
