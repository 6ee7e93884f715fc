import FleetMetrics
import ScenarioModel
import Synchronization

/// One run of one candidate: a row of `summary.csv`, and nothing else, so that a run read back from a journal counts
/// exactly as one just made.
package struct Trial: Sendable, Hashable {
  private var numbers: [String: Double] = [:]

  /// Reads a header and one row.
  /// - Returns: nil if this is no such text.
  package init?(csv: String) {
    let lines = csv.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty else { return nil }
    let names = lines[0].split(separator: ",", omittingEmptySubsequences: false)
    let values = lines[1].split(separator: ",", omittingEmptySubsequences: false)
    guard names.count == values.count, names.first == "run" else { return nil }
    for (name, value) in zip(names, values) {
      switch value {
      case "true": numbers[String(name)] = 1
      case "false": numbers[String(name)] = 0
      default: numbers[String(name)] = Double(value)
      }
    }
  }

  package static func csv(_ summary: RunSummary) -> String {
    var summary = summary
    summary.run = "run"
    return String(decoding: SummaryCSV.bytes(of: [summary]), as: UTF8.self)
  }

  package func column(_ name: String) -> Double? { numbers[name] }

  /// Whether the fleet got over its incidents, if there were any.
  package var recovered: Bool { column("has_incidents") != 1 || column("recovery_s") != nil }
}

/// Where finished runs are kept by name, so that a search that was killed goes on where it stood.
package struct TrialJournal: Sendable {
  package var read: @Sendable (_ name: String) throws -> String?
  package var write: @Sendable (_ name: String, _ text: String) throws -> Void
  /// The name of a run, from everything that it depends on.
  package var name: @Sendable (_ content: String) -> String
  package init(
    read: @escaping @Sendable (String) throws -> String?,
    write: @escaping @Sendable (String, String) throws -> Void,
    name: @escaping @Sendable (String) -> String
  ) {
    self.read = read
    self.write = write
    self.name = name
  }
}

/// Makes trials: from memory, from the journal, or by running.
package final class TrialMaker: Sendable {
  /// What one trial is of.
  package struct Request: Sendable, Hashable {
    package var candidate: SearchCandidate
    package var scenario: Int
    /// From 0.
    package var seed: Int
    package var scale: Scaling
    package init(candidate: SearchCandidate, scenario: Int, seed: Int, scale: Scaling = .whole) {
      self.candidate = candidate
      self.scenario = scenario
      self.seed = seed
      self.scale = scale
    }
  }
  package typealias Run =
    @Sendable (
      _ scenarios: [Scenario], _ finished: @escaping @Sendable (Int, RunSummary) throws -> Void
    ) throws -> [RunSummary]

  private let scenario: @Sendable (Request) throws -> Scenario
  /// nil: runs are kept nowhere.
  private let journal: TrialJournal?
  private let run: Run
  private struct State {
    var trials: [Request: Trial] = [:]
    /// Two candidates can come to the same run.
    var byScenario: [Scenario: Trial] = [:]
    var made = 0
    var readBack = 0
  }
  private let state = Mutex(State())

  /// - Parameters:
  ///   - scenario: a candidate's scenario, by number, with its own seed.
  ///   - run: as `SummaryRunner.summaries(of:finished:)`.
  package convenience init(
    journal: TrialJournal?, scenario: @escaping @Sendable (SearchCandidate, Int) throws -> Scenario,
    run: @escaping Run
  ) {
    self.init(journal: journal, of: { try scenario($0.candidate, $0.scenario) }, run: run)
  }

  /// - Parameter scenario: what a trial is of, but for the number of its seed, which is added, and its scale.
  package init(
    journal: TrialJournal?, of scenario: @escaping @Sendable (Request) throws -> Scenario, run: @escaping Run
  ) {
    self.journal = journal
    self.scenario = scenario
    self.run = run
  }

  /// Runs made anew and runs found in the journal, twins not counted.
  package var counts: (made: Int, readBack: Int) { state.withLock { ($0.made, $0.readBack) } }

  private func prepared(_ request: Request) throws -> Scenario {
    var scenario = request.scale.scaled(try scenario(request))
    scenario.seed &+= UInt64(request.seed)
    scenario.question = nil
    return scenario
  }

  /// The trials asked for, in order.
  package func trials(_ requests: [Request]) throws -> [Trial] {
    var scenarios: [Scenario] = []
    var names: [String?] = []
    var waiting: [(request: Request, scenario: Scenario)] = []
    var planned: Set<Scenario> = []
    for request in requests where state.withLock({ $0.trials[request] }) == nil {
      let scenario = try prepared(request)
      waiting.append((request, scenario))
      guard planned.insert(scenario).inserted, state.withLock({ $0.byScenario[scenario] }) == nil else {
        continue
      }
      let name = journal?.name(scenario.normalisedJSON)
      if let name, let trial = try journal?.read(name).flatMap(Trial.init(csv:)) {
        state.withLock { state in
          state.byScenario[scenario] = trial
          state.readBack += 1
        }
        continue
      }
      scenarios.append(scenario)
      names.append(name)
    }
    if !scenarios.isEmpty {
      _ = try run(scenarios) { [scenarios, names, journal] index, summary in
        let text = Trial.csv(summary)
        if let name = names[index] { try journal?.write(name, text) }
        self.state.withLock { state in
          state.byScenario[scenarios[index]] = Trial(csv: text)
          state.made += 1
        }
      }
    }
    return state.withLock { state in
      for (request, scenario) in waiting { state.trials[request] = state.byScenario[scenario] }
      return requests.compactMap { state.trials[$0] }
    }
  }
}
