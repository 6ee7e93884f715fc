import Foundation
import Synchronization

/// A server on a port of this machine that answers each connection with bytes of a test's choice.
public final class SocketServer: Sendable {
  public let port: Int
  private let socketDescriptor: Int32
  private let received = Mutex<[String]>([])

  /// The requests that have come, as text.
  public var requests: [String] { received.withLock { $0 } }

  /// - Parameter answer: what a request is answered with; nil: nothing at all, until its sender hangs up.
  public init(answer: @escaping @Sendable (String) -> [UInt8]?) throws {
    (socketDescriptor, port) = try Self.bound()
    let descriptor = socketDescriptor
    guard listen(descriptor, 1_024) == 0 else { throw CocoaError(.fileNoSuchFile) }
    let note = { @Sendable [weak self] (request: String) in
      self?.received.withLock { $0.append(request) }
      return ()
    }
    Thread.detachNewThread {
      while true {
        let connection = accept(descriptor, nil, nil)
        // No process inherits it that another test starts.
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        if connection < 0 {
          close(descriptor)
          return
        }
        Thread.detachNewThread {
          Self.serve(connection, note, answer)
          close(connection)
        }
      }
    }
  }

  /// Its thread closes the socket when it notices: nobody else gets the number before.
  deinit { shutdown(socketDescriptor, Int32(SHUT_RDWR)) }

  /// A port at which nobody listens, as long as this is there.
  public final class Closed: Sendable {
    private let descriptor: Int32
    public let url: String

    public init() throws {
      let (descriptor, port) = try SocketServer.bound()
      self.descriptor = descriptor
      url = "http://127.0.0.1:\(port)"
    }

    deinit { close(descriptor) }
  }

  /// A socket with a free port of this machine.
  private static func bound() throws -> (descriptor: Int32, port: Int) {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #endif
    let descriptor = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard descriptor >= 0, isBound else { throw CocoaError(.fileNoSuchFile) }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  public var url: String { "http://127.0.0.1:\(port)" }

  private static func serve(
    _ connection: Int32, _ note: (String) -> Void, _ answer: (String) -> [UInt8]?
  ) {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    var request = ""
    while !isWhole(request) {
      let count = recv(connection, &chunk, chunk.count, 0)
      if count <= 0 { return }
      bytes += chunk[..<count]
      request = String(decoding: bytes, as: UTF8.self)
    }
    note(request)
    guard let answer = answer(request) else {
      while recv(connection, &chunk, chunk.count, 0) > 0 {}
      return
    }
    var sent = 0
    while sent < answer.count {
      let count = answer[sent...].withUnsafeBytes {
        send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      sent += count
    }
    shutdown(connection, Int32(SHUT_WR))
    while recv(connection, &chunk, chunk.count, 0) > 0 {}
  }

  /// Whether headers and body are there.
  private static func isWhole(_ request: String) -> Bool {
    guard let end = request.range(of: "\r\n\r\n") else { return false }
    let header = request[..<end.lowerBound].split(separator: "\r\n").first {
      $0.lowercased().hasPrefix("content-length:")
    }
    let length = header.flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) } ?? 0
    return request[end.upperBound...].utf8.count >= length
  }

  /// An answer with no body.
  public static func status(_ line: String, _ headers: String...) -> [UInt8] {
    Array((["HTTP/1.1 \(line)"] + headers + ["Content-Length: 0", "", ""]).joined(separator: "\r\n").utf8)
  }
}
