import FleetMetrics
import SimulationKernel
import TAPIModel
import Testing

/// A bucket that admits everybody, or a given server, behind connections of one cohort 50 ms away.
private struct Endpoint: ~Copyable {
  var server: TAPIServer

  init(
    _ connections: Connections, keepAlive: Span? = .seconds(20), roundTrips: Int = 2,
    timeout: Span = .seconds(30),
    connectTimeout: Span? = nil, incidents: [Incident] = [], actions: [ServerAction] = [],
    server: TAPIConfiguration.Server = .bucket(
      TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000))
  ) {
    var tapi = TAPIConfiguration(server: server, incidents: incidents)
    (tapi.connections, tapi.actions) = (connections, actions)
    var source = UploadSource(writeKey: "phones")
    (source.connection.keepAlive, source.connection.roundTrips) = (keepAlive, roundTrips)
    source.latency = .constant(.milliseconds(50))
    (source.timeout, source.connectTimeout) = (timeout, connectTimeout)
    self.server = TAPIServer(tapi, key: RandomKey(seed: 1), sources: [source], interval: .seconds(10))
  }

  /// Times in milliseconds, of the request at the server.
  mutating func arrive(_ time: Int64, device: UInt32 = 7, downlink: UInt32 = 50_000) -> Admission {
    server.arrive(
      UploadRequest(
        arrival: Instant(microseconds: time * 1_000), device: device,
        id: AttemptID(place: device, record: 1, number: 1, generation: 0), firstOrdinal: UInt32(time),
        uplink: 50_000, downlink: downlink, events: 1, shard: 0))
  }

  /// What ends by then: when, in milliseconds, and whether it is served.
  mutating func ends(through time: Int64) -> [End] {
    var ends: [End] = []
    while let end = server.nextCompletion(through: Instant(microseconds: time * 1_000)) {
      ends.append(End(at: end.at.microseconds / 1_000, isServed: end.isServed))
    }
    return ends
  }

  func counts(before time: Int64) -> [SideRow<ConnectionCount>] {
    let counts = server.connectionCounts(before: Instant(microseconds: time * 1_000))
    return counts.map { $0.rows($0.count, interval: 1) } ?? []
  }
}

private struct End: Equatable {
  var at: Int64
  var isServed = true
}

private func tier(
  _ count: Int, _ time: Int64, queueLimit: Int? = nil, limit: Int? = nil, idleTimeout: Span = .seconds(60),
  refusal: Connections.Refusal = .reset
) -> Connections {
  var tier = Connections(
    handshakes: .init(count: count, time: .milliseconds(time), queueLimit: queueLimit))
  (tier.limit, tier.idleTimeout, tier.refusal) = (limit, idleTimeout, refusal)
  return tier
}

extension Admission {
  fileprivate var isServed: Bool {
    if case .answered(let answer) = self { answer.status == 200 } else { false }
  }

  fileprivate static func failed(_ milliseconds: Int64, isKnown: Bool, isRefusal: Bool = false) -> Admission {
    .unconnected(at: Instant(microseconds: milliseconds * 1_000), isKnown: isKnown, isRefusal: isRefusal)
  }
}

@Suite struct ConnectionTests {
  @Test(
    """
    Counted by hand: the first request of a device waits 10 ms for its handshake and four ways of 50 ms; the next finds the \
    connection alive, until nothing has happened for 20 s
    """)
  func oneDevice() {
    var endpoint = Endpoint(tier(1, 10))
    #expect(endpoint.arrive(0) == .pending)
    #expect(endpoint.ends(through: 9_000) == [End(at: 210)])
    #expect(endpoint.arrive(10_000).isServed)
    // 20 s after the request before, less a millisecond; then 20 s to the millisecond.
    #expect(endpoint.arrive(29_999).isServed)
    #expect(endpoint.arrive(49_999) == .pending)
    // Before the handshake is over another request makes its own.
    #expect(endpoint.arrive(50_000) == .pending)
    #expect(endpoint.ends(through: 60_000) == [End(at: 50_209), End(at: 50_219)])
    let counts = endpoint.counts(before: 80_000)
    #expect(counts.map { $0[.handshakes] } == [1, 0, 0, 0, 1, 1, 0, 0])
    #expect(counts.map { $0[.reused] } == [0, 1, 1, 0, 0, 0, 0, 0])
    #expect(counts.map { $0[.live] } == [1, 1, 1, 1, 0, 1, 1, 0])
    // The second waited for the 9 ms that the first still took.
    #expect(counts.map { $0[.longestWait] } == [0, 0, 0, 0, 0, 9_000, 0, 0])
  }

