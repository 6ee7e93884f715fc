import FleetMetrics
import FleetStatistics
import ScenarioModel
import SimulationKernel
import TAPIModel

/// The smallest value of an action that ends an ill state, found by bisection over the steps of its range.
///
/// A seed is ill if its fleet holds without incidents, and with them, without the action, does not recover within the run. A value
/// ends the ill state if every ill seed recovers with it: after the action is over (`RunAnalysis`).
///
/// Too much can be as bad as too little: who turns everybody away for long makes a herd of them. So where the largest value does
/// not end it, the middle is tried, then the quarters, and so on, until some value does, and bisection goes on below that one. It
/// takes it that the values between two that end it do too; `triesAll` takes nothing for granted.
package struct Rescue: Sendable {
  /// What became of the ill seeds with one value.
  package struct Trial: Sendable, Hashable {
    /// 0 … `Rescue.steps`; nil: without the action.
    package var step: Int?
    package var value: Quantity?
    package var seeds: Int
    package var recovered: Int
    /// Over the seeds that recovered, microseconds after the last incident; nil if none did.
    package var meanRecovery: Int64?
    /// Means over the ill seeds.
    package var createdEvents: Double
    package var deliveredEvents: Double
    /// Lost, blocked or late: delivered by a fleet that was never ill.
    package var undeliveredEvents: Double

    package var ends: Bool { seeds > 0 && recovered == seeds }
    package var chance: WilsonInterval { WilsonInterval(successes: recovered, of: seeds) }

    init(step: Int?, value: Quantity?, _ runs: [RunSummary]) {
      self.step = step
      self.value = value
      seeds = runs.count
      let recoveries = runs.compactMap(\.recoveryTime)
      recovered = recoveries.count
      meanRecovery = recoveries.isEmpty ? nil : recoveries.reduce(0, +) / Int64(recoveries.count)
      func mean(_ value: (RunSummary) -> Int64) -> Double {
        runs.isEmpty ? 0 : Double(runs.reduce(0) { $0 + value($1) }) / Double(runs.count)
      }
      createdEvents = mean { $0[.createdEvents] }
      deliveredEvents = mean { $0[.deliveredEvents] }
      undeliveredEvents = mean(\.undeliveredEvents)
    }
  }

  /// Parts that the range is cut into.
  package static let steps = 32

  package let action: RescueAction
  /// How many seeds were looked at, and how many of their fleets hold without incidents.
  package let seeds: Int
  package let healthySeeds: Int
  /// What the twins say of the fleets, seed by seed.
  package let baselines: [BaselineHealth]
  /// Without the action, the ill seeds alone.
  package let untreated: Trial
  /// With it, by value.
  package private(set) var trials: [Trial]
  package let triedAll: Bool
  /// Whether it came to its end; false: it was stopped, and says what was known then.
  package private(set) var isFinished = true

  /// The smallest value tried that ends the ill state; nil: none does.
  package var answer: Trial? { trials.first(where: \.ends) }

  /// The largest value tried below it, which does not end it; nil where there is none.
  package var below: Trial? { trials.last { $0.step! < answer?.step ?? 0 } }

  /// The smallest value tried above it that does not end it; nil where all do.
  package var tooMuch: Trial? { trials.first { !$0.ends && $0.step! > answer?.step ?? .max } }

  /// - Parameters:
  ///   - seeds: the scenario's and those that follow it.
  ///   - triesAll: every step of the range, in place of bisection.
  ///   - run: summaries of scenarios, in their order.
  /// - Throws: what `run` throws, but for a `CancellationError` once there is something to say.
  package init(
    _ scenario: Scenario, _ action: RescueAction, seeds: Int, triesAll: Bool = false,
    run: ([Scenario]) throws -> [RunSummary]
  ) throws {
    self.action = action
    self.seeds = seeds
    triedAll = triesAll
    let scenarios = (0..<UInt64(seeds)).map { scenario.with(seed: scenario.seed &+ $0) }
    let plain = try run(scenarios)
    healthySeeds = plain.count(where: \.baselineIsHealthy)
    baselines = plain.map(\.baseline)
    let ill = zip(scenarios, plain).filter { $1.baselineIsHealthy && $1.recoveryTime == nil }
    untreated = Trial(step: nil, value: nil, ill.map(\.1))
    trials = []
    if ill.isEmpty { return }

    func values(_ steps: [Int]) throws -> [Trial] {
      let values = steps.map { action.range.quantity(at: Double($0) / Double(Self.steps)) }
      let runs = try run(values.flatMap { value in ill.map { action.scenario($0.0, with: value) } })
      return steps.indices.map { index in
        Trial(
          step: steps[index], value: values[index], Array(runs[index * ill.count..<(index + 1) * ill.count]))
      }
    }
    do {
      try search(values)
    } catch is CancellationError {
      isFinished = false
    }
    trials.sort { $0.step! < $1.step! }
  }

  private mutating func search(_ values: ([Int]) throws -> [Trial]) throws {
    if triedAll {
      trials = try values(Array(0...Self.steps))
      return
    }
    trials = try values([0, Self.steps])
    var stride = Self.steps / 2
    while answer == nil, stride > 0 {
      trials += try values(Array(Swift.stride(from: stride, to: Self.steps, by: 2 * stride)))
      trials.sort { $0.step! < $1.step! }
      stride /= 2
    }
    guard var high = answer?.step, var low = below?.step else { return }
    while high - low > 1 {
      let middle = (low + high) / 2
      let trial = try values([middle])[0]
      trials.append(trial)
      if trial.ends { high = middle } else { low = middle }
    }
  }
}

