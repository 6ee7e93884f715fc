import SimulationKernel

/// The counts of all `KeyLimit`s. Those of devices are made with the first request of each.
struct KeyLimits {
  fileprivate struct Count {
    var meter: Meter
    var refused = RefusedBacklog()
  }

  fileprivate enum Meter {
    case bucket(TokenBucket)
    case window(RequestWindow)

    init(_ rule: KeyLimit.Rule) {
      switch rule {
      case .bucket(let rate, let burst):
        self = .bucket(
          TokenBucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: rate, burst: burst)))
      case .window: self = .window(RequestWindow())
      }
    }

    mutating func take(_ rule: KeyLimit.Rule, at now: Instant) -> Bool {
      switch (self, rule) {
      case (.bucket(var bucket), _):
        defer { self = .bucket(bucket) }
        return bucket.take(at: now)
      case (.window(var window), .window(let shape, let requests)):
        // Its times are not to be copied.
        self = .window(RequestWindow())
        defer { self = .window(window) }
        return window.take(shape, requests, at: now.microseconds)
      case (.window, .bucket): return true
      }
    }
  }

  /// One limit for the devices, or for the whole, of one key.
  private struct Table {
    var limit: KeyLimit
    /// By device of the cohort, or one.
    var counts: [Count] = []
  }

  private var tables: [Table] = []
  /// The tables that concern a source.
  private var tablesOfSource: [[Int]] = []
  private let firstDevices: [UInt32]

  init(_ limits: [KeyLimit], sources: [UploadSource]) {
    firstDevices = sources.map { $0.firstDevice }
    var numbers: [String?: [Int: Int]] = [:]
    for source in sources {
      var concerned: [Int] = []
      for (index, limit) in limits.enumerated() where limit.key == nil || limit.key == source.writeKey {
        let owner = limit.per == .all ? nil : source.writeKey
        let number = numbers[owner]?[index] ?? tables.count
        if number == tables.count {
          numbers[owner, default: [:]][index] = number
          tables.append(Table(limit: limit))
        }
        concerned.append(number)
      }
      tablesOfSource.append(concerned)
    }
  }

  var isEmpty: Bool { tables.isEmpty }

  /// Takes a place of every limit that concerns the request. Returns what the first one without a place says, if there is one;
  /// the places of those before it are gone.
  mutating func refusal(of request: UploadRequest, _ fleet: RandomKey) -> ServerAnswer? {
    let source = Int(request.shard)
    guard source < tablesOfSource.count else { return nil }
    for number in tablesOfSource[source] {
      let limit = tables[number].limit
      let place = limit.per == .device ? Int(request.device &- firstDevices[source]) : 0
      while tables[number].counts.count <= place {
        tables[number].counts.append(Count(meter: Meter(limit.rule)))
      }
      if tables[number].counts[place].meter.take(limit.rule, at: request.arrival) { continue }
      var header = limit.retryAfter.header(
        for: request, fleet, &tables[number].counts[place].refused, capacity: limit.rule.capacity)
      if limit.saysWindowEnd, case .window(let window) = tables[number].counts[place].meter {
        header = (window.room - request.arrival.microseconds + 999_999) / 1_000_000 * 1_000_000
      }
      return ServerAnswer(status: 429, retryAfter: header, at: request.arrival, cause: .keyLimit)
    }
    return nil
  }
}

/// The requests of one window, microseconds.
private struct RequestWindow {
  /// When a fixed window ends, or the earliest counted request leaves a sliding one.
  private(set) var room: Int64 = 0
  /// Requests in a fixed window; the place of the earliest in `times`.
  private var count: Int64 = 0
  /// When the latest requests of a sliding window were admitted, in a ring.
  private var times: [Int64] = []

  mutating func take(_ window: KeyLimit.Window, _ requests: Int64, at now: Int64) -> Bool {
    let length = max(window.length.microseconds, 1)
    if window.slides {
      if times.count < Int(requests) {
        times.append(now)
        return true
      }
      room = times[Int(count)] + length
      if now < room { return false }
      times[Int(count)] = now
      count = (count + 1) % requests
      return true
    }
    if now >= room {
      room = now - now % length + length
      count = 0
    }
    if count >= requests { return false }
    count += 1
    return true
  }
}

extension KeyLimit.Rule {
  /// Requests per microsecond.
  fileprivate var capacity: Double {
    switch self {
    case .bucket(let rate, _): Double(rate) / 1e9
    case .window(let window, let requests): Double(requests) / Double(max(window.length.microseconds, 1))
    }
  }
}

extension KeyLimit {
  /// The memory that the server keeps for each device of a limit per device.
  package var bytesPerDevice: Int {
    let times = if case .window(let window, let requests) = rule, window.slides { Int(requests) } else { 0 }
    return MemoryLayout<KeyLimits.Count>.stride + times * MemoryLayout<Int64>.stride
  }
}
