#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A free port of 127.0.0.1 that takes connections.
package struct LoopbackListener: Sendable {
  package let port: Int
  /// To be polled for reading; -1 after `accept` left a connection waiting, which would end each poll at once.
  package private(set) var polled: Int32
  private let descriptor: Int32

  /// Whether a connection may be waiting that could not be taken.
  package var isHeldUp: Bool { polled < 0 }

  /// - Parameter backlog: how many connections the system keeps until they are accepted.
  package init(backlog: Int32) throws(LoopbackSocket.Failure) {
    (descriptor, port) = try LoopbackSocket.listen(backlog: backlog)
    polled = descriptor
  }

  /// The next connection; nil: there is none, or none more can be had.
  /// - Parameter hasRoom: whether the owner can keep one more.
  package mutating func accept(hasRoom: Bool) -> Int32? {
    let taken = hasRoom ? LoopbackSocket.accept(from: descriptor) : nil
    let isHeldUp = taken == nil && (!hasRoom || [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno))
    polled = isHeldUp ? -1 : descriptor
    return taken
  }

  package func hangUp() { close(descriptor) }
}
