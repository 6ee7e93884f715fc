import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// A request of one event that is a millisecond on its way, both ways, unless said otherwise.
func request(
  _ microseconds: Int64, device: UInt32 = 0, events: UInt16 = 1, shard: UInt16 = 0, ordinal: UInt32 = 0,
  attempt: UInt16 = 1
) -> UploadRequest {
  UploadRequest(
    arrival: Instant(microseconds: microseconds), device: device,
    id: AttemptID(place: device, record: 1, number: attempt, generation: 0), firstOrdinal: ordinal,
    uplink: 1_000, downlink: 1_000, events: events, shard: shard)
}

private func bucket(
  _ perSecond: Int64, burst: Int64, costPerEvent: Int64 = 0, overload: Overload = Overload(),
  incidents: [Incident] = [], sources: [UploadSource] = [], _ rules: (inout ServerRules) -> Void = { _ in }
) -> TAPIServer {
  var bucket = TokenBucketConfiguration(capacityMilliRequestsPerSecond: perSecond * 1_000, burst: burst)
  bucket.costPerEvent = costPerEvent
  var configuration = TAPIConfiguration(server: .bucket(bucket), overload: overload, incidents: incidents)
  rules(&configuration.rules)
  return TAPIServer(configuration, key: RandomKey(seed: 1), sources: sources)
}

private func incident(_ kind: Incident.Kind, from: Int64 = 0, to: Int64 = 1_000_000_000) -> Incident {
  Incident(kind: kind, start: Instant(microseconds: from), duration: Span(microseconds: to - from))
}

extension Admission {
  fileprivate var answer: ServerAnswer? { if case .answered(let answer) = self { answer } else { nil } }
  fileprivate var status: UInt16? { answer?.status }
}

extension TAPIServer {
  /// Answers by time, each through everything that is due before it.
  fileprivate mutating func status(_ request: UploadRequest, retryCount: Int = 0) -> UInt16? {
    while nextCompletion(through: request.arrival) != nil {}
    return arrive(request, retryCount: retryCount).status
  }
}

@Suite struct KeyLimitTests {
  static let tenants = [UploadSource(writeKey: "a"), UploadSource(writeKey: "b", firstDevice: 100)]

  @Test("K3: a hundred queries a minute for one project; its 429s do not touch another (S1)")
  func tenantsApart() {
    var server = bucket(1_000_000, burst: 1_000_000, sources: Self.tenants) {
      // 100 a minute are 1.667 a second, to the thousandth.
      $0.keyLimits = [KeyLimit(key: "a", .bucket(rate: 1_667, burst: 100))]
    }
    for shard in [0, 1] as [UInt16] {
      let admitted = (0..<300).filter { _ in server.arrive(request(0, shard: shard)).status == 200 }.count
      #expect(admitted == (shard == 0 ? 100 : 300))
    }
    #expect(server.arrive(request(599_880)).answer?.cause == .keyLimit)
    #expect(server.status(request(599_881)) == 200)
    #expect(server.status(request(599_882)) == 429)
  }

  @Test("K3: all clients of a project share its hundred queries a minute")
  func sharedByClients() {
    var server = bucket(1_000_000, burst: 1_000_000, sources: Self.tenants) {
      $0.keyLimits = [KeyLimit(key: "a", .bucket(rate: 1_667, burst: 100))]
    }
    for now in [0, 60_000_000] as [Int64] {
      let admitted = (UInt32(0)..<150).filter { server.status(request(now, device: $0)) == 200 }
      #expect(admitted == Array(0..<100))
    }
  }

  @Test("A limit without a key holds for each key by itself")
  func everyKey() {
    var server = bucket(1_000_000, burst: 1_000_000, sources: Self.tenants) {
      $0.keyLimits = [KeyLimit(key: nil, .bucket(rate: 1_000, burst: 2))]
    }
    for shard in [0, 1] as [UInt16] {
      #expect((0..<3).map { _ in server.status(request(0, shard: shard)) } == [200, 200, 429])
    }
  }

  @Test("T4: a limit per device is shared by the n-th devices of the cohorts that share a key")
  func sharedToken() {
    var server = bucket(
      1_000_000, burst: 1_000_000,
      sources: [UploadSource(writeKey: "u"), UploadSource(writeKey: "u", firstDevice: 100)]
    ) {
      $0.keyLimits = [KeyLimit(key: "u", per: .device, .bucket(rate: 1_000, burst: 1))]
    }
    #expect(server.status(request(0, device: 3, shard: 0)) == 200)
    #expect(server.status(request(1, device: 103, shard: 1)) == 429)
    #expect(server.status(request(2, device: 104, shard: 1)) == 200)
    #expect(server.status(request(3, device: 4, shard: 0)) == 429)
  }

