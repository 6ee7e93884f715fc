import FleetMetrics
import FleetSimulation

/// The lost events by cohort and limit, and the places where late ones wait. A row stands for each cohort of each variant, the
/// worst first. Example:
///
///     var report = LossReport(variants, runs: trial.rowsByVariant)
///     try report.checkLimit(options: options, control: control)
///     report.notes   // segment-swift 39,497 events: rateLimitConfig.maxRetryCount 100; with 1000: none
public struct LossReport: Sendable {
  /// The fate of a cohort's events, the mean over the runs of a variant.
  public struct Row: Sendable {
    package var variant: Int
    package var variantName: String
    /// `phones (segment-swift)`
    package var cohort: String
    /// `RunSummary.scale`: what people read of the counts below is so many times as much.
    package var scale: Double
    package var created: Double
    /// Lost or blocked.
    package var lost: Double
    /// To what, the most first.
    package var causes: [(words: String, events: Double)]
    package var late: Double
    /// Where late ones wait, the most first.
    package var places: [(words: String, events: Double)]

    package var isHarmed: Bool { lost > 0 || late > 0 }

    /// `queue.limit 100, maxTotalBackoffDuration 12 h`: the worst two, if the second stands for more than a twentieth.
    package var causeText: String {
      let all = causes.reduce(0) { $0 + $1.events }
      return causes.isEmpty
        ? "–" : causes.prefix(2).filter { $0.events > all / 20 }.map(\.words).uniqued.joined(separator: ", ")
    }
  }

  /// The result of a run with a higher limit, or without it.
  package struct Check: Sendable {
    var variant: Int
    var charge: LossCharge
    /// The most that its clients take out of Settings, retries or microseconds; nil: without the limit.
    var value: Int64?
    /// Whether one file of Settings gives all of its run's clients that.
    var isPublished: Bool
    /// Lost or blocked in that run with the limit as it is.
    var before: Int64
    /// Pending at the end of that run.
    var pendingBefore: Int64
    /// With the higher limit, with what loses the most then; nil: that run made more than `times` as many attempts, and was not
    /// made to its end.
    var outcome: Outcome?
    var times: Int64

    typealias Outcome = (lost: Int64, pending: Int64, mostLeft: String?)
  }

  private let variants: [Variant]
  private let runs: [[RunSummary]]
  /// By variant, the sums over its runs, and how many these were.
  private let sums: [(cohorts: [CohortLosses], runs: Int)]
  /// The factor from simulated counts to those that people read.
  private let scale: Int64
  package private(set) var check: Check?

  /// - `runs`: each variant's, in the order of `variants`.
  public init(_ variants: [Variant], runs: [[RunSummary]]) {
    self.variants = variants
    self.runs = runs
    scale = runs.joined().commonScale
    sums = runs.map { runs in
      let first = runs.first?.cohorts ?? []
      let sum = runs.dropFirst().reduce(into: first) { sum, run in
        for place in sum.indices where run.cohorts.indices.contains(place) {
          sum[place] += run.cohorts[place]
        }
      }
      return (sum, runs.count)
    }
  }

  /// The cohorts of all variants, the worst first: by what they lose, then by what is late.
  package var rows: [Row] {
    zip(variants.indices, sums).flatMap { variant, sum in
      let charges = Dictionary(grouping: charges(variant), by: \.cohort)
      let (fleet, runs) = (variants[variant].scenario.fleet, Double(sum.runs))
      return zip(fleet.indices, sum.cohorts).map { place, losses in
        Row(
          variant: variant, variantName: variants[variant].name,
          cohort: fleet[place].nameWithClient, scale: Double(scale),
          created: Double(losses.createdEvents) / runs, lost: Double(losses.lostEvents) / runs,
          causes: (charges[place] ?? []).map { (cause(variant, $0), Double($0.events) / runs) },
          late: Double(losses.late.total) / runs,
          places: losses.late.places.map { ($0.words, Double(losses.late[$0]) / runs) })
      }
    }.sorted { ($0.lost, $0.late) > ($1.lost, $1.late) }
  }

