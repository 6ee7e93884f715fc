import ScenarioModel
import SimulationKernel
import UploadPipeline

/// What a run of a scenario will need of memory at its peak, before it is run.
///
/// Two figures for everything. `expected` is a forecast: the fleet's normal load, and the backlog that the incidents leave if the
/// server serves as much as its capacity says (`BacklogForecast`). It does not know of what clients drop for a status, a count
/// or an age, nor of goodput lost to time-outs. `upperBound` takes the worst case for the queues: every device holds as
/// many batches as its limit allows, or all that it creates in the run, whichever is fewer; what is drawn at random (events,
/// restarts) is taken six standard deviations above its mean.
/// Both count what a run touches, not what it reserves, and leave out the program itself (some 10 MiB).
public struct MemoryEstimate: Sendable, Hashable {
  /// What the memory is for.
  public enum Part: String, CaseIterable, Sendable {
    case deviceRecords = "device records"
    /// Beside the records, for cohorts that need them.
    case deviceTables = "device tables"
    /// Windows, breakers and the like, for cohorts with `ClientGates`.
    case gateTables = "gate tables"
    /// While devices are laid out by phase; only what later parts do not take again.
    case sorting = "sorting devices by phase"
    case batches = "batch records"
    case waitingBatches = "heaps of waiting batches"
    /// Triggers, wake-ups, uploads and answers to come.
    case calendars = "calendars"
    case windows = "items due in one window"
    case metrics = "metrics tables"
    case server = "server"
    /// The run's record, and the sums over the shards it is made from.
    case results = "results"
  }

  /// Bytes of one part.
  public struct Item: Sendable, Hashable {
    public var part: Part
    /// nil: the whole fleet's.
    public var cohort: String?
    public var expected: Int64
    public var upperBound: Int64
  }

  /// Cohort by cohort, then the fleet's; parts that take nothing are left out.
  public let items: [Item]
  /// Bytes that are left when the run is over: its record.
  public let resultBytes: Int64

  /// The forecast in bytes.
  public var expected: Int64 { sum(\.expected, of: items) }
  /// No run should need more.
  public var upperBound: Int64 { sum(\.upperBound, of: items) }

  /// The part that is expected to take most, of one cohort or of the fleet.
  public var largest: Item? { items.max { $0.expected < $1.expected } }

  /// Expected bytes by part over all cohorts, the largest first.
  public var byPart: [(part: Part, expected: Int64)] {
    Part.allCases.map { part in (part, sum(\.expected, of: items.filter { $0.part == part })) }
      .filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }
  }

  private func sum(_ figure: KeyPath<Item, Int64>, of items: [Item]) -> Int64 {
    items.reduce(0) { sum, item in
      let (total, overflow) = sum.addingReportingOverflow(item[keyPath: figure])
      return overflow ? .max : total
    }
  }

  /// O(cohorts), whatever the number of devices.
  public init(_ scenario: Scenario, options: RunOptions = .init()) {
    let model = MemoryModel(scenario, options: options)
    var items: [Item] = []
    func add(_ figures: MemoryModel.Figures, _ cohort: String?) {
      for (part, amount) in figures where amount.expected >= 0.5 || amount.upperBound >= 0.5 {
        items.append(
          Item(
            part: part, cohort: cohort, expected: Self.whole(amount.expected),
            upperBound: Self.whole(max(amount.upperBound, amount.expected))))
      }
    }
    for (cohort, figures) in zip(scenario.fleet, model.cohorts()) { add(figures, cohort.name) }
    add(model.fleet(), nil)
    self.items = items
    resultBytes = Self.whole(model.resultBytes)
  }

  private static func whole(_ bytes: Double) -> Int64 { bytes < 9e18 ? Int64(bytes.rounded(.up)) : .max }
}

extension MemoryEstimate: CustomStringConvertible {
  /// `about 276.5 MiB a run, at most 1.9 GiB; batch records 118.2 MiB, metrics tables 37.9 MiB, results 38.3 MiB`.
  public var description: String {
    let parts = byPart.prefix(3).map { "\($0.part.rawValue) \(MemorySize.text($0.expected))" }
    return "about \(MemorySize.text(expected)) a run, at most \(MemorySize.text(upperBound)); "
      + parts.joined(separator: ", ")
  }
}
