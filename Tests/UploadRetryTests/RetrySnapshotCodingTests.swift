import TestSupport
import Testing
import UploadRetry

@Suite("Snapshot as bytes (S18)")
struct RetrySnapshotCodingTests {
  /// One batch in flight, everything set, written down by hand from the format; the checksum is Python's
  /// `zlib.crc32` of the rest.
  private let bytes: [UInt8] = [
    0x46, 0x53, 0x52, 0x53, 0x01, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00,  // header
    0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,  // waitUntil
    0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,  // id
    0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  // firstFailureTime
    0x40, 0x42, 0x0f, 0x00, 0x00, 0x00, 0x00, 0x00,  // retryAt
    0x78, 0x56, 0x34, 0x12, 0x34, 0x12, 0x02, 0x01,  // previousDelay, failureCount, latestFailure, inFlight
    0x77, 0x61, 0x25, 0xfb,  // CRC-32
  ]

  private let snapshot: RetrySnapshot = {
    var state = BatchRetryState()
    state.firstFailureTime = -2
    state.retryAt = 1_000_000
    state.previousDelay = 0x1234_5678
    state.failureCount = 0x1234
    state.latestFailure = .transient
    var pipeline = PipelineRetryState()
    pipeline.retryCount = 5
    return RetrySnapshot(
      waitUntil: 0x0102_0304_0506_0708, isWaitBackoff: true, pipeline: pipeline,
      batches: [.init(id: 0x8000_0000_0000_0009, state: state, isInFlight: true)])
  }()

  private func error(_ bytes: [UInt8]) -> RetrySnapshotError? {
    do throws(RetrySnapshotError) {
      _ = try RetrySnapshot.decode(bytes)
      return nil
    } catch {
      return error
    }
  }

  /// The bytes with a change, and a checksum that fits it.
  private func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
    var body = Array(bytes.dropLast(4))
    change(&body)
    let sum = crc32(body)
    return body + (0..<4).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) }
  }

  @Test("A snapshot is these bytes, and these bytes are the snapshot")
  func format() throws {
    #expect(snapshot.encoded() == bytes)
    #expect(try RetrySnapshot.decode(bytes) == snapshot)
    #expect(RetrySnapshot().encoded().count == 28)
    #expect(try RetrySnapshot.decode(RetrySnapshot().encoded()) == RetrySnapshot())
  }

  @Test("Random snapshots come back as they were", arguments: 1...20)
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var value = RetrySnapshot(waitUntil: Int64(random.next() >> 1), isWaitBackoff: random.next() & 1 == 1)
    value.pipeline.retryCount = UInt16(truncatingIfNeeded: random.next())
    for _ in 0..<Int(random.next() % 50) {
      var state = BatchRetryState()
      state.firstFailureTime = Int64(bitPattern: random.next())
      state.retryAt = Int64(random.next() >> 1)
      state.previousDelay = UInt32(truncatingIfNeeded: random.next())
      state.failureCount = UInt16(truncatingIfNeeded: random.next())
      state.latestFailure = [.none, .rateLimited, .transient][Int(random.next() % 3)]
      value.batches.append(.init(id: random.next(), state: state, isInFlight: random.next() & 1 == 1))
    }
    #expect(try RetrySnapshot.decode(value.encoded()) == value, "seed \(seed)")
  }

  @Test("No single flipped bit and no cut goes unnoticed")
  func damage() {
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(error(damaged) != nil, "bit \(bit)")
    }
    for count in 0..<28 { #expect(error(Array(bytes.prefix(count))) == .tooShort(bytes: count)) }
    for count in 28..<bytes.count {
      #expect(error(Array(bytes.prefix(count))) == .truncated(expected: 60, actual: count))
    }
    #expect(error(bytes + [0]) == .tooLong(expected: 60, actual: 61))
  }

  @Test("Each kind of damage is named")
  func names() {
    #expect(error(changed { $0[0] = 0 }) == .notASnapshot)
    #expect(error(changed { $0[4] = 2 }) == .unknownVersion(2))
    #expect(error(changed { $0[6] = 2 }) == .outOfRange("flags"))
    #expect(error(changed { $0[14] = 1 }) == .outOfRange("reserved"))
    #expect(error(changed { $0[23] = 0x80 }) == .outOfRange("waitUntil"))
    #expect(error(changed { $0[47] = 0x80 }) == .outOfRange("retryAt"))
    #expect(error(changed { $0[54] = 3 }) == .outOfRange("latestFailure"))
    #expect(error(changed { $0[55] = 4 }) == .outOfRange("batch flags"))
    #expect(error(bytes.dropLast() + [bytes.last! ^ 1]) == .checksumMismatch)
    #expect(
      error(changed { $0.replaceSubrange(8..<12, with: [255, 255, 255, 255]) })
        == .truncated(expected: 28 + 32 * 4_294_967_295, actual: 60))
  }

  @Test("Random bytes are refused and never trap", arguments: 1...10)
  func noise(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      var noise = (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      if random.next() & 1 == 1 { noise.replaceSubrange(0..<min(6, noise.count), with: bytes.prefix(6)) }
      #expect(error(noise) != nil, "seed \(seed)")
    }
  }

  @Test("A store's bytes are a snapshot or a reason in words")
  func stored() {
    #expect(StoredRetrySnapshot(bytes: bytes) == .snapshot(snapshot))
    // The smallest has a header of 24 bytes and a checksum of 4.
    #expect(
      StoredRetrySnapshot(bytes: [1]) == .unusable(reason: "1 byte is too few: a snapshot has at least 28"))
    let words: [(RetrySnapshotError, String)] = [
      (.tooShort(bytes: 0), "0 bytes are too few: a snapshot has at least 28"),
      (.notASnapshot, "not a snapshot"), (.unknownVersion(9), "version 9 is not known"),
      (.truncated(expected: 9, actual: 4), "cut off at 4 of 9 bytes"),
      (.tooLong(expected: 4, actual: 9), "9 bytes where 4 are announced"),
      (.checksumMismatch, "the checksum does not match"), (.outOfRange("flags"), "flags is out of range"),
    ]
    for (error, text) in words { #expect(error.description == text) }
  }

  @Test("Restoring gives what is stored, validated, or fresh state and why")
  func restore() {
    struct Store: RetrySnapshotStore {
      var stored: StoredRetrySnapshot
      func load() -> StoredRetrySnapshot { stored }
      mutating func save(_ snapshot: RetrySnapshot) { stored = .snapshot(snapshot) }
    }
    var store = Store(stored: .none)
    #expect(store.restore(now: 5, config: .init()) == (RetrySnapshot(), []))
    store.save(RetrySnapshot(waitUntil: 4))
    #expect(store.restore(now: 5, config: .init()) == (RetrySnapshot(), [SnapshotRepair(.waitIsOver)]))
    store.stored = .unusable(reason: "torn")
    #expect(
      store.restore(now: 5, config: .init())
        == (RetrySnapshot(), [SnapshotRepair(.unreadable(reason: "torn"))]))
  }
}

/// CRC-32 bit by bit.
private func crc32(_ bytes: [UInt8]) -> UInt32 {
  var register = UInt32.max
  for byte in bytes {
    register ^= UInt32(byte)
    for _ in 0..<8 { register = register >> 1 ^ (register & 1 == 1 ? 0xedb8_8320 : 0) }
  }
  return ~register
}

private func == (
  a: (snapshot: RetrySnapshot, repairs: [SnapshotRepair]), b: (RetrySnapshot, [SnapshotRepair])
) -> Bool {
  a.snapshot == b.0 && a.repairs == b.1
}
