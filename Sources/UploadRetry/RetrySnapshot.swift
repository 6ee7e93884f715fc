/// The retry state that a client keeps across restarts (S18): the gate's wait, the global count, and the state of
/// its batches.
///
/// Times are wall-clock microseconds since 1970-01-01T00:00:00Z, because monotonic clocks start over at a reboot. A
/// client whose machine runs on a monotonic clock shifts its times by the difference of the two when it saves. It
/// shifts them back when it loads.
///
/// A client that follows these rules never uploads a settled batch twice.
/// 1. Existence: the stored events alone say what exists. The snapshot only says how to treat it.
/// 2. Before an upload, the client saves, with the batch marked `isInFlight`. A client that leaves that out loses
///    the mark only.
/// 3. When the machine says delivered or dropped, the client deletes the batch's events, and that settles the batch;
///    then it saves. A kill between the two leaves a record without events, which means nothing. The reverse order
///    would leave events without a record for a while. Such events look like a batch that never failed.
/// 4. At the start, the client loads, validates, drops records without events, and gives a fresh record to events
///    that have none. So a torn, lost or outdated snapshot costs waits and counts, but no batch, and brings none
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
  /// The batches that have state, with that state; the order is the caller's.
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

/// The contents of a store.
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
  /// Returns the snapshot that was saved last; a failure to read is `.unusable`.
  func load() -> StoredRetrySnapshot
  /// Replaces what is there; throws if it could not, and then the old snapshot is still there.
  mutating func save(_ snapshot: RetrySnapshot) throws
}

extension RetrySnapshotStore {
  /// Loads, validates and repairs (S18): always gives state that can be used, fresh if there is no other.
  ///
  /// - Parameters: as of `RetrySnapshot.validated`.
  public func restore(
    now: Int64, config: HTTPConfig, policy: RetryPolicy = .init()
  ) -> (snapshot: RetrySnapshot, repairs: [SnapshotRepair]) {
    switch load() {
    case .none: (RetrySnapshot(), [])
    case .snapshot(let snapshot): snapshot.validated(now: now, config: config, policy: policy)
    case .unusable(let reason): (RetrySnapshot(), [.init(.unreadable(reason: reason))])
    }
  }
}

extension StoredRetrySnapshot {
  /// Reads the bytes of a file, a database or a defaults entry: as a snapshot, or as `.unusable` with the reason.
  public init(bytes: [UInt8]) {
    do throws(RetrySnapshotError) {
      self = .snapshot(try RetrySnapshot.decode(bytes))
    } catch {
      self = .unusable(reason: error.description)
    }
  }
}

/// One repair of a snapshot that has been loaded (S18).
public struct SnapshotRepair: Sendable, Hashable, CustomStringConvertible {
  /// The fault, and its repair.
  public enum Kind: Sendable, Hashable {
    /// The snapshot cannot be read, for this reason: fresh state.
    case unreadable(reason: String)
    /// The pipeline's wait was over: ready.
    case waitIsOver
    /// The pipeline's wait ended further away than any wait can, so the clock has moved: the longest wait.
    case waitClamped
    /// A batch's wait ended further away than any wait can: the longest wait.
    case batchWaitClamped
    /// The first failure lay in the future: now.
    case firstFailureInTheFuture
    /// A count was above what the limits let it reach: the limit.
    case countClamped
    /// An upload was under way: its outcome is unknown, and the batch is due again.
    case unknownOutcome
    /// The parts of a batch's state contradict one another: fresh state for it.
    case inconsistentBatch
    /// A second record of one batch: dropped.
    case duplicateBatch
  }

  public var kind: Kind
  /// The batch that it is about; nil: the client.
  public var batch: UInt64?

  public init(_ kind: Kind, batch: UInt64? = nil) {
    self.kind = kind
    self.batch = batch
  }

  /// One line for a log.
  public var description: String {
    let what =
      switch kind {
      case .unreadable(let reason): "the snapshot is not used, state is fresh: \(reason)"
      case .waitIsOver: "the wait is over; ready"
      case .waitClamped: "the wait ends further away than the cap allows; clamped"
      case .batchWaitClamped: "its wait ends further away than the cap allows; clamped"
      case .firstFailureInTheFuture: "the first failure lies in the future; now is taken"
      case .countClamped: "a count is above its limit; clamped"
      case .unknownOutcome: "an upload was under way; its outcome is unknown, it is due again"
      case .inconsistentBatch: "its state contradicts itself; fresh state"
      case .duplicateBatch: "a second record of it; dropped"
      }
    return batch.map { "batch \($0): \(what)" } ?? what
  }
}

