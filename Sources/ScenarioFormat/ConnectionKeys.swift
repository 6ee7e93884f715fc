import ScenarioModel
import SimulationKernel
import TAPIModel

/// `tapi.connections`: what it costs the server to be connected.
extension Connections {
  static let keys = ObjectKeys(
    Connections(handshakes: Handshakes(count: 0, time: .zero)),
    [
      Field(
        "handshakes", \.handshakes, .object(Handshakes.keys),
        "The tier that makes connections.",
        example: "{ count: 4, time: \"5ms\" }"),
      Field(
        "limit", \.limit, Kind<Int>.count(1...1_000_000_000).orNull,
        "Connections at once, those in a handshake among them.",
        defaultValue: .said("any number")),
      Field(
        "idleTimeout", \.idleTimeout, .span(from: .milliseconds(1)),
        "When the server closes an idle connection."),
      Field(
        "refusal", \.refusal, .choice,
        "Whether a refused client is told at once, or hears nothing until its time-out."
      ),
    ])
}

extension Connections.Handshakes {
  fileprivate static let keys = ObjectKeys(
    Connections.Handshakes(count: 0, time: .zero),
    [
      Field("count", \.count, .count(1...1_000_000), "Handshakes worked on at once.", example: "4"),
      Field(
        "time", \.time, .span(Span(microseconds: 1)...Span.seconds(60)), "The work of one.",
        example: "\"5ms\""),
      Field(
        "queueLimit", \.queueLimit, .count(0...1_000_000_000, or: "unlimited"),
        "Handshakes that may wait."),
    ])
}

/// `connection` of a cohort: how its clients keep connections.
extension ConnectionHabits {
  static let keys = ObjectKeys(
    ConnectionHabits(), keepsRest: true,
    [
      Field(
        "keepAlive", \.keepAlive, Kind<Span>.span(from: .milliseconds(1)).orNull,
        "How long it keeps an idle connection; null: a new one for each upload.",
        isLater: true),
      Field(
        "roundTrips", \.roundTrips, .count(0...10),
        "Ways there and back before the request leaves.",
        isLater: true),
    ])
}

extension ScenarioDecoder {
  /// Says what nobody reads, and a tier that the fleet's normal load is too much for.
  mutating func warnOfConnections(_ scenario: Scenario, _ root: PositionedValue) {
    guard let connections = scenario.tapi.connections else {
      if root["tapi"]?["connections"].map({ !$0.isNull }) ?? false { return }
      let nodes = root["fleet"]?.elements ?? []
      for (index, node) in nodes.enumerated() {
        guard let connection = node["connection"] else { continue }
        warn(
          "nothing reads it: without tapi.connections a connection costs nothing", at: connection.position,
          join(ScenarioPaths.cohort(index, of: nodes), "connection"))
      }
      return
    }
    if connections.limit != nil, scenario.fleet.contains(where: \.holdsOpen),
      let node = root["tapi"]?["connections"]?["limit"]
    {
      warn(
        "what devices hold open (holdsOpen) takes no connection: the limit is one of their requests alone",
        at: node.position, "tapi.connections.limit")
    }
    let normal = scenario.normalConnections
    if let limit = connections.limit, normal.open > Double(limit),
      let node = root["tapi"]?["connections"]?["limit"]
    {
      warn(
        "the fleet holds about \(Int64(normal.open.rounded(.up))) connections open when nothing fails",
        at: node.position, "tapi.connections.limit")
    }
    guard let node = root["tapi"]?["connections"]?["handshakes"] else { return }
    warn(
      of: normal.handshakesPerSecond, above: connections.handshakes.capacityMilli, ofThe: "tier",
      at: node.position, "tapi.connections.handshakes")
  }

  /// Warns where a part of the server can't do in a second what the fleet needs when nothing fails.
  mutating func warn(
    of need: Double, above capacity: Int64, ofThe part: String, at position: Position, _ path: String
  ) {
    guard need * 1_000 > Double(capacity) else { return }
    let needed = need < 1e12 ? Int64((need * 1_000).rounded(.up)) : .max
    warn(
      "the \(part) can do \(Units.text(milliPerSecond: capacity)), and the fleet needs about "
        + "\(Units.text(milliPerSecond: needed)) when nothing fails", at: position, path)
  }
}
