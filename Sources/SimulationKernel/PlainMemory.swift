import CMemory

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Raw memory for the simulator's large tables: aligned to cache lines, zeroed on demand, grown without copying where the system can.
///
/// A large table is read here and there, and the processor finds its way through large pages faster. So the largest blocks come
/// from the system directly. There they lie in large pages, and stay in them as they grow. The other blocks come from the C
/// library.
public enum PlainMemory {
  /// Rows begin at cache lines.
  private static var line: Int { 64 }
  /// Room in front of a block, for alignment and for the word that tells where it comes from.
  private static var lead: Int { line + MemoryLayout<Int>.stride }
  /// From how many bytes on a block is mapped.
  public static var smallestMapped: Int { 32 << 20 }

  /// Uninitialised; large blocks take pages only as they are written.
  public static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    mapped(byteCount) ?? aligned(checked(malloc(byteCount + lead), byteCount))
  }

  /// Zeroed; large blocks take pages only as they are written.
  public static func zeroed(byteCount: Int) -> UnsafeMutableRawPointer {
    mapped(byteCount) ?? aligned(checked(calloc(byteCount + lead, 1), byteCount))
  }

  /// The same contents in a larger block. Pages of a large block are moved, not copied.
  public static func grow(_ memory: UnsafeMutableRawPointer, from old: Int, to new: Int)
    -> UnsafeMutableRawPointer
  {
    if origin(memory) < 0 {
      return remapped(memory, to: new) ?? moved(memory, byteCount: old, to: allocate(byteCount: new))
    }
    if let larger = mapped(new) { return moved(memory, byteCount: old, to: larger) }
    let before = origin(memory)
    let block = checked(realloc(memory - before, new + lead), new)
    let first = firstLine(block)
    if first != block + before { first.copyMemory(from: block + before, byteCount: old) }
    return aligned(block)
  }

  public static func release(_ memory: UnsafeMutableRawPointer) {
    let origin = origin(memory)
    if origin < 0 { fleetsim_unmap_large(memory - line, -origin) } else { free(memory - origin) }
  }

  private static func moved(
    _ memory: UnsafeMutableRawPointer, byteCount: Int, to larger: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    larger.copyMemory(from: memory, byteCount: byteCount)
    release(memory)
    return larger
  }

  /// Returns the word in front of a block. It is the distance to where the C library's block begins, or minus the length of the
  /// mapping, which begins a line before.
  private static func origin(_ memory: UnsafeMutableRawPointer) -> Int {
    (memory - MemoryLayout<Int>.stride).load(as: Int.self)
  }

  private static func setOrigin(_ memory: UnsafeMutableRawPointer, _ word: Int) -> UnsafeMutableRawPointer {
    (memory - MemoryLayout<Int>.stride).storeBytes(of: word, as: Int.self)
    return memory
  }

  // MARK: Blocks of the C library

  /// The first line in a block that has room for the word in front of it.
  private static func aligned(_ block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    let first = firstLine(block)
    return setOrigin(first, first - block)
  }

  private static func firstLine(_ block: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    (block + MemoryLayout<Int>.stride).alignedUp(toMultipleOf: line)
  }

  private static func checked(_ memory: UnsafeMutableRawPointer?, _ byteCount: Int) -> UnsafeMutableRawPointer
  {
    guard let memory else { fatalError("out of memory: \(byteCount) bytes for the fleet") }
    return memory
  }

  // MARK: Mappings

  private static func mappedLength(_ byteCount: Int) -> Int {
    let page = Int(fleetsim_large_page)
    return (byteCount + line + page - 1) / page * page
  }

  /// nil for small blocks, and where the system has no such memory.
  private static func mapped(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    if byteCount < smallestMapped { return nil }
    let length = mappedLength(byteCount)
    return fleetsim_map_large(length).map { setOrigin($0 + line, -length) }
  }

  private static func remapped(_ memory: UnsafeMutableRawPointer, to new: Int) -> UnsafeMutableRawPointer? {
    let length = mappedLength(new)
    if length <= -origin(memory) { return memory }
    return fleetsim_grow_large(memory - line, -origin(memory), length).map { setOrigin($0 + line, -length) }
  }
}
