/// One upload of a live run, as it goes over the network.
public struct LiveUpload: Sendable, Hashable {
  /// Tells it from all others of the run.
  public var number: Int
  /// What the Authorization header carries (S1).
  public var writeKey: String
  /// The device's number in the fleet, and the number of the batch's first event on it.
  public var device: UInt32
  public var firstEvent: UInt32
  public var events: Int
  /// Of each event.
  public var eventBytes: Int
  /// `X-Retry-Count`; nil: the client leaves the header out (S2).
  public var retryCount: UInt16?

  public init(
    number: Int, writeKey: String, device: UInt32, firstEvent: UInt32, events: Int, eventBytes: Int,
    retryCount: UInt16?
  ) {
    self.number = number
    self.writeKey = writeKey
    self.device = device
    self.firstEvent = firstEvent
    self.events = events
    self.eventBytes = eventBytes
    self.retryCount = retryCount
  }
}

/// How an upload of a live run ended.
public enum LiveEnd: Sendable, Hashable {
  /// An answer; the headers as they came.
  case answer(status: Int, retryAfter: String?, rateLimitReset: String?)
  /// A refused or broken connection, or something that is no HTTP. `mayHaveArrived`: the server may have got the upload.
  case noAnswer(mayHaveArrived: Bool)
}

/// Carries the uploads of a live run to a server.
public protocol LiveTransport: Sendable {
  /// Sends an upload once: no retry, no redirect, no cache.
  ///
  /// - Parameters:
  ///   - upload: what to send.
  ///   - ended: called once, on any thread, also after `cancel`.
  func send(_ upload: LiveUpload, ended: @escaping @Sendable (LiveEnd) -> Void)
  /// Its client waits no longer: the connection is closed.
  func cancel(_ number: Int)
  /// What has kept an upload from leaving that is not the server's doing; nil: nothing has.
  var trouble: String? { get }
}

extension LiveTransport {
  public var trouble: String? { nil }
}

/// The clock of a live run.
public protocol LiveClock: Sendable {
  /// Virtual microseconds since the start of the run.
  var now: Int64 { get }
  /// Returns at `time`, or as soon as there is something in `inbox`, or now and then.
  func wait(until time: Int64, for inbox: LiveInbox)
}
