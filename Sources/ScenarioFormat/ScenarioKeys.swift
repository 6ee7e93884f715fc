import ScenarioModel
import ShippedQuirks
import SimulationKernel
import TAPIModel

/// A scenario as a file has it: with what holds for every cohort that does not say so itself.
struct ScenarioDocument: Sendable {
  var format = 1
  var scenario = Scenario(
    duration: .zero, interval: .seconds(1), tapi: TAPIConfiguration.keys.defaultValue, fleet: [])
  /// What cohorts have that do not say it themselves.
  var ofAll = Cohort.standIn
  var client: ClientPreset?
  var scale = Scaling.whole

  static let keys = ObjectKeys(
    ScenarioDocument(), keepsRest: true,
    [
      Field("format", \.format, .format, "The version of the format.", example: "1", isSettable: false),
      Field(
        "question", \.scenario.question, Kind<String>.text.orNothing,
        "What the scenario is to find out."),
      Field("seed", \.scenario.seed, .seed, "The same seed gives the same bytes."),
      Field(
        "duration", \.scenario.duration, .span(from: .milliseconds(1)), "Virtual time that the run covers.",
        example: "\"2h\""),
      .check { decoder, _, _, text in
        decoder.duration = text.scenario.duration == .zero ? nil : text.scenario.duration
        return true
      },
      Field(
        "interval", \.scenario.interval, .span(from: .milliseconds(1)),
        "Width of a row of timeseries.csv; at most 100,000 rows."),
      .check { decoder, node, _, text in decoder.checkInterval(text.scenario.interval, node) },
      Field(
        "tapi", \.scenario.tapi, .server, "The server: a bucket or workers.",
        example: "{ bucket: { capacity: \"4000/s\" } }"),
      Field(
        "network", \.ofAll, keys: Cohort.networkKeys, "Of cohorts without one of their own.",
        isWritten: false),
      Field(
        "client", \.client, Kind<ClientPreset>.client.orNothing,
        "Of cohorts without one of their own.", defaultValue: .said("tapi-document"),
        isWritten: false
      ),
      .check { decoder, node, _, text in
        (decoder.ofAll, decoder.policyOfAll, decoder.clientOfAll) = (text.ofAll, node["policy"], text.client)
        return true
      },
      Field(
        "fleet", \.scenario.fleet, .fleet, "Cohorts of like devices; at most 4,000,000,000 devices in all.",
        example: "[{ name: \"phones\", devices: 1000, events: \"6/min\" }]"),
      Field(
        "push", \.scenario.push, .campaigns,
        "Push messages, which make people open their apps.", isLater: true),
      Field(
        "actions", \.actions, .actions,
        "What operators do during the run.",
        isLater: true),
      Field(
        "scale", \.scale, .scale,
        "The scenario at a part of its size, as 1:20; refused where so few are left that chance decides.",
        isWritten: false),
      Field(
        key: .init(
          name: "settings", shape: .settings, meaning: "Of cohorts without their own.",
          schema: .oneOf([.type("string"), .type("object")]))),
      Field(
        "policy", \.ofAll.behaviour.policy, keys: ClientPolicy.keys,
        "Switches of every cohort, over its client's and below its own.",
        isWritten: false),
      Field(
        key: .init(
          name: "compare", isSettable: false,
          meaning:
            "Values to compare by path, such as \"settings.backoffConfig.jitterStrategy\": [\"full\", \"equal\"]; client: \"all\" are all that ship.",
          schema: .members([
            ("type", .text("object")),
            (
              "additionalProperties",
              .oneOf([
                .members([("type", .text("array")), ("minItems", .number("1")), ("maxItems", .number("200"))]
                ),
                .const(.text("all")),
              ])
            ),
          ]))),
      .check { decoder, node, _, text in
        guard node["tapi"] != nil, node["fleet"] != nil else { return false }
        let (tapi, fleet) = (text.scenario.tapi, text.scenario.fleet)
        decoder.warnIfNothingIsLaunched(tapi, fleet, node)
        decoder.warnOfRestarts(text.scenario, node)
        decoder.warnOfIgnoredRetryAfter(tapi, fleet, node)
        decoder.warnOfConnections(text.scenario, node)
        decoder.warnOfSettingsFetches(text.scenario, node)
        decoder.warnOfProxies(text.scenario, node)
        decoder.warnOfKeyLimits(text.scenario, node)
        decoder.warnOfTimeouts(text.scenario, node)
        decoder.checkCampaigns(of: text.scenario, node)
        decoder.checkCuts(of: text.scenario, node)
        decoder.checkActions(on: tapi, fleet, node)
        decoder.reportTooManyRows(node, text.scenario)
        decoder.warnOfUnseenRecovery(node, text.scenario)
        decoder.checkWindows(fleet, text.scenario.duration, node)
        return true
      },
      .check { decoder, node, path, text in
        guard let scale = node["scale"], node["tapi"] != nil, node["fleet"] != nil else { return true }
        if let refusal = text.scale.refusal(of: text.scenario) {
          decoder.report(refusal, at: scale.position, decoder.join(path, "scale"))
          return false
        }
        text.scenario = text.scale.scaled(text.scenario)
        text.scenario.scale = text.scale.divisor
        return true
      },
    ])
}

