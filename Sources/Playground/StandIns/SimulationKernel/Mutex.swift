/// A lock where there is one thread: Embedded Swift's `Synchronization` has none.
public struct Mutex<Value>: ~Copyable, @unchecked Sendable {
  private final class Box {
    var value: Value
    init(_ value: Value) { self.value = value }
  }
  private let box: Box

  public init(_ value: Value) { box = Box(value) }

  public borrowing func withLock<Result>(_ body: (inout Value) -> Result) -> Result { body(&box.value) }
}
