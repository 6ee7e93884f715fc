/// A point in virtual time, in whole microseconds since the start of the run.
///
/// Instants and spans are different types, so that "a time plus a time" does not compile. No floating point decides an
/// order anywhere in the engine.
@frozen
public struct Instant: Sendable, Hashable, Comparable, BitwiseCopyable {
  public var microseconds: Int64

  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  public static let start = Instant(microseconds: 0)
  /// Later than anything that happens in a run.
  @inlinable public static var never: Instant { Instant(microseconds: .max) }

  @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.microseconds < b.microseconds }
  @inlinable public static func + (a: Instant, b: Span) -> Instant {
    Instant(microseconds: a.microseconds &+ b.microseconds)
  }
  @inlinable public static func - (a: Instant, b: Span) -> Instant {
    Instant(microseconds: a.microseconds &- b.microseconds)
  }
  @inlinable public static func - (a: Instant, b: Instant) -> Span {
    Span(microseconds: a.microseconds &- b.microseconds)
  }
  @inlinable public static func += (a: inout Instant, b: Span) { a = a + b }

  /// For display only; never compared.
  public var seconds: Double { Double(microseconds) / 1e6 }
}

/// A length of virtual time, in whole microseconds.
@frozen
public struct Span: Sendable, Hashable, Comparable, BitwiseCopyable {
  public var microseconds: Int64

  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  @inlinable public static func milliseconds(_ n: Int64) -> Span { Span(microseconds: n * 1_000) }
  @inlinable public static func seconds(_ n: Int64) -> Span { Span(microseconds: n * 1_000_000) }
  @inlinable public static func minutes(_ n: Int64) -> Span { .seconds(n * 60) }
  @inlinable public static func hours(_ n: Int64) -> Span { .seconds(n * 3600) }
  @inlinable public static var zero: Span { Span(microseconds: 0) }

  @inlinable public static func < (a: Span, b: Span) -> Bool { a.microseconds < b.microseconds }
  @inlinable public static func + (a: Span, b: Span) -> Span {
    Span(microseconds: a.microseconds &+ b.microseconds)
  }
  @inlinable public static func - (a: Span, b: Span) -> Span {
    Span(microseconds: a.microseconds &- b.microseconds)
  }

  /// For display only; never compared.
  public var seconds: Double { Double(microseconds) / 1e6 }
}
