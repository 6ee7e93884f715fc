import UploadRetry

/// Words for gates' decisions about one upload: the same again for the same upload, attempt and time. A salt of zeros, or of ones, is
/// that of a source that draws nothing else: then all words are the lowest, or the highest.
package struct GateWords: Sendable {
  private let salt: UInt64

  package init(salt: UInt64) { self.salt = salt }

  package func word(_ firstEvent: UInt32, _ attempts: UInt16, at now: Int64?) -> UInt64 {
    if salt == 0 || salt == .max { return salt }
    var z = salt &+ (UInt64(firstEvent) << 16 | UInt64(attempts))
    if let now { z = Self.mixed(z) ^ UInt64(bitPattern: now) }
    return Self.mixed(z)
  }

  /// SplitMix64's finaliser.
  private static func mixed(_ z: UInt64) -> UInt64 {
    var z = z &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// A client of a host with what makes it flush: the way from "events come in" to its loop (S17).
///
/// Its methods are not specialised, and so the whole client behind them is not. For an app's array that would be two fifths of
/// this module's code and build. An app would gain speed only at work that it does once in seconds. Shards call the methods of
/// their host themselves.
package struct TriggeredClient<Host: UploadClientHost & EventRecording & ~Copyable>: ~Copyable {
  package var host: Host
  private let client: ClientIndex
  private var flushCount: FlushCount
  /// Events that no flush has sealed, and when the first of them was created.
  package private(set) var unsealed: UInt32 = 0
  private var unsealedSince: Int64 = 0
  /// The process that wrote the unsealed events has ended: they are sealed with the next that come.
  private var isStranded = false

  package init(_ host: consuming Host, client: ClientIndex = .only, flushCount: FlushCount) {
    self.host = host
    self.client = client
    self.flushCount = flushCount
  }

  /// New events; they may be a flush.
  ///
  /// - Parameter counting: for how many they count, if not for as many as they are.
  package mutating func add(_ n: UInt32, counting: Int? = nil, at now: Int64, _ sink: Host.Sink) {
    host.note(n, eventsCreatedAt: now, client)
    if unsealed == 0 { unsealedSince = now }
    unsealed += n
    isStranded = false
    let isFull = flushCount.add(counting ?? Int(n))
    guard let count = flushCount.count, isFull || host.options.pointee.countsHeldEvents else { return }
    if !host.ignoresCount(client, unsealed: unsealed, count: UInt32(clamping: count)) {
      trigger(.count, at: now, sink)
    }
  }

  /// Something asks for a flush, or a wait is over.
  @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  package mutating func trigger(_ trigger: ClientTrigger, at now: Int64, _ sink: Host.Sink) {
    guard host.options.pointee.triggers.contains(trigger), !host.ignoresFlush(client) else { return }
    if trigger == .wakeUp {
      host.runLoop(client, at: now, byTrigger: false, sink)
      return
    }
    flushCount.flushed()
    host.skipWait(client, for: trigger)
    let n = isStranded ? 0 : unsealed
    if n > 0 { unsealed = 0 }
    host.flush(
      client, sealing: n, from: host.nextOrdinal(of: client), createdAt: unsealedSince, at: now, sink)
  }

  /// The client whose upload it is learns how it ended; nothing happens if it is not under way.
  @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  package mutating func answered(
    _ response: UploadResponse, _ batch: BatchIndex, at now: Int64, _ sink: Host.Sink
  ) {
    host.answered(response, batch, client, at: now, sink)
  }

  /// The answer to a question has come (O4).
  @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  package mutating func hear(wasApplied: Bool, _ batch: BatchIndex, at now: Int64, _ sink: Host.Sink) {
    host.hear(wasApplied: wasApplied, batch, client, at: now, sink)
  }

  /// Forgets what was in memory: the process has ended. Unsealed events are stored. With an own batch file for each flush, a
  /// launched client does not find them until it writes to that file again.
  package mutating func forgetMemory(strandingUnsealed: Bool) {
    flushCount.restart()
    let newest = host.newest(of: client)
    if strandingUnsealed, host.isOpen(newest, client) {
      let open = host.batch(newest)
      host.unsealNewest(client)
      unsealed += open.events
      unsealedSince = open.createdAt
    }
    isStranded = strandingUnsealed && unsealed > 0
  }

  /// The batches that the client holds, oldest first.
  @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  package var held: [HeldBatch] {
    var held: [HeldBatch] = []
    var batch = host.oldest(of: client)
    while batch != .noBatch {
      let first = host.firstOrdinal(of: batch)
      held.append(
        HeldBatch(
          id: batch, events: first..<first + host.events(of: batch), isUploading: host.isUploading(batch)))
      batch = host.newer(than: batch)
    }
    return held
  }

  package var state: ClientState { host.state(of: client).pointee }

  /// *rebatch*: the client's record.
  package var clientRecord: BatchRetryState { host.retryState(of: .noBatch, client) }
}

/// A host that is told of each new event before it becomes part of a batch. One that draws events by itself need not be.
package protocol EventRecording: ~Copyable {
  /// New events come in, which have no numbers yet but the next.
  mutating func note(_ n: UInt32, eventsCreatedAt time: Int64, _ client: ClientIndex)
}

/// A batch in a client's queue.
public struct HeldBatch: Sendable, Hashable {
  public var id: BatchIndex
  public var events: Range<UInt32>
  public var isUploading: Bool
}
