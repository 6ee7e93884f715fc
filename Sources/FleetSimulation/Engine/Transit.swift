import TAPIModel
import UploadPipeline

/// Something of one attempt, with the attempt's parts as the devices call them.
package protocol OfAttempt {
  var id: AttemptID { get }
}

extension OfAttempt {
  /// Its place in the shard.
  @inline(__always)
  package var device: DeviceIndex { DeviceIndex(rawValue: id.place) }
  @inline(__always)
  package var batch: BatchIndex { BatchIndex(rawValue: id.record) }
  @inline(__always)
  package var attempt: UInt16 { id.number }
  @inline(__always)
  var generation: UInt16 { id.generation }
}

extension AttemptID: OfAttempt {
  package var id: AttemptID { self }

  @inline(__always)
  init(_ device: DeviceIndex, _ batch: BatchIndex, number: UInt16, generation: UInt16) {
    self.init(place: device.rawValue, record: batch.rawValue, number: number, generation: generation)
  }
}

/// Something on its way to a device: an answer, a time-out, or news that only the observers see. When it is due is told beside it.
/// 24 bytes, for a shard's calendar keeps millions.
package struct Delivery: OfAttempt, BitwiseCopyable, Sendable {
  /// In the order in which they are handled at one instant. Wake-ups and triggers come after all of them.
  package enum Kind: UInt8, BitwiseCopyable, Sendable {
    /// The server accepted an upload that its client will have given up: counted, unknown to the client.
    case acceptance
    /// The server refused or lost such an upload.
    case loss
    case answer
    case timeOut
  }

  /// The `status` of a time-out before the request has left: its client knows that the server has not got it.
  static var notSent: UInt16 { 1 }
  /// The `status` where the connection was refused: nobody waited for a time-out.
  static var refused: UInt16 { 2 }

  /// The `status` of an acceptance that is none yet: a proxy waits no more for a try, which the server may still accept. One item
  /// more will tell of it.
  static var opening: UInt16 { 1 }

  /// Microseconds after the start of the window that it is due in (19 bits) | status (10) | kind (2) | resolves (1).
  private var head: UInt32
  package let id: AttemptID
  /// Of an answer: microseconds that it travels.
  let downlink: UInt32
  /// Microseconds, saturated; `.max`: no header.
  let retryAfter: UInt32

  /// - Parameter resolves: of a time-out: whether the attempt is known to be lost, so that no other item will follow.
  @inline(__always)
  init(
    _ kind: Kind, _ id: AttemptID, downlink: UInt32 = 0, status: UInt16 = 0, retryAfter: UInt32 = .max,
    resolves: Bool = false
  ) {
    head = UInt32(status & 1_023) &<< 19 | UInt32(kind.rawValue) &<< 29 | (resolves ? 1 &<< 31 : 0)
    self.id = id
    self.downlink = downlink
    self.retryAfter = retryAfter
  }

  /// This delivery in the calendar, where it has had no place before.
  @inline(__always)
  func due(at offset: Int64) -> Delivery {
    var delivery = self
    delivery.head |= UInt32(truncatingIfNeeded: offset)
    return delivery
  }

  /// An answer 200.
  @inline(__always)
  var isSuccess: Bool {
    head &>> 19 & (1 &<< 12 &- 1) == 200 | UInt32(Kind.answer.rawValue) &<< 10
  }

  /// An answer other than 200.
  @inline(__always)
  var isFailure: Bool { kind == .answer && !isSuccess }

  @inline(__always)
  var status: UInt16 { UInt16(truncatingIfNeeded: head &>> 19 & 1_023) }
  @inline(__always)
  var offset: Int64 { Int64(head & (1 &<< 19 &- 1)) }
  @inline(__always)
  package var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: head &>> 29 & 3)).unsafelyUnwrapped }
  @inline(__always)
  var resolves: Bool { head &>> 31 != 0 }
}

/// The one order within a device at one instant (engine.md, Time and order).
package enum ItemKind {
  package static let wakeUp: UInt64 = 4
  package static let trigger: UInt64 = 5
  package static let restart: UInt64 = 6
  /// Something around the device: a spike.
  package static let world: UInt64 = 7
}

/// An upload on its way, as a shard's calendar keeps it: 24 bytes. The rest of `UploadRequest` can be read off the batch, whose record
/// stays as long as an attempt's fate is open.
package struct UploadTicket: OfAttempt, BitwiseCopyable {
  /// `X-Retry-Count`, where the server asks for it (13 bits, saturating) | microseconds after the start of the window that it arrives
  /// in (19 bits).
  private var head: UInt32
  package let id: AttemptID
  let uplink: UInt32
  let downlink: UInt32

  @inline(__always)
  init(_ id: AttemptID, _ latency: CohortPlan.Latency, retryCount: UInt16) {
    head = UInt32(min(retryCount, 1 &<< 13 &- 1)) &<< 19
    self.id = id
    (uplink, downlink) = (latency.up, latency.down)
  }

  @inline(__always)
  var offset: UInt32 { head & (1 &<< 19 &- 1) }
  package var retryCount: Int { Int(head &>> 19) }

  /// This ticket on its way to a window; it has had none before.
  @inline(__always)
  func arriving(at offset: Int64) -> UploadTicket {
    var ticket = self
    ticket.head |= UInt32(truncatingIfNeeded: offset)
    return ticket
  }
}