  @Test("The shorter of keep-alive and idle time-out counts; without keep-alive each upload has a connection")
  func patience() {
    var short = Endpoint(tier(1, 10, idleTimeout: .seconds(5)))
    _ = short.arrive(0)
    #expect(short.ends(through: 1_000).count == 1)
    #expect(short.arrive(5_209).isServed)
    #expect(short.arrive(10_209) == .pending)
    var none = Endpoint(tier(1, 10), keepAlive: nil)
    _ = none.arrive(0)
    #expect(none.ends(through: 1_000) == [End(at: 210)])
    #expect(none.arrive(1_000) == .pending)
    #expect(none.ends(through: 2_000) == [End(at: 1_210)])
    #expect(none.counts(before: 2_000).map { $0[.live] } == [0])
  }

  @Test("A connection is not idle while its request is at work, however long that takes")
  func work() {
    var endpoint = Endpoint(
      tier(1, 10), roundTrips: 0,
      server: .workers(WorkersConfiguration(count: 9, serviceTime: .constant(.seconds(100)))))
    _ = endpoint.arrive(0)
    #expect(endpoint.ends(through: 60_000) == [])
    #expect(endpoint.arrive(60_000) == .pending)
    // Over the same connection: it starts at once.
    #expect(endpoint.ends(through: 180_000) == [End(at: 100_010), End(at: 160_000)])
    // 20 s after the last answer.
    #expect(endpoint.counts(before: 180_000).last?[.live] == 1)
    #expect(endpoint.counts(before: 180_001).last?[.live] == 0)
  }

  @Test(
    """
    A full tier refuses: the client is told after the way back and knows that nothing was sent, or hears nothing until it gives up
    """)
  func refusals() {
    var reset = Endpoint(tier(2, 1_000, queueLimit: 1))
    for device in 0..<3 as Range<UInt32> { #expect(reset.arrive(100, device: device) == .pending) }
    #expect(reset.arrive(100, device: 3) == .failed(150, isKnown: true, isRefusal: true))
    // Two ends make room for two.
    #expect(reset.arrive(1_100, device: 3) == .pending)
    #expect(reset.arrive(1_100, device: 4) == .pending)
    #expect(reset.arrive(1_100, device: 5) == .failed(1_150, isKnown: true, isRefusal: true))
    #expect(reset.counts(before: 2_000).map { $0[.refused] } == [2])
    // The answer gets lost: silence.
    #expect(reset.arrive(1_100, device: 6, downlink: .max) == .failed(31_050, isKnown: false))
    var silent = Endpoint(tier(1, 1_000, queueLimit: 0, refusal: .silent))
    #expect(silent.arrive(100) == .pending)
    #expect(silent.arrive(100, device: 1) == .failed(30_050, isKnown: false))
    var connecting = Endpoint(
      tier(1, 1_000, queueLimit: 0, refusal: .silent), connectTimeout: .seconds(5))
    #expect(connecting.arrive(100) == .pending)
    #expect(connecting.arrive(100, device: 1) == .failed(5_050, isKnown: true))
  }

  @Test("A handshake too slow for its client keeps its server all the same, and no request follows")
  func late() {
    var endpoint = Endpoint(tier(1, 1_000), connectTimeout: .milliseconds(2_200))
    #expect(endpoint.arrive(50) == .pending)
    #expect(endpoint.arrive(50, device: 1) == .pending)
    // Three seconds and four ways are more than 2.2 s.
    #expect(endpoint.arrive(50, device: 2) == .failed(2_200, isKnown: true))
    // It still waits for three before it.
    #expect(endpoint.arrive(2_050, device: 3) == .pending)
    #expect(
      endpoint.ends(through: 9_000) == [End(at: 1_250), End(at: 2_250), End(at: 4_250)])
    let counts = endpoint.counts(before: 9_000)
    #expect(
      counts.map { $0[.late] } == [1] && counts.map { $0[.handshakes] } == [4]
        && counts.map { $0[.live] } == [3])
  }

  @Test("The limit counts live connections and handshakes, and idle ones make room as they close")
  func limit() {
    var endpoint = Endpoint(tier(8, 10, limit: 2))
    #expect(endpoint.arrive(0, device: 0) == .pending)
    #expect(endpoint.arrive(0, device: 1) == .pending)
    #expect(endpoint.arrive(0, device: 2) == .failed(50, isKnown: true, isRefusal: true))
    #expect(endpoint.ends(through: 10_000).count == 2)
    #expect(endpoint.arrive(10_000, device: 0).isServed)
    #expect(endpoint.arrive(10_000, device: 2) == .failed(10_050, isKnown: true, isRefusal: true))
    #expect(endpoint.arrive(20_209, device: 2) == .failed(20_259, isKnown: true, isRefusal: true))
    #expect(endpoint.arrive(20_210, device: 2) == .pending)
  }

  @Test(
    """
    A restart closes every connection and loses handshakes under way; an outage that keeps its work closes none. In an outage \
    nobody shakes hands
    """)
  func restart() {
    let outage = Incident(
      kind: .outage(status: 503, retryAfter: .none, keepsWork: true), start: Instant(microseconds: 5_000_000),
      duration: .seconds(1))
    var endpoint = Endpoint(
      tier(1, 10), incidents: [outage],
      actions: [ServerAction(.restart, at: Instant(microseconds: 8_000_000))])
    _ = endpoint.arrive(0)
    #expect(endpoint.ends(through: 5_500) == [End(at: 210)])
    if case .answered(let answer) = endpoint.arrive(5_500, device: 1) {
      #expect(answer.status == 503)
    } else {
      Issue.record("no answer in the outage")
    }
    #expect(endpoint.ends(through: 7_900) == [])
    #expect(endpoint.arrive(7_900).isServed)
    #expect(endpoint.arrive(7_900, device: 2) == .pending)
    #expect(endpoint.ends(through: 8_000) == [End(at: 8_000, isServed: false)])
    #expect(endpoint.arrive(8_000) == .pending)
    #expect(endpoint.ends(through: 9_000) == [End(at: 8_210)])
    #expect(endpoint.counts(before: 10_000).map { $0[.live] } == [1])
    #expect(endpoint.counts(before: 10_000).map { $0[.handshakes] } == [3])
  }
}