/// An action with one number left open: the smallest one that ends an ill state is looked for.
package struct RescueAction: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case shed, capacity, readmit

    /// What is looked for.
    package var quantity: String {
      switch self {
      case .shed: "the smallest share of the requests to shed"
      case .capacity: "the least capacity"
      case .readmit: "the fastest ramp"
      }
    }

    /// Where it is looked for if nobody says otherwise.
    package var range: String {
      switch self {
      case .shed: "0%..100%"
      case .capacity: "100%..400%"
      case .readmit: "0s..30m"
      }
    }

    /// What the values of a range have to be.
    fileprivate var allowed: String {
      switch self {
      case .shed: "shares from 0% to 100%"
      case .capacity: "shares of the configured capacity from 1% to 10000%"
      case .readmit: "spans up to 366d"
      }
    }
  }

  package let kind: Kind
  package let range: QuantityRange
  /// When it happens.
  package var start: Instant
  /// How long it holds; of a readmission the range says it.
  package var duration: Span
  package var key: String?
  package var isByDevice = false

  /// - Parameter range: `lo..hi`.
  package init(_ kind: Kind, range: String? = nil, at start: Instant, for duration: Span) throws(RangeProblem)
  {
    self.kind = kind
    self.range = try QuantityRange(path: kind.rawValue, range: range ?? kind.range)
    self.start = start
    self.duration = duration
    for end in [self.range.low, self.range.high] where number(end) == nil {
      throw RangeProblem(
        "'\(end.text())' in '\(range ?? kind.range)' is out of range for \(kind.rawValue): \(kind.allowed).")
    }
  }

  /// In parts per million, or microseconds; nil: none that the action can have.
  private func number(_ value: Quantity) -> Int64? {
    switch kind {
    case .shed:
      guard let parts = try? Units.partsPerMillion(value.text()) else { return nil }
      return (0...1_000_000).contains(parts) ? parts : nil
    case .capacity:
      guard let parts = try? Units.partsPerMillion(value.text()) else { return nil }
      return (10_000...100_000_000).contains(parts) ? parts : nil
    case .readmit:
      guard value.unit == .span, (0...Units.longestSpan.microseconds).contains(Int64(value.value)) else {
        return nil
      }
      return Int64(value.value.rounded())
    }
  }

  /// The action with a value of the range; nil where that is no action at all.
  package func action(_ value: Quantity) -> ServerAction? {
    guard let number = number(value) else { return nil }
    switch kind {
    case .shed:
      let shedding = Shedding(share: number, key: key, isByDevice: isByDevice)
      return number == 0 ? nil : ServerAction(.shed(shedding), at: start, for: duration)
    case .capacity:
      return number == 1_000_000
        ? nil : ServerAction(.capacity(factorPartsPerMillion: number), at: start, for: duration)
    case .readmit:
      let shedding = Shedding(key: key, isByDevice: isByDevice)
      return number == 0
        ? nil : ServerAction(.readmit(shedding), at: start, for: Span(microseconds: number))
    }
  }

  /// The scenario with the action in it.
  package func scenario(_ scenario: Scenario, with value: Quantity) -> Scenario {
    var acting = scenario
    if let action = action(value) { acting.tapi.actions.append(action) }
    return acting
  }
}
