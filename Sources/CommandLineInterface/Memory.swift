import FleetExperiments
import FleetSimulation
import ScenarioModel

/// How much memory runs may take: what the machine has, or what `--memory-limit` says.
struct MemoryLimit: Sendable {
  /// As the user wrote it; nil: what the machine has.
  var text: String?
  /// As asked for; nil: no limit.
  private var asked: Int64?

  /// The limit that the machine sets.
  static let machine = MemoryLimit()
  private init() {}

  init(_ text: String) throws(InvalidValue) {
    self.text = text
    if text == "none" { return }
    guard let limit = MemorySize.bytes(text) else {
      throw InvalidValue("an amount with its unit, as 20GiB (units: \(MemorySize.unitNames)), or none.")
    }
    asked = limit
  }

  /// nil: no limit, or none that is known.
  private var bytes: Int64? { text == nil ? SystemMemory.availableBytes : asked }

  /// - Parameter subject: what is to be run, as messages name it.
  /// - Throws: `CommandFailure` 65.
  func check(_ scenario: Scenario, _ subject: String) throws {
    guard let bytes else { return }
    let estimate = MemoryEstimate(scenario)
    if estimate.expected > bytes { throw refusal(estimate, needed: estimate.expected, limit: bytes, subject) }
  }

  /// The number of runs at a time that fit, at most `workers`.
  /// - Throws: `CommandFailure` 65 if not even one fits.
  func workers(_ memory: ComparisonMemory, atMost workers: Int, _ subject: String) throws -> Int {
    guard let bytes else { return workers }
    if let fitting = memory.workersThatFit(bytes, atMost: workers) {
      return fitting < min(workers, memory.runs) ? fitting : workers
    }
    throw refusal(memory.largest, needed: memory.expected(workers: 1), limit: bytes, subject)
  }

  private func refusal(_ estimate: MemoryEstimate, needed: Int64, limit: Int64, _ subject: String)
    -> CommandFailure
  {
    let there =
      text.map { "--memory-limit allows \($0)" } ?? "this machine has \(MemorySize.text(limit)) available"
    var lines =
      "\(subject): does not fit into memory: it needs about \(MemorySize.text(needed)), and \(there).\n"
    if let part = estimate.largest {
      let owner = part.cohort.map { " of cohort '\($0)'" } ?? ""
      lines += "The largest part is \(part.part.rawValue)\(owner), \(MemorySize.text(part.expected)). "
    }
    return CommandFailure(
      .data,
      lines
        + "Take fewer devices, a shorter run or a coarser interval; --memory-limit <size> sets another limit, none lifts it."
    )
  }
}

/// The system's figures on memory; nil where it does not say.
enum SystemMemory {
  /// Bytes that a run may take. On Linux this is the least of the memory available without swapping and the limits of the
  /// control groups (a container). Elsewhere it is all physical memory.
  static var availableBytes: Int64? {
    #if os(Linux)
      return ([bytes("MemAvailable:", in: "/proc/meminfo")] + controlGroupLimits).compactMap(\.self).min()
    #else
      var bytes: UInt64 = 0
      var size = MemoryLayout<UInt64>.size
      guard sysctlbyname("hw.memsize", &bytes, &size, nil, 0) == 0 else { return nil }
      return Int64(clamping: bytes)
    #endif
  }

  #if os(Linux)
    /// The limits of this process's control group and of those around it; version 2, and the one file of version 1 that
    /// containers have.
    private static var controlGroupLimits: [Int64?] {
      let root = "/sys/fs/cgroup"
      var files = ["\(root)/memory.max", "\(root)/memory/memory.limit_in_bytes"]
      var folder = root
      for name in line("0::/", in: "/proc/self/cgroup")?.dropFirst(4).split(separator: "/") ?? [] {
        folder += "/\(name)"
        files.append("\(folder)/memory.max")
      }
      return files.map { file in line("", in: file).flatMap { Int64($0.filter { !$0.isWhitespace }) } }
    }

    private static func bytes(_ name: String, in file: String) -> Int64? {
      line(name, in: file).flatMap { Int64($0.filter { $0.isASCII && $0.isNumber }) }.map { $0 * 1_024 }
    }

    /// The first line that begins so.
    private static func line(_ beginning: String, in file: String) -> Substring? {
      guard let bytes = try? Files().bytes(file) else { return nil }
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      where line.hasPrefix(beginning) { return line }
      return nil
    }
  #endif
}
