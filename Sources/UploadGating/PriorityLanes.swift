/// Which of the operations that are due goes first (O8): by lane, within a lane by the time it was due.
///
/// Strict priority starves what is below while there is enough above; `oneBelowAfter` lets one of the next lane pass
/// after so many of a higher one. A configuration; the state is a byte.
public struct PriorityLanes: Sendable, Hashable, BitwiseCopyable {
  /// nil: strict. 1 … 255.
  public let oneBelowAfter: Int?

  public init(oneBelowAfter: Int? = nil) { self.oneBelowAfter = oneBelowAfter.map { min(max($0, 1), 255) } }

  /// What the user waits for goes before what he does not see.
  @frozen
  public enum Lane: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    case interactive, background
    @inlinable
    public static func < (a: Lane, b: Lane) -> Bool { a.rawValue < b.rawValue }
  }

  /// Interactive operations taken since the last background one, while one was due.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    public var passedOver: UInt8 = 0
    @inlinable public init() {}
  }

  /// The lane to take from.
  ///
  /// - Returns: nil if neither lane has anything due.
  public func next(_ state: inout State, interactiveDue: Bool, backgroundDue: Bool) -> Lane? {
    guard backgroundDue else {
      state.passedOver = 0
      return interactiveDue ? .interactive : nil
    }
    if interactiveDue, oneBelowAfter.map({ Int(state.passedOver) < $0 }) ?? true {
      if state.passedOver < .max { state.passedOver += 1 }
      return .interactive
    }
    state.passedOver = 0
    return .background
  }

  /// Whether an operation goes before another: lane, then due time, then number.
  public static func precedes(
    _ a: (lane: Lane, due: Int64, number: UInt64), _ b: (lane: Lane, due: Int64, number: UInt64)
  ) -> Bool {
    if a.lane != b.lane { return a.lane < b.lane }
    return a.due != b.due ? a.due < b.due : a.number < b.number
  }
}
