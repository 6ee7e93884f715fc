import FleetExperiments
import Foundation
import Testing

/// `fleetsim bench`. Figures that depend on the machine are only looked at for being there.
@Suite("Bench command")
struct BenchCommandTests {
  private func json(_ arguments: [String]) throws -> [JSON] {
    try Scratch().run("bench --json", arguments, code: 0).json.elements
  }

  private static let small = ["--devices", "60", "--duration", "25m"]

  @Test("every workload is measured, and repetitions change no result")
  func all() throws {
    let first = try json(Self.small)
    #expect(first.map { $0["workload"]?.text } == BenchmarkWorkload.all.map(\.name))
    for (place, measurement) in first.enumerated() {
      #expect(measurement["devices"]?.number == 60)
      #expect((measurement["attempts"]?.number ?? 0) > 0)
      for key in ["ns_per_attempt", "attempts_per_second"] {
        #expect(measurement[key]?.number != nil, "\(key)")
      }
      for key in ["peak_memory_bytes", "run_memory_bytes", "bytes_per_device"] {
        #expect((measurement[key]?.number != nil) == (place == 0), "\(key)")
      }
      for key in ["digest", "delivery_digest"] { #expect(measurement[key]?.text?.count == 64) }
    }
    #expect(Set(first.prefix(4).compactMap { $0["digest"]?.text }).count == 4)
    let second = try json(Self.small + ["--repeat", "2"])
    #expect(second.allSatisfy { $0["repeats"]?.number == 2 })
    for key in ["digest", "delivery_digest", "attempts", "answers_2xx", "answers_429", "answers_503"] {
      #expect(first.map { $0[key] } == second.map { $0[key] }, "\(key)")
    }
  }

  @Test("the digests are those that run.json gives for the same scenario")
  func scenarioFile() throws {
    let file = Tool.repository.appending(path: "experiments/bench/herd-1.json5")
    let scratch = try Scratch()
    // 1.5 · 600 / 30 per second.
    let changes = ["fleet.clients.devices=600", "tapi.bucket.capacity=30/s", "tapi.bucket.burst=3"]
    let arguments =
      ["run", file.path(), "--seed", "1", "--quiet", "--out", "out"] + changes.flatMap { ["--set", $0] }
    try scratch.run(arguments, code: 0)
    let files = try #require(scratch.json("out/run.json")["files"]).elements
    func digest(_ name: String) -> String? { files.first { $0["path"]?.text == name }?["sha256"]?.text }
    let measured = try #require(try json(["--only", "herd-1-150", "--devices", "600"]).first)
    #expect(measured["digest"]?.text == digest("timeseries.csv"))
    #expect(measured["delivery_digest"]?.text == digest("delivery_histogram.csv"))
    let attempts = try #require(scratch.records("out/summary.csv").first?["attempts"])
    #expect(measured["attempts"]?.number == Double(attempts))
  }

  @Test("the table has a line for each workload, in the order asked for, and fits 110 columns")
  func table() throws {
    let lines = try Scratch().run("bench --only sparse,herd-1-90", Self.small, code: 0).lines
    #expect(lines.count == 5 && lines[0] == "60 devices, 25 min")
    #expect(lines[3].hasPrefix("sparse ") && lines[4].hasPrefix("herd-1-90 "))
    for line in lines { #expect(line.count <= 110) }
  }

  @Test("a signal ends a measurement at once", arguments: [SIGINT, SIGTERM], ["001", "001,herd-1-90"])
  func interruption(signal: Int32, only: String) throws {
    let output = try Tool.process(
      ["bench", "--only", only, "--devices", "500000"], in: Tool.repository, signal: signal)
    #expect(output.code == (signal == SIGINT ? 130 : 143))
    #expect(output.standardError.hasSuffix(": nothing was written.\n"))
  }
}