extension Kind where Value == Int {
  fileprivate static let format = Kind.parsed(
    schema: .const(.number("1")), { ExactDecimal($0)?.times(1) == .exact(1) ? 1 : nil },
    or: { "this program reads format 1, found \($0)" }, write: { .number("\($0)") })
}

extension Kind where Value == Scaling {
  fileprivate static let scale = Kind.parsed(
    schema: .pattern("^1:[1-9][0-9]{0,6}$"), range: "1:1 to 1:1000000", { $0.text.flatMap { Scaling($0) } },
    or: { "expected a scale such as \"1:20\", found \($0); allowed: 1:1 to 1:1000000" },
    write: { .text($0.text) })
}

extension Kind where Value == UInt64 {
  package static let seed = Kind.parsed(
    schema: .integer(0...UInt64.max), { ExactDecimal($0)?.unsigned },
    or: { "\($0) is not a seed; allowed: whole numbers from 0 to \(UInt64.max)" },
    write: { .number("\($0)") })
}

extension Scenario {
  /// The whole scenario as JSON, every default written out, Settings inline; `ScenarioFile` reads it back
  /// into an equal scenario. Pretty-printed with two spaces, a line feed at the end.
  public var normalisedJSON: String {
    JSONText.pretty(ScenarioDocument.keys.write(ScenarioDocument(scenario: self))) + "\n"
  }

  /// Normalised JSON of a whole fleet of which a part is to be simulated.
  package func normalisedJSON(at scale: Scaling) -> String {
    if scale == .whole { return normalisedJSON }
    var tree = ScenarioDocument.keys.write(ScenarioDocument(scenario: self))
    tree.setMember("scale", to: PositionedValue(.string(scale.text), at: .commandLine))
    return JSONText.pretty(tree) + "\n"
  }
}

extension ScenarioDecoder {
  static let maximumRows: Int64 = 100_000
  /// Every cohort counts into a table of its own: some gigabytes of counters at this limit, and ten more where apps close.
  static let maximumRowsOfAllCohorts: Int64 = 10_000_000

  /// A scenario with stand-ins where there were problems; nil: it is no object.
  mutating func scenario(_ root: PositionedValue, settings: [CohortSettings]) -> Scenario? {
    settingsOfCohorts = settings
    var text = ScenarioDocument()
    _ = ScenarioDocument.keys.read(&self, root, "", into: &text)
    return root.members == nil ? nil : text.scenario
  }

  fileprivate mutating func reportTooManyRows(_ root: PositionedValue, _ scenario: Scenario) {
    guard let duration else { return }
    let (interval, cohorts) = (scenario.interval, scenario.fleet.count)
    let rows = (duration.microseconds - 1) / interval.microseconds + 1
    guard rows <= Self.maximumRows, rows * Int64(cohorts) > Self.maximumRowsOfAllCohorts else { return }
    report(
      "\(rows) rows for each of \(cohorts) cohorts are more than \(Self.maximumRowsOfAllCohorts) together; "
        + "take a longer interval", at: (root["interval"] ?? root["duration"] ?? root).position, "interval")
  }