  /// `maxTotalBackoffDuration 12 h ends before the app opens again`
  private func cause(_ variant: Int, _ charge: LossCharge) -> String {
    let text = charge.cause(in: variants[variant].scenario)
    let doomed = runs[variant].reduce(0) { $0 + $1.doomedEvents }
    return text + (Self.isOfDoomed(charge, doomed, sums[variant].cohorts) ? Self.comesLater : "")
  }

  /// Whether most events of a charge are doomed: the limit is reached when a closed app opens again, after the run.
  private static func isOfDoomed(_ charge: LossCharge, _ doomed: Int64, _ cohorts: [CohortLosses]) -> Bool {
    charge.limit == .age
      && 2 * doomed
        > LossCharge.charges(of: cohorts).reduce(0) { $0 + ($1.limit == .age ? $1.events : 0) }
  }

  private static let comesLater = " ends before the app opens again"

  /// A variant's charges, the most first. What was accepted after all was given up for nobody knows which of a cohort's reasons,
  /// so that each is of no more events than the cohort has lost.
  private func charges(_ variant: Int) -> [LossCharge] {
    let cohorts = sums[variant].cohorts
    return LossCharge.charges(of: cohorts).compactMap { charge in
      var charge = charge
      charge.events = min(charge.events, cohorts[charge.cohort].lostEvents)
      return charge.events > 0 ? charge : nil
    }
  }

  /// Runs the worst charge's scenario once more, with its limit as high as its clients take it out of Settings, or without it. The
  /// run has the seed that lost the most. There is no check where no limit lost anything, or where `control` cancels the run.
  ///
  /// Of a limit in Settings every cohort that fetches them has as much of the higher one as its clients take, as one file gives it.
  /// - Parameter options: of that run.
  /// - Parameter control: of that run.
  /// - Parameter few: attempts that it may make in any case, which take seconds. Without a limit a fleet may retry for ever: beyond
  ///   these the run stops at four times the attempts with the limit.
  /// - Throws: the error of the run.
  public mutating func checkLimit(
    options: RunOptions = .init(), control: ComparisonControl = .init(),
    few: Int64 = 10_000_000
  ) throws {
    let limited = variants.indices.flatMap { variant in
      lines(variant).map { (variant: variant, charges: $0.filter { $0.limit != nil }) }
    }
    guard let line = limited.max(by: { events($0.charges) < events($1.charges) }),
      let charge = line.charges.first,
      let limit = charge.limit
    else { return }
    let worstRun = runs[line.variant].max { $0.lostOrBlockedEvents < $1.lostOrBlockedEvents }
    var scenario = variants[line.variant].scenario
    scenario.seed = worstRun?.seed ?? 0
    let value = limit.raised(in: scenario.fleet[charge.cohort])
    let told = Set(line.charges.filter { $0.limit == limit }.map(\.cohort))
    let isOfFile = !limit.settingsKeys.isEmpty && scenario.fleet[charge.cohort].fetchesSettings
    for place in scenario.fleet.indices
    where told.contains(place) || isOfFile && scenario.fleet[place].fetchesSettings {
      if let value {
        limit.raise(to: value, in: &scenario.fleet[place])
      } else {
        limit.remove(from: &scenario.fleet[place])
      }
    }
    let attempts = max(worstRun?.attempts ?? 0, 1)
    let most = max(4 * attempts, few)
    let run = control.add(scenario, mostAttempts: most)
    let watched = control.runControl(run)
    var outcome: Check.Outcome?
    do {
      let record = try Simulation.run(scenario, options: options, control: watched)
      if watched.attempts <= most {
        let losses = record.losses(beyond: ReferenceRuns(twin: record), late: 0)
        let mostLeft = LossCharge.charges(of: losses).first.map { charge in
          Self.isOfDoomed(charge, record.doomedEvents, losses)
            ? "\(scenario.fleet[charge.cohort].nameWithClient): \(charge.cause(in: scenario))\(Self.comesLater)"
            : charge.text(in: scenario)
        }
        outcome = (record.lostOrBlockedEvents, record.series.totals[.backlogEvents], mostLeft)
      }
    } catch is CancellationError {
      if watched.attempts <= most { return }
    }
    check = Check(
      variant: line.variant, charge: charge, value: value,
      isPublished: told.allSatisfy { scenario.fleet[$0].fetchesSettings },
      before: worstRun?.lostOrBlockedEvents ?? 0,
      pendingBefore: worstRun?.pendingEvents ?? 0, outcome: outcome, times: most / attempts)
    control.finish(run)
  }