  @Test(
    "A bucket of one token passes a Poisson stream at λ / (1 + λ / r), as a counter with a dead time of 1/r")
  func deadTime() {
    let sources = [UploadSource(writeKey: "a")]
    for (lambda, rate) in [(5.0, 10.0), (20.0, 10.0)] {
      var server = bucket(1_000_000, burst: 1_000_000, sources: sources) {
        $0.keyLimits = [KeyLimit(key: "a", .bucket(rate: Int64(rate * 1_000), burst: 1))]
      }
      let key = RandomKey(seed: 7)
      var now: Int64 = 0
      var passed = 0
      let arrivals = 200_000
      for i in 0..<arrivals {
        now += Distribution.exponentialGap(mean: 1e6 / lambda, key: key.child(UInt64(i)))
        if server.arrive(request(now)).status == 200 { passed += 1 }
      }
      let theory = 1 / (1 + lambda / rate)
      let share = Double(passed) / Double(arrivals)
      // Three standard deviations of a share of 200,000 are below 0.34 %.
      #expect(abs(share - theory) < 0.0034, "\(share) against \(theory)")
    }
  }
}

@Suite("Limits by window")
struct WindowLimitTests {
  private func server(_ window: KeyLimit.Window, _ requests: Int64, per: KeyLimit.Scope = .key) -> TAPIServer
  {
    bucket(1_000_000, burst: 1_000_000, sources: KeyLimitTests.tenants) {
      $0.keyLimits = [KeyLimit(key: nil, per: per, .window(window, requests: requests))]
      $0.keyLimits[0].saysWindowEnd = true
    }
  }

  @Test("Two a minute are there again at :00, and the Retry-After of a refusal lasts until then")
  func fixed() {
    var server = server(.init(.minutes(1)), 2)
    let times: [Int64] = [59_000_000, 59_500_000, 59_999_999, 60_000_000, 60_000_001, 61_500_000]
    let answers = times.map { server.arrive(request($0)).answer }
    #expect(answers.map { $0?.status } == [200, 200, 429, 200, 200, 429])
    #expect(answers[2]?.retryAfter == 1_000_000 && answers[5]?.retryAfter == 59_000_000)
  }

  @Test("One limit for all is shared by the keys; without it each has its own")
  func forAll() {
    for (per, admitted) in [(.key, 4), (.all, 2)] as [(KeyLimit.Scope, Int)] {
      var server = server(.init(.minutes(1)), 2, per: per)
      let answers = (0..<8).map { server.arrive(request(Int64($0), shard: $0 % 2)).status }
      #expect(answers.count { $0 == 200 } == admitted)
    }
  }

  @Test(
    "Fixed and sliding windows admit what a count over all that was admitted says", arguments: [false, true])
  func bruteForce(slides: Bool) {
    let (length, key) = (Int64(10_000_000), RandomKey(seed: 5))
    for limit in [1, 3, 40] as [Int64] {
      var server = server(.init(Span(microseconds: length), slides: slides), limit)
      var (admitted, now, differences) = ([Int64](), Int64(0), 0)
      for number in 0..<20_000 as Range<UInt64> {
        now += key.child(number).uniform(0, through: 600_000)
        let begin = slides ? now - length + 1 : now / length * length
        let counted = admitted.reversed().prefix { $0 >= begin }
        let isFull = counted.count >= Int(limit)
        let answer = server.arrive(request(now)).answer
        if isFull {
          let end = slides ? counted.last! + length : begin + length
          if answer?.status != 429 || answer?.retryAfter != (end - now + 999_999) / 1_000_000 * 1_000_000 {
            differences += 1
          }
        } else {
          if answer?.status != 200 { differences += 1 }
          admitted.append(now)
        }
      }
      #expect(differences == 0)
      #expect(admitted.count < 20_000)
    }
  }
}

@Suite struct CostTests {
  @Test("Events cost tokens as well as requests: 1 + 0.5 for each event")
  func perEvent() {
    var server = bucket(1, burst: 10, costPerEvent: 500_000)
    // Batches of four cost three tokens each: 10, 7, 4, 1.
    #expect((0..<4).map { _ in server.status(request(0, events: 4)) } == [200, 200, 200, 429])
    #expect(server.status(request(1_999_999, events: 4)) == 429)
    #expect(server.status(request(2_000_000, events: 4)) == 200)
    #expect(server.microTokensTaken == 12_000_000)
  }

