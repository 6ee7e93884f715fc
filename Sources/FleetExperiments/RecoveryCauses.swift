import FleetMetrics
import FleetSimulation
import ScenarioModel
import ShippedQuirks
import UploadPipeline
import UploadRetry

/// The parts of a recovery beyond its floor. They are closed apps and lost networks, the clients' own waits, and how long the
/// server had room meanwhile.
///
/// A run with eager clients tells the first two apart. They have the same devices, events, sessions and network, ask again within
/// seconds, wait for nothing else and give nothing up. No Settings can save the time that they need beyond the floor.
public struct RecoveryCauses: Sendable {
  /// From the last incident's end; nil: never. Microseconds, as all here.
  package var recovery: Int64?
  /// How soon any client could be back.
  package var floor: Int64
  /// The recovery of eager clients; nil: never.
  package var eager: Int64?
  /// Capacity that was unused while there was a backlog.
  package var idle: Int64
  /// The reason that keeps clients from sending: `closed apps`; nil: nothing does.
  package var absence: String?

  /// Beyond the floor; nil where not even eager clients are back.
  package var byAbsence: Int64? { eager.map { max(0, min($0, recovery ?? .max) - floor) } }
  /// The rest; nil of a fleet that is never back.
  package var byWaits: Int64? {
    guard let recovery else { return nil }
    return recovery - floor - (byAbsence ?? recovery - floor)
  }

  package init(recovery: Int64?, floor: Int64, eager: Int64?, idle: Int64, absence: String?) {
    (self.recovery, self.floor, self.eager, self.idle, self.absence) = (recovery, floor, eager, idle, absence)
  }

  /// Finds the causes, by a run of eager clients where there is an absence to be told from waits.
  ///
  /// The result is nil where there is nothing to divide: no floor, or a recovery that is within 5 % of it. It is nil too where
  /// eager clients would make far more attempts than the run did, or `control` cancels their run.
  /// - `variant`: the scenario of `run`; `interval`: width of a row of the time series, microseconds.
  /// - Throws: the error of the run.
  public static func find(
    _ variant: Variant, _ run: RunSummary, interval: Int64, options: RunOptions = .init(), workers: Int = 1,
    control: ComparisonControl = .init()
  ) throws -> RecoveryCauses? {
    guard let floor = run.recoveryFloor, run.baselineIsHealthy, let horizon = run.recoveryHorizon,
      (run.recoveryTime ?? .max) / 105 > (floor + interval) / 100
    else { return nil }
    var causes = RecoveryCauses(
      recovery: run.recoveryTime, floor: floor, eager: floor,
      idle: Int64(((run.idleWhileBackloggedSeconds ?? 0) * 1e6).rounded()),
      absence: variant.scenario.absence)
    guard causes.absence != nil else { return causes }
    let ill =
      (variant.scenario.tapi.incidents.map(\.duration.microseconds).max() ?? 0)
      + (run.recoveryTime ?? horizon)
    let open = variant.scenario.fleet.reduce(0.0) { $0 + Double($1.devices) * ($1.sessions?.share ?? 1) }
    guard let poll = poll(devices: open, for: ill, attempts: run.attempts) else { return nil }
    var eager = variant.scenario.withEagerClients(asking: poll)
    eager.seed = run.seed
    do {
      let found = try Comparison.run(
        [Variant(name: "eager", scenario: eager)], options: options, workers: workers, control: control)
      causes.eager = found.first?.summary.recoveryTime
      // A herd of eager clients may keep a server ill that others leave in peace: they show nothing then.
      if causes.eager == nil, causes.recovery != nil { return nil }
    } catch is CancellationError {
      return nil
    }
    return causes
  }

  /// Returns how often eager clients ask, microseconds: each second, but no more often than their budget of attempts allows. The
  /// budget is twice the attempts that the run had, or two millions if that is more. The result is nil where that is less than
  /// each 10 s, too seldom to be eager.
  /// - `devices`: with an open app, at a time.
  static func poll(devices: Double, for ill: Int64, attempts: Int64) -> Int64? {
    let budget = Double(max(2 * attempts, 2_000_000))
    let poll = max(1e6, devices * Double(ill) / budget)
    return poll <= 10e6 ? Int64(poll) : nil
  }

  /// The conclusions from the causes, a sentence each.
  package var notes: [String] {
    var notes: [String] = []
    let absence = absence ?? "closed apps"
    if let recovery {
      let rest = FigureText.span(recovery - floor)
      let (byAbsence, byWaits) = (byAbsence ?? 0, byWaits ?? 0)
      notes.append(
        byAbsence == 0
          ? "In the first run the clients' own waits take \(rest) beyond the floor."
          : byWaits == 0
            ? "In the first run \(absence) take \(rest) beyond the floor: no Setting shortens that."
            : "In the first run \(absence) take beyond the floor \(FigureText.span(byAbsence)), the clients' own waits \(FigureText.span(byWaits))."
      )
    } else if let eager {
      notes.append(
        "Clients that ask again within seconds are back after \(FigureText.span(eager)): waits keep this fleet ill."
      )
    } else {
      notes.append(
        "Not even clients that ask again within seconds are back: \(absence) are what takes so long.")
    }
    if idle > 0, idle >= (recovery ?? 0) / 20 {
      notes.append("The server had room for \(FigureText.span(idle)) of that time.")
    }
    return notes
  }
}

extension Scenario {
  /// The reason that keeps clients from sending whatever they would; nil: nothing does.
  var absence: String? {
    let parts = [
      fleet.contains { $0.sessions != nil } ? "closed apps" : nil,
      fleet.contains { $0.connectivity != nil } ? "lost networks" : nil,
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  /// The same fleet with clients that ask again after so many microseconds at most, give nothing up and know no gate.
  func withEagerClients(asking poll: Int64) -> Scenario {
    var scenario = self
    for index in fleet.indices { scenario.fleet[index].makeEager(asking: poll) }
    return scenario
  }
}

extension Cohort {
  fileprivate mutating func makeEager(asking poll: Int64) {
    var eager = HTTPConfig()
    eager.backoff.baseBackoffInterval = poll / 2
    eager.backoff.maxBackoffInterval = poll
    eager.backoff.jitter = .full
    eager.backoff.statuses = settings.backoff.statuses
    eager.rateLimit.maxRetryInterval = poll
    (settings, settingsDefaults, settingsSource, rollout) = (eager, eager, nil, nil)
    for limit in LossCharge.Limit.allCases { limit.remove(from: &self) }
    policy = ClientPolicy()
    settingsDialect = .document
    gates = ClientGates()
    retries = .timer
    triggersThatSkipWaits = .all
    (failureEndsLoop, actsAtFlushEnd, rateLimitEndsLoop) = (false, false, false)
    (countFlushWhileFailing, flushWhileUploading) = (true, .joins)
  }
}
