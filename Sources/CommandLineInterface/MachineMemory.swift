/// Memory that a run may take on this machine.
enum MachineMemory {
  /// Bytes; nil where the system does not say. On Linux what is available without swapping, or the limit of the control group
  /// (a container), whichever is least; elsewhere all physical memory.
  static var availableBytes: Int64? {
    #if os(Linux)
      return ([available] + controlGroupLimits).compactMap(\.self).min()
    #else
      var bytes: UInt64 = 0
      var size = MemoryLayout<UInt64>.size
      guard sysctlbyname("hw.memsize", &bytes, &size, nil, 0) == 0 else { return nil }
      return Int64(clamping: bytes)
    #endif
  }

  #if os(Linux)
    private static var available: Int64? {
      let line = text("/proc/meminfo")?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
      return line.flatMap { Int64($0.filter { $0.isASCII && $0.isNumber }) }.map { $0 * 1_024 }
    }

    /// Of this process's control group and of those around it; version 2, and the one file of version 1 that containers have.
    private static var controlGroupLimits: [Int64?] {
      let root = "/sys/fs/cgroup"
      var files = ["\(root)/memory.max", "\(root)/memory/memory.limit_in_bytes"]
      let group = text("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::/") }
      var folder = root
      for name in (group?.dropFirst(4) ?? "").split(separator: "/") {
        folder += "/\(name)"
        files.append("\(folder)/memory.max")
      }
      return files.map { file in
        text(file).flatMap { Int64($0.filter { !$0.isWhitespace }) }
      }
    }

    private static func text(_ path: String) -> String? {
      guard let bytes = try? InputFile.bytes(path) else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }
  #endif
}
