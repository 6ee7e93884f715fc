import FleetMetrics
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import Testing

/// The claims of experiment 035 on a twentieth of its fleet, with all clients' capacities divided alike.
@Suite struct ConnectionExperimentTests {
  /// The last five minutes of a run that restarts its endpoint at 10 minutes.
  private func end(_ overrides: [String: String]) throws -> (delivered: Double, late: Double, reused: Double)
  {
    var all = [
      "duration": "30m", "interval": "10s", "fleet.phones.devices": "500", "tapi.bucket.capacity": "31.7/s",
      "tapi.bucket.burst": "10",
    ]
    all.merge(overrides) { $1 }
    let record = try windowed(
      ExperimentFiles.decode("035-connections/scenario.json5", all).scenario, checks: false)
    func share(_ part: Int64, _ whole: Int64) -> Double { Double(part) / Double(max(whole, 1)) }
    let rows = record.series.rows.suffix(30)
    let connections = record.connections.suffix(30)
    let handshakes = connections.reduce(0) { $0 + $1[.handshakes] }
    return (
      share(rows.reduce(0) { $0 + $1[.deliveredEvents] }, rows.reduce(0) { $0 + $1[.createdEvents] }),
      share(connections.reduce(0) { $0 + $1[.late] }, handshakes),
      share(connections.reduce(0) { $0 + $1[.reused] }, rows.reduce(0) { $0 + $1.attempts })
    )
  }

  /// Five handshakes a second, for each of `servers`.
  private func tier(queueLimit: Int, servers: Int = 1) -> String {
    "{ handshakes: { count: \(servers), time: '200ms', queueLimit: \(queueLimit) }, idleTimeout: '75s' }"
  }

  @Test(
    """
    035: a fleet recovers if its tier's queue is shorter than the clients' time-out times the tier's rate, here 100, and else never: \
    the tier works for clients that have given up
    """, arguments: [(25, true), (90, true), (130, false), (205, false)])
  func queue(limit: Int, isWell: Bool) throws {
    let end = try end(["tapi.connections": tier(queueLimit: limit)])
    #expect(isWell == (end.delivered > 0.97), "\(end)")
    #expect(isWell == (end.reused > 0.9), "\(end)")
    if !isWell { #expect(end.late > 0.9 && end.delivered < 0.6, "\(end)") }
  }

  @Test("035: a shorter time-out for connecting makes a queue too long that was short enough")
  func connect() throws {
    let end = try end([
      "tapi.connections": tier(queueLimit: 25), "fleet.phones.timeout": "{ connect: '5s', request: '20s' }",
    ])
    #expect(end.delivered < 0.6 && end.late > 0.9, "\(end)")
  }

  @Test("035: four times the tier, or none, recovers whatever the queue")
  func large() throws {
    #expect(try end(["tapi.connections": tier(queueLimit: 205, servers: 4)]).delivered > 0.97)
    #expect(try end(["tapi.connections": "null"]).delivered > 0.97)
  }
}
