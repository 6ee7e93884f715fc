import SimulationKernel

/// Connections at the server: how many it shakes hands with a second, how many it holds, and what a client sees that gets none.
///
/// An upload of a device without a live connection is preceded by a handshake. It takes a place in the handshake tier, waits there
/// for one of `handshakes.count` servers, and keeps it for a constant time: M/D/c/K where arrivals are Poisson. The request itself
/// comes to admission after the handshake's round trips (`ConnectionHabits.roundTrips`).
public struct Connections: Sendable, Hashable {
  public var handshakes: Handshakes
  /// Connections at once, 1 … 10^9, those in a handshake among them; nil: any number.
  public var limit: Int?
  /// The server closes a connection on which nothing has happened for so long. At least 1 ms.
  public var idleTimeout = Span.seconds(60)
  public var refusal = Refusal.reset

  /// The tier in which connections are made.
  public struct Handshakes: Sendable, Hashable {
    /// Handshakes worked on at once, 1 … 10^6.
    public var count: Int
    /// The work of one, such as a signature and a key exchange. 1 µs … 1 min.
    public var time: Span
    /// Handshakes that may wait; nil: any number.
    public var queueLimit: Int?

    public init(count: Int, time: Span, queueLimit: Int? = 4_096) {
      self.count = count
      self.time = time
      self.queueLimit = queueLimit
    }

    /// A second, in thousandths.
    public var capacityMilli: Int64 {
      Int64((Double(count) * 1e9 / Double(max(time.microseconds, 1))).rounded())
    }
  }

  /// The sign by which a client notices that it gets no connection.
  public enum Refusal: String, Sendable, Hashable, CaseIterable {
    /// The client is told at once, after the way back.
    case reset
    /// The client hears nothing until its time-out: that for connecting, or else that of the request.
    case silent
  }

  public init(handshakes: Handshakes) { self.handshakes = handshakes }
}

/// A client's way with connections.
public struct ConnectionHabits: Sendable, Hashable {
  /// How long it keeps a connection on which nothing happens; nil: it makes one for each upload.
  public var keepAlive: Span? = .seconds(60)
  /// Ways there and back before the request leaves, 0 … 10: one for TCP (RFC 9293 §3.5) and one for TLS 1.3 (RFC 8446 §2).
  public var roundTrips = 2

  public init() {}
}
