import Foundation
import Testing

/// Files that other tools read: what was varied, mean curves, the twin's series, OpenMetrics.
@Suite("Data files")
struct DataFileTests {
  private func scratch(_ commands: [String]...) throws -> Scratch {
    let scratch = try Scratch.with()
    for command in commands { try scratch.run(command, code: 0) }
    return scratch
  }

  private func column(_ scratch: Scratch, _ file: String, _ name: String) throws -> [Double] {
    try scratch.records(file).map { Double(try #require($0[name])) ?? .nan }
  }

  @Test("a comparison's tables end in a column for each key that is varied, and all else stays")
  func varied() throws {
    let vary = [
      "--jitter", "full,additive:10+clamp", "--vary", "seed=1,2", "--vary", "tapi.bucket.capacity=4/s,5/s",
    ]
    let scratch = try scratch(
      ["run", "s.json5", "--seed", "5", "--out", "plain"], ["compare", "s.json5", "--out", "o"] + vary,
      ["compare", "s.json5", "--seeds", "2", "--out", "n"] + vary[0...1] + vary[4...5])
    let plain = try scratch.table("plain/summary.csv")[0]
    // In the order in which the variants name them.
    let keys = [
      "settings.backoffConfig.jitterStrategy", "tapi.bucket.capacity", "policy.clampAfterJitter",
    ]
    #expect(!plain.contains { keys.contains($0) })
    let rows = try scratch.table("o/summary.csv")
    // The seed has a column anyway.
    #expect(rows[0] == plain + keys)
    var expected: [[String]] = []
    for (jitter, clamp) in [("full", ""), ("additive:10", "true")] {
      for capacity in ["4/s", "5/s", "4/s", "5/s"] { expected.append([jitter, capacity, clamp]) }
    }
    #expect(rows.dropFirst().map { Array($0.suffix(3)) } == expected)
    let replications = try scratch.table("n/replications.csv")
    #expect(replications[0] == plain + keys && replications.count == 1 + 2 * 4)
    let header = try scratch.table("n/statistics.csv")[0]
    #expect(Array(header.suffix(4)) == ["interval"] + keys)
    for row in try scratch.records("n/statistics.csv") {
      let isFull = row["variant"]?.hasPrefix("full · ") ?? false
      let capacity = row["variant"]?.components(separatedBy: " · capacity=").last
      #expect(keys.map { row[$0] } == [isFull ? "full" : "additive:10", capacity, isFull ? "" : "true"])
    }
  }

  @Test("the mean curves are the means of what each seed gives alone")
  func curves() throws {
    let alone = ["5", "6"].map { ["run", "s.json5", "--seed", $0, "--twin-series", "--out", "r" + $0] }
    let scratch = try scratch(
      alone[0], alone[1],
      ["compare", "s.json5", "--seeds", "2", "--vary", "tapi.overload.status=503,429", "--out", "o"])
    let names = try scratch.table("o/curves.csv")[0]
    #expect(names.count == 15 && names[...2] == ["variant", "time_s", "capacity_rps"])
    for (curve, file, name) in [
      ("offered_rps", "timeseries.csv", "offered_rps"),
      ("backlog_events", "timeseries.csv", "backlog_events"),
      ("twin_backlog_events", "twin_timeseries.csv", "backlog_events"),
      ("time_s", "timeseries.csv", "time_s"),
    ] {
      let means = try column(scratch, "o/curves.csv", curve)
      let (first, second) = (try column(scratch, "r5/" + file, name), try column(scratch, "r6/" + file, name))
      // 120 rows are fewer than 300 stretches.
      #expect(means.count == 240 && first.count == 120)
      for (mean, pair) in zip(means, zip(first, second)) {
        #expect(abs(mean - (pair.0 + pair.1) / 2) <= 0.001, "\(curve)")
      }
    }
  }

  @Test("the twin's series is that of the scenario without its incidents")
  func twin() throws {
    let scratch = try scratch(
      ["run", "s.json5", "--seed", "5", "--twin-series", "--out", "o"],
      ["run", "s.json5", "--seed", "5", "--set", "tapi.incidents=[]", "--out", "calm"],
      ["compare", "s.json5", "--seed", "5", "--twin-series", "--out", "c"])
    #expect(try scratch.text("o/twin_timeseries.csv") == scratch.text("calm/timeseries.csv"))
    #expect(try scratch.text("o/twin_timeseries.csv") != scratch.text("o/timeseries.csv"))
    #expect(try scratch.files(in: "", "twin_timeseries.csv").count == 3)
    // What fleetsim wrote it also replaces.
    try scratch.run("run s.json5 --seed 5 --out c", code: 0)
    #expect(!scratch.contents.contains("c/full"))
  }

  @Test("OpenMetrics has the figures of every series, at the times since the epoch")
  func openMetrics() throws {
    let scratch = try scratch([
      "compare", "s.json5", "--seed", "5", "--set", "interval=30s", "--openmetrics", "--out", "o",
    ])
    let lines = try scratch.text("o/timeseries.openmetrics").split(separator: "\n").map(String.init)
    #expect(lines.last == "# EOF")
    var family = ""
    var families: [String] = []
    var samples: [String: [(Double, Double)]] = [:]
    for line in lines.dropLast() {
      if let match = line.wholeMatch(of: /# TYPE (fleetsim_[a-z0-9_]+) gauge/) {
        family = String(match.1)
        families.append(family)
      } else if line.hasPrefix("#") {
        #expect(line.hasPrefix("# HELP \(family) "))
      } else {
        let match = try #require(
          line.wholeMatch(of: /([a-z0-9_]+)\{run="([a-z]+)",seed="5"\} ([0-9.]+) ([0-9]+)/))
        #expect(match.1 == family)
        let time = (Double(match.4) ?? 0) - 1_767_225_600
        samples["\(match.2) \(match.1)", default: []].append((time, Double(match.3) ?? .nan))
      }
    }
    #expect(Set(families).count == families.count)
    let header = try scratch.table("o/full/timeseries.csv")[0]
    for run in ["none", "full"] {
      let times = try column(scratch, "o/\(run)/timeseries.csv", "time_s")
      for name in header.dropFirst() {
        let cells = try column(scratch, "o/\(run)/timeseries.csv", name)
        let metric = "fleetsim_" + (name.hasSuffix("_s") ? name.dropLast(1) + "seconds" : name)
        let found = samples["\(run) \(metric)"] ?? []
        let expected = zip(times, cells).filter { !$0.1.isNaN }
        if families.contains(metric) {
          #expect(found.map(\.0) == expected.map(\.0) && found.map(\.1) == expected.map(\.1), "\(metric)")
        } else {
          #expect(expected.allSatisfy { $0.1 == 0 }, "\(metric)")
        }
      }
    }
    #expect(families.contains("fleetsim_offered_rps"))
    #expect(families.contains("fleetsim_time_to_delivery_p99_seconds"))
  }
}