  /// The key of Settings whose limit was checked; nil: none was, or it is no key of them.
  var checkedKey: String? { check?.charge.limit?.settingsKeys.first }

  /// `backoffConfig.maxRetryCount to 1000`: the value of Settings with which the checking run loses nothing, and no more waits; nil: none
  /// is known.
  package var cure: String? {
    guard let check, check.isPublished, let value = check.value, let limit = check.charge.limit,
      let outcome = check.outcome, outcome.lost == 0, waiting(check, outcome) == nil
    else { return nil }
    let fetching = variants[check.variant].scenario.fleet.filter(\.fetchesSettings)
    let keys = fetching.flatMap { limit.keysBelowMost(in: $0) }.uniqued
    return "\(Story.list(keys)) to \(limit.text(of: value, inFile: true))"
  }

  /// A line for each of the worst two causes, of variants for the worst of each, and what the checking run came to.
  package var notes: [String] {
    if variants.count == 1 { return lines(0).prefix(2).map { note(0, $0) } }
    let worst = variants.indices.compactMap { variant in lines(variant).first.map { (variant, $0) } }
    // Variants whose worst line has the same cohorts and causes are one line.
    let groups = Dictionary(grouping: worst) { variant, charges in
      charges.map { "\($0.cohort) \(cause(variant, $0))" }.sorted()
    }
    return groups.values.sorted { $0[0].0 < $1[0].0 }.compactMap { group in
      group.max { events($0.1) < events($1.1) }.map { note($0.0, $0.1, others: group.count - 1) }
    }
  }

  private func events(_ charges: [LossCharge]) -> Int64 { charges.reduce(0) { $0 + $1.events } }

  /// The charges of each line, the most events first: of all cohorts that lose to one cause, or all of a cohort whose shares nobody
  /// knows.
  private func lines(_ variant: Int) -> [[LossCharge]] {
    let all = charges(variant).map { charge in
      (key: isKnown(variant, charge.cohort) ? cause(variant, charge) : "\(charge.cohort)", charge: charge)
    }
    let lines = all.map(\.key).uniqued.map { key in all.filter { $0.key == key }.map(\.charge) }
    return lines.sorted { events($0) > events($1) }
  }

  /// Whether a cohort has lost all that its clients gave up.
  private func isKnown(_ variant: Int, _ cohort: Int) -> Bool {
    let losses = sums[variant].cohorts[cohort]
    return losses.givenUp.values.reduce(0, +) <= losses.lostEvents
  }

  /// - Parameter others: so many more variants lose to it.
  private func note(_ variant: Int, _ charges: [LossCharge], others: Int = 0) -> String {
    let check = check.flatMap { $0.variant == variant && charges.contains($0.charge) ? $0 : nil }
    let cohorts = charges.map(\.cohort).uniqued
    // A limit without which as much is lost is not the reason, if there are others.
    let isFutile =
      cohorts.count == 1 && charges.count > 1 && check.map { ($0.outcome?.lost ?? 0) >= $0.before } ?? false
    let told = charges.filter { !isFutile || $0 != check?.charge }
    let causes = told.map { cause(variant, $0) }.uniqued
    let name = variants[variant].name
    let who =
      others == 0
      ? name
      : (others + 1 < variants.count ? "\(others + 1) variants" : "every variant") + ", most with \(name)"
    let text =
      (variants.count > 1 ? who + ": " : "") + losers(variant, told, cohorts) + ": "
      + Story.list(causes, "or")
    guard let check, told.contains(check.charge) else { return text }
    return "\(text); \(outcome(check))"
  }

