import FleetMetrics
import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// The words of a search for the incident that hurts most.
package struct AdversaryVerdict: Sendable {
  private let result: AdversaryResult
  private var study: AdversaryStudy { result.study }
  private var space: IncidentSpace { study.space }
  package init(_ result: AdversaryResult) { self.result = result }

  /// The finding, then its reason, then the worst incident: a line each.
  package var lines: [String] {
    guard result.healthySeeds * 2 > study.seeds else {
      return [
        "The fleet does not hold its load even without any incident, in "
          + "\(FigureText.part(study.seeds - result.healthySeeds, of: study.seeds, "seed")): "
          + "\(HealthWording.anyReason); there is no well state to hurt."
      ]
    }
    guard result.isPossible else {
      return [
        "Without any more incident the fleet breaks \(study.limit.text) in "
          + "\(FigureText.part(result.brokenWithout, of: study.seeds, "seed")): there is "
          + "nothing to look for."
      ]
    }
    if !result.isFinished { return unfinished }
    let worst = result.worst.map { [worstLine($0)] } ?? []
    guard let shortest = result.boundary else {
      return [
        "It stands "
          + (result.standings.count == 1
            ? "the one incident that was" : "all \(result.standings.count) incidents that were")
          + " tried within the bounds: in most seeds "
          + (study.isStandardLimit
            ? "it is back within \(horizon) of each." : "none breaks \(study.limit.text).")
      ] + worst
    }
    return [shortestLine(shortest), reason(shortest.standing)] + worst
  }

  /// The lines on the incidents that were tried before the search was stopped.
  private var unfinished: [String] {
    func line(_ standing: IncidentStanding) -> String {
      "\(length(standing)) of \(phrase(standing.candidate)), in \(FigureText.part(standing.broken, of: standing.seeds, "seed"))"
    }
    let tried = result.standings
    let shortest = tried.filter(\.breaks).min {
      space.index(.length, of: $0.candidate) ?? 0 < space.index(.length, of: $1.candidate) ?? 0
    }
    let opening = "Of \(FigureText.count(tried.count, "incident")) tried so far "
    guard let shortest else { return [opening + "none breaks \(study.limit.text)."] }
    let worst = tried.dropFirst().reduce(tried[0]) { $1.isWorse(than: $0) ? $1 : $0 }
    return [
      opening + "the shortest that breaks \(study.limit.text) is \(line(shortest)).",
      "Worst by \(study.criterion) so far: \(line(worst)) (\(value(worst))).",
    ]
  }

  package var sentence: String { lines.joined(separator: " ") }

  private func shortestLine(_ found: ConfirmedIncident) -> String {
    let standing = found.standing
    let what = "\(length(standing)) of \(phrase(standing.candidate))"
    var text =
      study.isStandardLimit
      ? "After \(what) the fleet is not back within \(horizon)" : "\(what) break \(study.limit.text)"
    text += " in \(FigureText.part(standing.broken, of: standing.seeds, "seed"))"
    if let below = result.below?.standing {
      text += ", with \(length(below)) in \(below.broken) of \(below.seeds)"
    }
    text +=
      " (of the \(FigureText.count(found.fresh.seeds, "seed")) that it was not chosen by in \(found.fresh.broken))."
    if !found.isConfirmed { return text + " The fresh seeds do not confirm it." }
    if result.below == nil, space.lengths.count > 1 {
      return text + " That is the shortest allowed: a shorter one may do it, too."
    }
    return text
      + (result.below?.isConfirmed == true
        ? " So the boundary lies lower: the runs allowed were used up before it was reached (--runs)."
        : " Nothing shorter was found that does.")
  }

  /// Returns the mechanism as the runs show it.
  private func reason(_ standing: IncidentStanding) -> String {
    var text = "Why: "
    if let herd = standing.herdFactor {
      text += "from its end on the offered load peaks at \(MetricText.plain(herd)) times the capacity, and "
    }
    return text
      + "it is above the capacity for \(FigureText.span(Int64(standing.secondsAboveCapacity * 1e6))) of the run; "
      + "\(undelivered(standing)) at its end."
  }

  /// `943 events lost, 20 late`
  private func undelivered(_ standing: IncidentStanding) -> String {
    let lost = standing.fullLost
    return (lost == 0 ? "no event" : FigureText.count(lost, "event")) + " lost, "
      + "\(FigureText.grouped(standing.fullLate)) late"
  }

  private func worstLine(_ found: ConfirmedIncident) -> String {
    let standing = found.standing
    var text =
      "Worst by \(study.criterion): \(length(standing)) of \(phrase(standing.candidate)), \(value(standing)) in the mean of "
      + "\(FigureText.count(standing.seeds, "seed")) (of the fresh ones \(value(found.fresh))), "
      + "\(undelivered(standing))."
    let ends = self.ends(standing.candidate)
    if !ends.isEmpty {
      text += " It lies on the bounds (\(ends.joined(separator: ", "))): beyond them one may hurt more."
    }
    return text
  }

  /// On which ends of its bounds a candidate lies.
  private func ends(_ candidate: SearchCandidate) -> [String] {
    func end(_ dimension: IncidentSpace.Dimension, _ count: Int, _ low: String?, _ high: String) -> [String] {
      guard count > 1, let index = space.index(dimension, of: candidate) else { return [] }
      return index == count - 1 ? [high] : index == 0 ? low.map { [$0] } ?? [] : []
    }
    return end(.length, space.lengths.count, "the shortest", "the longest")
      + end(.depth, space.depths.last == 1_000_000 ? 0 : space.depths.count, "the least deep", "the deepest")
      + end(.start, space.starts.count, "the earliest", "the latest")
      + end(.retryAfter, space.waits.count, nil, "the longest Retry-After")
  }

  private func length(_ standing: IncidentStanding) -> String {
    AdversaryRow(standing: standing, space: space).length
  }

  /// `outage answered with 503, Retry-After 10 s, from 12 min on`
  private func phrase(_ candidate: SearchCandidate) -> String {
    guard let incident = space.incident(candidate) else { return "no incident" }
    let wait = space.wait(of: candidate).map { ", Retry-After \(FigureText.span($0.microseconds))," } ?? ""
    return "\(incident.kind.phrase)\(wait) from \(FigureText.span((incident.start - .start).microseconds)) on"
  }

  private func value(_ standing: IncidentStanding) -> String { Self.value(standing, study.objective) }

  private static func value(_ standing: IncidentStanding, _ objective: Metric) -> String {
    guard let value = standing.value else { return "no value" }
    if standing.seeds == standing.never { return "never within \(MetricText.value(objective, value))" }
    return MetricText.value(objective, value)
      + (standing.never > 0 ? " (in \(standing.never) of \(standing.seeds) never)" : "")
  }

  private var horizon: String { FigureText.span(space.horizon.microseconds) }

  /// The shortest that breaks the limit, one a step shorter, the worst, and the worst of each other kind.
  package var table: Table<AdversaryRow> {
    let worst = result.worst.flatMap { space.kind(of: $0.standing.candidate) }
    let rows = AdversaryRow.rows(result).filter { row in
      row.role != nil || row.isWorstOfKind && space.kind(of: row.standing.candidate) != worst
    }
    let objective = study.objective
    return Table(
      AdversaryRow.columns.map { column in
        column.name != "objective_mean"
          ? column : column.shown(objective.title) { Self.value($0.standing, objective) }
      }, rows)
  }
}

