import SimulationKernel
import TAPIModel
import TestScenarios
import TestSupport
import Testing

@Suite("A server that dies of its load")
struct LoadCrashTests {
  /// What becomes of requests, by number: refused, or when they are served or lost, in milliseconds.
  private struct Fates: Equatable {
    var refused: [Int] = []
    var served: [Int: Int] = [:]
    var lost: [Int: Int] = [:]
  }

  private static let (workers, service) = (2, 40)

  /// Milliseconds: for five seconds more than the workers can do, for five fewer.
  private static func arrivals(seed: UInt64) -> [Int] {
    let key = RandomKey(seed: seed)
    var (times, now) = ([Int](), 0)
    while now < 120_000 {
      let most: Int64 = now / 5_000 % 2 == 0 ? 30 : 70
      now += Int(key.child(UInt64(times.count)).uniform(0, through: most))
      times.append(now)
    }
    return times
  }

  private static func modelled(_ crash: LoadCrash, _ arrivals: [Int]) -> Fates {
    var configuration = TAPIConfiguration(
      server: .workers(
        WorkersConfiguration(count: workers, serviceTime: .constant(.milliseconds(Int64(service))))))
    configuration.rules.crash = crash
    var server = TAPIServer(configuration, key: RandomKey(seed: 1))
    var fates = Fates()
    func drain(through time: Instant) {
      while let completion = server.nextCompletion(through: time) {
        let (number, at) = (Int(completion.request.device), Int(completion.at.microseconds / 1_000))
        if completion.isServed { fates.served[number] = at } else { fates.lost[number] = at }
      }
    }
    for (number, time) in arrivals.enumerated() {
      let request = request(Int64(time) * 1_000, device: UInt32(number))
      drain(through: request.arrival)
      switch server.arrive(request) {
      case .pending: break
      case .unconnected(let at, isKnown: true, isRefusal: true):
        // A millisecond back.
        if at == request.arrival + .milliseconds(1) { fates.refused.append(number) }
      default: Issue.record("neither taken nor refused")
      }
    }
    drain(through: .start + .minutes(10))
    return fates
  }

  /// Millisecond by millisecond: the crash, then whose work is done, then who arrives.
  private static func counted(_ crash: LoadCrash, _ arrivals: [Int]) -> Fates {
    var fates = Fates()
    var (running, waiting, next) = ([(end: Int, number: Int)](), [Int](), 0)
    var (longSince, fastSince, count, back) = (Int?.none, Int?.none, 0, Int?.none)
    let (patience, downtime) = (
      Int(crash.patience.microseconds / 1_000), Int(crash.downtime.microseconds / 1_000)
    )
    for now in 0..<130_000 {
      if back == now { (back, longSince, fastSince, count) = (nil, nil, nil, 0) }
      if back == nil {
        var dies = longSince.map { now - $0 >= patience } ?? false
        if let rate = crash.rateMilliRequestsPerSecond, now > 0, now % 1_000 == 0 {
          fastSince = count * 1_000 > rate ? fastSince ?? now - 1_000 : nil
          count = 0
          dies = dies || fastSince.map { now - $0 >= patience } ?? false
        }
        if dies {
          for number in running.map(\.number) + waiting { fates.lost[number] = now }
          (running, waiting, back) = ([], [], now + downtime)
        }
      }
      for done in running where done.end == now { fates.served[done.number] = now }
      running.removeAll { $0.end == now }
      while running.count < workers, !waiting.isEmpty {
        running.append((now + service, waiting.removeFirst()))
      }
      if waiting.count <= crash.queue ?? .max { longSince = nil }
      while next < arrivals.count, arrivals[next] == now {
        if back != nil {
          fates.refused.append(next)
        } else {
          count += 1
          if running.count < workers { running.append((now + service, next)) } else { waiting.append(next) }
        }
        next += 1
      }
      if waiting.count > crash.queue ?? .max { longSince = longSince ?? now }
    }
    return fates
  }

  static let crashes = [
    LoadCrash(queue: 5, patience: .milliseconds(200), downtime: .milliseconds(700)),
    LoadCrash(queue: 0, patience: .milliseconds(1), downtime: .milliseconds(90)),
    LoadCrash(
      rateMilliRequestsPerSecond: 55_000, patience: .milliseconds(2_000), downtime: .milliseconds(3_333)),
    LoadCrash(
      queue: 20, rateMilliRequestsPerSecond: 40_500, patience: .milliseconds(1_100),
      downtime: .milliseconds(450)),
  ]

  @Test("Whom it serves, loses and refuses is as counted millisecond by millisecond", arguments: crashes)
  func asCounted(crash: LoadCrash) {
    for seed in 1...UInt64(TestDepth.cases(2, exhaustively: 5)) {
      let arrivals = Self.arrivals(seed: seed)
      let (modelled, counted) = (Self.modelled(crash, arrivals), Self.counted(crash, arrivals))
      #expect(modelled == counted)
      #expect(!counted.lost.isEmpty && !counted.refused.isEmpty && counted.served.count > 100)
    }
  }

  @Test("By hand: a queue of more than two for three seconds; a rate of more than three a second for two")
  func byHand() {
    // One worker for ever busy: the third of those that wait comes at 3 s.
    func death(_ crash: LoadCrash, every gap: Int64) -> Int64? {
      var configuration = TAPIConfiguration(
        server: .workers(WorkersConfiguration(count: 1, serviceTime: .constant(.hours(1)))))
      configuration.rules.crash = crash
      var server = TAPIServer(configuration, key: RandomKey(seed: 1))
      for number in 0..<100 as Range<Int64> {
        let request = request(number * gap * 1_000, device: UInt32(number))
        if let lost = server.nextCompletion(through: request.arrival) { return lost.at.microseconds / 1_000 }
        _ = server.arrive(request)
      }
      return nil
    }
    #expect(death(LoadCrash(queue: 2, patience: .seconds(3), downtime: .seconds(1)), every: 1_000) == 6_000)
    let fast = LoadCrash(rateMilliRequestsPerSecond: 3_000, patience: .seconds(2), downtime: .seconds(1))
    #expect(death(fast, every: 250) == 2_000)
    #expect(death(fast, every: 400) == nil)
  }
}
