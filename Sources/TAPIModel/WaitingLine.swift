/// Requests that wait for a worker, in the order in which they are served.
struct WaitingLine {
  /// Requests that have been tried again so often or more are in one lane.
  static let mostRetries = 63

  let order: QueueOrder
  /// By retry count, where the order asks for it; else one.
  private var lanes: [Lane<UploadRequest>]
  /// The lanes that are not empty, a bit each.
  private var occupied: UInt64 = 0
  private(set) var count = 0

  init(_ order: QueueOrder) {
    self.order = order
    lanes = Array(repeating: Lane(), count: order.asksForRetryCount ? Self.mostRetries + 1 : 1)
  }

  /// Lanes are served from the first on.
  private func lane(_ retryCount: Int) -> Int {
    switch order {
    case .fifo, .lifo: 0
    case .fewestRetries: min(retryCount, Self.mostRetries)
    case .mostRetries: Self.mostRetries - min(retryCount, Self.mostRetries)
    }
  }

  /// Lane by lane, the oldest of each first.
  var inOrder: [(lane: Int, request: UploadRequest)] {
    lanes.indices.flatMap { lane in lanes[lane].inOrder.map { (lane, $0) } }
  }

  mutating func append(_ request: UploadRequest, retryCount: Int) {
    let lane = lane(retryCount)
    lanes[lane].append(request)
    occupied |= 1 << UInt64(lane)
    count += 1
  }

  /// Whether a request that comes now would be served after all that wait.
  func isLast(retryCount: Int) -> Bool {
    order == .lifo ? count == 0 : lane(retryCount) >= 63 - occupied.leadingZeroBitCount
  }

  mutating func takeFirst() -> UploadRequest? {
    if count == 0 { return nil }
    return take(from: occupied.trailingZeroBitCount, oldest: order != .lifo)
  }

  /// The one that would be served last, of one at least.
  mutating func takeLast() -> UploadRequest {
    take(from: 63 - occupied.leadingZeroBitCount, oldest: order == .lifo)
  }

  private mutating func take(from lane: Int, oldest: Bool) -> UploadRequest {
    let request = oldest ? lanes[lane].takeOldest() : lanes[lane].takeNewest()
    if lanes[lane].count == 0 { occupied &= ~(1 << UInt64(lane)) }
    count -= 1
    return request
  }
}
