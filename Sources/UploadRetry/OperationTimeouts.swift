/// Layered time-outs (O7), microseconds: a short one for the connection, a longer one for the whole request, which
/// grows with what is sent.
public struct OperationTimeouts: Sendable, Hashable, BitwiseCopyable {
  /// 5 … 10 s is usual.
  public var connect: Int64
  /// 15 … 30 s is usual.
  public var request: Int64
  /// The slowest link on which a request may still get through; its bytes' time on it is added. 0: nothing is added.
  public var slowestBytesPerSecond: Int64

  public init(connect: Int64, request: Int64, slowestBytesPerSecond: Int64 = 0) {
    self.connect = max(connect, 1)
    self.request = max(request, self.connect)
    self.slowestBytesPerSecond = max(slowestBytesPerSecond, 0)
  }

  /// 5 s and 15 s where the user waits, 10 s and 30 s where nobody does.
  public static func standard(_ operation: OperationKind) -> OperationTimeouts {
    switch operation {
    case .interactive: OperationTimeouts(connect: 5_000_000, request: 15_000_000)
    case .background: OperationTimeouts(connect: 10_000_000, request: 30_000_000)
    }
  }

  /// When a request of so many bytes is given up, after its start.
  public func request(bytes: Int64) -> Int64 {
    if slowestBytesPerSecond == 0 || bytes <= 0 { return request }
    let (whole, rest) = bytes.quotientAndRemainder(dividingBy: slowestBytesPerSecond)
    let (seconds, overflow) = whole.multipliedReportingOverflow(by: 1_000_000)
    let (part, partOverflow) = rest.multipliedReportingOverflow(by: 1_000_000)
    let added = partOverflow ? 999_999 : part / slowestBytesPerSecond
    return saturatingSum(request, overflow ? .max : saturatingSum(seconds, added))
  }

  /// Which of the two ends a request.
  public enum End: Sendable, Hashable {
    /// The connection never stood: the server has not seen the request.
    case connect
    /// The request may have been applied (O4).
    case request
  }

  /// The time-out that ends a request, and when after its start.
  public func end(isConnected: Bool, bytes: Int64) -> (end: End, after: Int64) {
    isConnected ? (.request, request(bytes: bytes)) : (.connect, connect)
  }
}
