#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where a live run may send its uploads: an address of this machine's own (127.0.0.0/8, ::1), never another.
package struct LoopbackURL: Sendable, Hashable, CustomStringConvertible {
  /// Why a URL is refused, and what would be right.
  package struct Refusal: Error, CustomStringConvertible {
    package let description: String
  }

  package var description: String { "http://" + authority + target }
  /// As it stands in the Host header: `127.0.0.1:8080`.
  package let authority: String
  /// Path and query, as they stand in a request.
  package let target: String
  private let address: Address
  private let port: UInt16

  private enum Address: Hashable {
    /// In network order.
    case v4(UInt32)
    /// ::1
    case v6
    case other
  }

  /// - Parameter text: `http://127.0.0.1:8080/v1/batch`; without a path it is `/v1/batch`.
  /// - Throws: `Refusal`.
  package init(_ text: String) throws(Refusal) {
    func refusal(_ reason: String) -> Refusal {
      Refusal(
        description:
          "'\(text)' \(reason); write an address of this machine, as http://127.0.0.1:8080 or http://[::1]:8080"
      )
    }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let mark = text.firstRange(of: "://") else {
      throw refusal("is no URL")
    }
    guard text[..<mark.lowerBound].lowercased() == "http" else {
      throw refusal("is not http, and no TLS is spoken between programs of one machine")
    }
    let rest = text[mark.upperBound...]
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    let (authority, path) = (rest[..<end], rest[end...])
    if authority.contains("@") || path.contains("#") {
      throw refusal("has a user or a fragment, which no upload needs")
    }
    let isBracketed = authority.hasPrefix("[")
    let hostEnd =
      isBracketed
      ? authority.firstIndex(of: "]").map { authority.index(after: $0) }
      : authority.firstIndex(of: ":") ?? authority.endIndex
    guard let hostEnd else { throw refusal("is no URL") }
    let host = authority[..<hostEnd]
    let digits = authority[hostEnd...]
    if host.isEmpty { throw refusal("names no host") }
    var port: UInt16? = 80
    if !digits.isEmpty {
      guard digits.first == ":", digits.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }) else {
        throw refusal("is no URL")
      }
      port = UInt16(digits.dropFirst())
    }
    guard let port, port > 0 else { throw refusal("has a port that does not exist") }
    switch Self.address(String(isBracketed ? host.dropFirst().dropLast() : host), isBracketed: isBracketed) {
    case nil:
      throw refusal("names its host: a name can be of another machine, and a live run stays on this one")
    case .other?:
      throw refusal(
        "is not this machine: a live run sends thousands of uploads on purpose, and to loopback addresses alone"
      )
    case let address?: self.address = address
    }
    self.authority = String(authority)
    self.port = port
    target = path.isEmpty || path == "/" ? "/v1/batch" : path.first == "?" ? "/" + path : String(path)
  }

  /// As `inet_pton` reads it: four decimal numbers, or an IPv6 address; no shorthand, no octal. nil: it is a name.
  private static func address(_ host: String, isBracketed: Bool) -> Address? {
    if isBracketed {
      var address = in6_addr()
      guard inet_pton(AF_INET6, host, &address) == 1 else { return nil }
      let bytes = withUnsafeBytes(of: &address) { Array($0) }
      return bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 ? .v6 : .other
    }
    var address = in_addr()
    guard inet_pton(AF_INET, host, &address) == 1 else { return nil }
    return UInt32(bigEndian: address.s_addr) >> 24 == 127 ? .v4(address.s_addr) : .other
  }

  /// A socket that is about to connect, without blocking; nil: the system has none, and `note` hears why. `isRefused`: it is known
  /// already that nobody listens.
  package func connect(_ note: (String) -> Void) -> (descriptor: Int32, isRefused: Bool)? {
    let descriptor: Int32
    do throws(LoopbackSocket.Failure) {
      descriptor = try LoopbackSocket.make(address == .v6 ? AF_INET6 : AF_INET)
    } catch {
      note("\(error)")
      return nil
    }
    // Hanging up is at once, and leaves no port in use: there are some ten thousand for all.
    LoopbackSocket.resetsOnClose(descriptor)
    if start(descriptor) == 0 || errno == EINPROGRESS { return (descriptor, false) }
    let failure = LoopbackSocket.Failure(code: errno)
    close(descriptor)
    if failure.code == ECONNREFUSED { return (-1, true) }
    note("\(failure)")
    return nil
  }

  private func start(_ descriptor: Int32) -> Int32 {
    func connect<Address>(_ address: inout Address) -> Int32 {
      withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          systemConnect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
        }
      }
    }
    if case .v4(let number) = address {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = number
      return connect(&address)
    }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    address.sin6_addr = in6addr_loopback
    return connect(&address)
  }
}

private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t)
  -> Int32
{
  connect(descriptor, address, length)
}
