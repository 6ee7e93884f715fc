import ScenarioModel
import SimulationKernel
import TAPIModel
import TestScenarios

extension RandomScenario {
  /// What operators do, in four scenarios of ten; nothing that contradicts anything else.
  mutating func drawActions(_ scenario: inout Scenario) {
    drawServerActions(&scenario.tapi)
    for i in scenario.fleet.indices where scenario.fleet[i].rollout != nil {
      if chance(40) { scenario.fleet[i].rollout?.fetch = .seconds(Int64(int(1...100))) }
      scenario.fleet[i].rollout?.isAction = chance(50)
    }
  }

  private mutating func drawServerActions(_ tapi: inout TAPIConfiguration) {
    guard chance(40) else { return }
    let actions = (0..<int(1...5)).map { _ in
      ServerAction(
        actionKind(), at: Instant(microseconds: Int64(int(0...200_000_000))),
        for: chance(60) ? Span(microseconds: Int64(int(1...80_000_000))) : nil)
    }
    let refused = Set(actions.contradictions.map(\.action))
    tapi.actions = actions.indices.filter { !refused.contains($0) }.map { actions[$0] }
  }

  private mutating func actionKind() -> ServerAction.Kind {
    let shedding = Shedding(
      share: pick([1_000_000, Int64(int(1...1_000_000))]), key: pick([nil, nil, "shared", "cohort-0"]),
      isByDevice: chance(50), status: pick([nil, 503, 429, 404]))
    return pick([
      .retryAfter(
        pick([
          .none, .fixed(.seconds(5)), .spread(from: .seconds(1), to: .seconds(20)),
          .backlog(atLeast: .seconds(1), atMost: .seconds(30)),
        ])), .shed(shedding), .readmit(shedding),
      .capacity(factorPartsPerMillion: Int64(int(10_000...4_000_000))),
      .restart,
    ])
  }
}
