/// A growable run of plain values without reference counting, exclusivity checks or copy-on-write.
///
/// Buffers are allocated once and grown, never allocated per window. `append` is amortised O(1).
@frozen
public struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
  @usableFromInline var _base: UnsafeMutablePointer<Element>
  @usableFromInline var _count: Int
  @usableFromInline var capacity: Int

  public init(capacity: Int = 64) {
    self.capacity = max(capacity, 1)
    _base = PlainMemory.allocate(byteCount: self.capacity * MemoryLayout<Element>.stride)
      .bindMemory(to: Element.self, capacity: self.capacity)
    _count = 0
  }

  deinit { PlainMemory.release(_base) }

  /// The first element's address; changes when the buffer grows.
  @inlinable public var base: UnsafeMutablePointer<Element> { _base }
  @inlinable public var count: Int { _count }

  @inlinable
  public subscript(index: Int) -> Element {
    get { base[index] }
    set { base[index] = newValue }
  }

  @inlinable
  public mutating func append(_ element: Element) {
    if count == capacity { grow(to: count &+ 1) }
    (base + count).initialize(to: element)
    _count &+= 1
  }

  /// Room for one element more, which is the caller's to write; its address holds until the buffer grows.
  public mutating func appendUninitialized() -> UnsafeMutablePointer<Element> {
    if count == capacity { grow(to: count &+ 1) }
    _count &+= 1
    return base + (count &- 1)
  }

  /// Appends `n` elements starting at `source`, which must not lie in this buffer.
  @inlinable
  public mutating func append(from source: UnsafePointer<Element>, count n: Int) {
    if count &+ n > capacity { grow(to: count &+ n) }
    (base + count).initialize(from: source, count: n)
    _count &+= n
  }

  /// Makes room for `n` elements and forgets the contents' meaning: the first `n` are the caller's to write.
  public mutating func resizeUninitialized(to n: Int) {
    if n > capacity { grow(to: n) }
    _count = n
  }

  @inlinable
  public mutating func removeAll() { _count = 0 }

  /// Takes the other's elements and gives its own; nothing is moved.
  @inlinable
  public mutating func swapStorage(with other: inout GrowableBuffer) {
    swap(&_base, &other._base)
    swap(&_count, &other._count)
    swap(&capacity, &other.capacity)
  }

  @inlinable
  public mutating func removeLast() -> Element {
    _count &-= 1
    return base[count]
  }

  @usableFromInline @inline(never)
  mutating func grow(to needed: Int) {
    let larger = max(capacity * 2, needed)
    let stride = MemoryLayout<Element>.stride
    _base = PlainMemory.grow(_base, from: capacity * stride, to: larger * stride)
      .bindMemory(to: Element.self, capacity: larger)
    capacity = larger
  }
}
