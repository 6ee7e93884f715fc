import FleetMetrics

/// The words of a verdict.
enum VerdictWording {
  /// How one run fared.
  static func single(_ run: RunSummary) -> String {
    var sentence = health([run])
    if !sentence.isEmpty { sentence += "; with its incidents " }
    if !run.hasIncidents {
      sentence = sentence.isEmpty ? "no incident to recover from" : health([run])
    } else if let recovery = run.recoveryTime {
      sentence += "the fleet recovers \(FigureText.span(recovery)) after the last incident"
    } else {
      sentence += "the fleet never recovers from the last incident within the run"
    }
    sentence += "; \(losses(run)); p99 time to delivery \(FigureText.span(run.timeToDeliveryP99))"
    if run.pendingEvents > 0 {
      sentence += ", \(FigureText.grouped(run.pendingEvents)) events still undelivered at the end"
    }
    return capitalised(sentence) + caveat([run])
  }

  /// Whose fleet does not hold even without incidents; empty if all do.
  static func health(_ runs: [RunSummary]) -> String {
    let unhealthy = runs.filter { !$0.baselineIsHealthy }
    if unhealthy.isEmpty { return "" }
    let why = "its backlog or time to delivery grows over the run"
    if unhealthy.count == runs.count { return "this fleet does not hold even without any incident: \(why)" }
    return "with \(list(unhealthy.map(\.run))) this fleet does not hold even without any incident: \(why)"
  }

  /// Who is best and by what, or who cannot be told apart.
  static func decision(_ ranking: Verdict.Ranking) -> String {
    guard let criterion = ranking.decidedBy, let last = ranking.eliminations.last, let next = last.runs.first
    else {
      return tie(ranking)
    }
    let best = ranking.best[0]
    let lead = "\(best.run) \(best.recoveryTime != nil ? "brings the fleet back best" : "does best"): "
    switch criterion {
    case .health: return lead + "it alone keeps the fleet healthy without incidents"
    case .recovery:
      return lead + "it alone recovers, \(FigureText.span(best.recoveryTime)) after the last incident"
    case .losses:
      return lead
        + "it loses \(events(best)), \(next.run) (next) \(FigureText.grouped(max(0, next.lostEvents)))\(recovered(best))"
    case .recoveryTime:
      return lead
        + "it recovers \(FigureText.span(best.recoveryTime)) after the last incident, \(next.run) (next) after "
        + "\(FigureText.span(next.recoveryTime)); \(losses(best)), p99 time to delivery \(FigureText.span(best.timeToDeliveryP99))"
    case .timeToDelivery:
      return lead
        + "its p99 time to delivery is \(FigureText.span(best.timeToDeliveryP99)), \(next.run) (next) \(FigureText.span(next.timeToDeliveryP99)), "
        + "with nothing between them in losses\(best.hasIncidents ? " and recovery" : "")"
    case .attempts:
      return lead
        + "it needs \(FigureText.decimal(best.attemptsPerDeviceDay)) attempts per device and day, \(next.run) (next) "
        + "\(FigureText.decimal(next.attemptsPerDeviceDay)), with nothing else between them"
    }
  }

  private static func tie(_ ranking: Verdict.Ranking) -> String {
    let best = ranking.best
    var sentence = "no difference that one seed can show between \(list(best.map(\.run)))"
    let spans = best.compactMap(\.recoveryTime)
    if spans.count == best.count, let low = spans.min(), let high = spans.max(),
      best.allSatisfy(\.hasIncidents)
    {
      sentence +=
        low == high
        ? ": each recovers \(FigureText.span(low))"
        : ": they recover \(FigureText.span(low)) to \(FigureText.span(high))"
      sentence += " after the last incident"
    }
    if let other = ranking.eliminations.last(where: { $0.criterion != .recovery && $0.criterion != .losses })
    {
      sentence += "; \(list(other.runs.map(\.run))) \(other.runs.count == 1 ? "is" : "are") behind"
    }
    return sentence
  }

  private static func recovered(_ run: RunSummary) -> String {
    guard run.hasIncidents else { return "" }
    guard let time = run.recoveryTime else { return "" }
    return ", and recovers \(FigureText.span(time)) after the last incident"
  }

  private static func losses(_ run: RunSummary) -> String { "\(events(run)) lost" }

  private static func events(_ run: RunSummary) -> String {
    let lost = max(0, run.lostEvents)
    return lost == 0 ? "no events" : lost == 1 ? "1 event" : "\(FigureText.grouped(lost)) events"
  }

  static func caveat(_ runs: [RunSummary]) -> String {
    let seeds = Set(runs.map(\.seed))
    if seeds.count == 1, let seed = seeds.first { return " (one seed, \(seed))." }
    return " (one seed a variant)."
  }

  static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  static func capitalised(_ sentence: String) -> String {
    // A variant's name stays as it is written.
    for opening in ["the ", "this ", "no ", "with ", "all variants "] where sentence.hasPrefix(opening) {
      return sentence.prefix(1).uppercased() + sentence.dropFirst()
    }
    return sentence
  }
}