/// The tier as queueing theory has it: M/D/c/K.
@Suite struct HandshakeTheoryTests {
  /// 100 ms a handshake.
  private static let time = 0.1

  /// Poisson arrivals at a tier of `servers` with room for `room` in all: the share that is refused, and the mean wait of the others in
  /// units of a handshake.
  private func measured(load: Double, servers: Int, room: Int?) -> (blocking: Double, wait: Double) {
    let count = 400_000
    var endpoint = Endpoint(
      tier(servers, 100, queueLimit: room.map { $0 - servers }), keepAlive: nil, roundTrips: 0,
      timeout: .hours(1))
    let key = RandomKey(seed: 11)
    var now: Int64 = 0
    for number in 0..<count {
      now += Distribution.exponentialGap(
        mean: Self.time * 1e6 / load / Double(servers), key: key.child(UInt64(number)))
      while endpoint.server.nextCompletion(through: Instant(microseconds: now)) != nil {}
      _ = endpoint.server.arrive(
        UploadRequest(
          arrival: Instant(microseconds: now), device: UInt32(number % 4_096),
          id: AttemptID(place: 0, record: 1, number: 1, generation: 0), firstOrdinal: UInt32(number),
          uplink: 1_000, downlink: 1_000, events: 1, shard: 0))
    }
    let counts = endpoint.server.connectionCounts(before: Instant(microseconds: now + 1))
    func sum(_ count: ConnectionCount) -> Int64 {
      counts.map { counts in (0..<counts.count).reduce(0) { $0 + counts[$1, count] } } ?? 0
    }
    let (refused, begun, wait) = (sum(.refused), sum(.handshakes), sum(.wait))
    #expect(refused + begun == Int64(count))
    return (Double(refused) / Double(count), Double(wait) / Double(begun) / (Self.time * 1e6))
  }

  /// M/D/1/K by the chain embedded at departures (Gross and Harris, Fundamentals of Queueing Theory, M/G/1/K).
  private func embedded(load: Double, room: Int) -> (blocking: Double, wait: Double) {
    var arrivals = [DeterministicMath.exp(-load)]
    for k in 1...room { arrivals.append(arrivals[k - 1] * load / Double(k)) }
    // Left behind by a departure: 0 … room − 1.
    var left = [Double](repeating: 1 / Double(room), count: room)
    for _ in 0..<2_000 {
      var next = [Double](repeating: 0, count: room)
      for state in 0..<room {
        let waiting = max(state - 1, 0)
        var rest = 1.0
        for k in 0..<room - 1 - waiting {
          next[waiting + k] += left[state] * arrivals[k]
          rest -= arrivals[k]
        }
        next[room - 1] += left[state] * rest
      }
      left = next
    }
    let sum = left[0] + load
    let blocking = 1 - 1 / sum
    let present = (0..<room).reduce(0.0) { $0 + Double($1) * left[$1] / sum } + Double(room) * blocking
    return (blocking, present / (load * (1 - blocking)) - 1)
  }

