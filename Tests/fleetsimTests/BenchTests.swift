import Foundation
import ScenarioFormat
import ScenarioModel
import Testing

/// `fleetsim-bench`, as the scripts run it.
@Suite("Benchmark program")
struct BenchTests {
  private func bench(_ arguments: [String], code: Int32 = 0) throws -> Tool.Output {
    let program = Tool.built("fleetsim-bench")
    let output = try Tool.process(arguments, in: Tool.repository, program: program)
    #expect(output.code == code && output.standardError.isEmpty == (code == 0), "\(arguments): \(output)")
    return output
  }

  @Test(
    "a workload has the digests of an experiment's file, but for what sets it apart",
    arguments: [
      ("herd-1-150", "100000", "bench/herd-1.json5", []),
      (
        "herd-1-90", "100000", "bench/herd-1.json5",
        ["tapi.bucket.capacity=3000/s", "tapi.bucket.burst=300"]
      ),
      ("001", "20000", "001-outage-herd/scenario.json5", ["settings.backoffConfig.jitterStrategy=full"]),
      (
        "429-gate", "20000", "001-outage-herd/gate.json5",
        [
          #"tapi.overload={ status: 429, retryAfter: "5s" }"#,
          #"tapi.incidents=[{ kind: "outage", at: "20m", for: "10m", status: 429, retryAfter: "5s" }]"#,
        ]
      ),
      (
        "at-once", "20000", "001-outage-herd/gate.json5",
        [
          "fleet.phones.retries=timer", "fleet.phones.uploadConcurrency=unlimited",
          "settings.backoffConfig.jitterStrategy=full",
        ]
      ),
      ("preset-tapi-document", "20000", "001-outage-herd/gate.json5", []),
    ] as [(String, String, String, [String])])
  func files(name: String, devices: String, file: String, changes: [String]) throws {
    let scratch = try Scratch()
    let path = Tool.repository.appending(path: "experiments/\(file)").path()
    let sets = (["duration=25m"] + changes).flatMap { ["--set", $0] }
    try scratch.run(["run", path, "--seed", "1", "--quiet", "--out", "out"] + sets, code: 0)
    let series = scratch.url.appending(path: "series.csv").path()
    let arguments = [
      name, "--devices", devices, "--duration", "25m", "--threads", "2", "--timeseries", series,
    ]
    let measured = try bench(arguments).json
    let files = try #require(scratch.json("out/run.json")["files"]).elements
    for (member, file) in [("digest", "timeseries.csv"), ("delivery_digest", "delivery_histogram.csv")] {
      let written = files.first { $0["path"]?.text == file }
      #expect(measured[member]?.text == written?["sha256"]?.text)
    }
    #expect(try scratch.read("series.csv") == scratch.read("out/timeseries.csv"))
    let attempts = try #require(scratch.records("out/summary.csv").first?["attempts"])
    #expect(measured["attempts"]?.number == Double(attempts))
    for member in ["run_ns", "ns_per_attempt", "estimated_memory_bytes"] {
      #expect((measured[member]?.number ?? 0) > 0, "\(member)")
    }
  }

  @Test("without arguments it lists the workloads: every documented client but pages has one, and each runs")
  func list() throws {
    let names = try bench([]).lines.map { String($0.split(separator: "\t")[0]) }
    #expect(Set(names).count == names.count)
    let clients = ClientPreset.documented.filter { $0.page == nil }.map { "preset-" + $0.name }
    #expect(names.filter { $0.hasPrefix("preset-") } == clients)
    for name in names {
      let measured = try bench([name, "--devices", "60", "--duration", "1500"]).json
      #expect((measured["attempts"]?.number ?? 0) > 0 && measured["duration_s"]?.number == 1_500, "\(name)")
    }
  }

  @Test(
    "what makes no sense is refused with what would",
    arguments: [
      ("herd-1", "herd-1-150, herd-1-90"), ("001", "--devices"), ("001 --devices", "1 to 4000000000"),
      ("001 --devices 0", "1 to 4000000000"), ("001 --devices 99999999999999999999", "1 to 4000000000"),
      ("001 --devices 1 --threads 65", "1 to 64"), ("001 --devices 1 --duration 10ms", "1s to 366d"),
      ("001 --devices 1 --duration 9999999999999999999", "1s to 366d"),
      ("001 --devices 1 --duration 30h", "100000s"), ("001 --devices 1 --repeat 2", "--timeseries"),
    ])
  func refused(line: String, way: String) throws {
    let output = try bench(line.split(separator: " ").map(String.init), code: 64)
    #expect(output.standardError.contains(way) && output.standardOutput.isEmpty, "\(output)")
  }

  @Test("a file that can't be written has another exit code; so has a fleet that doesn't fit into memory")
  func failed() throws {
    _ = try bench(["001", "--devices", "1", "--timeseries", "Tests"], code: 73)
    #if os(Linux)
      _ = try bench(["sparse", "--devices", "4000000000"], code: 65)
    #endif
  }
}