  @Test("A batch that costs more than the bucket holds passes when it is full, and the bucket owes the rest")
  func debt() {
    var server = bucket(1, burst: 2, costPerEvent: 1_000_000)
    #expect(server.status(request(0, events: 5)) == 200)
    // It owes 4 tokens: one request of 2 tokens fits after 6 s.
    #expect(server.status(request(5_999_999)) == 429)
    #expect(server.status(request(6_000_000)) == 200)
  }

  @Test("Nominal capacity counts the cost of a mean batch")
  func nominal() {
    var bucket = TokenBucketConfiguration(capacityMilliRequestsPerSecond: 300_000, burst: 1)
    bucket.costPerEvent = 200_000
    #expect(TAPIConfiguration(server: .bucket(bucket)).nominalCapacityMilli(meanEvents: 10) == 100_000)
  }
}

@Suite struct BacklogRetryAfterTests {
  static let policy = RetryAfterPolicy.backlog(atLeast: .seconds(1), atMost: .seconds(8))

  @Test("Of many refused at once the k-th comes back after k / capacity, in whole seconds within the bounds")
  func bucketBacklog() {
    var server = bucket(10, burst: 1, overload: Overload(status: 429, retryAfter: Self.policy))
    #expect(server.status(request(0)) == 200)
    for k: Int64 in 1...100 {
      let wait = server.arrive(request(1)).answer!.retryAfter! / 1_000_000
      #expect(wait == min((k + 9) / 10, 8), "\(k)")
    }
    // At 10/s eighty of a hundred are worked off after 8 s; of two more one finds a token, and the other is the 21st.
    var later = bucket(10, burst: 1, overload: Overload(status: 429, retryAfter: Self.policy))
    _ = later.arrive(request(0))
    for _ in 0..<100 { _ = later.arrive(request(1)) }
    _ = later.arrive(request(8_000_001))
    #expect(later.arrive(request(8_000_001)).answer?.retryAfter == 3_000_000)
  }

  @Test("At workers what waits counts too")
  func workersBacklog() {
    var server = TAPIServer(
      TAPIConfiguration(
        server: .workers(WorkersConfiguration(count: 2, serviceTime: .constant(.seconds(1)), queueLimit: 6)),
        overload: Overload(status: 503, retryAfter: Self.policy)), key: RandomKey(seed: 1))
    for _ in 0..<8 { #expect(server.arrive(request(0)) == .pending) }
    // Six wait and two are served a second: the first refused is the seventh, 3.5 s.
    #expect(server.arrive(request(0)).answer?.retryAfter == 4_000_000)
    #expect(server.arrive(request(0)).answer?.retryAfter == 4_000_000)
    #expect(server.arrive(request(0)).answer?.retryAfter == 5_000_000)
  }
}

@Suite struct RequestFaultTests {
  @Test("Errors strike their share, each attempt by itself and in every order the same, and cost no token")
  func share() {
    let errors = Incident.Kind.errors(status: 500, share: 200_000, afterWork: false, retryAfter: .none)
    var server = bucket(1, burst: 1, incidents: [incident(errors)])
    var failed: [Bool] = []
    for device in 0..<10_000 as Range<UInt32> {
      failed.append(server.arrive(request(1, device: device)).status == 500)
    }
    // Binomial: 2,000 ± 40; four standard deviations.
    #expect(abs(failed.filter { $0 }.count - 2_000) < 160)
    var other = bucket(1, burst: 1, incidents: [incident(errors)])
    for device in (0..<10_000 as Range<UInt32>).reversed() {
      #expect((other.arrive(request(1, device: device)).status == 500) == failed[Int(device)])
    }
    var second = bucket(1, burst: 1, incidents: [incident(errors)])
    let again = (0..<10_000 as Range<UInt32>).map {
      second.arrive(request(1, device: $0, attempt: 2)).status == 500
    }
    #expect(again != failed)
  }

  @Test("Errors after the work have cost the token")
  func afterWork() {
    let errors = Incident.Kind.errors(
      status: 502, share: 1_000_000, afterWork: true, retryAfter: .fixed(.seconds(3)))
    var server = bucket(1, burst: 1, incidents: [incident(errors)])
    #expect(server.arrive(request(0)).answer?.status == 502)
    #expect(server.arrive(request(1)).answer?.status == 429)
  }

