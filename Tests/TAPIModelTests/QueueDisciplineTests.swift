import SimulationKernel
import TAPIModel
import TestScenarios
import Testing

private func server(
  _ workers: WorkersConfiguration, _ order: QueueOrder = .fifo, _ delayControl: ControlledDelay? = nil,
  incidents: [Incident] = []
) -> TAPIServer {
  var workers = workers
  (workers.order, workers.delayControl) = (order, delayControl)
  return TAPIServer(
    TAPIConfiguration(server: .workers(workers), overload: Overload(status: 503), incidents: incidents),
    key: RandomKey(seed: 1))
}

/// One worker who takes 10 ms, and requests 0, 1, 2, … a millisecond apart.
private struct OneWorker: ~Copyable {
  var server: TAPIServer
  var next: UInt32 = 0

  init(_ order: QueueOrder, queueLimit: Int? = nil, incidents: [Incident] = []) {
    server = TAPIModelTests.server(
      WorkersConfiguration(
        count: 1, serviceTime: .constant(.milliseconds(10)), queueLimit: queueLimit),
      order, incidents: incidents)
  }

  @discardableResult
  mutating func arrive(retryCount: Int = 0) -> Admission {
    next += 1
    return server.arrive(request(Int64(next - 1) * 1_000, device: next - 1), retryCount: retryCount)
  }

  /// `3`: request 3 is served; `-3`: refused or lost. In the order of time.
  mutating func fates() -> [Int] {
    var found: [Int] = []
    while let done = server.nextCompletion(through: Instant(microseconds: 1_000_000)) {
      found.append(Int(done.request.device) * (done.isServed ? 1 : -1))
    }
    return found
  }
}

@Suite struct QueueOrderTests {
  @Test(
    "Who is served next: the first, the last, the one with the fewest retries or the most, of these the first",
    arguments: [
      (QueueOrder.fifo, [0, 1, 2, 3, 4, 5, 6]), (.lifo, [0, 6, 5, 4, 3, 2, 1]),
      (.fewestRetries, [0, 3, 6, 1, 5, 2, 4]), (.mostRetries, [0, 4, 2, 1, 5, 3, 6]),
    ])
  func order(_ order: QueueOrder, served: [Int]) {
    var one = OneWorker(order)
    for retryCount in [0, 1, 2, 0, 8_191, 1, 0] { one.arrive(retryCount: retryCount) }
    #expect(one.server.queued == 6)
    #expect(one.fates() == served)
    #expect(one.server.queued == 0 && one.server.busyWorkers == 0)
  }

  @Test(
    "A full queue refuses whoever would be served last: the one that comes, or one that has waited",
    arguments: [
      (QueueOrder.fifo, [false, false], [0, 1, 2, 3]), (.lifo, [true, true], [-1, -2, 0, 5, 4, 3]),
      (.fewestRetries, [true, false], [-2, 0, 3, 4, 1]), (.mostRetries, [false, true], [-3, 0, 2, 5, 1]),
    ])
  func fullQueue(_ order: QueueOrder, admits: [Bool], fates: [Int]) {
    var one = OneWorker(order, queueLimit: 3)
    for retryCount in [0, 1, 2, 0] { one.arrive(retryCount: retryCount) }
    #expect([0, 2].map { one.arrive(retryCount: $0) == .pending } == admits)
    #expect(one.server.queued == 3)
    #expect(one.fates() == fates)
  }

  @Test("What leaves a full queue is answered at once as overload is, and counted as shed")
  func answerOfTheShed() {
    var one = OneWorker(.lifo, queueLimit: 1)
    for _ in 0..<3 { one.arrive() }
    guard let done = one.server.nextCompletion(through: .never), case .answered(let answer) = done.outcome
    else {
      Issue.record("no answer")
      return
    }
    #expect(done.request.device == 1 && done.at == Instant(microseconds: 2_000))
    #expect(answer.status == 503 && answer.cause == .shed && answer.at == done.at)
    var none = OneWorker(.lifo, queueLimit: 0)
    #expect((0..<2).map { _ in none.arrive() == .pending } == [true, false])
  }

  @Test("An outage loses those that wait, whatever their order", arguments: QueueOrder.allCases)
  func outage(_ order: QueueOrder) {
    let outage = Incident(
      kind: .outage(status: 503, retryAfter: .none, keepsWork: false), start: Instant(microseconds: 5_000),
      duration: .milliseconds(1))
    var one = OneWorker(order, incidents: [outage])
    for retryCount in [0, 3, 1] { one.arrive(retryCount: retryCount) }
    #expect(Set(one.fates()) == [0, -1, -2])
    #expect(one.server.queued == 0)
  }