  fileprivate mutating func checkInterval(_ interval: Span, _ root: PositionedValue) -> Bool {
    guard let duration else { return true }
    let position = (root["interval"] ?? root["duration"] ?? root).position
    let origin = root["interval"] == nil ? " (the default)" : ""
    if interval > duration {
      report(
        "\(Units.text(interval))\(origin) is longer than the duration, \(Units.text(duration))", at: position,
        "interval")
      return false
    }
    let rows = (duration.microseconds - 1) / interval.microseconds + 1
    if rows > Self.maximumRows {
      let least = (duration.microseconds - 1) / Self.maximumRows + 1
      let seconds = (least - 1) / 1_000_000 + 1
      let enough = least < 1_000_000 ? Span.milliseconds((least - 1) / 1_000 + 1) : Span.seconds(seconds)
      report(
        "\(Units.text(interval))\(origin) makes \(rows) rows of a run of \(Units.text(duration)); at most "
          + "\(Self.maximumRows) are allowed, so at least \(Units.text(enough))", at: position, "interval")
      return false
    }
    return true
  }

  /// Warns of everything that leaves no room for a recovery: no verdict could tell of one. A recovery is
  /// counted when the last incident is over and no operator holds anything any more. It has to hold for a while within the run,
  /// and is told in rows.
  mutating func warnOfUnseenRecovery(_ root: PositionedValue, _ scenario: Scenario) {
    guard let duration else { return }
    if let nodes = root["tapi"]?["incidents"]?.elements,
      nodes.count == scenario.tapi.incidents.count
    {
      for (index, incident) in scenario.tapi.incidents.enumerated() {
        let (start, end) = (incident.start - .start, incident.end - .start)
        if start >= duration {
          warn(
            "starts at \(Units.text(start)), when the run of \(Units.text(duration)) is over: it never happens",
            at: nodes[index].position, "tapi.incidents.\(index)")
          continue
        }
        warnOfEnd(end, scenario, at: nodes[index].position, "tapi.incidents.\(index)")
      }
    }
    if let nodes = root["push"]?.elements, nodes.count == scenario.push.count {
      for (index, campaign) in scenario.push.enumerated() {
        let end = campaign.end - .start
        guard campaign.every == nil, campaign.time - .start < duration else { continue }
        warnOfEnd(end, scenario, at: nodes[index].position, element(index, of: "push"))
      }
    }
    guard var lastEnd = scenario.lastIncidentEnd.map({ $0 - .start }) else { return }
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

  /// - Parameter end: of an incident or a campaign that starts within the run.
  private mutating func warnOfEnd(
    _ end: Span, _ scenario: Scenario, at position: Position, _ path: String
  ) {
    guard let duration else { return }
    if end >= duration {
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

  /// Returns how long a recovery has to hold; nothing in rows so long that nobody asks for one.
  private func shortest(_ scenario: Scenario) -> Span {
    scenario.interval > scenario.recoveryHold ? .zero : scenario.recoveryHold
  }

  /// From when to when operators hold something, by the number of the action; what publishes Settings holds nothing.
  private func actionSpans(
    _ nodes: [PositionedValue], _ scenario: Scenario
  ) -> [(index: Int, span: (start: Span, end: Span))] {
    let server = nodes.indices.filter { !Publication.isWhole(nodes[$0]) }
    guard server.count == scenario.tapi.actions.count else { return [] }
    let held = zip(server, zip(scenario.tapi.actions, scenario.tapi.actions.ends)).map { index, action in
      let end = action.1 == .never ? Units.longestSpan : action.1 - .start
      return (index, (action.0.start - .start, end))
    }
    var published: [Int: Span] = [:]
    for (number, action) in publications where scenario.fleet.indices.contains(number) {
      if let rollout = scenario.fleet[number].rollout { published[action.index] = rollout.time - .start }
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
