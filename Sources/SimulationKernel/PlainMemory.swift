#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Raw memory for the simulator's large tables: aligned to cache lines, zeroed on demand, grown in place where the system can.
public enum PlainMemory {
  /// A record of 64 bytes must not lie in two cache lines.
  private static var line: Int { 64 }
  /// Room in front of a block, for alignment and for the distance to where the C library's block begins.
  private static var lead: Int { line + MemoryLayout<Int>.stride }

  /// Uninitialised; large blocks take pages only as they are written.
  public static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    aligned(checked(malloc(byteCount + lead), byteCount))
  }

  /// Zeroed; large blocks take pages only as they are written.
  public static func zeroed(byteCount: Int) -> UnsafeMutableRawPointer {
    preferLargePages(aligned(checked(calloc(byteCount + lead, 1), byteCount)), byteCount)
  }

  /// The same contents in a larger block. The C library moves the pages of a large block instead of copying them.
  public static func grow(_ memory: UnsafeMutableRawPointer, from old: Int, to new: Int)
    -> UnsafeMutableRawPointer
  {
    let before = distance(memory)
    let block = checked(realloc(memory - before, new + lead), new)
    let first = firstLine(block)
    if first != block + before { first.copyMemory(from: block + before, byteCount: old) }
    return preferLargePages(aligned(block), new)
  }

  public static func release(_ memory: UnsafeMutableRawPointer) { free(memory - distance(memory)) }

  /// The first line in a block that has room for the distance in front of it.
  private static func aligned(_ block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    let first = firstLine(block)
    (first - MemoryLayout<Int>.stride).storeBytes(of: first - block, as: Int.self)
    return first
  }

  private static func firstLine(_ block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    (block + MemoryLayout<Int>.stride).alignedUp(toMultipleOf: line)
  }

  private static func distance(_ memory: UnsafeMutableRawPointer) -> Int {
    (memory - MemoryLayout<Int>.stride).load(as: Int.self)
  }

  /// Large tables are read here and there, and the processor finds its way through large pages faster.
  ///
  /// The advice is given for all pages of the block, those at its ends too: a block whose pages differ in it can't be moved by
  /// `realloc`, which then copies.
  private static func preferLargePages(_ memory: UnsafeMutableRawPointer, _ byteCount: Int)
    -> UnsafeMutableRawPointer
  {
    #if os(Linux)
      if byteCount >= 32 << 20 {
        let page = 4_096
        let block = Int(bitPattern: memory) - distance(memory)
        let first = block / page * page
        let last = (Int(bitPattern: memory) + byteCount + page - 1) / page * page
        // 14: MADV_HUGEPAGE. Advice: nothing is lost where it isn't taken.
        _ = madvise(UnsafeMutableRawPointer(bitPattern: first), last - first, 14)
      }
    #endif
    return memory
  }

  private static func checked(_ memory: UnsafeMutableRawPointer?, _ byteCount: Int) -> UnsafeMutableRawPointer
  {
    guard let memory else { fatalError("out of memory: \(byteCount) bytes for the fleet") }
    return memory
  }
}
