import ScenarioModel
import SimulationKernel
import UploadRetry

extension PushCampaign {
  fileprivate static let keys = ObjectKeys(
    PushCampaign(time: .start, opensPartsPerMillion: 0, delay: .constant(.zero)),
    [
      Field(
        "name", \.name, Kind<String>.name.orNothing, "What paths and labels call it.",
        defaultValue: .said("its place in the list"), isSettable: false),
      Field("at", \.time, .time, "When the first is sent.", example: "\"20m\""),
      Field(
        "to", \.cohorts, Kind<String>.text.list(0...10_000, named: "cohorts").orNothing,
        "The cohorts whose devices get it.", defaultValue: .said("every cohort with sessions")),
      Field(
        "over", \.over, .span(from: .zero),
        "How long sending takes."),
      Field(
        "opens", \.opensPartsPerMillion, .share(),
        "Of the devices whose users open it.", example: "\"5%\""),
      Field(
        "delay", \.delay, .serviceTime, "From a message to its opening.",
        example: "{ exponential: \"10m\" }"),
      Field(
        "every", \.every, Kind<Span>.span(from: .minutes(1)).orNull,
        "How often it is sent again, as normal load; at least over. A message still unopened gives way to the next.",
        defaultValue: .said("once"), isLater: true),
      .refusal("every") { _, campaign in
        guard let every = campaign.every, campaign.over > every else { return nil }
        return "every \(Units.text(every)) is shorter than over, \(Units.text(campaign.over))"
      },
      .refusal("to") { _, campaign in
        campaign.cohorts.map(\.isEmpty) ?? false
          ? "no cohort gets the message; name one, or leave to out for every cohort with sessions" : nil
      },
    ])
}

extension Kind where Value == [PushCampaign] {
  static let campaigns = Kind<PushCampaign>.object(PushCampaign.keys).list(
    0...PushCampaign.maximumNumber, named: "campaigns"
  ) { decoder, found, elements, path in
    var places: [String: Int] = [:]
    for (index, campaign) in found {
      guard let name = campaign.name else { continue }
      if let first = places[name] {
        decoder.report(
          "a second campaign named \(quoted(name)); the first is\(elements[first].position.clause)",
          at: (elements[index]["name"] ?? elements[index]).position,
          decoder.join(decoder.element(index, of: path), "name"))
      }
      places[name] = places[name] ?? index
    }
  }
}

extension Scenario {
  /// The campaign whose pace a path sets, such as `push.0.over` or `push.sale.over`; nil: the path is about something else.
  package func campaign(pacedBy path: String) -> PushCampaign? {
    guard let parts = PathText.parse(path), parts.count == 3, parts[0] == "push", parts[2] == "over" else {
      return nil
    }
    return push.first { $0.name == parts[1] }
      ?? Int(parts[1]).flatMap { push.indices.contains($0) ? push[$0] : nil }
  }
}

extension ScenarioDecoder {
  /// Whether there is somebody to open each message.
  mutating func checkCampaigns(of scenario: Scenario, _ root: PositionedValue) {
    guard let nodes = root["push"]?.elements, nodes.count == scenario.push.count else { return }
    for (index, campaign) in scenario.push.enumerated() {
      let (node, path) = (nodes[index], element(index, of: "push"))
      let names = node["to"]?.elements ?? []
      for (place, name) in (campaign.cohorts ?? []).enumerated() {
        check(
          cohort: name, of: scenario.fleet,
          at: (names.indices.contains(place) ? names[place] : node).position,
          element(place, of: join(path, "to")))
      }
      if campaign.cohorts == nil, !scenario.fleet.contains(where: { $0.sessions != nil }) {
        report(
          "no cohort has sessions, so that nobody can open the message; \(Self.remedy("one of them"))",
          at: node, path, [])
      }
    }
  }

  private static func remedy(_ cohort: String) -> String {
    "give \(cohort) for example sessions: { share: \"5%\", length: { exponential: \"3m\" } }"
  }

  private mutating func check(cohort name: String, of fleet: [Cohort], at position: Position, _ path: String)
  {
    if let cohort = cohort(name, of: fleet, at: position, path), cohort.sessions == nil {
      report(
        "\(name) has no sessions, so that its apps are always open; \(Self.remedy("it"))", at: position, path)
    }
  }

  /// Whether there is something open to be cut off.
  mutating func checkCuts(of scenario: Scenario, _ root: PositionedValue) {
    guard let nodes = root["tapi"]?["incidents"]?.elements, nodes.count == scenario.tapi.incidents.count
    else {
      return
    }
    let remedy = "give it holdsOpen: true if it has a stream, a watch or a long poll"
    for (index, incident) in scenario.tapi.incidents.enumerated() {
      guard case .cut(let cohorts, _) = incident.kind else { continue }
      let path = element(index, of: "tapi.incidents")
      let names = nodes[index]["of"]?.elements ?? []
      for (place, name) in (cohorts ?? []).enumerated() {
        let position = (names.indices.contains(place) ? names[place] : nodes[index]).position
        let path = element(place, of: join(path, "of"))
        if let cohort = cohort(name, of: scenario.fleet, at: position, path), !cohort.holdsOpen {
          report("\(name) has nothing open that could be cut off; \(remedy)", at: position, path)
        }
      }
      if cohorts == nil, !scenario.fleet.contains(where: \.holdsOpen) {
        report(
          "no cohort has anything open that could be cut off; \(remedy.replacing("give it", with: "give one"))",
          at: nodes[index], path, [])
      }
    }
  }

  /// The cohort of this name; nil after a problem.
  private mutating func cohort(_ name: String, of fleet: [Cohort], at position: Position, _ path: String)
    -> Cohort?
  {
    guard let cohort = fleet.first(where: { $0.name == name }) else {
      let names = fleet.map(\.name)
      report(
        "no cohort is called \(quoted(name))\(Spelling.hint(for: name, among: names)) The cohorts: "
          + names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : ""), at: position, path)
      return nil
    }
    return cohort
  }
}