  @Test("A longer queue of retries than there are counts to tell apart is served in its order of arrival")
  func manyRetries() {
    var one = OneWorker(.mostRetries)
    for retryCount in [0, 63, 64, 62, 8_191] { one.arrive(retryCount: retryCount) }
    #expect(one.fates() == [0, 1, 2, 4, 3])
  }
}

@Suite struct ControlledDelayTests {
  @Test(
    "Drops follow the control law: the first after an interval, the next one interval / √n after the n-th")
  func controlLaw() {
    // A hundred at once, a worker of 10 ms, each drop a turn that is not lost: turns are every 10 ms.
    var server = server(
      WorkersConfiguration(count: 1, serviceTime: .constant(.milliseconds(10))), .fifo, ControlledDelay())
    for number in 0..<100 as Range<UInt32> { _ = server.arrive(request(0, device: number)) }
    var drops: [Int64] = []
    var served: [UInt32] = []
    while let done = server.nextCompletion(through: Instant(microseconds: 10_000_000)) {
      if done.isServed { served.append(done.request.device) } else { drops.append(done.at.microseconds) }
    }
    // The first turn that has waited is at 10 ms, so that 110 ms is an interval later. By hand from there: 110 + 100 = 210;
    // + 100 / √2 = 280.7; + 100 / √3 = 338.4; + 50 = 388.4; + 44.7 = 433.2; + 40.8 = 474.0; + 37.8 = 511.8; + 35.4 = 547.1, each at the
    // next turn.
    #expect(drops.prefix(9).map { $0 / 1_000 } == [110, 210, 290, 340, 390, 440, 480, 520, 550])
    #expect(served.count + drops.count == 100)
    // In the order of arrival, but for what is dropped: turn 11 is the 12th request's.
    #expect(served.prefix(13) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13])
    #expect(served == served.sorted())
  }

  @Test("A queue that empties within every interval loses nobody, nor does one without a second in line")
  func patience() {
    var server = server(
      WorkersConfiguration(count: 1, serviceTime: .constant(.milliseconds(10))), .fifo, ControlledDelay())
    var refused = 0
    // Nine at once every 100 ms: they wait up to 80 ms, and then nobody does. Later two at a time, each for longer than the target.
    for time in (0..<50 as Range<Int64>).map({ $0 * 100_000 })
      + (0..<300).map({ 5_000_000 + $0 * 20_000 })
    {
      while let done = server.nextCompletion(through: Instant(microseconds: time)) {
        refused += done.isServed ? 0 : 1
      }
      for _ in 0..<(time < 5_000_000 ? 9 : 2) { _ = server.arrive(request(time)) }
    }
    #expect(refused == 0)
  }
}

/// Poisson arrivals at one worker with exponential service times, M/M/1 at 100 arrivals a second.
private struct PoissonRun {
  /// Microseconds in the server, by class.
  private var times: [[Int64]] = [[], []]

  /// - Parameter retries: the share of requests with an `X-Retry-Count` of 1, percent.
  init(
    utilisation: Double, order: QueueOrder, retries: UInt64 = 0, requests: Int
  ) {
    let mean = Span(microseconds: Int64(utilisation * 10_000))
    var server = server(WorkersConfiguration(count: 1, serviceTime: .exponential(mean: mean)), order)
    let key = RandomKey(seed: 11)
    var now: Int64 = 0
    var isRetry: [Bool] = []
    for number in 0..<requests {
      now += Distribution.exponentialGap(mean: 10_000, key: key.child(0).child(UInt64(number)))
      take(&server, through: now, isRetry)
      isRetry.append(key.child(1).child(UInt64(number)).uniform(below: 100) < retries)
      _ = server.arrive(request(now, device: UInt32(number)), retryCount: isRetry[number] ? 1 : 0)
    }
  }

  private mutating func take(_ server: inout TAPIServer, through time: Int64, _ isRetry: [Bool]) {
    while let done = server.nextCompletion(through: Instant(microseconds: time)) {
      times[isRetry[Int(done.request.device)] ? 1 : 0].append((done.at - done.request.arrival).microseconds)
    }
  }

  /// Of the time in the server, in units of `unit`, without the first twentieth.
  func moment(_ n: Int, of group: Int = 0, unit: Double) -> Double {
    let times = times[group].dropFirst(times[group].count / 20)
    return times.reduce(0) { sum, time in
      let units = Double(time) / unit
      return sum + (n == 1 ? units : units * units)
    } / Double(times.count)
  }
}

