import SimulationKernel
import TAPIModel

/// A scenario made smaller such that it keeps its answer: devices, capacity and limits divided by one number, but for the burst.
///
/// A bucket's burst stands for what one second forgives another. A tenth of a second's worth of a small capacity is a handful of
/// tokens. Requests that come at the same moment by chance are then refused that a large fleet's server would admit. So the
/// burst is divided too, but never below `leastBurst` for each of up to ten batches that a device sends at once; why that number,
/// and how small a fleet may be, is measured in `experiments/scale`.
public struct Scaling: Sendable, Hashable {
  /// 1 of so many: 1 … 10^6.
  public var divisor: Int
  public init(divisor: Int) { self.divisor = divisor }

  public static let whole = Scaling(divisor: 1)

  private static let mostParts = 1_000_000

  /// `1:20`; nil of anything else.
  public init?(_ text: String) {
    guard text.hasPrefix("1:"), text.utf8.dropFirst(2).allSatisfy({ 48...57 ~= $0 }),
      let divisor = Int(text.dropFirst(2)), (1...Self.mostParts).contains(divisor)
    else { return nil }
    self.divisor = divisor
  }

  public var text: String { "1:\(divisor)" }

  /// Tokens: fewer refuse by chance, where each device sends one request after another.
  public static let leastBurst: Int64 = 20
  /// Batches that count of a device which sends all that it has at once.
  private static let batchesAtOnce = 10
  /// Fewer workers are busy or idle by chance.
  public static let leastWorkers = 10
  /// Devices that fill the capacity when each sends one request after another: with fewer, what a single device holds decides.
  public static let leastServed = 8.0
  /// The least number of devices of a cohort.
  public static let leastDevices = 25
  /// Devices of a fleet that is made no smaller, though it may keep its answer.
  public static let enoughDevices = 1_000

  /// The scenario at this scale.
  public func scaled(_ scenario: Scenario) -> Scenario {
    guard divisor > 1 else { return scenario }
    var small = scenario
    let least = Self.leastBurst(for: scenario.fleet)
    for i in small.fleet.indices {
      small.fleet[i].devices.divide(by: divisor)
      // Rates of a table are those of the whole cohort.
      if case .replay(var rates) = small.fleet[i].events {
        for row in rates.rows.indices {
          rates.rows[row].microEventsPerSecond = rates.rows[row].microEventsPerSecond.divided(by: divisor)
        }
        small.fleet[i].events = .replay(rates)
      }
    }
    switch small.tapi.server {
    case .bucket(var bucket):
      bucket.capacityMilliRequestsPerSecond.divide(by: divisor)
      bucket.burst = burst(bucket.burst, atLeast: least)
      small.tapi.server = .bucket(bucket)
    case .workers(var workers):
      workers.count.divide(by: divisor)
      workers.queueLimit?.divide(by: divisor)
      workers.concurrencyLimit?.initial.divide(by: divisor)
      workers.concurrencyLimit?.minimum.divide(by: divisor)
      workers.concurrencyLimit?.maximum.divide(by: divisor)
      workers.dependency?.count.divide(by: divisor)
      workers.dependency?.queueLimit?.divide(by: divisor)
      workers.congestion?.queue.divide(by: divisor)
      small.tapi.server = .workers(workers)
    }
    if let tier = scenario.tapi.connections?.handshakes {
      let left = max(1, tier.count.divided(by: divisor))
      // A tier of few servers works for longer instead, so that its capacity is divided exactly.
      let factor = Double(left) * Double(divisor) / Double(tier.count)
      small.tapi.connections?.handshakes.count = left
      small.tapi.connections?.handshakes.time = Span(
        microseconds: max(1, Int64((Double(tier.time.microseconds) * factor).rounded())))
      small.tapi.connections?.handshakes.queueLimit?.divide(by: divisor)
      small.tapi.connections?.limit?.divide(by: divisor)
    }
    if let settings = scenario.tapi.settings, settings.capacityMilliRequestsPerSecond != nil {
      small.tapi.settings?.capacityMilliRequestsPerSecond?.divide(by: divisor)
      small.tapi.settings?.burst = burst(settings.burst)
    }
    if let proxies = scenario.tapi.proxies {
      let left = max(1, proxies.count.divided(by: divisor))
      // Few proxies keep less of the budget instead, so that the minimum of all together is divided.
      if let minimum = proxies.budget?.minimum, minimum > 0 {
        let factor = Double(proxies.count) / (Double(left) * Double(divisor))
        small.tapi.proxies?.budget?.minimum = max(1, Int((Double(minimum) * factor).rounded()))
      }
      small.tapi.proxies?.count = left
    }
    for (i, limit) in scenario.tapi.rules.keyLimits.enumerated() where limit.per != .device {
      switch limit.rule {
      case .bucket(var rate, let full):
        rate.divide(by: divisor)
        small.tapi.rules.keyLimits[i].rule = .bucket(rate: rate, burst: burst(full, atLeast: least))
      case .window(let window, var requests):
        requests.divide(by: divisor)
        small.tapi.rules.keyLimits[i].rule = .window(window, requests: requests)
      }
    }
    small.tapi.rules.crash?.queue?.divide(by: divisor)
    small.tapi.rules.crash?.rateMilliRequestsPerSecond?.divide(by: divisor)
    return small
  }

