import FleetExperiments
import FleetSimulation
import ScenarioModel

/// How much memory runs may take: what the machine has, or what `--memory-limit` says.
struct MemoryLimit: Sendable {
  /// As the user wrote it; nil: what the machine has.
  var text: String?
  /// As asked for; nil: no limit.
  private var asked: Int64?

  /// What the machine has.
  static let machine = MemoryLimit()
  private init() {}

  /// - Throws: `InvalidValue`.
  init(_ text: String) throws {
    self.text = text
    if text == "none" { return }
    guard let limit = MemorySize.bytes(text) else {
      throw InvalidValue("an amount with its unit, as 20GiB (units: \(MemorySize.unitNames)), or none.")
    }
    asked = limit
  }

  /// nil: no limit, or none that is known.
  private var bytes: Int64? { text == nil ? MachineMemory.availableBytes : asked }

  /// - Parameter subject: what is to be run, as messages name it.
  /// - Throws: `CommandFailure` 65.
  func check(_ scenario: Scenario, _ subject: String) throws {
    guard let bytes else { return }
    let estimate = MemoryEstimate(scenario)
    if estimate.expected > bytes { throw refusal(estimate, needed: estimate.expected, limit: bytes, subject) }
  }

  /// The number of runs at a time that fit, at most `workers`.
  /// - Throws: `CommandFailure` 65 if not even one fits.
  func workers(_ memory: ComparisonMemory, atMost workers: Int, _ subject: String) throws -> Int {
    guard let bytes else { return workers }
    if let fitting = memory.workersThatFit(bytes, atMost: workers) {
      return fitting < min(workers, memory.runs) ? fitting : workers
    }
    throw refusal(memory.largest, needed: memory.expected(workers: 1), limit: bytes, subject)
  }

  private func refusal(_ estimate: MemoryEstimate, needed: Int64, limit: Int64, _ subject: String)
    -> CommandFailure
  {
    let there =
      text.map { "--memory-limit allows \($0)" } ?? "this machine has \(MemorySize.text(limit)) available"
    var lines =
      "\(subject): does not fit into memory: it needs about \(MemorySize.text(needed)), and \(there).\n"
    if let part = estimate.largest {
      let owner = part.cohort.map { " of cohort '\($0)'" } ?? ""
      lines += "The largest part is \(part.part.rawValue)\(owner), \(MemorySize.text(part.expected)). "
    }
    return CommandFailure(
      .data,
      lines
        + "Take fewer devices, a shorter run or a coarser interval; --memory-limit <size> sets another limit, none lifts it."
    )
  }
}
