import Foundation
import UploadRetry

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A snapshot in a file (S18), replaced atomically: whenever the process or the machine stops, the file holds the
/// old snapshot or the new one.
///
/// `save` writes a temporary file beside it, flushes that to the disk, renames it over the old one and flushes the
/// directory. Saves of one process wait for each other, whichever store they go through; one process at a time may save to
/// one file.
public struct FileRetrySnapshotStore: RetrySnapshotStore, Sendable {
  /// Where the snapshot is; its directory must exist.
  public let url: URL

  /// A file larger than this, 64 MiB (two million batches), is no snapshot: it is neither read nor written.
  public static let maximumBytes = 64 << 20

  /// - Parameter url: a file URL.
  public init(url: URL) { self.url = url }

  /// Returns the contents of the file; a file that is torn, corrupt, too large or not readable is `.unusable` with the reason.
  public func load() -> StoredRetrySnapshot {
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      return errno == ENOENT ? .none : .unusable(reason: "\(url.path): \(Self.lastError)")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      let data = try handle.read(upToCount: Self.maximumBytes + 1) ?? Data()
      guard data.count <= Self.maximumBytes else {
        return .unusable(reason: "\(url.path): larger than \(Self.maximumBytes) bytes")
      }
      guard case .unusable(let reason) = StoredRetrySnapshot(bytes: Array(data)) else {
        return StoredRetrySnapshot(bytes: Array(data))
      }
      return .unusable(reason: "\(url.path): \(reason)")
    } catch {
      return .unusable(reason: "\(url.path): \(error.localizedDescription)")
    }
  }

  /// All saves have one temporary name for a file, so that a save that was killed leaves nothing that the next one does not remove.
  private static let oneAtATime = NSLock()

  /// Replaces the file.
  ///
  /// - Throws: `FileRetrySnapshotError`, with the step that failed; the old file is then still there, unless the
  ///   directory alone could not be flushed.
  public func save(_ snapshot: RetrySnapshot) throws(FileRetrySnapshotError) {
    let bytes = snapshot.encoded()
    guard bytes.count <= Self.maximumBytes else {
      throw .init(
        .write, url.path,
        "the snapshot of \(snapshot.batches.count) batches has \(bytes.count) bytes; at most \(Self.maximumBytes) can be loaded again"
      )
    }
    Self.oneAtATime.lock()
    defer { Self.oneAtATime.unlock() }
    let temporary = url.path + ".new"
    do throws(FileRetrySnapshotError) {
      try Self.write(bytes, to: temporary)
      guard rename(temporary, url.path) == 0 else { throw .init(.rename, url.path, Self.lastError) }
    } catch {
      _ = unlink(temporary)
      throw error
    }
    try Self.flushDirectory(url.deletingLastPathComponent().path)
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(FileRetrySnapshotError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .init(.create, path, lastError) }
    var failure: FileRetrySnapshotError?
    var rest = bytes[...]
    while !rest.isEmpty, failure == nil {
      #if canImport(Darwin)
        let count = rest.withUnsafeBytes { Darwin.write(descriptor, $0.baseAddress, $0.count) }
      #elseif canImport(Glibc)
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      #else
        let count = rest.withUnsafeBytes { Musl.write(descriptor, $0.baseAddress, $0.count) }
      #endif
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        failure = .init(.write, path, lastError)
      }
    }
    if failure == nil, !flush(descriptor) { failure = .init(.flush, path, lastError) }
    if close(descriptor) != 0, failure == nil { failure = .init(.flush, path, lastError) }
    if let failure { throw failure }
  }

  /// Makes the rename last.
  private static func flushDirectory(_ path: String) throws(FileRetrySnapshotError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .init(.flushDirectory, path, lastError) }
    defer { _ = close(descriptor) }
    guard flush(descriptor) else { throw .init(.flushDirectory, path, lastError) }
  }

  /// Has the disk keep what was written.
  ///
  /// On Darwin `fsync` hands it to the drive, which may keep it in its cache for long; `F_FULLFSYNC` empties that (fcntl(2)). File
  /// systems that don't know it, as of network shares, have `fsync`.
  private static func flush(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
  }

  private static var lastError: String { String(cString: strerror(errno)) }
}

/// Why a snapshot could not be saved.
public struct FileRetrySnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The step of the save that failed.
  public enum Step: String, Sendable, Hashable {
    case create, write, flush, rename
    case flushDirectory = "flush the directory of"
  }

  public var step: Step
  public var path: String
  /// The system's words.
  public var reason: String

  init(_ step: Step, _ path: String, _ reason: String) {
    self.step = step
    self.path = path
    self.reason = reason
  }

  public var description: String { "cannot \(step.rawValue) \(path): \(reason)" }
}