  /// Never more than it was, never fewer than `least` of what was more.
  private func burst(_ full: Int64, atLeast least: Int64 = leastBurst) -> Int64 {
    max(full.divided(by: divisor), min(full, least), 1)
  }

  /// The burst that a part of a fleet keeps: `leastBurst` for each batch that a device sends at once.
  private static func leastBurst(for fleet: [Cohort]) -> Int64 {
    let batches = fleet.map { min($0.behaviour.uploadConcurrency, batchesAtOnce) }.max() ?? 1
    return leastBurst * Int64(batches)
  }
}

extension BinaryInteger {
  /// Rounded to the nearest.
  fileprivate func divided(by divisor: Int) -> Self { (self + Self(divisor) / 2) / Self(divisor) }

  /// What is something stays something.
  fileprivate mutating func divide(by divisor: Int) { self = self == 0 ? 0 : max(1, divided(by: divisor)) }
}

/// In what a scenario is so small that chance between single requests, not the fleet, decides what comes of it.
public struct Discreteness: Sendable, Hashable {
  /// One quantity that is too small, and the size from which on it is enough.
  public struct Finding: Sendable, Hashable {
    /// The key that it is about.
    public var path: String
    /// `the burst of 6 requests refuses by chance`
    public var reason: String
    /// `a burst of 20 is enough`
    public var remedy: String
    /// The smallest factor by which this scenario must be larger; 1: it is not known.
    public var factor: Double
    /// Whether a larger scale is what mends it; else its key is.
    public var needsScale: Bool
  }

  public private(set) var findings: [Finding] = []

  public init(_ scenario: Scenario) {
    switch scenario.tapi.server {
    case .bucket(let bucket):
      let tokens = bucket.burst == 1 ? "token" : "tokens"
      check(
        Double(bucket.burst), atLeast: Scaling.leastBurst, of: "tokens ", "tapi.bucket.burst",
        needsScale: false,
        "a bucket of \(bucket.burst) \(tokens) refuses what comes at one moment by chance")
      // Seconds from one request of a device to its next: there and back by the fastest cohort, and the service.
      let way = scenario.fleet.map { $0.latency.typical }.min() ?? 0
      let trip = (2 * way + bucket.serviceTime.typical) / 1e6
      let served = Double(bucket.capacityMilliRequestsPerSecond) / 1_000 * trip
      if served < Scaling.leastServed {
        let millis = Int64((trip * 1e3).rounded())
        let needed = Int64((Scaling.leastServed / trip * 1_000).rounded(.up))
        findings.append(
          Finding(
            path: "tapi.bucket.capacity",
            reason:
              "a capacity of \(Units.text(milliPerSecond: bucket.capacityMilliRequestsPerSecond)) is filled by \(Self.text(served)) "
              + "devices that send one request after another (\(millis) ms each): single devices decide",
            remedy: "from \(Units.text(milliPerSecond: (needed + 999) / 1_000 * 1_000)) on it is the fleet's",
            factor: Scaling.leastServed / served, needsScale: true))
      }
    case .workers(let workers):
      check(
        Double(workers.count), atLeast: Int64(Scaling.leastWorkers), "tapi.workers.count",
        "\(workers.count) \(workers.count == 1 ? "worker is" : "workers are") all busy by chance")
      if let places = workers.queueLimit { check(places, of: workers.count, scenario) }
    }
    if let crash = scenario.tapi.rules.crash {
      let most = min(Double(crash.queue ?? .max), Double(crash.rateMilliRequestsPerSecond ?? .max) / 1_000)
      check(
        most, atLeast: Scaling.leastBurst, "tapi.crash",
        "a server that dies of \(Self.text(most)) requests does so by chance")
    }
    for (index, limit) in scenario.tapi.rules.keyLimits.enumerated() where limit.per != .device {
      guard case .window(_, let requests) = limit.rule else { continue }
      check(
        Double(requests), atLeast: Scaling.leastBurst, "tapi.keyLimits.\(index).requests",
        "a window of \(requests) \(requests == 1 ? "request" : "requests") refuses by chance")
    }
  }

