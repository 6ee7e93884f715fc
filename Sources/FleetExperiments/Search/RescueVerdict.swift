import FleetMetrics
import FleetStatistics

/// The words of a search for what ends an ill state.
package struct RescueVerdict: Sendable {
  private let rescue: Rescue
  package init(_ rescue: Rescue) { self.rescue = rescue }

  package var sentence: String {
    let ill = rescue.untreated.seeds
    guard rescue.healthySeeds > 0 else {
      return
        "The fleet does not hold its load even without any incident: \(HealthWording(rescue.baselines).reason); "
        + "there is no well state to come back to."
    }
    guard ill > 0 else {
      return
        "Nothing to end: without the action the fleet comes back by itself in \(all(rescue.healthySeeds))."
    }
    if !rescue.isFinished { return unfinished }
    let range = "\(text(rescue.action.range.low)) to \(text(rescue.action.range.high))"
    guard let answer = rescue.answer, let value = answer.value else {
      let best = rescue.trials.map(\.recovered).max() ?? 0
      return
        "No \(noun) from \(range) ends it: at best \(best) of the "
        + "\(FigureText.count(ill, "fleet")) that \(ill == 1 ? "is" : "are") ill without come back. "
        + cost(rescue.untreated, "Left alone it costs")
    }
    let words = self.text(value)
    var text = "\(words) is \(rescue.action.kind.quantity) that ends it"
    if let below = rescue.below, let lower = below.value {
      text += ": \(self.text(lower)) brings back \(below.recovered) of the \(ill)"
    }
    text += ", \(words) \(all(ill)) that \(ill == 1 ? "is" : "are") ill without"
    text += ill < rescue.seeds ? " (of \(FigureText.count(rescue.seeds, "seed")))." : "."
    text +=
      " With 95 % confidence it works in more than \(StabilityVerdict.percent(answer.chance.low)) of such cases."
    if let tooMuch = rescue.tooMuch, let value = tooMuch.value {
      text += " \(self.text(value)) is too much: it brings back \(tooMuch.recovered) of the \(ill)."
    }
    text +=
      " " + cost(answer, "It costs") + " Without it " + cost(rescue.untreated, "it would be", isShort: true)
    return text
  }

  /// What the values tell that were tried before it was stopped.
  private var unfinished: String {
    let (tried, ill) = (FigureText.count(rescue.trials.count, "value"), rescue.untreated.seeds)
    guard let value = rescue.answer?.value else {
      return
        "None of the \(tried) tried so far ends it in \(all(ill)) that \(ill == 1 ? "is" : "are") ill without."
    }
    return
      "Of the \(tried) tried so far \(text(value)) is the smallest that ends it, in \(all(ill)); a smaller one may."
  }

  /// `all 5`, `the one`
  private func all(_ count: Int) -> String { count == 1 ? "the one seed" : "all \(count) seeds" }

  private var noun: String {
    switch rescue.action.kind {
    case .shed: "share"
    case .capacity: "capacity"
    case .readmit: "ramp"
    }
  }

  private func text(_ quantity: Quantity) -> String { StabilityVerdict.text(quantity) }

  private func cost(_ trial: Rescue.Trial, _ opening: String, isShort: Bool = false) -> String {
    let events = FigureText.grouped(Int64(trial.undeliveredEvents.rounded()))
    let share = trial.createdEvents > 0 ? trial.undeliveredEvents / trial.createdEvents * 100 : 0
    let figures = "\(events) delivered events a run (\(FigureText.decimal(share)) % of those created)"
    return isShort
      ? "\(opening) \(figures)." : "\(opening) \(figures) against a fleet that was never ill."
  }
}

// MARK: - Table

extension Rescue {
  /// A row of `rescue.csv`.
  package struct Row: Sendable {
    package var trial: Trial
    package var isAnswer: Bool
  }

  /// The columns of `rescue.csv` in order.
  package static let columns: [CSVColumn<Row>] = [
    .init("value", "", "The action's value; `none` without the action.") {
      .text($0.trial.value?.text() ?? "none")
    }.shown("value") {
      ($0.trial.value.map(StabilityVerdict.text) ?? "none") + ($0.isAnswer ? " ✓" : "")
    },
    .init("seeds", "runs", "Runs: of the seeds whose fleet is ill without the action.") {
      .integer(Int64($0.trial.seeds))
    },
    .init("recovered_seeds", "runs", "Of these: recovered after the action was over.") {
      .integer(Int64($0.trial.recovered))
    }.shown("back in") { "\($0.trial.recovered) of \($0.trial.seeds)" },
    .init("ends", "", "Whether it ends the ill state: in all of them.") { .flag($0.trial.ends) },
    .init(
      "recovered_low_95_ratio", "1", "Lower end of the 95 % interval of the chance to recover (Wilson)."
    ) { .decimal($0.trial.chance.low) },
    .init(
      "recovery_mean_s", "s",
      "From the end of the last incident, mean over the runs that recovered; empty if none did."
    ) { .seconds($0.trial.meanRecovery) }
    .shown("recovered in") { $0.trial.meanRecovery.map(FigureText.span) ?? "never" },
    .init("created_events", "events", "Events created, mean over the runs.") {
      .decimal($0.trial.createdEvents)
    },
    .init("delivered_events", "events", "Events delivered by the end of the run, mean over the runs.") {
      .decimal($0.trial.deliveredEvents)
    }.shown("delivered") { FigureText.grouped(Int64($0.trial.deliveredEvents.rounded())) },
    .init(
      "undelivered_events", "events",
      "The cost: events lost, blocked, or late beyond those of the twin, mean over the runs."
    ) { .decimal($0.trial.undeliveredEvents) }
    .shown("undelivered") { FigureText.grouped(Int64($0.trial.undeliveredEvents.rounded())) },
  ]

  /// A row without the action, and one for each value tried.
  package var table: Table<Row> {
    Table(Self.columns, ([untreated] + trials).map { Row(trial: $0, isAnswer: $0 == answer) })
  }
}
