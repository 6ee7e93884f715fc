/// The first of `count` places, in order, that `isBefore` does not hold for; `count`: there is none.
@inlinable @inline(__always)
package func partitionPoint(of count: Int, isBefore: (Int) -> Bool) -> Int {
  var (low, high) = (0, count)
  while low < high {
    let middle = (low &+ high) / 2
    if isBefore(middle) { low = middle &+ 1 } else { high = middle }
  }
  return low
}

/// Sorts what is due in one window after another, in room of its own.
public struct WindowOrder: ~Copyable {
  private var scratch = GrowableBuffer<UInt64>()
  private var counts = GrowableBuffer<UInt32>()

  public init() {}

  /// Sorts `words` ascending by the bits from `lowBit` up (`keyBits` of them); equal keys keep their order.
  ///
  /// A few words are sorted by insertion, and words in order already are left alone. Many go through a radix sort of two
  /// passes or more with digits of equal length.
  public mutating func sort(_ words: inout GrowableBuffer<UInt64>, lowBit: Int, keyBits: Int) {
    let n = words.count
    if n < 2 || keyBits <= 0 { return }
    if n <= 24 {
      Self.insertionSort(words.base, n, lowBit: UInt64(lowBit))
      return
    }
    if Self.isSorted(words.base, n, lowBit: UInt64(lowBit)) { return }
    scratch.resizeUninitialized(to: n)
    let passes = max((keyBits + 10) / 11, min(2, keyBits))
    let digits = (keyBits + passes - 1) / passes
    counts.resizeUninitialized(to: 1 << digits)
    var source = words.base
    var target = scratch.base
    for pass in 0..<passes {
      Self.radixPass(
        source, target, n, counts.base, shift: UInt64(lowBit + pass * digits),
        digits: UInt64(min(digits, keyBits - pass * digits)))
      swap(&source, &target)
    }
    if passes & 1 == 1 { words.swapStorage(with: &scratch) }
  }

  @inline(__always)
  static func isSorted(_ a: UnsafeMutablePointer<UInt64>, _ n: Int, lowBit: UInt64) -> Bool {
    var previous = a[0] &>> lowBit
    for i in 1..<n {
      let key = a[i] &>> lowBit
      if key < previous { return false }
      previous = key
    }
    return true
  }

  @inline(__always)
  static func insertionSort(_ a: UnsafeMutablePointer<UInt64>, _ n: Int, lowBit: UInt64) {
    var i = 1
    while i < n {
      let word = a[i]
      let key = word &>> lowBit
      var j = i
      while j > 0, a[j &- 1] &>> lowBit > key {
        a[j] = a[j &- 1]
        j &-= 1
      }
      a[j] = word
      i &+= 1
    }
  }

  static func radixPass(
    _ source: UnsafeMutablePointer<UInt64>, _ target: UnsafeMutablePointer<UInt64>, _ n: Int,
    _ counts: UnsafeMutablePointer<UInt32>, shift: UInt64, digits: UInt64
  ) {
    let buckets = 1 << Int(digits)
    let mask = UInt64(buckets &- 1)
    counts.update(repeating: 0, count: buckets)
    for i in 0..<n { counts[Int(truncatingIfNeeded: (source[i] &>> shift) & mask)] &+= 1 }
    var sum: UInt32 = 0
    for i in 0..<buckets {
      let c = counts[i]
      counts[i] = sum
      sum &+= c
    }
    for i in 0..<n {
      let word = source[i]
      let bucket = Int(truncatingIfNeeded: (word &>> shift) & mask)
      target[Int(truncatingIfNeeded: counts[bucket])] = word
      counts[bucket] &+= 1
    }
  }
}

/// A small binary heap of words: what a window's work adds to the same window.
public struct WordHeap: ~Copyable {
  @usableFromInline var words = GrowableBuffer<UInt64>()
  public init() {}

  /// The smallest word; all ones when there is none.
  @inlinable public var first: UInt64 { words.count == 0 ? .max : words[0] }

  public mutating func push(_ word: UInt64) {
    words.append(word)
    var i = words.count - 1
    while i > 0 {
      let parent = (i - 1) / 2
      if words[parent] <= word { break }
      words[i] = words[parent]
      i = parent
    }
    words[i] = word
  }

  /// Removes the smallest word; there must be one.
  public mutating func popFirst() -> UInt64 {
    let top = words[0]
    let last = words.removeLast()
    let n = words.count
    if n == 0 { return top }
    var i = 0
    while true {
      var child = 2 * i + 1
      if child >= n { break }
      if child + 1 < n, words[child + 1] < words[child] { child += 1 }
      if words[child] >= last { break }
      words[i] = words[child]
      i = child
    }
    words[i] = last
    return top
  }
}
