import SimulationKernel
import TAPIModel
import TestSupport
import Testing

private func request(_ microseconds: Int64, device: UInt32 = 0, events: UInt16 = 1) -> UploadRequest {
  UploadRequest(
    arrival: Instant(microseconds: microseconds), device: device,
    id: AttemptID(place: device, record: 1, number: 1, generation: 0),
    firstOrdinal: UInt32(microseconds & 0xffff), uplink: 1_000, downlink: 1_000, events: events, shard: 0)
}

private func outage(
  _ status: Int?, from: Int64, to: Int64, keepsWork: Bool = false, retryAfter: RetryAfterPolicy = .none
) -> Incident {
  Incident(
    kind: .outage(status: status, retryAfter: retryAfter, keepsWork: keepsWork),
    start: Instant(microseconds: from),
    duration: Span(microseconds: to - from))
}

private func bucket(
  _ perSecond: Int64, burst: Int64, overload: Overload = Overload(), incidents: [Incident] = []
) -> TAPIServer {
  TAPIServer(
    TAPIConfiguration(
      server: .bucket(
        TokenBucketConfiguration(capacityMilliRequestsPerSecond: perSecond * 1_000, burst: burst)),
      overload: overload, incidents: incidents), key: RandomKey(seed: 1))
}

private func workers(
  _ count: Int, _ service: Span, queueLimit: Int? = nil, incidents: [Incident] = []
) -> TAPIServer {
  TAPIServer(
    TAPIConfiguration(
      server: .workers(
        WorkersConfiguration(
          count: count, serviceTime: .constant(service), queueLimit: queueLimit)),
      overload: Overload(status: 503), incidents: incidents), key: RandomKey(seed: 1))
}

extension Admission {
  fileprivate var status: UInt16? { if case .answered(let answer) = self { answer.status } else { nil } }
}

/// What a bucket holds, to the microsecond of its rate.
private func tokens(_ bucket: TokenBucket, at time: Int64) -> [Int64] {
  var bucket = bucket
  var count: Int64 = 0
  while bucket.take(at: Instant(microseconds: time)) { count += 1 }
  return [count, bucket.nextToken.microseconds]
}

@Suite struct TokenBucketTests {
  @Test("A bucket admits its burst at once, then one request each 1/capacity, to the microsecond")
  func burstThenRate() {
    var server = bucket(4, burst: 3)
    let times: [Int64] = [0, 0, 0, 0, 249_999, 250_000, 250_001, 499_999, 500_000]
    let admitted = times.map { server.arrive(request($0)).status == 200 }
    #expect(admitted == [true, true, true, false, false, true, false, false, true])
  }

