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
    checked(calloc(max(byteCount, 1), 1), byteCount)
  }

  /// The same contents in a larger block. The C library moves the pages of a large block instead of copying them.
  public static func grow(_ memory: UnsafeMutableRawPointer, from old: Int, to new: Int)
    -> UnsafeMutableRawPointer
  { checked(realloc(memory, new), new) }

  public static func release(_ memory: UnsafeMutableRawPointer) { free(memory) }

  private static func checked(_ memory: UnsafeMutableRawPointer?, _ byteCount: Int) -> UnsafeMutableRawPointer
  {
    guard let memory else { fatalError("out of memory: \(byteCount) bytes for the fleet") }
    return memory
  }
}
