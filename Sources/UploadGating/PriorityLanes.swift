/// The order of operations that are due (O8): by lane, within a lane by age.
///
/// Operations are of the one lane or the other by chance; an upload goes in the lane of its first. Strict priority starves the
/// lower lane while there is enough above. `oneBelowAfter` lets one of the next lane pass after so many of a higher one. A
/// configuration; the state is a byte.
public struct PriorityLanes: Sendable, Hashable, BitwiseCopyable {
  /// The share of operations that the user waits for, parts per million, 0 … 1,000,000.
  public package(set) var interactivePartsPerMillion: Int
  /// nil: strict. 1 … 255.
  public package(set) var oneBelowAfter: Int?

  public init(interactivePartsPerMillion: Int = 500_000, oneBelowAfter: Int? = nil) {
    self.interactivePartsPerMillion = min(max(interactivePartsPerMillion, 0), 1_000_000)
    self.oneBelowAfter = oneBelowAfter.map { min(max($0, 1), 255) }
  }

  /// The lane of an operation: one that the user waits for goes before one that he does not see.
  @frozen
  public enum Lane: UInt8, Sendable, Hashable, CaseIterable {
    case interactive, background
  }

  /// Interactive operations taken since the last background one, while one was due.
  @frozen
  public struct State: Sendable, Hashable, BitwiseCopyable {
    public var passedOver: UInt8 = 0
    @inlinable public init() {}
  }

  /// The lane of an operation, by a word that is its own.
  @inlinable
  public func lane(word: UInt64) -> Lane {
    // Other bits than those that tell the query of a failure window.
    let draw = (word &* 0x9e37_79b9_7f4a_7c15).multipliedFullWidth(by: 1_000_000).high
    return draw < UInt64(interactivePartsPerMillion) ? .interactive : .background
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
}
