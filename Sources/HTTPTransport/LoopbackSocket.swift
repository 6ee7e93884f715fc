#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// TCP between programs of this machine. No descriptor made here blocks, and no program that is started inherits it.
package enum LoopbackSocket {
  /// A call that the system refused.
  package struct Failure: Error, CustomStringConvertible {
    /// `errno` of the call.
    package let code: Int32

    package var description: String { String(cString: strerror(code)) }
  }

  private static var kind: Int32 {
    #if canImport(Glibc)
      Int32(SOCK_STREAM.rawValue)
    #else
      SOCK_STREAM
    #endif
  }

  /// A socket without an address.
  /// - Parameter family: `AF_INET` or `AF_INET6`.
  static func make(_ family: Int32 = AF_INET) throws(Failure) -> Int32 {
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    prepare(descriptor)
    return descriptor
  }

  private static func prepare(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    // Other systems hear it from each `send`.
    #if canImport(Darwin)
      var on: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  /// Listens on a free port of 127.0.0.1.
  /// - Parameter backlog: how many connections the system keeps until they are accepted.
  static func listen(backlog: Int32) throws(Failure) -> (descriptor: Int32, port: Int) {
    let descriptor = try make()
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound, systemListen(descriptor, backlog) == 0 else {
      let failure = Failure(code: errno)
      close(descriptor)
      throw failure
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// The next connection; nil: there is none.
  static func accept(from listener: Int32) -> Int32? {
    let taken = systemAccept(listener, nil, nil)
    guard taken >= 0 else { return nil }
    prepare(taken)
    return taken
  }

  /// Sends as much as the socket takes. A peer that hung up is no signal.
  /// - Returns: how many bytes; below 0: `errno` says why none.
  @discardableResult
  package static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    return bytes.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, flags) }
  }

  /// Lets `close` reset the connection, which leaves no port in use.
  package static func resetsOnClose(_ descriptor: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
  }
}

/// Bytes on their way to a socket, which takes them when it has room.
struct Outgoing: Sendable {
  private var bytes: [UInt8] = []
  private var sent = 0

  init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  var isEmpty: Bool { sent == bytes.count }

  mutating func append(_ more: some Sequence<UInt8>) {
    if isEmpty { (bytes, sent) = ([], 0) }
    bytes += more
  }

  /// Sends what the socket takes; of a socket that takes nothing more the rest is dropped.
  /// - Returns: how many bytes; nil: it takes nothing more.
  mutating func send(to descriptor: Int32) -> Int? {
    let count = LoopbackSocket.send(bytes[sent...], to: descriptor)
    let isBroken = count < 0 && errno != EAGAIN && errno != EINTR
    sent = isBroken ? bytes.count : sent + max(0, count)
    if isEmpty { (bytes, sent) = ([], 0) }
    return isBroken ? nil : max(0, count)
  }
}

// Functions of the system that methods of the same name hide.

private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }

private func systemAccept(
  _ listener: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: UnsafeMutablePointer<socklen_t>?
) -> Int32 { accept(listener, address, length) }

private func systemSend(
  _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
) -> Int { send(descriptor, bytes, count, flags) }
