import Foundation

/// How far tests go that draw cases at random: quick by default, further with FLEETSIM_EXHAUSTIVE=1, as CI runs them, and all the
/// way with FLEETSIM_EXHAUSTIVE=all.
public enum TestDepth {
  private static let asked = ProcessInfo.processInfo.environment["FLEETSIM_EXHAUSTIVE"]
  /// Whether all is tried that CI tries.
  public static let isExhaustive = asked == "1" || asked == "all"

  /// All cases in CI, and otherwise one in so many of them, from a place on.
  public static func part<Case>(of all: [Case], each step: Int, from first: Int = 0) -> [Case] {
    isExhaustive ? all : stride(from: first, to: all.count, by: step).map { all[$0] }
  }

  /// How many cases to try.
  /// - Parameters:
  ///   - quick: by default.
  ///   - all: in CI.
  ///   - most: of a proof that takes CI too long; nil: as many as in CI.
  public static func cases(_ quick: Int, exhaustively all: Int, wholly most: Int? = nil) -> Int {
    asked == "all" ? most ?? all : isExhaustive ? all : quick
  }
}
