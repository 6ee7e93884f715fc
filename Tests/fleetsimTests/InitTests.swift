import CommandLineInterface
import Foundation
import ScenarioModel
import TestSupport
import Testing

@Suite("init")
struct InitTests {
  static let options = ["--devices", "3M", "--capacity", "60000/s", "--events", "30/h"]

  /// Every client in CI, and otherwise each third.
  private static let clients = TestDepth.part(of: ClientPreset.all.map(\.name), each: 3)

  @Test(
    "what it writes is valid for every client, without a warning, small and the same fleet at full size",
    arguments: clients)
  func valid(client: String) throws {
    let scratch = try Scratch()
    let made = try scratch.run("init mine/my.json5 --client \(client)", Self.options, code: 0, says: "")
    #expect(made.standardOutput.contains("fleetsim compare mine/my.json5 --out out/compare"))
    let checked = try scratch.run("validate mine/my.json5", code: 0, says: "").standardOutput
    for part in ["\(client) as the preset has it", " variants: ", " of 3,000,000): phones "] {
      #expect(checked.contains(part))
    }
    #expect(!checked.contains("chance"))
    let full = try scratch.run("validate mine/my.json5 --scale 1:1").standardOutput
    #expect(full.contains("3,000,000 devices") && full.contains("capacity  60,000 requests/s"))
    // 3 million devices with 30 events an hour, or 1 + 0.6 · 24/2π · (sin(2π · 2/24) + sin(2π · 1/24)) / 3 times that.
    #expect(full.contains(" with 39,4") || full.contains(" with 25,000 events/s"))
  }

  @Test(
    "files that are there stay as they are, and the message names all of them",
    arguments: [
      (["scenario.json5"], "scenario.json5: is there already"),
      (["settings.json"], "settings.json: is there already"),
      (["scenario.json5", "settings.json"], "scenario.json5 and settings.json: are there already"),
    ])
  func existing(names: [String], message: String) throws {
    let scratch = try Scratch(Dictionary(uniqueKeysWithValues: names.map { ($0, "mine") }))
    let before = try scratch.files()
    try scratch.run("init --client segment-swift", Self.options, code: 73, says: message)
    #expect(try scratch.files() == before)
  }

  @Test(
    "numbers are read as people write them, and what is none is refused with what would be right",
    arguments: [
      ("20000", 20_000), ("20_000", 20_000), ("200k", 200_000), ("3M", 3_000_000), ("1.5M", 1_500_000),
      ("1", 1),
      ("0", nil), ("-5", nil), ("5G", nil), ("1e9", nil), ("4001M", nil), ("", nil), ("k", nil), ("0.2", nil),
    ])
  func counts(text: String, count: Int?) {
    #expect((try? ValueReader.fleet.value(text, of: "--devices", Files())) == count)
  }

  @Test("a mixed fleet with sessions, its own Settings and no known capacity holds its peak")
  func mixed() throws {
    let scratch = try Scratch([
      "cdn.json": DecideCommandTests.settings(100),
      "rn.json5": #"{ name: "rn", meaning: "ours", origin: "ours", basedOn: "segment-react-native" }"#,
    ])
    let made = try scratch.run(
      "init mine/my.json5 --client segment-swift:55%,segment-kotlin:35%,rn.json5:10% --devices 6M --events 40/h "
        + "--peak 158% --use 60%:3m:android-doze --capacity unknown --settings cdn.json", code: 0)
    #expect(made.standardOutput.contains("is proposed: put the endpoint's own limit"))
    #expect(made.standardOutput.contains("fleetsim decide mine/my.json5 --proposed new.json"))
    #expect(scratch.contents.filter { $0.hasPrefix("mine/") } == ["mine/my.json5"])
    let checked = try scratch.run("validate mine/my.json5 --scale 1:1", code: 0)
    #expect(checked.standardOutput.contains("segment-swift 3,300,000, segment-kotlin 2,100,000, rn 600,000"))
    let written = try scratch.text("mine/my.json5")
    #expect(
      written.split(separator: #"sessions: { share: "60%", length: { exponential: "3m" }, curve: {"#).count
        == 4)
    #expect(written.split(separator: #"os: "android-doze","#).count == 4)
    // Opened f times as often, f / (2/3 + f) are open where three fifths are in the mean.
    let open = written.matches(of: /factor: "(\d+)%"/).prefix(9).map { 1 / (1 + 200 / 3 / Double($0.1)!) }
    let hours = zip(open, open.dropFirst() + [open[0]]).map { ($0 + $1) / 2 }
    #expect(abs(open.max()! - 0.948) < 0.002 && abs((hours.reduce(0, +) + 15 * open[5]) / 24 - 0.6) < 0.002)
    // The capacity is the peak load by 60 %, rounded up to two digits.
    let share = try #require(checked.standardOutput.firstMatch(of: /peak .* (\d+) % of the capacity/)?.1)
    #expect((54...60).contains(Int(share)!))
  }