/// A row of `adversary.csv`.
package struct AdversaryRow: Sendable {
  package enum Role: String, Sendable, Hashable, CaseIterable { case boundary, below, worst }
  package var role: Role?
  package var isWorstOfKind = false
  package var standing: IncidentStanding
  fileprivate var space: IncidentSpace
  private var kind: AdversaryKind? { space.kind(of: standing.candidate) }
  private var incident: (at: Int64, length: Int64)? {
    space.incident(standing.candidate).map {
      (($0.start - .start).microseconds, $0.duration.microseconds)
    }
  }
  fileprivate var length: String { incident.map { FigureText.span($0.length) } ?? "none" }
  private var depth: Int64? { space.depth(of: standing.candidate) }
  private var wait: Int64? { space.wait(of: standing.candidate)?.microseconds }

  /// The boundary, a step below it, the worst; then every incident in the order of the search.
  package static func rows(_ result: AdversaryResult) -> [AdversaryRow] {
    let space = result.study.space
    let named: [(Role, ConfirmedIncident?)] = [
      (.boundary, result.boundary), (.below, result.below), (.worst, result.worst),
    ]
    var rows = named.compactMap { role, found in
      found.map { AdversaryRow(role: role, standing: $0.standing, space: space) }
    }
    var worst: [AdversaryKind: IncidentStanding] = [:]
    for standing in result.standings {
      guard let kind = space.kind(of: standing.candidate) else { continue }
      if worst[kind].map({ standing.isWorse(than: $0) }) ?? true { worst[kind] = standing }
    }
    rows += result.standings.map { standing in
      let kind = space.kind(of: standing.candidate)
      return AdversaryRow(
        isWorstOfKind: kind.flatMap { worst[$0]?.candidate } == standing.candidate, standing: standing,
        space: space)
    }
    return rows
  }

  /// The columns of `adversary.csv` in order.
  package static let columns: [CSVColumn<AdversaryRow>] = [
    .init(
      "role", "",
      "`boundary`: the shortest found that breaks the limit in most seeds; `below`: the same a step shorter; `worst`: by the "
        + "objective; empty: one of those tried, in order."
    ) { $0.role.map { .text($0.rawValue) } ?? .empty }
    .shown("incident") { $0.role?.rawValue ?? "by kind" },
    .init(
      "kind", "",
      "Its kind: " + AdversaryKind.all.map { "`\($0.name)`" }.joined(separator: ", ") + "."
    ) { $0.kind.map { .text($0.name) } ?? .empty }.shown("kind") { $0.kind?.name ?? "none" },
    .init("at_s", "s", "When it starts.") { .seconds($0.incident?.at) }
      .shown("at") { $0.incident.map { FigureText.span($0.at) } ?? "" },
    .init("for_s", "s", "How long it lasts.") { .seconds($0.incident?.length) }.shown("for", \.length),
    .init("depth_ratio", "1", "The share that it takes; empty of kinds that have none.") {
      .decimal($0.depth.map { Double($0) / 1e6 }, decimals: 6)
    }.shown("depth") { $0.depth.map { Units.text(partsPerMillion: $0) } ?? "" },
    .init("retry_after_s", "s", "The Retry-After of its answers; empty if there is none.") {
      .seconds($0.wait)
    }.shown("Retry-After") { $0.wait.map(FigureText.span) ?? "" },
    .init("seeds", "runs", "Seeds that it had.") { .integer(Int64($0.standing.seeds)) },
    .init("broken_seeds", "runs", "Of these: broke the limit.") { .integer(Int64($0.standing.broken)) }
      .shown("breaks the limit") { "\($0.standing.broken) of \($0.standing.seeds)" },
    .init("never_seeds", "runs", "Of these: the objective's time did not come.") {
      .integer(Int64($0.standing.never))
    },
    .init("objective_mean", "unit", "The objective, in its own unit: mean over the seeds.") {
      .decimal($0.standing.value, decimals: 6)
    },
    .init("lost_events", "events", "Events lost or blocked, mean over the seeds.") {
      .decimal($0.standing.lost)
    }.shown("lost") { FigureText.grouped(Int64($0.standing.lost.rounded())) },
    .init(
      "undelivered_events", "events",
      "Events lost, blocked, or late beyond those of the twin, mean over the seeds."
    ) { .decimal($0.standing.undelivered) }
    .shown("undelivered") { FigureText.grouped($0.standing.fullUndelivered) },
    .init(
      "herd_factor_ratio", "1",
      "Largest offered load from its end on, divided by the capacity, mean over the seeds."
    ) { .decimal($0.standing.herdFactor, decimals: 6) },
  ]
}
