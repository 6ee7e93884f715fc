import ScenarioModel
import SimulationKernel

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
      .order("over", \.over, "every", \.every),
      .refusal("to") { _, campaign in
        campaign.cohorts.map(\.isEmpty) ?? false
          ? "no cohort gets the message; name one, or leave to out for every cohort with sessions" : nil
      },
    ])
}

extension Kind where Value == [PushCampaign] {
  static let campaigns = Kind<PushCampaign>.object(PushCampaign.keys).list(
    0...PushCampaign.maximumNumber, named: "campaigns"
  ) { decoder, _, elements, path in
    decoder.reportSecondNames(of: elements, "campaign") { "\(path).\($0)" }
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
    func remedy(_ cohort: String) -> String {
      "give \(cohort) for example sessions: { share: \"5%\", length: { exponential: \"3m\" } }"
    }
    for (index, campaign) in scenario.push.enumerated() {
      check(campaign.cohorts, "to", of: nodes[index], element(index, of: "push"), scenario.fleet) {
        $0.sessions == nil
          ? "\($0.name) has no sessions, so that its apps are always open; \(remedy("it"))" : nil
      } unlessAny: {
        "no cohort has sessions, so that nobody can open the message; \(remedy("one of them"))"
      }
    }
  }

  /// Whether there is something open to be cut off.
  mutating func checkCuts(of scenario: Scenario, _ root: PositionedValue) {
    guard let nodes = root["tapi"]?["incidents"]?.elements, nodes.count == scenario.tapi.incidents.count
    else { return }
    let remedy = "holdsOpen: true if it has a stream, a watch or a long poll"
    for (index, incident) in scenario.tapi.incidents.enumerated() {
      guard case .cut(let cohorts, _) = incident.kind else { continue }
      check(cohorts, "of", of: nodes[index], element(index, of: "tapi.incidents"), scenario.fleet) {
        $0.holdsOpen ? nil : "\($0.name) has nothing open that could be cut off; give it \(remedy)"
      } unlessAny: {
        "no cohort has anything open that could be cut off; give one \(remedy)"
      }
    }
  }

  /// Looks at the cohorts that a list names; nil: at all, of which one has to be right.
  /// - Parameters:
  ///   - key: of the list, in `node`.
  ///   - problem: what is wrong with a cohort; nil: nothing.
  ///   - none: the message that there is no right one.
  private mutating func check(
    _ names: [String]?, _ key: String, of node: PositionedValue, _ path: String, _ fleet: [Cohort],
    _ problem: (Cohort) -> String?, unlessAny none: () -> String
  ) {
    guard let names else {
      if fleet.allSatisfy({ problem($0) != nil }) { report(none(), at: node, path, []) }
      return
    }
    let nodes = node[key]?.elements ?? []
    for (place, name) in names.enumerated() {
      let position = (nodes.indices.contains(place) ? nodes[place] : node).position
      let path = element(place, of: join(path, key))
      guard let cohort = fleet.first(where: { $0.name == name }) else {
        report(ScenarioPaths.noCohort(name, among: fleet.map(\.name)), at: position, path)
        continue
      }
      if let problem = problem(cohort) { report(problem, at: position, path) }
    }
  }
}
