import SimulationKernel

/// The caller's name of an attempt: the server reads the number alone; proxies put that of a call in place. 12 bytes, plain.
@frozen
public struct AttemptID: BitwiseCopyable, Sendable, Hashable {
  /// The caller's handles of the device and of the batch's record.
  public var place: UInt32
  public var record: UInt32
  /// 1 for the first attempt of the batch.
  public var number: UInt16
  /// Which of its batches the record serves.
  public var generation: UInt16

  @inlinable
  public init(place: UInt32, record: UInt32, number: UInt16, generation: UInt16) {
    (self.place, self.record, self.number, self.generation) = (place, record, number, generation)
  }
}

/// One upload on its way to the server, or waiting there. 40 bytes, plain.
@frozen
public struct UploadRequest: BitwiseCopyable, Sendable, Hashable {
  /// When it reaches the server.
  public var arrival: Instant
  /// The device's number in the whole fleet.
  public var device: UInt32
  public var id: AttemptID
  /// The number of the batch's first event on its device: with `device` the batch's identity.
  public var firstOrdinal: UInt32
  /// Microseconds it has travelled, with the handshake before it.
  public var uplink: UInt32
  /// Microseconds the answer will travel.
  public var downlink: UInt32
  public var events: UInt16
  /// The caller's handle of whom its answer goes to.
  public var shard: UInt16

  @inlinable
  public init(
    arrival: Instant, device: UInt32, id: AttemptID, firstOrdinal: UInt32, uplink: UInt32, downlink: UInt32,
    events: UInt16, shard: UInt16
  ) {
    self.arrival = arrival
    self.device = device
    self.id = id
    self.firstOrdinal = firstOrdinal
    self.uplink = uplink
    self.downlink = downlink
    self.events = events
    self.shard = shard
  }

  /// 1 for the first attempt of this batch.
  @inlinable
  public var attempt: UInt16 { id.number }

  /// The key of this attempt's draws: (device, batch, attempt), so that no strategy can move another draw.
  @inlinable
  public func key(_ fleet: RandomKey) -> RandomKey {
    fleet.child(UInt64(device)).child(Self.name(firstOrdinal: firstOrdinal, number: attempt))
  }

  /// A batch's n-th attempt (or retry) among all draws of its device. Plus one, so that no batch has the name of a `RandomPurpose`.
  @inlinable
  public static func name(firstOrdinal: UInt32, number: UInt16) -> UInt64 {
    (UInt64(firstOrdinal) &+ 1) &<< 16 | UInt64(number)
  }
}

/// The server's answer to a request.
public struct ServerAnswer: Sendable, Hashable {
  /// Why it is not a 200.
  public enum Cause: UInt8, Sendable, Hashable {
    case other
    /// A limit of the tenant or of the device.
    case keyLimit
    /// The request had waited, for too long or for others' sake.
    case shed
  }

  public var status: UInt16
  /// Microseconds; nil: no header.
  public var retryAfter: Int64?
  /// When the answer leaves the server.
  public var at: Instant
  public var cause: Cause
  /// Microseconds that it travels longer than its request's `downlink`.
  public var delay: Int64 = 0

  public init(status: UInt16, retryAfter: Int64?, at: Instant, cause: Cause = .other) {
    self.status = status
    self.retryAfter = retryAfter
    self.at = at
    self.cause = cause
  }
}

/// The fate of an arriving request.
public enum Admission: Sendable, Hashable {
  case answered(ServerAnswer)
  /// No answer, ever.
  case lost
  /// Accepted at this time, but the answer never arrives.
  case unconfirmed(at: Instant)
  /// The request waits or is being served; `TAPIServer.nextCompletion` will tell.
  case pending
  /// Its client gets no connection, notices it at this time, and may know that the server has got nothing. It is told at once, or
  /// its time-out tells it.
  case unconnected(at: Instant, isKnown: Bool, isRefusal: Bool)
}

/// A request that was pending and is so no longer.
public struct Completion: Sendable {
  public enum Outcome: Sendable, Hashable {
    case answered(ServerAnswer)
    /// Lost in an outage.
    case lost
    /// Accepted at this time, but the answer never arrives.
    case unconfirmed(at: Instant)
  }
  public var request: UploadRequest
  public var at: Instant
  public var outcome: Outcome
  /// Whether it was accepted and its answer is under way.
  public var isServed: Bool {
    if case .answered(let answer) = outcome { answer.status == 200 } else { false }
  }
}