extension RetrySnapshot {
  /// Returns the snapshot as a client may use it now (S18), and the repairs that this took; any value is safe.
  ///
  /// - A pipeline's wait that is over becomes 0 (READY). One that ends further away than the cap is clamped to now +
  ///   the cap. `maxRetryInterval` is the cap after a rate limit, the longest backoff after a backoff.
  /// - A batch that is due stays so. A wait further away than the longest backoff is clamped to that. The longest
  ///   backoff is `maxBackoffInterval` plus the largest jitter, unless the policy clamps that away.
  /// - A first failure in the future becomes now, so that the age limit still ends some time.
  /// - A count above its limit becomes the limit + 1, which is the largest that still acts as it should.
  /// - A batch whose upload was under way is due again, with its counts as they were before the upload.
  ///
  /// Waits of a section that is off (S15) are gone: ready, due.
  ///
  /// - Parameters:
  ///   - now: wall-clock microseconds since 1970; a negative one is taken as 0.
  ///   - config: the Settings that the client starts with.
  ///   - policy: how it decides.
  ///   - quirks: what it does otherwise than the document.
  /// - Returns: the state, and the repairs in a fixed order: the client first, then the batches in theirs.
  /// - Complexity: linear in the batches, expected.
  public func validated(
    now: Int64, config: HTTPConfig, policy: RetryPolicy = .init(), quirks: (any RetryQuirks)? = nil
  ) -> (snapshot: RetrySnapshot, repairs: [SnapshotRepair]) {
    let now = max(0, now)
    var repairs: [SnapshotRepair] = []
    var result = RetrySnapshot()
    let backoffCap = config.backoff.isEnabled ? config.longestBackoff(policy) : 0
    let batchCap =
      config.backoff.isEnabled && policy.retryAfterOnOtherCodes.isWaitOfBatch
      ? .max : backoffCap  // A Retry-After that delays a batch has no cap (O2).
    let heldCap = policy.backoffHolds == .client ? batchCap : backoffCap
    let rateLimitCap = config.rateLimit.isEnabled ? config.longestPause(policy, quirks) : 0

    if waitUntil != 0 {
      let latest = saturatingSum(now, isWaitBackoff ? heldCap : rateLimitCap)
      if waitUntil <= now {
        repairs.append(.init(.waitIsOver))
      } else {
        result.isWaitBackoff = isWaitBackoff
        result.waitUntil = min(waitUntil, latest)
        if waitUntil > latest { repairs.append(.init(.waitClamped)) }
        if result.waitUntil == now {
          result.waitUntil = 0
          result.isWaitBackoff = false
        }
      }
    }
    result.pipeline.retryCount = clampCount(
      pipeline.retryCount, config.rateLimit.maxRetryCount, config.rateLimit.isEnabled, nil, &repairs)

    var seen: Set<UInt64> = []
    for batch in batches {
      guard seen.insert(batch.id).inserted else {
        repairs.append(.init(.duplicateBatch, batch: batch.id))
        continue
      }
      var batch = batch
      if batch.isInFlight {
        batch.isInFlight = false
        batch.state.retryAt = 0
        repairs.append(.init(.unknownOutcome, batch: batch.id))
      }
      if !batch.state.isConsistent {
        batch.state = BatchRetryState()
        repairs.append(.init(.inconsistentBatch, batch: batch.id))
      }
      let latest = saturatingSum(now, batchCap)
      if batch.state.retryAt > latest {
        batch.state.retryAt = batchCap == 0 ? 0 : latest
        repairs.append(.init(.batchWaitClamped, batch: batch.id))
      }
      if batch.state.firstFailureTime > now {
        batch.state.firstFailureTime = now
        repairs.append(.init(.firstFailureInTheFuture, batch: batch.id))
      }
      batch.state.failureCount = clampCount(
        batch.state.failureCount, config.backoff.maxRetryCount, config.backoff.isEnabled, batch.id, &repairs)
      result.batches.append(batch)
    }
    return (result, repairs)
  }

  private func clampCount(
    _ count: UInt16, _ maximum: Int, _ isLimited: Bool, _ batch: UInt64?, _ repairs: inout [SnapshotRepair]
  ) -> UInt16 {
    let limit = UInt16(clamping: saturatingSum(Int64(max(0, maximum)), 1))
    guard isLimited, count > limit else { return count }
    repairs.append(.init(.countClamped, batch: batch))
    return limit
  }
}