  @Test(
    "One server with a queue: M/D/1/K", arguments: [(0.8, 2), (0.8, 5), (1.0, 5), (1.5, 4), (0.9, 12)])
  func oneServer(load: Double, room: Int) {
    let (theory, found) = (embedded(load: load, room: room), measured(load: load, servers: 1, room: room))
    #expect(abs(found.blocking / theory.blocking - 1) < 0.03, "\(found.blocking), \(theory.blocking)")
    #expect(abs(found.wait / theory.wait - 1) < 0.03, "\(found.wait), \(theory.wait)")
  }

  @Test(
    "Servers without a queue: Erlang's loss formula, whatever the time's distribution", arguments: [1, 3, 10])
  func noQueue(servers: Int) {
    let load = 0.7
    let offered = load * Double(servers)
    let erlang = (1...servers).reduce(1.0) { $0 * offered / (Double($1) + $0 * offered) }
    let found = measured(load: load, servers: servers, room: servers)
    #expect(abs(found.blocking / erlang - 1) < 0.03, "\(found.blocking), \(erlang)")
    #expect(found.wait == 0)
  }

  @Test("One server and any queue: Pollaczek and Khinchine's ρ / 2(1 − ρ)")
  func unbounded() {
    let found = measured(load: 0.8, servers: 1, room: nil)
    #expect(found.blocking == 0 && abs(found.wait / 2 - 1) < 0.05, "\(found.wait)")
  }

  /// M/E_k/2/K as a Markov chain: each handshake goes through k exponential phases. Its limit for many phases is M/D/2/K.
  private func erlangPhases(load: Double, room: Int, phases k: Int) -> (blocking: Double, wait: Double) {
    // States: nobody; one at work with so many phases left; two with i ≥ j phases left, and so many that wait.
    let pairs = k * (k + 1) / 2
    func pair(_ a: Int, _ b: Int, _ waiting: Int) -> Int {
      let (i, j) = (max(a, b), min(a, b))
      return 1 + k + waiting * pairs + i * (i - 1) / 2 + j - 1
    }
    // In units of a handshake's time: two servers, arrivals 2ρ, phases end at rate k.
    let (arrival, phase) = (2 * load, Double(k))
    let all = arrival + 2 * phase
    let queue = room - 2
    var p = [Double](repeating: 0, count: 1 + k + pairs * (queue + 1))
    p[0] = 1
    for _ in 0..<60 * k {
      var q = [Double](repeating: 0, count: p.count)
      q[0] += p[0] * (1 - arrival / all)
      q[k] += p[0] * arrival / all
      for i in 1...k {
        let mass = p[i]
        q[i - 1] += mass * phase / all
        q[pair(i, k, 0)] += mass * arrival / all
        q[i] += mass * (1 - (phase + arrival) / all)
      }
      for waiting in 0...queue {
        for i in 1...k {
          for j in 1...i {
            let mass = p[pair(i, j, waiting)]
            q[waiting < queue ? pair(i, j, waiting + 1) : pair(i, j, waiting)] += mass * arrival / all
            func move(_ moving: Int, beside other: Int) {
              if moving > 1 {
                q[pair(moving - 1, other, waiting)] += mass * phase / all
              } else if waiting > 0 {
                q[pair(k, other, waiting - 1)] += mass * phase / all
              } else {
                q[other] += mass * phase / all
              }
            }
            move(i, beside: j)
            move(j, beside: i)
          }
        }
      }
      p = q
    }
    var (blocking, waiters) = (0.0, 0.0)
    for waiting in 0...queue {
      let mass = (0..<pairs).reduce(0.0) { $0 + p[1 + k + waiting * pairs + $1] }
      if waiting == queue { blocking = mass }
      waiters += mass * Double(waiting)
    }
    return (blocking, waiters / (arrival * (1 - blocking)))
  }

  @Test("Two servers with a queue: M/D/2/K, the limit of Erlang phases", arguments: [(0.9, 4), (1.2, 5)])
  func twoServers(load: Double, room: Int) {
    let (few, more) = (
      erlangPhases(load: load, room: room, phases: 8), erlangPhases(load: load, room: room, phases: 16)
    )
    // The error falls as one over the number of phases.
    let theory = (blocking: 2 * more.blocking - few.blocking, wait: 2 * more.wait - few.wait)
    let found = measured(load: load, servers: 2, room: room)
    #expect(abs(found.blocking / theory.blocking - 1) < 0.03, "\(found.blocking), \(theory.blocking)")
    #expect(abs(found.wait / theory.wait - 1) < 0.03, "\(found.wait), \(theory.wait)")
  }
}