  /// Workers that are all taken by chance, and their places to wait, for more than one request in a thousand.
  private mutating func check(_ places: Int, of workers: Int, _ scenario: Scenario) {
    let load = NormalLoad(scenario)
    let share = load.share(load.busiestBatchesPerSecond)
    // A load of all that there is turns requests away without any chance.
    let lost = share < 1 ? Self.turnedAway(workers, places: places, at: share) : 0
    if lost <= 0.001 { return }
    findings.append(
      Finding(
        path: "tapi.workers.queueLimit",
        reason:
          "\(workers) workers and \(places) places to wait are all taken by chance, for \(Self.text(lost * 100)) % of the requests",
        remedy: "more of both at this load turn fewer away", factor: 1, needsScale: true))
  }

  /// The share of the requests that find all workers and places taken, where both requests and the ends of service come by chance.
  ///
  /// Source: A. K. Erlang, "Solution of some problems in the theory of probabilities of significance in automatic telephone exchanges",
  /// Elektroteknikeren 13 (1917); with places to wait M/M/c/K, by its recursion.
  /// - Parameter share: the load, divided by what the workers can serve; below 1.
  /// - Complexity: O(workers + places), of many places as far as requests come there.
  package static func turnedAway(_ workers: Int, places: Int, at share: Double) -> Double {
    let busy = share * Double(workers)
    var lost = 1.0
    for there in 1...max(1, workers + places) {
      let more = lost * busy / Double(min(there, workers))
      lost = more / (1 + more)
      if lost < 1e-9 { break }
    }
    return lost
  }

  /// A number that must not be too small.
  private mutating func check(
    _ number: Double, atLeast least: Int64, of what: String = "", _ path: String, needsScale: Bool = true,
    _ reason: String
  ) {
    if number >= Double(least) { return }
    findings.append(
      Finding(
        path: path, reason: reason, remedy: "\(least) \(what)are enough",
        factor: Double(least) / max(number, 0.001), needsScale: needsScale))
  }

  /// One sentence for each finding.
  public var notes: [String] { findings.map { "\($0.path): \($0.reason); \($0.remedy)" } }

  private static func text(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return tenths >= 100 ? "\(Int64(value.rounded()))" : "\(tenths / 10).\(tenths % 10)"
  }
}

extension Distribution {
  /// Microseconds: the mean, of a log-normal one the median.
  fileprivate var typical: Double {
    if case .logNormal(let median, _, let minimum) = self {
      return Double(max(median, minimum).microseconds)
    }
    return mean
  }
}

extension Scaling {
  /// The smallest part of these scenarios in which each keeps its answer and so many devices.
  public static func smallest(of scenarios: [Scenario], leaving devices: Int = enoughDevices) -> Scaling {
    func all(_ scenario: Scenario) -> Int { scenario.fleet.reduce(0) { $0 + $1.devices } }
    func isFine(_ divisor: Int) -> Bool {
      scenarios.allSatisfy { Scaling(divisor: divisor).reasons(against: $0).reasons.isEmpty }
    }
    var divisor = min(max(1, scenarios.map { all($0) / max(1, devices) }.min() ?? 1), mostParts)
    // A tenth less at a time: which one it is makes no difference to anybody.
    while !isFine(divisor) { divisor -= max(1, divisor / 10) }
    // A little larger, it may be a part of every cohort to the device.
    let cohorts = scenarios.flatMap { $0.fleet }
    let whole = (divisor / 2 + 1...divisor).last { part in
      cohorts.allSatisfy { $0.devices.isMultiple(of: part) } && isFine(part)
    }
    return Scaling(divisor: whole ?? divisor)
  }

  /// Why a scenario can't be made so small; nil: it can.
  public func refusal(of scenario: Scenario) -> String? {
    let (reasons, largest) = reasons(against: scenario)
    guard !reasons.isEmpty else { return nil }
    // Rounding may cost a little of it.
    var fine = Int(largest.rounded(.up))
    while fine > 1, !Scaling(divisor: fine).reasons(against: scenario).reasons.isEmpty { fine -= 1 }
    return "\(text) of the fleet is too small: " + reasons.joined(separator: "; ")
      + (fine > 1 ? "; 1:\(fine) or a larger part keeps its answer" : "; no part of it keeps its answer")
  }

  /// Returns the shortages at this scale, and about the largest divisor at which there is none.
  private func reasons(against scenario: Scenario) -> (reasons: [String], largest: Double) {
    guard divisor > 1 else { return ([], 1) }
    let small = scaled(scenario)
    var reasons: [String] = []
    var largest = Double(divisor)
    for finding in Discreteness(small).findings where finding.needsScale {
      reasons.append(finding.reason)
      largest = min(largest, Double(divisor) / finding.factor)
    }
    for (full, cohort) in zip(scenario.fleet, small.fleet) where cohort.devices < Self.leastDevices {
      reasons.append("cohort \(cohort.name) has \(cohort.devices) of its \(full.devices) devices left")
      largest = min(largest, Double(full.devices) / Double(Self.leastDevices))
    }
    return (reasons, largest)
  }
}
