import Synchronization

/// Makes the struct that has it one that is used where it stands and never read as a whole.
///
/// The compiler checks a noncopyable struct field by field wherever it may be read as a whole: for the engine that took two fifths
/// of the module's build. A struct with an atomic in it always has an address instead. One byte, which nobody reads.
public struct InPlace: ~Copyable, Sendable {
  private let byte = Atomic<UInt8>(0)

  public init() {}
}