  @Test("Lost answers: accepted at its time, never confirmed")
  func lostAnswers() {
    var server = bucket(1, burst: 1, incidents: [incident(.lostAnswers(share: 1_000_000))])
    #expect(server.arrive(request(5)) == .unconfirmed(at: Instant(microseconds: 5)))
    #expect(server.arrive(request(6)).status == 429)
    var pool = TAPIServer(
      TAPIConfiguration(
        server: .workers(WorkersConfiguration(count: 1, serviceTime: .constant(.milliseconds(10)))),
        incidents: [incident(.lostAnswers(share: 1_000_000), from: 5_000, to: 15_000)]),
      key: RandomKey(seed: 1))
    for time in [0, 1] as [Int64] { #expect(pool.arrive(request(time)) == .pending) }
    // The first ends at 10 ms, in the incident; the second at 20 ms, behind it.
    #expect(pool.nextCompletion(through: .never)?.outcome == .unconfirmed(at: Instant(microseconds: 10_000)))
    #expect(pool.nextCompletion(through: .never)?.isServed == true)
  }

  @Test("Slow answers travel factor times as long and the addition longer, and only in their span")
  func latency() {
    let slow = Incident.Kind.latency(added: .constant(.seconds(2)), factor: 3_000_000)
    var server = bucket(1, burst: 1, incidents: [incident(slow, from: 0, to: 100)])
    #expect(server.arrive(request(0)).answer?.delay == 2_002_000)
    #expect(server.arrive(request(1)).answer?.delay == 2_002_000)
    while server.nextCompletion(through: Instant(microseconds: 100)) != nil {}
    #expect(server.arrive(request(100)).answer?.delay == 0)
  }

  @Test(
    "O9: where tokens expire, the first request of each device gets 401 and its later ones pass, in each incident anew"
  )
  func tokenExpiry() {
    var server = bucket(
      1_000, burst: 1_000,
      incidents: [incident(.tokenExpiry, from: 10, to: 20), incident(.tokenExpiry, from: 30, to: 40)])
    let times: [(Int64, UInt32, UInt16)] = [
      (9, 1, 200), (10, 1, 401), (11, 1, 200), (12, 900, 401), (19, 900, 200), (20, 2, 200), (30, 1, 401),
      (31, 1, 200),
    ]
    for (time, device, status) in times {
      #expect(server.status(request(time, device: device)) == status, "at \(time)")
    }
  }

  @Test("A request above the size limit gets 413, one with too high an X-Retry-Count 422, at no cost")
  func rejections() {
    var source = UploadSource(writeKey: "a")
    (source.eventBytes, source.requestBytes) = (1_000, 500)
    var server = bucket(1, burst: 1, sources: [source]) {
      $0.requestSizeLimit = 10_499
      $0.retryCountLimit = 3
    }
    #expect(server.status(request(0, events: 10)) == 413)
    #expect(server.status(request(0, events: 9), retryCount: 3) == 422)
    #expect(server.status(request(0, events: 9), retryCount: 2) == 200)
    #expect(server.status(request(0, events: 9), retryCount: 2) == 429)
  }
}

@Suite struct CapacityRuleTests {
  private func pool(_ configuration: WorkersConfiguration, incidents: [Incident] = []) -> TAPIServer {
    TAPIServer(
      TAPIConfiguration(
        server: .workers(configuration), overload: Overload(status: 503), incidents: incidents),
      key: RandomKey(seed: 1))
  }

  private func ends(_ server: inout TAPIServer) -> [(time: Int64, status: UInt16?)] {
    var found: [(Int64, UInt16?)] = []
    while let done = server.nextCompletion(through: Instant(microseconds: 1_000_000_000)) {
      var status: UInt16?
      if case .answered(let answer) = done.outcome { status = answer.status }
      found.append((done.at.microseconds, status))
    }
    return found
  }

  @Test("Congestion: work that starts with q waiting takes (1 + slowdown · q / queue) times as long")
  func congestion() {
    var worker = WorkersConfiguration(count: 1, serviceTime: .constant(.milliseconds(10)))
    worker.congestion = Congestion(slowdown: 2_000_000, queue: 4)
    var server = pool(worker)
    for _ in 0..<5 { _ = server.arrive(request(0)) }
    // Starts with 0, 3, 2, 1 and 0 waiting: 10, 25, 20, 15 and 10 ms.
    #expect(ends(&server).map { $0.time } == [10_000, 35_000, 55_000, 70_000, 80_000])
  }

  @Test("A request that has waited too long is shed when its turn comes, and the next one is served at once")
  func queueTimeout() {
    var worker = WorkersConfiguration(count: 1, serviceTime: .constant(.milliseconds(10)))
    worker.queueTimeout = .milliseconds(15)
    var server = pool(worker)
    for time in [0, 1_000, 2_000, 3_000, 12_000] as [Int64] { _ = server.arrive(request(time)) }
    // Served at 0 and 10 ms; at 20 ms two have waited 18 and 17 ms, the last 8 ms.
    let found = ends(&server)
    #expect(found.map { $0.time } == [10_000, 20_000, 20_000, 20_000, 30_000])
    #expect(found.map { $0.status } == [200, 200, 503, 503, 200])
  }

