import Foundation

/// How far tests go that draw cases at random: quick by default, all the way with FLEETSIM_EXHAUSTIVE=1, as CI runs them.
public enum TestDepth {
  /// Whether every case that a test knows of is tried.
  public static let isExhaustive = ProcessInfo.processInfo.environment["FLEETSIM_EXHAUSTIVE"] == "1"

  /// How many cases to try.
  public static func cases(_ quick: Int, exhaustively all: Int) -> Int { isExhaustive ? all : quick }
}