  @Test("a time a day is a share of the day, and a proposed capacity has an end")
  func use() throws {
    let use = try #require(InitCommand.Use("36m"))
    #expect(use.share == 25_000 && use.session == "3m" && use.system == nil)
    #expect(InitCommand.Use("15m:90s:closed")?.system == nil)
    try Scratch().run(
      "init --client segment-swift --devices 4000M --events 1000/s --capacity unknown", code: 0, says: "")
    #expect(InitCommand.Answers.capacity(for: 1e308) == "1000000000/s")
  }

  /// What a client does that gives up after three tries, whatever a CDN serves to others.
  static let mine =
    #"{ name: "mine", switches: { settingsFetch: "never", retries: "timer", settings: { backoffConfig: { maxRetryCount: 3 } } } }"#

  @Test("clients that fetch no Settings get none, and validate says what a file changes in them")
  func ownSettings() throws {
    let scratch = try Scratch(["mine.json5": Self.mine])
    let made = try scratch.run("init a.json5 --client mine.json5", Self.options)
    #expect(made.code == 0 && !made.standardOutput.contains("decide"), "\(made)")
    #expect(try scratch.files().keys.sorted() == ["a.json5", "mine.json5"])
    // Its own limit is what its file compares.
    let compared = try scratch.run("compare a.json5 --set duration=90m --seed 1 --json")
    let variants = try compared.json["variants"]?.elements ?? []
    #expect(variants.count == 3 && Set(variants.map { $0["rank"]?.number }).count > 1, "\(compared)")
    func changes(_ settings: String...) throws -> [String] {
      try scratch.run("validate a.json5 --json", settings).json["settingsChanges"]?.texts ?? []
    }
    try scratch.write("cdn.json", #"{ "httpConfig": { "backoffConfig": { "maxRetryCount": 100 } } }"#)
    #expect(try changes() == [] && changes("--settings", "cdn.json") == [])
    #expect(
      try changes("--set", "fleet.*.settings=cdn.json") == [
        "the Settings change mine, which fetches none: backoffConfig.maxRetryCount 3 → 100"
      ])
    let given = ["--settings", "cdn.json"]
    // Beside clients that do, those that fetch none keep their own.
    try scratch.run(
      "init c.json5 --client segment-swift:50%,mine.json5:50%", given + Self.options, code: 0)
    #expect(try scratch.text("c.json5").split(separator: "settings: \"cdn.json\"").count == 2)
  }

  /// Four million phones, open for twelve minutes of the 1,440 of a day: 33,333 at a time.
  @Test("events of an open app are a rate of the day, and the peak opens more apps")
  func whileOpen() throws {
    let scratch = try Scratch()
    func made(_ path: String, _ events: String) throws -> (text: String, scenario: String) {
      let output = try scratch.run(
        "init \(path) --client segment-kotlin --devices 4M --events \(events) --use 12m:2.4m --peak 250% "
          + "--capacity unknown", code: 0)
      return (output.standardOutput, try scratch.text(path))
    }
    let (open, daily) = (try made("a/s.json5", "8/min-open"), try made("b/s.json5", "96/day"))
    #expect(open.scenario == daily.scenario)
    let apps = "33,333 apps are open at a time, with 8 events a minute each"
    #expect([open.text, daily.text].allSatisfy { $0.contains(apps) }, "\(open.text)\(daily.text)")
    #expect(open.scenario.contains(#"events: { rate: "96/day" },"#))
  }

