import FleetMetrics
import SimulationKernel

extension Connections {
  /// The memory that a run keeps for each device, and for each handshake that is not over. An array that grows is copied.
  package static let bytesPerDevice =
    2 * MemoryLayout<ConnectionTable.Device>.stride
    + 2 * MemoryLayout<EventHeap<ConnectionTable.Watched?>.Entry>.stride
  package static let bytesPerHandshake =
    2 * MemoryLayout<EventHeap<ConnectionTable.Handshake>.Entry>.stride
    + 2 * MemoryLayout<Instant>.stride
}

/// The connections of all devices, and the tier that makes them.
///
/// A device has one connection, over which uploads at one time share it. Those that come before its handshake is over shake hands
/// themselves. An arrival knows at once when its handshake ends, because the tier serves in order and each takes the same time.
struct ConnectionTable {
  fileprivate struct Device {
    /// When something happened on it last.
    var lastUse: Instant
    /// Requests at the server; without keep-alive each has a connection of its own.
    var uses: UInt32
    var isOpen: Bool
    /// Whether `closings` has an entry of it.
    var isWatched: Bool

    static let none = Device(lastUse: .start, uses: 0, isOpen: false, isWatched: false)
  }

  fileprivate struct Handshake {
    var request: UploadRequest
    var retryCount: UInt16
    /// Its client does not wait so long.
    var isLate: Bool
  }

  fileprivate struct Watched {
    var device: UInt32
    var shard: UInt16
  }

  enum Arrival {
    /// Over its device's live connection.
    case connected
    /// The request comes to admission later (`takeConnected`).
    case connecting
    /// Its client notices at this time that it gets no connection, and may know that the server has got nothing.
    case failed(at: Instant, isKnown: Bool, isRefusal: Bool)
  }

  private let settings: Connections
  private let sources: [UploadSource]
  private let latencies: [Sampler]
  private let key: RandomKey
  private let interval: Int64
  /// By number; as many as have been seen.
  private var devices: [Device] = []
  private var live = 0
  /// When handshakes end, for so many of the latest as there can be at once; a ring from `oldest` on.
  private var ends: [Instant] = []
  private var oldest = 0
  private var handshakes = EventHeap<Handshake>()
  /// When connections may have been idle for too long. `nil`: one that is its request's alone closes.
  private var closings = EventHeap<Watched?>()
  private(set) var counts = SideSeries<ConnectionCount>()

  /// - Parameter interval: of a row of `counts`.
  init(_ settings: Connections, sources: [UploadSource], key: RandomKey, interval: Span) {
    self.settings = settings
    self.sources = sources.isEmpty ? [UploadSource(writeKey: "")] : sources
    latencies = self.sources.map { Sampler($0.latency) }
    self.key = key
    self.interval = interval.microseconds
  }

  /// When the next handshake is over and its request comes to admission.
  var nextTime: Instant { handshakes.nextTime }

  private func source(of request: UploadRequest) -> UploadSource {
    sources[min(Int(request.shard), sources.count - 1)]
  }

  private func row(at time: Instant) -> Int { Int(time.microseconds / interval) }

  private mutating func changeLive(by n: Int, at time: Instant) {
    live += n
    counts[row(at: time), .live] += Int64(n)
  }

  // MARK: The start

  /// Opens the connections that the fleet has when a run begins in the middle of its days, as if nothing had ever failed.
  mutating func begin() {
    for (shard, source) in sources.enumerated() {
      guard let keepAlive = source.connection.keepAlive else { continue }
      let life = min(keepAlive, settings.idleTimeout)
      for device in source.devices where live < settings.limit ?? .max {
        guard let age = age(of: device, source.pace, atMost: life) else { continue }
        let number = Int(device)
        while devices.count <= number { devices.append(.none) }
        devices[number] = Device(
          lastUse: Instant(microseconds: -age.microseconds), uses: 0, isOpen: true, isWatched: true)
        closings.add(
          Watched(device: device, shard: UInt16(truncatingIfNeeded: shard)), at: .start + (life - age))
        live += 1
      }
    }
    counts[0, .live] += Int64(live)
  }

