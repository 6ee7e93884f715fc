import ScenarioModel
import SimulationKernel

extension EventProcess {
  func normalised(atOnce: Int) -> PositionedValue {
    let once: [(String, PositionedValue)] = atOnce == 1 ? [] : [("atOnce", .number("\(atOnce)"))]
    switch self {
    case .poisson(let gap):
      if atOnce == 1, let rate = Units.rateText(gap: gap) { return .text(rate) }
      return .members([Self.rate(gap)] + once)
    case .periodic(let every, let phase):
      return .members(
        [("every", .span(every)), ("phase", .text(phase == .random ? "random" : "flush"))] + once)
    case .varying(let gap, let curve): return .members([Self.rate(gap), ("curve", curve.normalised)] + once)
    case .replay(let rates):
      let share = Units.text(partsPerMillion: rates.sharePartsPerMillion)
      return .members([("csv", .text(rates.table)), ("share", .text(share))] + once)
    }
  }

  private static func rate(_ gap: Span) -> (String, PositionedValue) {
    Units.rateText(gap: gap).map { ("rate", .text($0)) } ?? ("meanGap", .span(gap))
  }
}

extension RateCurve {
  fileprivate var normalised: PositionedValue {
    let period = ("period", period.map { PositionedValue.span($0) } ?? .null)
    switch shape {
    case .points(let points):
      let list = points.map { point -> PositionedValue in
        .members([
          ("at", .span(point.time)),
          ("factor", .text(Units.text(partsPerMillion: point.factorPartsPerMillion))),
        ])
      }
      return .members([("points", .list(list)), period])
    case .sine(let amplitude, let peak):
      return .members([
        ("amplitude", .text(Units.text(partsPerMillion: amplitude))), ("peak", .span(peak)), period,
      ])
    }
  }
}

extension Spike {
  var normalised: PositionedValue {
    .members([
      ("at", .span(time - .start)), ("spread", .span(spread)),
      ("share", .text(Units.text(partsPerMillion: sharePartsPerMillion))), ("events", .number("\(events)")),
      ("flush", .bool(flushes)), ("every", every.map { .span($0) } ?? .null),
    ])
  }
}
