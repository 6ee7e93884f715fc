import Dispatch
import Foundation
import RetryStateStore
import Testing
import UploadRetry

@Suite("Snapshot in a file (S18)")
struct FileRetrySnapshotStoreTests {
  /// Runs with an empty directory and removes it.
  private func withDirectory(_ body: (URL) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try body(directory)
  }

  private func snapshot(_ batches: Int) -> RetrySnapshot {
    RetrySnapshot(waitUntil: 5, batches: (0..<batches).map { .init(id: UInt64($0)) })
  }

  private func reason(_ stored: StoredRetrySnapshot) -> String? {
    guard case .unusable(let reason) = stored else { return nil }
    return reason
  }

  @Test("What was saved last is loaded, and nothing else is left in the directory")
  func saveAndLoad() throws {
    try withDirectory { directory in
      let store = FileRetrySnapshotStore(url: directory.appendingPathComponent("state"))
      #expect(store.load() == .none)
      for batches in [3, 100_000, 0] {
        try store.save(snapshot(batches))
        #expect(store.load() == .snapshot(snapshot(batches)))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["state"])
    }
  }

  @Test("A file cut anywhere is fresh state with a reason")
  func torn() throws {
    try withDirectory { directory in
      let store = FileRetrySnapshotStore(url: directory.appendingPathComponent("state"))
      let bytes = snapshot(2).encoded()
      for count in 0..<bytes.count {
        try Data(bytes.prefix(count)).write(to: store.url)
        #expect(reason(store.load())?.hasPrefix(store.url.path) == true)
        let restored = store.restore(now: 0, config: .init())
        #expect(restored.snapshot == RetrySnapshot() && restored.repairs.count == 1)
      }
    }
  }

  @Test("A kill while the new file is written leaves the old snapshot, and the next save works")
  func killedWhileWriting() throws {
    try withDirectory { directory in
      let store = FileRetrySnapshotStore(url: directory.appendingPathComponent("state"))
      try store.save(snapshot(2))
      try Data(snapshot(3).encoded().prefix(40)).write(to: URL(fileURLWithPath: store.url.path + ".new"))
      #expect(store.load() == .snapshot(snapshot(2)))
      try store.save(snapshot(1))
      #expect(store.load() == .snapshot(snapshot(1)))
    }
  }

  @Test("A changed byte is noticed")
  func corrupt() throws {
    try withDirectory { directory in
      let store = FileRetrySnapshotStore(url: directory.appendingPathComponent("state"))
      var bytes = snapshot(2).encoded()
      bytes[30] ^= 4
      try Data(bytes).write(to: store.url)
      #expect(reason(store.load())?.hasSuffix("the checksum does not match") == true)
    }
  }

  @Test("A file that is far too large is not read to its end")
  func tooLarge() throws {
    try withDirectory { directory in
      let store = FileRetrySnapshotStore(url: directory.appendingPathComponent("state"))
      #expect(FileManager.default.createFile(atPath: store.url.path, contents: nil))
      let handle = try FileHandle(forWritingTo: store.url)
      try handle.truncate(atOffset: 1 << 40)
      try handle.close()
      #expect(reason(store.load())?.contains("larger than") == true)
    }
  }

  @Test("What is too large to be loaded again is not saved, and the old snapshot stays")
  func tooLargeToSave() throws {
    try withDirectory { directory in
      let store = FileRetrySnapshotStore(url: directory.appendingPathComponent("state"))
      try store.save(snapshot(2))
      let bytesOfABatch = snapshot(2).encoded().count - snapshot(1).encoded().count
      let count = FileRetrySnapshotStore.maximumBytes / bytesOfABatch + 1
      let error = #expect(throws: FileRetrySnapshotError.self) { try store.save(snapshot(count)) }
      let description = try #require(error?.description)
      #expect(description.hasPrefix("cannot write \(store.url.path): the snapshot of \(count) batches has "))
      #expect(description.hasSuffix(" bytes; at most 67108864 can be loaded again"))
      #expect(store.load() == .snapshot(snapshot(2)))
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["state"])
    }
  }

  @Test("Saves at one time, through two stores of one file, all succeed and never mix")
  func atOnce() throws {
    try withDirectory { directory in
      let url = directory.appendingPathComponent("state")
      let snapshots = (1...4).map { snapshot($0 * 700) }
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        let store = FileRetrySnapshotStore(url: url)
        for _ in 0..<25 {
          do {
            try store.save(snapshots[thread])
          } catch {
            Issue.record("\(error)")
          }
          let loaded = store.load()
          #expect(snapshots.contains { loaded == .snapshot($0) }, "\(String(describing: reason(loaded)))")
        }
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      #expect(left == ["state"])
    }
  }

  @Test("A path through a file is neither read nor written")
  func notADirectory() throws {
    try withDirectory { directory in
      let file = FileRetrySnapshotStore(url: directory.appendingPathComponent("state"))
      try file.save(snapshot(1))
      let store = FileRetrySnapshotStore(url: file.url.appendingPathComponent("state"))
      #expect(reason(store.load())?.hasSuffix("Not a directory") == true)
      #expect(throws: FileRetrySnapshotError.self) { try store.save(snapshot(1)) }
    }
  }

  @Test(
    "A full disk leaves the old snapshot", .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func fullDisk() throws {
    try withDirectory { directory in
      let store = FileRetrySnapshotStore(url: directory.appendingPathComponent("state"))
      try store.save(snapshot(2))
      try FileManager.default.createSymbolicLink(
        atPath: store.url.path + ".new", withDestinationPath: "/dev/full")
      let error = #expect(throws: FileRetrySnapshotError.self) { try store.save(snapshot(1)) }
      #expect(error?.step == .write)
      #expect(store.load() == .snapshot(snapshot(2)))
    }
  }

  @Test("Without its directory saving says what failed, and a directory in its place is no snapshot")
  func failures() throws {
    try withDirectory { directory in
      let store = FileRetrySnapshotStore(url: directory.appendingPathComponent("no/state"))
      let path = store.url.path
      #expect(store.load() == .none)
      let missing = #expect(throws: FileRetrySnapshotError.self) { try store.save(snapshot(1)) }
      #expect(missing?.step == .create)
      #expect(missing?.description == "cannot create \(path).new: No such file or directory")
      try FileManager.default.createDirectory(at: store.url, withIntermediateDirectories: true)
      #expect(reason(store.load()) != nil)
      let inTheWay = #expect(throws: FileRetrySnapshotError.self) { try store.save(snapshot(1)) }
      #expect(inTheWay?.step == .rename)
      #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }
  }
}
