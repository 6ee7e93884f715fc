import ScenarioModel
import SimulationKernel
import TAPIModel

extension ScenarioDecoder {
  /// A recovery is counted when the last incident is over and no operator holds anything any more, has to hold for a while within the
  /// run, and is told in rows. Whatever leaves no room for that is warned of: its verdict would be that the fleet never recovers.
  mutating func warnOfUnseenRecovery(_ root: PositionedValue, _ scenario: Scenario) {
    guard let duration, !scenario.tapi.incidents.isEmpty else { return }
    var lastEnd = Span.zero
    if let nodes = root["tapi"]?["incidents"]?.elements,
      nodes.count == scenario.tapi.incidents.count
    {
      for (index, incident) in scenario.tapi.incidents.enumerated() {
        warnOfEnd(of: incident, scenario, at: nodes[index].position, "tapi.incidents.\(index)")
        if incident.start - .start < duration { lastEnd = max(lastEnd, incident.end - .start) }
      }
    }
    guard scenario.tapi.incidents.contains(where: { $0.start - .start < duration }) else { return }
    if let nodes = root["actions"]?.elements {
      for (index, span) in actionSpans(nodes, scenario) where span.end < duration {
        lastEnd = max(lastEnd, span.end)
        let left = duration - span.end
        guard left < shortest(scenario) else { continue }
        warn(
          "\(span.start == span.end ? "happens" : "ends") \(Units.text(left)) before the run ends: no recovery can be seen, which is counted "
            + "once operators hold nothing any more and has to hold for \(Units.text(scenario.recoveryHold))",
          at: nodes[index].position, "actions.\(index)")
      }
    }
    warnOfLongRows(root, scenario, left: duration - lastEnd)
  }

  private mutating func warnOfEnd(
    of incident: Incident, _ scenario: Scenario, at position: Position, _ path: String
  ) {
    guard let duration else { return }
    let (start, end) = (incident.start - .start, incident.end - .start)
    if start >= duration {
      warn(
        "starts at \(Units.text(start)), when the run of \(Units.text(duration)) is over: it never happens",
        at: position, path)
    } else if end >= duration {
      let place = end == duration ? "with" : "after"
      warn(
        "ends at \(Units.text(end)), \(place) the run of \(Units.text(duration)): no recovery can be seen",
        at: position, path)
    } else if duration - end < shortest(scenario) {
      warn(
        "ends \(Units.text(duration - end)) before the run does: no recovery can be seen, which has to hold for "
          + Units.text(scenario.recoveryHold), at: position, path)
    }
  }

  /// What a recovery has to hold for; nothing in rows so long that nobody asks for one.
  private func shortest(_ scenario: Scenario) -> Span {
    scenario.interval > scenario.recoveryHold ? .zero : scenario.recoveryHold
  }

  /// From when to when operators hold something, by the number of the action; what publishes Settings holds nothing.
  private func actionSpans(
    _ nodes: [PositionedValue], _ scenario: Scenario
  ) -> [(index: Int, span: (start: Span, end: Span))] {
    let server = nodes.indices.filter { !PublishingActions.isWhole(nodes[$0]) }
    guard server.count == scenario.tapi.actions.count else { return [] }
    let held = zip(server, zip(scenario.tapi.actions, scenario.tapi.actions.ends)).map { index, action in
      (index, (action.0.start - .start, action.1 == .never ? Units.longestSpan : action.1 - .start))
    }
    var published: [Int: Span] = [:]
    for (number, index) in publishing?.actions ?? [:] {
      guard scenario.fleet.indices.contains(number), let rollout = scenario.fleet[number].rollout else {
        continue
      }
      published[index] = rollout.time - .start
    }
    return held + published.sorted { $0.key < $1.key }.map { ($0.key, ($0.value, $0.value)) }
  }

  private mutating func warnOfLongRows(_ root: PositionedValue, _ scenario: Scenario, left: Span) {
    let hold = scenario.recoveryHold
    guard scenario.interval > hold, left >= hold, let node = root["interval"] else { return }
    let rows = left.microseconds / scenario.interval.microseconds
    guard rows < 20 else { return }
    warn(
      "in \(rows) row\(rows == 1 ? "" : "s") of \(Units.text(scenario.interval)) a recovery, which has to hold for "
        + "\(Units.text(hold)), can hardly be told; take \(Units.text(hold)) or less", at: node.position,
      "interval")
  }
}