  /// How long ago a device uploaded something last; nil: `life` or longer.
  private func age(of device: UInt32, _ pace: UploadPace, atMost life: Span) -> Span? {
    guard pace.meanGap.isFinite else { return nil }
    let key = key.child(UInt64(device))
    let draws = key.child(RandomPurpose.handshake)
    func regularGap() -> Int64 { draws.uniform(0, through: Int64(min(pace.meanGap, 1e18)) - 1) }
    var age: Int64
    if let interval = pace.interval?.microseconds {
      let first =
        pace.phase?.microseconds ?? key.child(RandomPurpose.flushPhase).uniform(0, through: interval - 1)
      age = interval - first
      if pace.isRegular {
        age += regularGap() / interval * interval
      } else {
        let share = max(1, UInt64((min(1, Double(interval) / pace.meanGap) * 1e6).rounded()))
        var flush: UInt64 = 0
        while age < life.microseconds, draws.child(flush).uniform(below: 1_000_000) >= share {
          flush += 1
          age += interval
        }
      }
    } else {
      age =
        pace.isRegular
        ? regularGap() : Distribution.exponentialGap(mean: pace.meanGap, key: draws)
    }
    return age < life.microseconds ? Span(microseconds: age) : nil
  }

  // MARK: Arrivals

  /// A request arrives, not in an outage. What is due by then has been done.
  mutating func arrive(_ request: UploadRequest, retryCount: Int) -> Arrival {
    let now = request.arrival
    closeIdle(through: now)
    let habits = source(of: request).connection
    let number = Int(request.device)
    while devices.count <= number { devices.append(.none) }
    if devices[number].isOpen, habits.keepAlive != nil {
      counts[row(at: now), .reused] += 1
      devices[number].uses += 1
      return .connected
    }
    if live + handshakes.count >= settings.limit ?? .max { return refuse(request) }
    guard let start = startOfHandshake(at: now) else { return refuse(request) }
    let end = start + settings.handshakes.time
    ends.append(end)
    let (row, wait) = (self.row(at: now), (start - now).microseconds)
    counts[row, .handshakes] += 1
    counts[row, .wait] += wait
    counts[row, .longestWait] = max(counts[row, .longestWait], wait)
    return begin(request, retryCount: retryCount, end: end, habits)
  }

  /// Returns when a handshake that arrives now is begun; nil: there is no place for it.
  private mutating func startOfHandshake(at now: Instant) -> Instant? {
    while oldest < ends.count, ends[oldest] <= now { oldest += 1 }
    if oldest > 64, oldest > ends.count / 2 {
      ends.removeFirst(oldest)
      oldest = 0
    }
    let present = ends.count - oldest
    let servers = settings.handshakes.count
    if present < servers { return now }
    if let limit = settings.handshakes.queueLimit, present - servers >= limit { return nil }
    return ends[ends.count - servers]
  }

  private mutating func begin(
    _ request: UploadRequest, retryCount: Int, end: Instant, _ habits: ConnectionHabits
  ) -> Arrival {
    let now = request.arrival
    let source = source(of: request)
    let delay = end - now + ways(of: request, 2 * habits.roundTrips)
    var handshake = Handshake(
      request: request, retryCount: UInt16(truncatingIfNeeded: retryCount), isLate: false)
    if delay > source.connectTimeout ?? source.timeout {
      handshake.isLate = true
      handshakes.add(handshake, at: end)
      counts[row(at: now), .late] += 1
      return .failed(
        at: silence(of: request, source), isKnown: source.connectTimeout != nil, isRefusal: false)
    }
    handshake.request.arrival = now + delay
    handshake.request.uplink = UInt32(clamping: Int64(request.uplink) + delay.microseconds)
    handshakes.add(handshake, at: now + delay)
    return .connecting
  }

  /// So many ways to the server or back, each drawn apart.
  private func ways(of request: UploadRequest, _ count: Int) -> Span {
    let latency = latencies[min(Int(request.shard), latencies.count - 1)]
    let draws = request.key(key).child(RandomPurpose.handshake)
    return (0..<count).reduce(Span.zero) { $0 + latency.sample(draws.child(UInt64($1))) }
  }

