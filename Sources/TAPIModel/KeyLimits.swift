import SimulationKernel

/// The buckets of all `KeyLimit`s. Those of devices are made with the first request of each.
struct KeyLimits {
  fileprivate struct Bucket {
    var tokens: TokenBucket
    var refused = RefusedBacklog()

    init(_ limit: KeyLimit) {
      tokens = TokenBucket(
        TokenBucketConfiguration(
          capacityMilliRequestsPerSecond: limit.rateMilliRequestsPerSecond, burst: limit.burst))
    }
  }

  /// One limit for the devices, or for the whole, of one key.
  private struct Table {
    var limit: KeyLimit
    /// By device of the cohort, or one.
    var buckets: [Bucket] = []
  }

  private var tables: [Table] = []
  /// The tables that concern a source.
  private var tablesOfSource: [[Int]] = []
  private let firstDevices: [UInt32]

  init(_ limits: [KeyLimit], sources: [UploadSource]) {
    firstDevices = sources.map(\.firstDevice)
    var numbers: [String: [Int: Int]] = [:]
    for source in sources {
      var concerned: [Int] = []
      for (index, limit) in limits.enumerated() where limit.key == nil || limit.key == source.writeKey {
        let number = numbers[source.writeKey]?[index] ?? tables.count
        if number == tables.count {
          numbers[source.writeKey, default: [:]][index] = number
          tables.append(Table(limit: limit))
        }
        concerned.append(number)
      }
      tablesOfSource.append(concerned)
    }
  }

  var isEmpty: Bool { tables.isEmpty }

  /// Takes a token of every limit that concerns the request. Returns what the first one without a token says, if there is one; the
  /// tokens of those before it are gone.
  mutating func refusal(of request: UploadRequest, _ fleet: RandomKey) -> ServerAnswer? {
    let source = Int(request.shard)
    guard source < tablesOfSource.count else { return nil }
    for number in tablesOfSource[source] {
      let limit = tables[number].limit
      let place = limit.isPerDevice ? Int(request.device &- firstDevices[source]) : 0
      while tables[number].buckets.count <= place { tables[number].buckets.append(Bucket(limit)) }
      if tables[number].buckets[place].tokens.take(at: request.arrival) { continue }
      let header = limit.retryAfter.header(
        for: request, fleet, &tables[number].buckets[place].refused,
        capacity: Double(limit.rateMilliRequestsPerSecond) / 1e9)
      return ServerAnswer(status: 429, retryAfter: header, at: request.arrival, cause: .keyLimit)
    }
    return nil
  }
}

extension KeyLimit {
  /// The memory that the server keeps for each device of a limit per device.
  package static var bytesPerDevice: Int { MemoryLayout<KeyLimits.Bucket>.stride }
}