  /// `segment-kotlin 915,000 and segment-swift 431,000 events a run`: of several runs the mean.
  private func losers(_ variant: Int, _ charges: [LossCharge], _ cohorts: [Int]) -> String {
    let events = cohorts.map { cohort in
      let lost =
        isKnown(variant, cohort)
        ? charges.reduce(0) { $0 + ($1.cohort == cohort ? $1.events : 0) }
        : sums[variant].cohorts[cohort].lostEvents
      return Double(lost) * Double(scale) / Double(max(sums[variant].runs, 1))
    }
    let fleet = variants[variant].scenario.fleet
    var texts = zip(cohorts, events).prefix(2).map {
      "\(fleet[$0].nameWithClient) \(FigureText.amount($1))"
    }
    if cohorts.count > 2 {
      texts.append(
        "\(FigureText.count(cohorts.count - 2, "more cohort")) \(FigureText.amount(events.dropFirst(2).reduce(0, +)))"
      )
    }
    return Story.list(texts) + (events == [1] ? " event" : " events")
      + (sums[variant].runs > 1 ? " a run" : "")
  }

  /// `with 168 h the worst run loses 13.3 million, in place of 16.3 million`; of a single run `with 168 h: none`.
  private func outcome(_ check: Check) -> String {
    let cohort = variants[check.variant].scenario.fleet[check.charge.cohort]
    let limit =
      check.value.flatMap { value in
        check.charge.limit.map {
          "with \($0.text(of: value))" + ($0.keysBelowMost(in: cohort).count > 1 ? " in both sections" : "")
        }
      } ?? "without that limit"
    guard let outcome = check.outcome else { return limit + ": over \(check.times) times the requests" }
    let (before, lost) = (check.before * scale, outcome.lost * scale)
    let counts = [before, lost].map { FigureText.amount(Double($0)) }
    let left =
      (runs[check.variant].count > 1 ? " the worst run loses " : ": ")
      + (lost == 0
        ? "none"
        : lost >= before
          ? "no fewer"
          : (counts[1] == counts[0] ? "hardly fewer" : "\(counts[1]), in place of \(counts[0])")
            + (outcome.mostLeft.map { ", most by \($0)" } ?? ""))
    let rest = waiting(check, outcome).map {
      ", but \(FigureText.amount(Double($0 * scale))) still wait at the end"
    }
    return limit + left + (rest ?? "")
  }

  /// How many events wait at the end, instead of being given up; nil: what was not given up was delivered.
  private func waiting(_ check: Check, _ outcome: Check.Outcome) -> Int64? {
    outcome.pending - check.pendingBefore > (check.before - outcome.lost) / 10 ? outcome.pending : nil
  }

  /// For documents: the reasons and places that stand for the most.
  package static let columns: [CSVColumn<Row>] = [
    .init("variant", "", "Name of the variant.") { .text($0.variantName) },
    .init("cohort", "", "Name of the cohort, and its client where that is another.") { .text($0.cohort) },
    .init("created_events", "events", "Events created, mean over the runs.") { .decimal($0.created) },
    .init("lost_or_blocked_events", "events", "Events that the server never gets, mean over the runs.") {
      .decimal($0.lost)
    },
    .init("lost_to", "", "What most of them were given up for.") { .text($0.causes.first?.words ?? "") },
    .init("late_events", "events", "Its part of the late events, mean over the runs.") {
      .decimal($0.late)
    },
    .init("late_wait", "", "Where most of them are.") { .text($0.places.first?.words ?? "") },
  ]
}