extension BatchRetryState {
  /// Whether the machine could have left this state behind.
  fileprivate var isConsistent: Bool {
    switch latestFailure {
    case .none:
      var state = self
      state.hasRefreshedCredentials = false
      if hasRefreshedCredentials { state.retryAt = 0 }
      return state == BatchRetryState()
    case .rateLimited: return firstFailureTime != .min && (retryAt == 0 || hasRefreshedCredentials)
    // A count of 0: what failed was a question whether an earlier upload was applied, which uses up no attempt (O4).
    case .transient: return firstFailureTime != .min
    }
  }
}

extension BackoffConfig {
  /// The longest wait that `Jitter.delay` can draw, microseconds.
  package func longestWait(_ policy: RetryPolicy) -> Int64 {
    let cap = max(0, maxBackoffInterval)
    let longest = policy.backoff(afterFailures: .max, DelayBounds(base: cap, longest: cap)).bounds.longest
    return jitter.delay(
      of: longest, base: longest, cap: longest, previousDelay: longest,
      clampAfterJitter: policy.clampAfterJitter, word: .max)
  }
}

extension HTTPConfig {
  /// The longest backoff after a failure of any class, microseconds.
  func longestBackoff(_ policy: RetryPolicy) -> Int64 {
    let delays = policy.classDelays
    return [delays.rateLimit, delays.timeout, delays.server].reduce(backoff.longestWait(policy)) {
      longest, delay in
      guard let delay else { return longest }
      var part = backoff
      part.maxBackoffInterval = delay.longest
      return max(longest, part.longestWait(policy))
    }
  }

  /// The longest Retry-After that a client obeys, microseconds.
  package func longestRetryAfter(_ policy: RetryPolicy) -> Int64 {
    let longest: Int64 =
      switch policy.retryAfterCap {
      case .maxRetryInterval: rateLimit.maxRetryInterval
      case .longestRetryAfter: 31_622_400_000_000
      }
    return min(longest, policy.longestRetryAfter)
  }

  /// The longest wait that a rate limit can lead to, microseconds: with a backoff on 429s that have no
  /// Retry-After, additive jitter comes on top.
  func longestPause(_ policy: RetryPolicy, _ quirks: (any RetryQuirks)?) -> Int64 {
    let longest = policy.spreading(max(0, rateLimit.maxRetryInterval, longestRetryAfter(policy)), word: .max)
    guard let quirks, quirks.waitWithoutRetryAfter(longest: longest) == nil else { return longest }
    var part = backoff
    let cap = max(backoff.maxBackoffInterval, policy.classDelays.rateLimit?.longest ?? 0)
    part.maxBackoffInterval = min(cap, longest)
    return max(longest, part.longestWait(policy))
  }
}

/// Why bytes are no snapshot.
public enum RetrySnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Shorter than a header and a checksum.
  case tooShort(bytes: Int)
  /// It does not begin as a snapshot does.
  case notASnapshot
  /// The snapshot's version is one that this code does not know.
  case unknownVersion(UInt16)
  /// The header announces more bytes than there are: a write was cut off.
  case truncated(expected: Int, actual: Int)
  /// There are more bytes than the header announces.
  case tooLong(expected: Int, actual: Int)
  /// The bytes have changed since they were written.
  case checksumMismatch
  /// The checksum is right but a field has no meaning; names the field.
  case outOfRange(String)

  public var description: String {
    switch self {
    case .tooShort(let bytes):
      "\(bytes) \(bytes == 1 ? "byte is" : "bytes are") too few: a snapshot has at least "
        + "\(RetrySnapshot.headerBytes + RetrySnapshot.checksumBytes)"
    case .notASnapshot: "not a snapshot"
    case .unknownVersion(let version): "version \(version) is not known"
    case .truncated(let expected, let actual): "cut off at \(actual) of \(expected) bytes"
    case .tooLong(let expected, let actual): "\(actual) bytes where \(expected) are announced"
    case .checksumMismatch: "the checksum does not match"
    case .outOfRange(let field): "\(field) is out of range"
    }
  }
}

/// The format, version 1; integers are little-endian:
///
///     offset  bytes
///          0      4  magic: "FSRS"
///          4      2  version: 1
///          6      2  flags: bit 0, the wait is a backoff
///          8      4  number of batches, n
///         12      2  global count
///         14      2  0
///         16      8  waitUntil
///         24   32·n  batches: id 8, firstFailureTime 8, retryAt 8, previousDelay 4, failureCount 2,
///                    latestFailure 1 (0 none, 1 rateLimited, 2 transient), flags 1: bit 0, in flight;
///                    bit 1, credentials have been refreshed
///     24 + 32·n   4  CRC-32 (ISO-HDLC, as in zip) of all before it
extension RetrySnapshot {
  static let magic: [UInt8] = Array("FSRS".utf8)
  static let version: UInt16 = 1
  static let headerBytes = 24
  static let batchBytes = 32
  static let checksumBytes = 4

