import ScenarioFormat
import ScenarioModel
import SimulationKernel
import Testing

/// `share` of a cohort, and a `flush.phase` that is a time.
@Suite("Shares and phases")
struct FleetShareTests {
  private func decode(_ fleet: String, _ overrides: [(String, String)] = []) throws -> ScenarioFile.Decoded {
    let text = "{ format: 1, duration: '1m', tapi: { bucket: { capacity: '9/s' } }, fleet: [\(fleet)] }"
    return try ScenarioFile(text: text, name: "s.json5") { _ in "" }
      .decode(overrides: overrides.map { Override(path: $0.0, value: $0.1) })
  }

  private func problem(_ fleet: String) -> String? {
    do {
      _ = try decode(fleet)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func cohort(_ name: String, _ devices: Int, _ more: String = "") -> String {
    "{ name: '\(name)', devices: \(devices), events: '6/min'\(more.isEmpty ? "" : ", " + more) }"
  }

  @Test("a cohort with a share gets its part of all devices, and the others divide the rest in proportion")
  func divided() throws {
    let fleet = [Self.cohort("a", 300), Self.cohort("b", 100), Self.cohort("old", 600, "share: '20%'")]
      .joined(separator: ", ")
    #expect(try decode(fleet).scenario.fleet.map(\.devices) == [600, 200, 200])
    #expect(try decode(fleet, [("fleet.old.share", "0.1%")]).scenario.fleet.map(\.devices) == [749, 250, 1])
    // Without one the devices are as they were; the normalised scenario has devices alone.
    let plain = [Self.cohort("a", 300), Self.cohort("old", 700)].joined(separator: ", ")
    #expect(try decode(plain).scenario.fleet.map(\.devices) == [300, 700])
    let normalised = try decode(plain, [("fleet.old.share", "25%")]).normalisedJSON
    #expect(!normalised.contains("share") && normalised.contains("\"devices\": 750"))
  }

  @Test("shares that leave nothing, or do not make the whole, are refused with their line")
  func refused() {
    let all = problem(
      [Self.cohort("a", 1, "share: '60%'"), Self.cohort("b", 1, "share: '30%'")].joined(separator: ",\n"))
    #expect(
      all?.contains("s.json5:2: fleet.b.share: the shares of all cohorts make 90%; they have to make 100%")
        == true, "\(all ?? "")")
    let none = problem([Self.cohort("a", 1, "share: '100%'"), Self.cohort("b", 1)].joined(separator: ", "))
    #expect(
      none?.contains("they have to leave something for the cohorts without a share") == true, "\(none ?? "")")
    #expect(problem(Self.cohort("a", 1, "share: 'half'"))?.contains("share") == true)
  }

  @Test("a phase is a word or a time within the interval, and is written back")
  func phase() throws {
    let decoded = try decode(Self.cohort("a", 1, "flush: { interval: '30s', phase: '12s' }"))
    let flush = decoded.scenario.fleet[0].flush
    #expect(flush.isSynchronised && flush.phase == .seconds(12))
    #expect(decoded.normalisedJSON.contains("\"phase\": \"12s\""))
    let together = try decode(Self.cohort("a", 1, "flush: { interval: '30s', phase: 'synchronised' }"))
    #expect(
      together.scenario
        == (try decode(Self.cohort("a", 1, "flush: { interval: '30s', phase: '0s' }"))).scenario)
    #expect(
      problem(Self.cohort("a", 1, "flush: { interval: '30s', phase: '30s' }"))?
        .contains("it has to be shorter than the interval") == true)
    #expect(
      problem(Self.cohort("a", 1, "flush: { interval: '30s', phase: 'synchronized' }"))?.contains(
        "synchronised") == true)
  }
}
