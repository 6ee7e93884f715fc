import Foundation
import SimulationKernel
import Testing

@Suite("Memory for large tables") struct PlainMemoryTests {
  /// From blocks of the C library to mapped ones, and on.
  private static let sizes = [0, 100, 5_000, 1 << 20, 31 << 20, 33 << 20, 34 << 20, 50 << 20, 70 << 20]

  @Test("a block keeps its contents and its alignment while it grows", arguments: [false, true])
  func growing(fromZeroed: Bool) {
    for (index, first) in Self.sizes.dropLast().enumerated() {
      var size = first
      var block =
        fromZeroed ? PlainMemory.zeroed(byteCount: size) : PlainMemory.allocate(byteCount: size)
      fill(block, from: 0, to: size)
      for larger in Self.sizes[(index + 1)...] {
        block = PlainMemory.grow(block, from: size, to: larger)
        #expect(Int(bitPattern: block) % 64 == 0)
        #expect(holds(block, through: size), "\(first) bytes, grown from \(size) to \(larger)")
        fill(block, from: size, to: larger)
        size = larger
      }
      #expect(holds(block, through: size))
      PlainMemory.release(block)
    }
  }

  @Test("a zeroed block is zero, a large one too")
  func zeroed() {
    for size in Self.sizes {
      let block = PlainMemory.zeroed(byteCount: size)
      // Every byte, by the C library: a word at a time takes long in a test that is not optimised.
      #expect(size == 0 || block.load(as: UInt8.self) == 0 && memcmp(block, block + 1, size - 1) == 0)
      PlainMemory.release(block)
    }
  }

  /// A word each 4 KiB, which names its place.
  private func fill(_ block: UnsafeMutableRawPointer, from old: Int, to new: Int) {
    for offset in stride(from: (old + 4_095) / 4_096 * 4_096, to: max(new - 7, 0), by: 4_096) {
      block.storeBytes(of: UInt64(offset) &* 0x9e37_79b9_7f4a_7c15, toByteOffset: offset, as: UInt64.self)
    }
  }

  private func holds(_ block: UnsafeMutableRawPointer, through size: Int) -> Bool {
    stride(from: 0, to: max(size - 7, 0), by: 4_096).allSatisfy {
      block.load(fromByteOffset: $0, as: UInt64.self) == UInt64($0) &* 0x9e37_79b9_7f4a_7c15
    }
  }
}
