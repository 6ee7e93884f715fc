import FleetExperiments
import FleetMetrics
import Synchronization

/// Keeps runs in memory, as a directory does on disk.
final class MemoryStore: RunStore {
  let results = 1
  private let state:
    Mutex<(files: [String: [UInt8]], kept: [String: Int], order: [String], damaged: [String])>

  init(_ files: [String: [UInt8]] = [:]) { state = Mutex((files, [:], [], [])) }

  /// What a process leaves that is killed after so many runs.
  func cutOff(after count: Int) -> MemoryStore {
    state.withLock { state in MemoryStore(state.files.filter { state.order.prefix(count).contains($0.key) }) }
  }

  var files: [String: [UInt8]] {
    get { state.withLock { $0.files } }
    set { state.withLock { $0.files = newValue } }
  }
  /// How often each was kept.
  var kept: [String: Int] { state.withLock { $0.kept } }
  var damaged: [String] { state.withLock { $0.damaged } }

  func read(_ file: String) -> [UInt8]? { state.withLock { $0.files[file] } }
  func write(_ file: String, _ bytes: [UInt8]) {
    state.withLock { state in
      state.files[file] = bytes
      if state.kept[file] == nil { state.order.append(file) }
      state.kept[file, default: 0] += 1
    }
  }
  func warn(_ file: String, _ problem: StoredRecord.Problem) { state.withLock { $0.damaged.append(file) } }
}
