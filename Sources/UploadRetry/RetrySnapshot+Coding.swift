/// Why bytes are no snapshot.
public enum RetrySnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Shorter than a header and a checksum.
  case tooShort(bytes: Int)
  /// It does not begin as a snapshot does.
  case notASnapshot
  /// Of a version that this code does not know.
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