  private mutating func refuse(_ request: UploadRequest) -> Arrival {
    counts[row(at: request.arrival), .refused] += 1
    let source = source(of: request)
    let silence = silence(of: request, source)
    if settings.refusal == .reset, request.downlink != .max {
      let heard = request.arrival + Span(microseconds: Int64(request.downlink))
      if heard <= silence { return .failed(at: heard, isKnown: true, isRefusal: true) }
    }
    return .failed(at: silence, isKnown: source.connectTimeout != nil, isRefusal: false)
  }

  /// When a client gives up that hears nothing. Where the upload's own bytes were long under way, that is a way back later than its
  /// time-out for connecting, but no later than that of the request.
  private func silence(of request: UploadRequest, _ source: UploadSource) -> Instant {
    let sent = Instant(microseconds: request.arrival.microseconds - Int64(request.uplink))
    guard let connect = source.connectTimeout else { return sent + source.timeout }
    return min(sent + source.timeout, max(sent + connect, request.arrival + source.latency.minimum))
  }

  // MARK: Ends

  /// Ends what is due at `nextTime`: the request that comes to admission now; nil: its client has given up.
  mutating func takeConnected() -> (request: UploadRequest, retryCount: Int)? {
    let ended = handshakes.takeFirst()
    if ended.payload.isLate { return nil }
    closeIdle(through: ended.time)
    let number = Int(ended.payload.request.device)
    let isShared = source(of: ended.payload.request).connection.keepAlive != nil
    if !isShared || !devices[number].isOpen { changeLive(by: 1, at: ended.time) }
    devices[number].isOpen = isShared
    devices[number].uses += 1
    return (ended.payload.request, Int(ended.payload.retryCount))
  }

  /// A request that was at the server is there no more.
  /// - Parameters:
  ///   - now: when that is known.
  ///   - time: when the connection was used last, not before `now`.
  mutating func release(_ request: UploadRequest, at now: Instant, lastUse time: Instant) {
    let number = Int(request.device)
    // Its connection was lost with all others.
    guard number < devices.count, devices[number].uses > 0 else { return }
    devices[number].uses -= 1
    guard source(of: request).connection.keepAlive != nil else {
      closings.add(nil, at: max(now, time))
      return
    }
    devices[number].lastUse = max(devices[number].lastUse, time)
    watch(request, number)
  }

  private mutating func watch(_ request: UploadRequest, _ number: Int) {
    if devices[number].uses > 0 || devices[number].isWatched { return }
    devices[number].isWatched = true
    let watched = Watched(device: request.device, shard: request.shard)
    closings.add(watched, at: devices[number].lastUse + patience(of: watched))
  }

  private func patience(of watched: Watched) -> Span {
    let keepAlive = sources[min(Int(watched.shard), sources.count - 1)].connection.keepAlive
    return min(settings.idleTimeout, keepAlive ?? .zero)
  }

  /// Closes what has been idle for too long by `now`.
  mutating func closeIdle(through now: Instant) {
    while closings.nextTime <= now {
      let closing = closings.takeFirst()
      guard let watched = closing.payload else {
        changeLive(by: -1, at: closing.time)
        continue
      }
      let number = Int(watched.device)
      devices[number].isWatched = false
      if devices[number].uses > 0 { continue }
      let due = devices[number].lastUse + patience(of: watched)
      if due > closing.time {
        devices[number].isWatched = true
        closings.add(watched, at: due)
        continue
      }
      devices[number].isOpen = false
      changeLive(by: -1, at: closing.time)
    }
  }

  /// The server has forgotten everything: no connection lives on. `onLoss` gets each request whose handshake was not over.
  mutating func loseAll(at now: Instant, onLoss: (UploadRequest) -> Void) {
    closeIdle(through: now)
    for handshake in handshakes.inOrder where !handshake.payload.isLate { onLoss(handshake.payload.request) }
    if live != 0 { changeLive(by: -live, at: now) }
    devices.removeAll(keepingCapacity: true)
    handshakes.removeAll()
    closings.removeAll()
    ends.removeAll(keepingCapacity: true)
    oldest = 0
  }
}
