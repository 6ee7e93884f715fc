#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Raw memory for the simulator's large tables: zeroed on demand, grown in place where the system can.
public enum PlainMemory {
  /// Uninitialised; large blocks take pages only as they are written.
  public static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    checked(malloc(max(byteCount, 1)), byteCount)
  }

  /// Zeroed; large blocks take pages only as they are written.
  public static func zeroed(byteCount: Int) -> UnsafeMutableRawPointer {
    preferLargePages(checked(calloc(max(byteCount, 1), 1), byteCount), byteCount)
  }

  /// The same contents in a larger block. The C library moves the pages of a large block instead of copying them.
  public static func grow(_ memory: UnsafeMutableRawPointer, from old: Int, to new: Int)
    -> UnsafeMutableRawPointer
  { preferLargePages(checked(realloc(memory, new), new), new) }

  /// Large tables are read here and there, and the processor finds its way through large pages faster.
  private static func preferLargePages(_ memory: UnsafeMutableRawPointer, _ byteCount: Int)
    -> UnsafeMutableRawPointer
  {
    #if os(Linux)
      let page = 2 << 20
      if byteCount >= 16 * page {
        let first = (Int(bitPattern: memory) + page - 1) / page * page
        let last = (Int(bitPattern: memory) + byteCount) / page * page
        if let start = UnsafeMutableRawPointer(bitPattern: first), last > first {
          // 14: MADV_HUGEPAGE. Advice: nothing is lost where it isn't taken.
          _ = madvise(start, last - first, 14)
        }
      }
    #endif
    return memory
  }

  public static func release(_ memory: UnsafeMutableRawPointer) { free(memory) }

  private static func checked(_ memory: UnsafeMutableRawPointer?, _ byteCount: Int) -> UnsafeMutableRawPointer
  {
    guard let memory else { fatalError("out of memory: \(byteCount) bytes for the fleet") }
    return memory
  }
}
