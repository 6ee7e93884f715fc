import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

/// What operators' actions make of a server, each by a figure known beforehand.
@Suite("Actions of operators at the server")
struct ServerActionTests {
  private func request(
    second: Int64, device: UInt32 = 0, shard: UInt16 = 0, attempt: UInt16 = 1
  ) -> UploadRequest {
    UploadRequest(
      arrival: .start + .seconds(second), device: device,
      id: AttemptID(place: device, record: 1, number: attempt, generation: 0), firstOrdinal: 0, uplink: 1_000,
      downlink: 1_000, events: 1, shard: shard)
  }

  private static let bucket = TAPIConfiguration.Server.bucket(
    TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000_000_000, burst: 1_000_000))

  private func server(
    _ actions: [ServerAction], on server: TAPIConfiguration.Server = bucket,
    overload: Overload = Overload(status: 503), incidents: [Incident] = []
  ) -> TAPIServer {
    var configuration = TAPIConfiguration(server: server, overload: overload, incidents: incidents)
    configuration.actions = actions
    return TAPIServer(
      configuration, key: RandomKey(seed: 1),
      sources: [UploadSource(writeKey: "ios"), UploadSource(writeKey: "android", firstDevice: 100_000)])
  }

  private func at(_ second: Int64) -> Instant { .start + .seconds(second) }

  /// How many of 10,000 devices' requests are refused, a request each at one time.
  private func refused(_ server: inout TAPIServer, second: Int64, shard: UInt16 = 0, attempt: UInt16 = 1)
    -> Set<
      UInt32
    >
  {
    Set(
      (0..<10_000 as Range<UInt32>).filter { device in
        while server.nextCompletion(through: at(second)) != nil {}
        let request = request(
          second: second, device: device + UInt32(shard) * 100_000, shard: shard, attempt: attempt)
        guard case .answered(let answer) = server.arrive(request) else { return true }
        return answer.status != 200
      })
  }

  @Test("A share of the requests is shed while it holds: another draw for each attempt, the same share")
  func shedding() {
    var server = server([ServerAction(.shed(Shedding(share: 300_000)), at: at(10), for: .seconds(10))])
    #expect(refused(&server, second: 9).isEmpty)
    let first = refused(&server, second: 10)
    let second = refused(&server, second: 11, attempt: 2)
    // Five standard deviations of a binomial count are 230.
    #expect(abs(first.count - 3_000) < 230 && abs(second.count - 3_000) < 230)
    #expect(abs(first.intersection(second).count - 900) < 150)
    #expect(refused(&server, second: 20).isEmpty)
  }

  @Test("By device it is the same ones each time, and who is in a small share is in a larger one")
  func byDevice() {
    func shed(_ share: Int64) -> ServerAction.Kind { .shed(Shedding(share: share, isByDevice: true)) }
    var server = server([ServerAction(shed(200_000), at: at(10)), ServerAction(shed(600_000), at: at(20))])
    let few = refused(&server, second: 10)
    #expect(refused(&server, second: 12, attempt: 2) == few)
    let many = refused(&server, second: 20)
    #expect(few.isStrictSubset(of: many) && abs(many.count - 6_000) < 250)
  }

  @Test("A key alone is shed, with the status that the action says and the Retry-After of overload")
  func byKey() {
    var server = server(
      [ServerAction(.shed(Shedding(key: "android", status: 429)), at: at(0))],
      overload: Overload(status: 503, retryAfter: .fixed(.seconds(7))))
    #expect(refused(&server, second: 1).isEmpty)
    #expect(refused(&server, second: 1, shard: 1).count == 10_000)
    let answer = server.arrive(request(second: 2, device: 100_000, shard: 1))
    #expect(answer == .answered(ServerAnswer(status: 429, retryAfter: 7_000_000, at: at(2))))
  }

  @Test("A readmission refuses everybody at first, half of them half way, and nobody in the end")
  func readmission() {
    var server = server([
      ServerAction(.readmit(Shedding(isByDevice: true)), at: at(100), for: .seconds(100))
    ])
    #expect(refused(&server, second: 99).isEmpty)
    let begin = refused(&server, second: 100)
    let half = refused(&server, second: 150)
    let late = refused(&server, second: 190)
    #expect(begin.count > 9_900 && abs(half.count - 4_950) < 250 && abs(late.count - 950) < 150)
    #expect(late.isStrictSubset(of: half) && half.isStrictSubset(of: begin))
    #expect(refused(&server, second: 200).isEmpty)
  }

  @Test(
    "Retry-After changes for overload and for what an outage answers, and goes back when the action is over")
  func retryAfter() {
    let outage = Incident(
      kind: .outage(status: 503, retryAfter: .none, keepsWork: false), start: at(50), duration: .seconds(10))
    var server = server(
      [
        ServerAction(.retryAfter(.fixed(.seconds(30))), at: at(10), for: .seconds(45)),
        ServerAction(.retryAfter(.fixed(.seconds(9))), at: at(80)),
      ], on: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1, burst: 1)),
      incidents: [outage])
    func wait(_ second: Int64) -> Int64? {
      while server.nextCompletion(through: at(second)) != nil {}
      guard case .answered(let answer) = server.arrive(request(second: second)) else { return -1 }
      return answer.status == 503 ? answer.retryAfter : -2
    }
    #expect(wait(1) == -2)
    #expect([2, 9].map(wait) == [nil, nil])
    #expect([10, 49, 51, 54].map(wait) == Array(repeating: 30_000_000, count: 4))
    #expect([55, 60, 79].map(wait) == [nil, nil, nil])
    #expect([80, 1_000].map(wait) == [9_000_000, 9_000_000])
  }

  @Test("More capacity is a faster bucket, and is over when the action is")
  func fasterBucket() {
    var server = server(
      [ServerAction(.capacity(factorPartsPerMillion: 2_500_000), at: at(1_000), for: .seconds(20))],
      on: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: 1_000, burst: 100)))
    func admitted(_ second: Int64) -> Int {
      while server.nextCompletion(through: at(second)) != nil {}
      return (0..<1_000).count { _ in
        server.arrive(request(second: second))
          == .answered(ServerAnswer(status: 200, retryAfter: nil, at: at(second)))
      }
    }
    #expect([1_000, 1_020, 1_040].map(admitted) == [100, 50, 20])
  }

  @Test("More workers begin at once on what waits; a restart loses what runs and what waits")
  func workers() {
    var server = server(
      [
        ServerAction(.capacity(factorPartsPerMillion: 2_000_000), at: at(10)),
        ServerAction(.restart, at: at(20), for: .seconds(5)),
      ], on: .workers(WorkersConfiguration(count: 2, serviceTime: .constant(.seconds(100)))))
    for device in 0..<6 as Range<UInt32> {
      #expect(server.arrive(request(second: 0, device: device)) == .pending)
    }
    #expect(server.busyWorkers == 2 && server.queued == 4)
    #expect(server.nextCompletion(through: at(10)) == nil)
    #expect(server.busyWorkers == 4 && server.queued == 2)
    var lost: [Completion] = []
    while let completion = server.nextCompletion(through: at(20)) { lost.append(completion) }
    #expect(lost.count == 6 && lost.allSatisfy { $0.outcome == .lost && $0.at == at(20) })
    #expect(server.busyWorkers == 0 && server.queued == 0)
    #expect(server.arrive(request(second: 22)) == .lost)
    #expect(server.nextCompletion(through: at(25)) == nil)
    #expect(server.arrive(request(second: 25)) == .pending)
  }

  @Test("The capacity of a timeline with actions is what they make of it")
  func capacity() {
    let timeline = IncidentTimeline(
      [Incident(kind: .brownout(factorPartsPerMillion: 500_000), start: at(10), duration: .seconds(20))],
      [
        ServerAction(.capacity(factorPartsPerMillion: 3_000_000), at: at(20)),
        ServerAction(.restart, at: at(50), for: .seconds(5)),
      ])
    // 10 s whole, 10 s half, 10 s at three halves, 20 s at three, 5 s of restart, 5 s at three.
    #expect(timeline.capacityMicroseconds(from: at(0), to: at(60)) == 105_000_000)
    // What incidents take is there all the same: 20 s whole, 40 s at three.
    #expect(timeline.scaledMicroseconds(from: at(0), to: at(60)) == 140_000_000)
  }

  @Test("Workers are whole: what a scale leaves of three is one, two or three of them")
  func wholeWorkers() {
    var configuration = TAPIConfiguration(
      server: .workers(WorkersConfiguration(count: 3, serviceTime: .constant(.seconds(1)))))
    configuration.actions = [ServerAction(.capacity(factorPartsPerMillion: 400_000), at: at(10))]
    configuration.incidents = [
      Incident(kind: .brownout(factorPartsPerMillion: 500_000), start: at(10), duration: .seconds(5))
    ]
    let timeline = IncidentTimeline(configuration)
    // 3, then 1.2; under an autoscaler that has doubled them 6, then 2.4; that has left a tenth, one of each.
    for (autoscaled, before, after) in [(1_000_000, 3, 1), (2_000_000, 6, 2), (100_000, 1, 1)]
      as [(Int64, Int64, Int64)]
    {
      for (from, workers) in [(0, before), (10, after)] as [(Int64, Int64)] {
        let (start, end) = (at(from), at(from + 10))
        let available = timeline.scaledMicroseconds(from: start, to: end, autoscaled: autoscaled)
        #expect(abs(available * 3 - workers * 10_000_000) <= 30)
        // Half of it for half of the last ten seconds.
        let capacity = timeline.capacityMicroseconds(from: start, to: end, autoscaled: autoscaled)
        #expect(abs(capacity * 4 - available * (from == 0 ? 4 : 3)) <= 30)
      }
    }
  }

  @Test(
    "An action without an end holds until the next on the same; what overlaps or begins together contradicts")
  func ends() {
    let retry = ServerAction.Kind.retryAfter(.none)
    let actions = [
      ServerAction(retry, at: at(10)), ServerAction(retry, at: at(30), for: .seconds(10)),
      ServerAction(retry, at: at(40)), ServerAction(.restart, at: at(15)),
      ServerAction(.shed(Shedding()), at: at(20), for: .seconds(10)),
      ServerAction(.shed(Shedding(key: "ios")), at: at(25)),
    ]
    #expect(actions.ends == [at(30), at(40), .never, at(15), at(30), .never])
    #expect(actions.contradictions.isEmpty)
    let more =
      actions + [
        ServerAction(.readmit(Shedding()), at: at(29), for: .seconds(1)), ServerAction(.restart, at: at(15)),
        ServerAction(retry, at: at(10), for: .seconds(1)),
      ]
    #expect(more.contradictions.map(\.action) == [6, 7, 8])
    #expect(more.contradictions.map(\.other) == [4, 3, 0])
  }
}