  @Test(
    "After an outage capacity warms up linearly: half of it in the span, a quarter of that in its first half")
  func warmUp() {
    var outage = incident(.outage(status: 503, retryAfter: .none, keepsWork: false), from: 0, to: 1_000_000)
    outage.warmUp = .seconds(100)
    let timeline = IncidentTimeline([outage])
    func capacity(_ from: Int64, _ to: Int64) -> Int64 {
      timeline.capacityMicroseconds(
        from: Instant(microseconds: from * 1_000_000), to: Instant(microseconds: to * 1_000_000))
    }
    #expect(capacity(0, 1) == 0)
    #expect(capacity(1, 101) == 50_000_000)
    #expect(capacity(1, 51) == 12_500_000)
    #expect(capacity(101, 111) == 10_000_000)
    var server = bucket(1_000, burst: 2, incidents: [outage])
    var admitted = 0
    for time in stride(from: 1_000_000 as Int64, to: 101_000_000, by: 500)
    where server.status(request(time)) == 200 { admitted += 1 }
    // 50 s' worth at 1,000/s, and the burst.
    #expect(abs(admitted - 50_002) <= 1, "\(admitted)")
  }

  @Test("Autoscaling: full use at a target of one half doubles capacity, a delay after it was measured")
  func autoscalingUp() {
    var server = bucket(10, burst: 1) {
      $0.autoscaling = Autoscaling(
        target: 500_000, interval: .seconds(10), delay: .seconds(5), minimum: 500_000, maximum: 2_500_000)
    }
    func admitted(_ from: Int64, _ to: Int64) -> Int {
      stride(from: from * 1_000_000, to: to * 1_000_000, by: 1_000).filter {
        server.status(request($0)) == 200
      }.count
    }
    #expect(abs(admitted(0, 15) - 150) <= 1)
    #expect(abs(admitted(15, 25) - 200) <= 1)
    // Measured at 20 s: full use of 10/s and then 20/s; 40/s from 25 s on would be above the maximum.
    #expect(abs(admitted(25, 30) - 125) <= 1)
    #expect(server.capacityHistory.map { $0.scale } == [1_000_000, 2_000_000, 2_500_000])
    // Nobody comes any more: down to the minimum, at the first measurement that has seen nothing.
    while server.nextCompletion(through: Instant(microseconds: 100_000_000)) != nil {}
    #expect(server.capacityHistory.last?.scale == 500_000)
    #expect(server.capacityHistory.last?.time == Instant(microseconds: 45_000_000))
  }

  @Test(
    "Constant load has its capacity once the first change takes effect, whatever the delay",
    arguments: [0, 7, 30, 60, 90, 120, 180])
  func autoscalingIsSteady(delay: Int64) {
    var server = bucket(200, burst: 1) {
      $0.autoscaling = Autoscaling(
        target: 700_000, interval: .seconds(60), delay: .seconds(delay), minimum: 250_000, maximum: 2_000_000)
    }
    for time in stride(from: 0 as Int64, to: 3_600_000_000, by: 10_000) { _ = server.status(request(time)) }
    // 100/s at 70 %: 142.9/s of the configured 200/s.
    let scales = server.capacityHistory.map { Double($0.scale) / 1e6 }
    #expect(scales.dropFirst().allSatisfy { abs($0 - 100 / 0.7 / 200) < 0.001 }, "\(scales)")
    #expect(server.capacityHistory[1].time == Instant(microseconds: (60 + delay) * 1_000_000))
  }

  @Test("More workers start on what waits at once; fewer end what they have begun")
  func workersScale() {
    var configuration = TAPIConfiguration(
      server: .workers(WorkersConfiguration(count: 1, serviceTime: .constant(.seconds(8)))))
    configuration.rules.autoscaling = Autoscaling(
      target: 500_000, interval: .seconds(10), delay: .zero, minimum: 1_000_000, maximum: 3_000_000)
    var server = TAPIServer(configuration, key: RandomKey(seed: 1))
    for _ in 0..<6 { #expect(server.arrive(request(0)) == .pending) }
    // One worker to 10 s, then two: starts at 0, 8, 10 s. At 20 s both are busy, so three: they started at 16 and 18 s, and 20 s.
    #expect(ends(&server).map { $0.time } == [8, 16, 18, 24, 26, 28].map { $0 * 1_000_000 })
  }
}