@Suite struct QueueDisciplineTheoryTests {
  @Test(
    "M/M/1: last come, first served waits as long as first come, first served, and 1 / (1 − ρ) times its second moment"
  )
  func lifo() {
    let (rho, unit) = (0.5, 5_000.0)
    let fifo = PoissonRun(utilisation: rho, order: .fifo, requests: 400_000)
    let lifo = PoissonRun(utilisation: rho, order: .lifo, requests: 400_000)
    // In service times. Kleinrock, Queueing Systems I: W = ρ / (1 − ρ), W² = 2ρ / (1 − ρ)²; Takács 1963: under LIFO 1 / (1 − ρ) times as
    // much. What a request needs itself is independent: T = W + 1, T² = W² + 2W + 2.
    let wait = rho / (1 - rho)
    let second = 2 * rho / ((1 - rho) * (1 - rho))
    for (run, squared) in [(fifo, second), (lifo, second / (1 - rho))] {
      let (first, square) = (run.moment(1, unit: unit), run.moment(2, unit: unit))
      #expect(abs(first / (wait + 1) - 1) < 0.01, "\(first)")
      #expect(abs(square / (squared + 2 * wait + 2) - 1) < 0.04, "\(square)")
    }
  }

  @Test("M/M/1 with two classes: Cobham's waits, whoever has precedence")
  func cobham() {
    let (rho, unit) = (0.8, 8_000.0)
    for (order, urgent) in [(QueueOrder.fewestRetries, 0), (.mostRetries, 1)] {
      let run = PoissonRun(utilisation: rho, order: order, retries: 30, requests: 600_000)
      // Cobham 1954: W₁ = R / (1 − ρ₁), W₂ = R / ((1 − ρ₁)(1 − ρ)), in service times; R = ρ for exponential service.
      let share = urgent == 0 ? 0.7 : 0.3
      let first = rho / (1 - rho * share)
      #expect(abs(run.moment(1, of: urgent, unit: unit) / (first + 1) - 1) < 0.02, "\(order), first")
      let later = first / (1 - rho)
      #expect(abs(run.moment(1, of: 1 - urgent, unit: unit) / (later + 1) - 1) < 0.04, "\(order), second")
    }
  }

  /// Ten workers of 120 ms each (83 requests a second) before a sender who sends 5 a second more each second and a fifth less after a
  /// refusal, as TCP's senders do.
  ///
  /// - Returns: of what is served after the first minute, the median wait and by how much the waits of a second are at least too long, at
  ///   the median second, milliseconds; and how many are served a second.
  private func standing(_ delayControl: ControlledDelay?) -> (wait: Double, least: Double, rate: Double) {
    var server = server(
      WorkersConfiguration(
        count: 10, serviceTime: .constant(.milliseconds(120)), queueLimit: 1_000), .fifo, delayControl)
    var (now, rate, lastCut) = (0 as Int64, 50.0, 0 as Int64)
    var waits: [(at: Int64, wait: Int64)] = []
    func cut() {
      if now - lastCut > 250_000 { (rate, lastCut) = (rate * 0.8, now) }
    }
    while now < 600_000_000 {
      now += Int64(1e6 / rate)
      rate += 5 / rate
      while let done = server.nextCompletion(through: Instant(microseconds: now)) {
        if done.isServed {
          waits.append((done.at.microseconds, (done.at - done.request.arrival).microseconds - 120_000))
        } else {
          cut()
        }
      }
      if server.arrive(request(now)) != .pending { cut() }
    }
    waits.removeAll { $0.at < 60_000_000 }
    let seconds = Dictionary(grouping: waits) { $0.at / 1_000_000 }.values.map { $0.map(\.wait).min()! }
    func median(_ values: [Int64]) -> Double { Double(values.sorted()[values.count / 2]) / 1e3 }
    return (median(waits.map(\.wait)), median(seconds), Double(waits.count) / 540)
  }

  @Test(
    "CoDel keeps the standing queue below its target where a queue without it is always full, and wastes a twentieth"
  )
  func standingQueue() {
    let target = 50.0
    let with = standing(ControlledDelay(target: .milliseconds(50), interval: .milliseconds(1_000)))
    let without = standing(nil)
    #expect(without.wait > 5_000 && without.least > 5_000)
    #expect(with.wait < target && with.least < target)
    #expect(with.rate > without.rate * 0.95)
  }
}
