/// There is one thread, and no clock.
package enum SystemThreads {
  package static var cores: Int { 1 }
  static func nanoseconds() -> UInt64 { 0 }
  static func giveWay() {}

  package struct Failure: Error {}

  package static func start(_ run: @escaping @Sendable () -> Void) throws(Failure) { throw Failure() }
}

/// Nobody sleeps where nobody else could wake him.
final class SystemCondition: Sendable {
  func lock() {}
  func unlock() {}
  func wait() { fatalError("nobody else runs") }
  func broadcast() {}
}