  @Test(
    "the incident begins when the day's load is highest, an outage or a restart", arguments: ["160%", "250%"])
  func peak(peak: String) throws {
    let scratch = try Scratch()
    func written(_ path: String, _ more: [String]) throws -> String {
      try scratch.run(
        ["init", path, "--client", "segment-swift", "--peak", peak] + Self.options + more, code: 0)
      return try scratch.text(path)
    }
    let outage = try written("a/s.json5", [])
    #expect(outage.contains(#"{ kind: "outage", at: "1h", for: "10m", status: 503 }"#), "\(outage)")
    if peak == "160%" {
      #expect(outage.contains(#"curve: { amplitude: "60%", peak: "1h", period: "24h" }"#), "\(outage)")
    } else {
      // A polygon through these points, whose mean over the day is 1 and whose top is where the incident begins.
      let points = outage.matches(of: /{ at: "(\d+)[sh]", factor: "([0-9.]+)%" }/).map {
        (at: Double($0.1)!, factor: Double($0.2)!)
      }
      let closed = points + [(24, points[0].factor)]
      let areas = zip(closed, closed.dropFirst()).map { ($1.at - $0.at) * ($0.factor + $1.factor) / 2 }
      #expect(abs(areas.reduce(0, +) / 24 - 100) < 0.5 && points.count == 4, "\(points)")
      #expect(points.max { $0.factor < $1.factor }?.at == 1)
    }
    let restart = try written("b/s.json5", ["--restart", "1m"])
    #expect(
      restart.contains(#"{ kind: "outage", at: "1h", for: "1m", status: "none", warmUp: "2m" }"#),
      "\(restart)")
    #expect(try scratch.run("validate b/s.json5 -q", code: 0).standardError.isEmpty)
  }

  @Test("keys of Settings are compared where one client fetches any, whatever the others do")
  func partlyFetching() throws {
    let scratch = try Scratch()
    let made = try scratch.run(
      "init my.json5 --client posthog:50%,segment-kotlin:50% --devices 2000 --events 1/min-open --use 12m:2.4m --capacity 200/s",
      code: 0)
    #expect(made.standardOutput.contains(" 1 event a minute each"), "\(made)")
    let text = try scratch.text("my.json5")
    #expect(text.contains("\"settings.rateLimitConfig.maxRetryCount\": "), "\(text)")
    #expect(text.contains("// Only clients that fetch Settings have these.\n"), "\(text)")
  }

  @Test("a last incident that was worse than the model's is told, with what may explain it")
  func trouble() throws {
    let scratch = try Scratch()
    func told(_ path: String, _ trouble: String) throws -> String {
      let line = "init \(path) --client segment-swift --devices 500 --events 30/h --capacity 20/s --trouble "
      return try scratch.run(line + trouble, code: 0).standardOutput
    }
    // Ten minutes of outage are well under way with 15, and not with three hours.
    let (near, far) = (try told("a/s.json5", "15m"), try told("b/s.json5", "3h"))
    let warmUp = "--vary tapi.incidents.0.warmUp=90m,3h,6h"
    #expect(near.contains("less than a factor of two apart") && !near.contains("--vary"), "\(near)")
    #expect(far.contains("fleetsim compare b/s.json5 \(warmUp)"))
    // A server that is gone says no Retry-After.
    let restart = try told("c/s.json5", "3h --restart 1m")
    #expect(restart.contains(warmUp) && !restart.contains("tapi.incidents.0.retryAfter"))
  }

  /// Devices that are always refused send once a wait, so that an hour counts the waits.
  @Test("the wait that validate tells is the wait of the simulation", arguments: [(60, 90), (59, 60)])
  func lateRetryIsTrue(asked: Int, real: Int) throws {
    let scratch = try Scratch.with(
      """
      { format: 1, seed: 1, duration: "1h", interval: "10s",
        tapi: { bucket: { capacity: "100/s" },
                incidents: [{ kind: "outage", at: "0s", for: "1h", status: 429, retryAfter: "\(asked)s" }] },
        network: { latency: "50ms" }, settings: { rateLimitConfig: { maxRetryCount: 1000 } },
        fleet: [{ name: "phones", devices: 100, events: "1/s", flush: { count: null, interval: "30s" } }] }
      """)
    try scratch.run("run s.json5 --seed 1 --out o")
    let attempts = try #require(Double(scratch.records("o/summary.csv")[0]["attempts"] ?? ""))
    #expect(abs(attempts / (100 * 3_600 / Double(real)) - 1) < 0.05, "\(attempts)")
    let warning = try scratch.run("validate s.json5 -q").standardError
    #expect(warning.contains("1 min 30 s") == (real == 90), "\(warning)")
  }
}
