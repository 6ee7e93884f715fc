import UploadPipeline
import UploadRetry

package struct ClientScript {
  package struct Observation {
    package var sends: [(batch: String, header: Int?)] = []
    package var drops: [NamedDrop] = []
    /// Uploads of a page that have the flag `keepalive`.
    var keepAlive: [String] = []
    /// Batches that the step itself has sealed.
    var sealed: Set<String> = []
    package var outcome: RetryOutcome?
    /// The client keeps the batch that it gives up (`ClientPolicy.givenUp`).
    var isBlocked = false
    package var restored: VectorExpectation.Restored?
    /// The step makes no sense in this state.
    package var impossible: String?
  }

  package let subject: any ConformanceSubject
  private let client: ConformanceClient
  private let vector: VectorCase
  /// The name of each event, by its number.
  private var names: [String] = []

  package init(_ subject: any ConformanceSubject, _ vector: VectorCase, _ client: ConformanceClient) {
    self.subject = subject
    self.client = client
    self.vector = vector
    install()
  }

  // MARK: The state at time 0

  private mutating func install() {
    let given = vector.given
    let isOfShipped = client.preset.policy.rateLimitRecord == .untouched
    var snapshot = RetrySnapshot()
    snapshot.pipeline.retryCount = given.globalRetryCount
    if let waitUntil = given.waitUntil { snapshot.waitUntil = subject.origin + waitUntil }
    var shared = BatchRetryState()
    for batch in given.batches {
      let events = client.isRebatch ? 1 : batch.events
      let queuedAt = batch.queuedAt ?? (client.isRebatch ? min(batch.firstFailureAt ?? 0, 0) : 0)
      var record = BatchRetryState()
      // A shipped client keeps a record of failures that are not 429s.
      if !isOfShipped || batch.failures > 0 {
        record.failureCount = batch.failures
        record.latestFailure = isOfShipped ? .transient : batch.latestFailure
        if let time = batch.firstFailureAt { record.firstFailureTime = subject.origin + time }
        if let time = batch.dueAt { record.retryAt = subject.origin + time }
      }
      snapshot.batches.append(.init(id: UInt64(names.count), state: record))
      subject.hold(UInt32(events), createdAt: queuedAt)
      names += Array(repeating: batch.name, count: events)
      // One record for all: as many failures as the one that has most, since the first of them.
      shared.failureCount = max(shared.failureCount, record.failureCount)
      if record.latestFailure != .none { shared.latestFailure = record.latestFailure }
      if record.firstFailureTime != .min {
        shared.firstFailureTime =
          shared.firstFailureTime == .min
          ? record.firstFailureTime : min(shared.firstFailureTime, record.firstFailureTime)
      }
    }
    if client.isRebatch {
      snapshot.batches = [.init(id: 0, state: shared)]
      if snapshot.waitUntil == 0, let dueAt = given.batches.compactMap(\.dueAt).first {
        (snapshot.waitUntil, snapshot.isWaitBackoff) = (subject.origin + dueAt, true)
      }
    }
    subject.adopt(snapshot)
    _ = subject.takeSteps()
  }

  // MARK: Steps

  package mutating func perform(_ step: VectorStep) -> Observation {
    var seen = Observation()
    let before = Set(heldNames)
    var answered: UInt32?
    switch step.action {
    case .trigger(let kind): if let trigger = kind.ofClient { subject.trigger(trigger, at: step.at) }
    case .events(let count, let name): add(count, name, at: step.at)
    case .answer(let name, let status, let retryAfter, let rateLimitReset):
      let batch = heldBatches.first { $0.isUploading && $0.name == name }
      guard let batch else {
        seen.impossible = "an answer for \(name), which is not being uploaded"
        return seen
      }
      answered = batch.first
      let now = vector.wallClock * 1_000_000 + step.at
      let wait = client.preset.settingsDialect.wait(
        retryAfter: retryAfter, rateLimitReset: rateLimitReset, policy: client.preset.policy,
        nowUnixMicroseconds: now)
      subject.answered(status.map { .status($0, retryAfter: wait) } ?? .noStatus, batch.id, at: step.at)
    case .restart(let saved, let settings):
      let config = settings.map { client.settings($0).config }
      seen.restored = restart(saved, config, at: step.at)
    }
    collect(into: &seen, answered: answered)
    let now = Set(heldNames).union(seen.drops.map(\.batch))
    seen.sealed = now.subtracting(before)
    return seen
  }

  private mutating func collect(into seen: inout Observation, answered: UInt32?) {
    var lost: [(Range<UInt32>, String)] = []
    for step in subject.takeSteps() {
      switch step {
      case .sent(let events, let header): seen.sends.append((name(of: events), header))
      case .lost(let events, let reason): lost.append((events, reason))
      case .decided(let first, let outcome):
        if first == answered {
          seen.outcome = outcome
          seen.isBlocked = client.preset.policy.givenUp == .blocked
        }
      }
    }
    let isDropped =
      switch seen.outcome {
      case .drop, .dropAndPause, .discarded: true
      default: false
      }
    for (events, reason) in lost where !(isDropped && events.lowerBound == answered) {
      // Where batches have no names of their own, those of their events say what is gone.
      if client.isRebatch {
        seen.drops += events.map { NamedDrop(batch: names[Int($0)], reason: reason) }
      } else {
        seen.drops.append(NamedDrop(batch: name(of: events), reason: reason))
      }
    }
  }

  private mutating func add(_ count: Int, _ name: String, at now: Int64) {
    let events = client.isRebatch ? (names.last == name && subject.unsealed > 0 ? 0 : 1) : count
    names += Array(repeating: name, count: events)
    subject.add(UInt32(events), counting: count, at: now)
  }

  private mutating func restart(
    _ saved: VectorStep.SavedState, _ config: HTTPConfig?, at now: Int64
  ) -> VectorExpectation.Restored {
    let stored = subject.endProcess(strandingUnsealed: client.preset.flushWhileUploading != .joins, at: now)
    if let config { subject.follow(config) }
    if client.preset.saving != .atOnce {
      // As shipped: taken as it is, or not at all.
      let isThere = saved == .intact && (client.preset.saving != .never || vector.client.isPersistent == true)
      _ = subject.launch(isThere ? stored : RetrySnapshot(), at: now)
      return isThere ? .intact : .fresh
    }
    let found = stored.found(vector.client.isPersistent ?? true ? saved : .missing)
    guard case .snapshot(let snapshot) = found else {
      _ = subject.launch(RetrySnapshot(), at: now)
      return .fresh
    }
    let repairs = subject.launch(snapshot, at: now)
    // That a wait is over or an upload was cut off is no fault of the state.
    return repairs.contains { ![.waitIsOver, .unknownOutcome].contains($0.kind) } ? .repaired : .intact
  }

  // MARK: What it holds

  /// The batches that the client holds, oldest first, with the names of the vectors.
  package var heldBatches: [(id: BatchIndex, first: UInt32, name: String, isUploading: Bool)] {
    subject.held.map { ($0.id, $0.events.lowerBound, name(of: $0.events), $0.isUploading) }
  }

  /// The names in the queue; where events are chunked anew, each event's.
  var heldNames: [String] {
    if !client.isRebatch { return subject.held.map { name(of: $0.events) } }
    return subject.held.flatMap { $0.events.map { names[Int($0)] } }
  }

  /// The retry record that counts for a batch, with when it is due; nil if it is not held.
  package func record(of name: String) -> BatchRetryState? {
    guard heldNames.contains(name) else { return nil }
    if client.isRebatch {
      var record = subject.clientRecord
      record.retryAt = subject.state.gate.waitUntil
      return record
    }
    return heldBatches.first { $0.name == name }.map { subject.record(of: $0.id) }
  }

  private func name(of events: Range<UInt32>) -> String {
    var parts: [String] = []
    for event in events where parts.last != names[Int(event)] {
      parts.append(names[Int(event)])
      if !client.isRebatch { break }
    }
    return parts.joined(separator: "+")
  }
}

extension RetrySnapshot {
  /// What a client finds of it at its start.
  fileprivate func found(_ state: VectorStep.SavedState) -> StoredRetrySnapshot {
    var bytes = encoded()
    switch state {
    case .missing: return .none
    case .intact: break
    case .corrupt: bytes[bytes.count / 2] ^= 0x10
    case .torn: bytes.removeLast(bytes.count / 2)
    }
    return StoredRetrySnapshot(bytes: bytes)
  }
}