  /// The snapshot as bytes. At most 2^32 − 1 batches.
  public func encoded() -> [UInt8] {
    var bytes = Self.magic
    bytes.reserveCapacity(Self.headerBytes + batches.count * Self.batchBytes + Self.checksumBytes)
    func append(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(Self.version)
    append(UInt16(isWaitBackoff ? 1 : 0))
    append(UInt32(batches.count))
    append(pipeline.retryCount)
    append(UInt16(0))
    append(waitUntil)
    for batch in batches {
      append(batch.id)
      append(batch.state.firstFailureTime)
      append(batch.state.retryAt)
      append(batch.state.previousDelay)
      append(batch.state.failureCount)
      append(batch.state.latestFailure.rawValue)
      append(UInt8((batch.isInFlight ? 1 : 0) | (batch.state.hasRefreshedCredentials ? 2 : 0)))
    }
    append(CRC32.checksum(of: ArraySlice(bytes)))
    return bytes
  }

  /// Reads what `encoded` wrote; any bytes are safe, and nothing is allocated by what a damaged header claims.
  ///
  /// The values are as they were written: use `validated` before acting on them.
  public static func decode(_ bytes: [UInt8]) throws(RetrySnapshotError) -> RetrySnapshot {
    guard bytes.count >= headerBytes + checksumBytes else { throw .tooShort(bytes: bytes.count) }
    var reader = LittleEndianReader(bytes: bytes)
    guard bytes.starts(with: magic) else { throw .notASnapshot }
    reader.offset = magic.count
    let version = reader.next(UInt16.self)
    guard version == Self.version else { throw .unknownVersion(version) }
    let flags = reader.next(UInt16.self)
    let count = Int(reader.next(UInt32.self))
    let expected = headerBytes + count * batchBytes + checksumBytes
    if bytes.count < expected { throw .truncated(expected: expected, actual: bytes.count) }
    if bytes.count > expected { throw .tooLong(expected: expected, actual: bytes.count) }
    let body = bytes.dropLast(checksumBytes)
    var checksumReader = LittleEndianReader(bytes: bytes, offset: body.count)
    guard checksumReader.next(UInt32.self) == CRC32.checksum(of: body) else { throw .checksumMismatch }

    guard flags <= 1 else { throw .outOfRange("flags") }
    var snapshot = RetrySnapshot()
    snapshot.isWaitBackoff = flags == 1
    snapshot.pipeline.retryCount = reader.next(UInt16.self)
    guard reader.next(UInt16.self) == 0 else { throw .outOfRange("reserved") }
    snapshot.waitUntil = reader.next(Int64.self)
    guard snapshot.waitUntil >= 0 else { throw .outOfRange("waitUntil") }
    snapshot.batches.reserveCapacity(count)
    for _ in 0..<count { snapshot.batches.append(try decodeBatch(&reader)) }
    return snapshot
  }

  private static func decodeBatch(_ reader: inout LittleEndianReader) throws(RetrySnapshotError) -> Batch {
    var batch = Batch(id: reader.next(UInt64.self))
    batch.state.firstFailureTime = reader.next(Int64.self)
    batch.state.retryAt = reader.next(Int64.self)
    guard batch.state.retryAt >= 0 else { throw .outOfRange("retryAt") }
    batch.state.previousDelay = reader.next(UInt32.self)
    batch.state.failureCount = reader.next(UInt16.self)
    guard let latest = BatchRetryState.LatestFailure(rawValue: reader.next(UInt8.self)) else {
      throw .outOfRange("latestFailure")
    }
    batch.state.latestFailure = latest
    let flags = reader.next(UInt8.self)
    guard flags <= 3 else { throw .outOfRange("batch flags") }
    batch.isInFlight = flags & 1 != 0
    batch.state.hasRefreshedCredentials = flags & 2 != 0
    return batch
  }
}

/// Takes integers off bytes that are known to be long enough.
private struct LittleEndianReader {
  let bytes: [UInt8]
  var offset = 0

  mutating func next<Value: FixedWidthInteger>(_: Value.Type) -> Value {
    var value: Value = 0
    for index in 0..<Value.bitWidth / 8 { value |= Value(bytes[offset + index]) << Value(index * 8) }
    offset += Value.bitWidth / 8
    return value
  }
}

/// CRC-32 of ISO 3309 and zip: reflected polynomial EDB88320, all ones before and after. The check value of
/// "123456789" is CBF43926.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ value >> 1 : value >> 1 }
  }

  static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(~0) { crc, byte in table[Int((crc ^ UInt32(byte)) & 0xff)] ^ crc >> 8 }
  }
}
