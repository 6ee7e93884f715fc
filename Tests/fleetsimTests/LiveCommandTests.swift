import Foundation
import TestSupport
import Testing

@Suite("live")
struct LiveCommandTests {
  private static let scenario = """
    { format: 1, seed: 1, duration: "60s", interval: "5s",
      tapi: { bucket: { capacity: "50/s", burst: 50 }, overload: { status: 503 } },
      network: { latency: "50ms" },
      fleet: [{ name: "phones", devices: 20, events: "30/min", flush: { count: 5, interval: "10s" },
        retries: "timer", timeout: "10s" }] }
    """
  private static let ok = SocketServer.status("200 OK")

  private func run(
    _ options: [String], _ scenario: String = Self.scenario, signal: Int32? = nil,
    when isTime: @escaping @Sendable () -> Bool = { true }
  ) async throws -> (Tool.Output, Scratch) {
    let scratch = try Scratch.with(scenario)
    let output = try await Scratch.aside {
      try scratch.run(["live", "s.json5"] + options, signal: signal, when: isTime)
    }
    return (output, scratch)
  }

  @Test("a server that does as the scenario says is as predicted, and the files are those of run")
  func asPredicted() async throws {
    let server = try SocketServer { _ in Self.ok }
    let (output, scratch) = try await run([
      "--server", server.url, "--speed", "20", "--predictions", "5", "--out", "out",
    ])
    #expect(output.code == 0, "\(output.standardError)")
    #expect(output.standardOutput.contains("\nattempts "), "\(output.standardOutput)")
    #expect(output.standardOutput.contains("Written to out: open report.html\n"))
    let summary = try scratch.records("out/summary.csv")[0]
    #expect(summary["run"] == "measured")
    #expect(abs(try #require(Int(summary["attempts"] ?? "")) - server.requests.count) <= 3)
    let series = try scratch.table("out/timeseries.csv")
    #expect(try scratch.table("out/predicted/timeseries.csv")[0] == series[0] && series.count == 1 + 12)
    let figures = try scratch.table("out/live.csv")
    let names = ["metric", "unit", "measured", "predicted", "predicted_low", "predicted_high"]
    #expect(figures[0].starts(with: names))
    let accepted = try #require(figures.first { $0[0] == "answers_2xx" })
    let difference = try #require(Double(accepted[6]))
    #expect(abs(difference) <= 0.05 && accepted[7] == "true", "\(figures)")
    #expect(try scratch.text("out/report.html").contains("Measured and predicted"))
  }

  @Test("a server that does something else is not as predicted, and the incident's command is run")
  func notAsPredicted() async throws {
    let server = try SocketServer { _ in SocketServer.status("503 Service Unavailable", "Retry-After: 20") }
    let incident = #"incidents: [{ kind: "outage", at: "10s", for: "5s" }] }"#
    let (output, scratch) = try await run(
      [
        "--server", server.url, "--speed", "20", "--predictions", "5", "--set", "duration=30s",
        "--on-incident",
        #"echo "$FLEETSIM_MOMENT $FLEETSIM_INCIDENT $FLEETSIM_KIND" >>told; echo heard; [ $FLEETSIM_MOMENT = begin ]"#,
      ],
      Self.scenario.replacing("overload: { status: 503 } }", with: "overload: { status: 503 }, " + incident))
    #expect(output.code == 0, "\(output.standardError)")
    // How many figures there are is up to the machine: what is late where it falls behind is one.
    #expect(output.standardOutput.hasPrefix("Not as predicted (0 of "), "\(output.standardOutput)")
    #expect(!output.standardOutput.contains("heard") && output.standardError.contains("heard"))
    #expect(output.standardError.contains("': exit code 1; the server may not have done"))
    #expect(output.story("worse").contains { $0.hasPrefix("answers_2xx 0, predicted ") })
    let told = try scratch.text("told")
    #expect(told == "begin 0 outage 503\nend 0 outage 503\n")
  }

  @Test("a port that nobody listens on is 69, when the run is over and told")
  func nobody() async throws {
    let port = try SocketServer.Closed()
    let (output, _) = try await run(["--server", port.url, "--speed", "40", "--predictions", "2"])
    #expect(output.code == 69)
    #expect(output.standardError.contains("every connection was refused; is a server listening there?"))
    #expect(output.standardOutput.contains("timed_out_requests"))
  }

  @Test("Ctrl-C: what was measured by then is written, and the code is 130")
  func interrupted() async throws {
    let server = try SocketServer { _ in Self.ok }
    // Twelve uploads take some six virtual seconds.
    let (output, scratch) = try await run(
      ["--server", server.url, "--speed", "10", "--predictions", "2", "--out", "out"], signal: SIGINT,
      when: { server.requests.count > 12 })
    #expect(output.code == 130, "\(output.standardError)")
    #expect(output.standardOutput.contains("Stopped after "))
    let series = try scratch.text("out/timeseries.csv")
    #expect((2...4).contains(series.split(separator: "\n").count), "\(series)")
  }
}