  @Test("A bucket agrees with exact rational arithmetic on random arrivals", arguments: UInt64(1)...20)
  func brute(seed: UInt64) {
    let key = RandomKey(seed: seed)
    let rate = Int64(1 + key.child(0).uniform(below: 7_000))  // thousandths of a request per second
    let burst = Int64(1 + key.child(1).uniform(below: 4))
    var server = TAPIServer(
      TAPIConfiguration(
        server: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: rate, burst: burst))),
      key: key)
    // The level in units of 10⁻⁹ token: time in µs times the rate in 1/1000 s, without rounding.
    var level = burst * 1_000_000_000
    var last: Int64 = 0
    var now: Int64 = 0
    for i in 2..<400 {
      now += Int64(key.child(UInt64(i)).uniform(below: 600_000))
      level = min(level + (now - last) * rate, burst * 1_000_000_000)
      last = now
      let expected = level >= 1_000_000_000
      if expected { level -= 1_000_000_000 }
      #expect(
        (server.arrive(request(now)).status == 200) == expected, "seed \(seed), arrival \(i) at \(now) µs")
    }
  }

  @Test(
    "Requests of a window whose order does not matter leave the bucket as if they had come one by one",
    arguments: 1...UInt64(TestDepth.cases(20, exhaustively: 60)))
  func unordered(seed: UInt64) {
    let key = RandomKey(seed: seed)
    func draw(_ name: UInt64, _ range: ClosedRange<Int64>) -> Int64 {
      key.child(name).uniform(range.lowerBound, through: range.upperBound)
    }
    // 64 parts of 16 µs; a token each 5 µs.
    let (width, parts): (Int64, Int) = (16, 64)
    var one = bucket(200_000, burst: draw(0, 1...400))
    var all = bucket(200_000, burst: draw(0, 1...400))
    var given = 0
    for window in 0..<40 as Range<Int64> {
      let (start, end) = (window * 1_024, window * 1_024 + 1_024)
      let count = Int(draw(1_000 + UInt64(window), 0...(seed % 2 == 0 ? 220 : 190)))
      // Some windows are empty but for their end.
      let first = draw(2_000 + UInt64(window), 0...2) == 0 ? end - 300 : start
      let times = (0..<count).map { draw(UInt64(10_000 + Int(window) * 1_000 + $0), first...(end - 1)) }
        .sorted()
      let admitted = times.map { one.arrive(request($0)).status == 200 }
      var counts = [UInt32](repeating: 0, count: parts)
      for time in times { counts[Int((time - start) / width)] += 1 }
      let from = Instant(microseconds: start)
      var passed =
        all.commonAnswer(count, from: from, until: Instant(microseconds: end)) == nil ? nil : Optional(parts)
      if passed == nil {
        passed = counts.withUnsafeBufferPointer {
          all.bucket.giveAll(count, in: $0, width: width, atLeast: 40, from: from)
        }
      }
      if passed != nil {
        given += 1
        #expect(!admitted.contains(false), "seed \(seed), window \(window)")
      }
      for (time, isAdmitted) in zip(times, admitted) where time >= start + width * Int64(passed ?? 0) {
        #expect(all.bucket.take(at: Instant(microseconds: time)) == isAdmitted, "seed \(seed), at \(time)")
      }
      #expect(tokens(one.bucket, at: end) == tokens(all.bucket, at: end), "seed \(seed), window \(window)")
    }
    let hasRoom = draw(0, 1...400) > 100
    #expect(!hasRoom || given > 5)
  }

  @Test("In a brownout the bucket refills at the reduced rate, exactly from boundary to boundary")
  func brownout() {
    var server = bucket(
      10, burst: 1,
      incidents: [
        Incident(
          kind: .brownout(factorPartsPerMillion: 500_000), start: Instant(microseconds: 1_000_000),
          duration: .seconds(1))
      ])
    #expect(server.arrive(request(950_000)).status == 200)
    // Half a token by 1 s, then 5 per second: full at 1.1 s.
    for (time, admitted) in [(1_099_999, false), (1_100_000, true), (1_299_999, false), (1_300_000, true)]
      as [(Int64, Bool)]
    {
      while server.nextCompletion(through: Instant(microseconds: time)) != nil {}
      #expect((server.arrive(request(time)).status == 200) == admitted, "at \(time)")
    }
  }

  @Test(
    "A refusal carries the status and the Retry-After of the policy; a spread is in whole seconds within its range"
  )
  func retryAfter() {
    var fixed = bucket(1, burst: 1, overload: Overload(status: 429, retryAfter: .fixed(.seconds(5))))
    _ = fixed.arrive(request(0))
    #expect(
      fixed.arrive(request(1))
        == .answered(ServerAnswer(status: 429, retryAfter: 5_000_000, at: Instant(microseconds: 1))))
    var spread = bucket(
      1, burst: 1, overload: Overload(status: 429, retryAfter: .spread(from: .seconds(5), to: .seconds(15))))
    _ = spread.arrive(request(0))
    var seen = Set<Int64>()
    for device in 1..<400 as Range<UInt32> {
      guard case .answered(let answer) = spread.arrive(request(1, device: device)) else { continue }
      seen.insert(answer.retryAfter!)
    }
    #expect(seen == Set((5...15).map { $0 * 1_000_000 }))
  }
}

@Suite struct OutageTests {
  @Test("An outage answers at once with its status and costs no token; it starts and ends on the microsecond")
  func statuses() {
    var server = bucket(1, burst: 1, incidents: [outage(500, from: 100, to: 200)])
    func status(_ time: Int64) -> UInt16? {
      while server.nextCompletion(through: Instant(microseconds: time)) != nil {}
      return server.arrive(request(time)).status
    }
    #expect(status(100) == 500)
    #expect(status(199) == 500)
    #expect(status(200) == 200)
    #expect(status(201) == 429)
  }

