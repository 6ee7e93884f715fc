/// Memory of this process.
enum ProcessMemory {
  /// The most that was ever resident, bytes; nil where the system does not say.
  ///
  /// On Linux from /proc: what getrusage reports there may be the peak of the parent, from before this program was loaded.
  static var peakBytes: Int64? {
    #if os(Linux)
      guard let bytes = try? InputFile.bytes("/proc/self/status") else { return nil }
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      guard let line = lines.first(where: { $0.hasPrefix("VmHWM:") }) else { return nil }
      return Int64(line.filter { $0.isASCII && $0.isNumber }).map { $0 * 1_024 }
    #else
      var usage = rusage()
      guard getrusage(RUSAGE_SELF, &usage) == 0 else { return nil }
      return Int64(usage.ru_maxrss)
    #endif
  }
}
