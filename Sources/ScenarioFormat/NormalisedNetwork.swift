import ScenarioModel
import SimulationKernel

extension Cohort {
  var normalisedTimeout: PositionedValue {
    guard let connectTimeout else { return .span(timeout) }
    return .members([("connect", .span(connectTimeout)), ("request", .span(timeout))])
  }
}

extension Link {
  /// Members of `network`.
  var normalised: [(String, PositionedValue)] {
    [
      ("bandwidth", uploadBytesPerSecond.map { .text(Units.text(bytes: $0) + "/s") } ?? .null),
      (
        "loss",
        .members([
          ("request", .text(Units.text(partsPerMillion: requestLossPartsPerMillion))),
          ("answer", .text(Units.text(partsPerMillion: answerLossPartsPerMillion))),
        ])
      ),
    ]
  }
}

extension Sessions {
  var normalised: PositionedValue {
    .members([
      ("share", .text(Units.text(partsPerMillion: sharePartsPerMillion))), ("length", length.normalised),
      ("eventsInBackground", .bool(createsEventsInBackground)),
    ])
  }
}

extension Connectivity {
  var normalised: PositionedValue {
    var members: [(String, PositionedValue)] = []
    if let periods {
      members = [
        ("online", periods.online.normalised), ("offline", periods.offline.normalised),
        ("share", .text(Units.text(partsPerMillion: periods.sharePartsPerMillion))),
      ]
    }
    members += [
      (
        "interruptions",
        .list(
          interruptions.map { one in
            .members([
              ("at", .span(one.start - .start)), ("for", .span(one.duration)),
              ("share", .text(Units.text(partsPerMillion: one.sharePartsPerMillion))),
            ])
          })
      ), ("flushOnReconnect", .bool(flushesOnReconnect)),
    ]
    return .members(members)
  }
}