  @Test("A silent outage answers nothing")
  func silence() {
    var server = bucket(1_000, burst: 10, incidents: [outage(nil, from: 0, to: 50)])
    #expect(server.arrive(request(0)) == .lost)
    while server.nextCompletion(through: Instant(microseconds: 50)) != nil {}
    #expect(server.arrive(request(50)).status == 200)
  }

  @Test("Queued and running work is lost when an outage begins, unless it is kept", arguments: [false, true])
  func work(keeps: Bool) {
    var server = workers(
      1, .milliseconds(10), incidents: [outage(nil, from: 5_000, to: 8_000, keepsWork: keeps)])
    for time in [0, 1, 2] as [Int64] { #expect(server.arrive(request(time)) == .pending) }
    var served: [Int64] = []
    var lost: [Int64] = []
    while let completion = server.nextCompletion(through: Instant(microseconds: 100_000)) {
      if completion.isServed {
        served.append(completion.at.microseconds)
      } else {
        lost.append(completion.at.microseconds)
      }
    }
    #expect(served == (keeps ? [10_000, 20_000, 30_000] : []))
    #expect(lost == (keeps ? [] : [5_000, 5_000, 5_000]))
  }
}

@Suite struct WorkersTests {
  @Test("Workers serve in the order of arrival, W at a time, and refuse when the queue is full")
  func fifo() {
    var server = workers(2, .milliseconds(10), queueLimit: 2)
    var admissions: [Admission] = []
    for (i, time) in ([0, 1, 2, 3, 4] as [Int64]).enumerated() {
      admissions.append(server.arrive(request(time, device: UInt32(i))))
    }
    #expect(admissions.map { $0 == .pending } == [true, true, true, true, false])
    #expect(admissions[4].status == 503)
    var order: [UInt32] = []
    var times: [Int64] = []
    while let done = server.nextCompletion(through: Instant(microseconds: 1_000_000)) {
      order.append(done.request.device)
      times.append(done.at.microseconds)
    }
    #expect(order == [0, 1, 2, 3])
    #expect(times == [10_000, 10_001, 20_000, 20_001])
  }

  @Test("A brownout slows work that starts in it, not work that has started")
  func brownout() {
    var server = workers(
      1, .milliseconds(10),
      incidents: [
        Incident(
          kind: .brownout(factorPartsPerMillion: 250_000), start: Instant(microseconds: 5_000),
          duration: .seconds(10))
      ])
    for time in [0, 1] as [Int64] { _ = server.arrive(request(time)) }
    var times: [Int64] = []
    while let done = server.nextCompletion(through: Instant(microseconds: 1_000_000)) {
      times.append(done.at.microseconds)
    }
    #expect(times == [10_000, 50_000])
  }

  @Test("Nominal capacity is W over the mean service time of a mean batch")
  func nominalCapacity() {
    let configuration = TAPIConfiguration(
      server: .workers(
        WorkersConfiguration(
          count: 200, serviceTime: .exponential(mean: .milliseconds(50)),
          serviceTimePerEvent: .milliseconds(5))))
    #expect(configuration.nominalCapacityMilli(meanEvents: 10) == 2_000_000)
  }
}

@Suite struct IncidentTimelineTests {
  @Test("Capacity is the integral over brownouts and outages")
  func capacity() {
    let timeline = IncidentTimeline([
      Incident(
        kind: .brownout(factorPartsPerMillion: 250_000), start: Instant(microseconds: 2_000_000),
        duration: .seconds(4)),
      outage(503, from: 4_000_000, to: 5_000_000),
    ])
    #expect(
      timeline.capacityMicroseconds(from: .start, to: Instant(microseconds: 10_000_000)) == 6_000_000
        + 3_000_000 / 4)
    #expect(
      timeline.capacityMicroseconds(
        from: Instant(microseconds: 4_500_000), to: Instant(microseconds: 5_500_000))
        == 125_000)
  }
}
