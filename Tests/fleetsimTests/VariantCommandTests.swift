import Testing

/// The ways to say what `compare` compares: Settings files, shares of the fleet, labels.
@Suite("Ways to say what varies")
struct VariantCommandTests {
  private static let today =
    #"{ "httpConfig": { "backoffConfig": { "maxRetryCount": 3, "jitterPercent": 10 } } }"#
  private static let new =
    #"{ "httpConfig": { "backoffConfig": { "maxRetryCount": 30, "jitterStrategy": "full" } } }"#
  /// The figures of a row of summary.csv: without the variant's name and what sets it apart.
  private static let plainColumns = 30

  private func scratch() throws -> Scratch {
    let tablets = #"fleet: [{ name: "tablets", devices: 20, events: "6/min", settings: "own.json" },"#
    let text = Scenarios.small.replacing(/compare:.*/, with: "").replacing("fleet: [", with: tablets)
    return try Scratch.with(
      text, and: ["own.json": Self.today, "today.json": Self.today, "new.json": Self.new])
  }

  private func rows(_ arguments: [String], _ scratch: Scratch, scenario: String = "s.json5") throws
    -> [[String]]
  {
    try scratch.run(
      [arguments[0], scenario, "--seed", "5", "-q", "--out", "out"] + arguments.dropFirst(), code: 0)
    return try Array(scratch.table("out/summary.csv").dropFirst())
  }

  private func figures(_ rows: [[String]]) -> [[String]] { rows.map { Array($0[1..<Self.plainColumns]) } }

  @Test("several Settings files are a variant each, as --settings with each alone gives it")
  func settingsFiles() throws {
    let scratch = try scratch()
    for more in [[], ["--set", "settings.backoffConfig.maxRetryCount=9"]] {
      let both = try rows(["compare", "--settings", "today.json,new.json"] + more, scratch)
      #expect(both.map { $0[0] } == ["today.json", "new.json"])
      let alone = try ["today.json", "new.json"].flatMap {
        try rows(["run", "--settings", $0] + more, scratch)
      }
      #expect(figures(both) == figures(alone))
      #expect(figures([both[0]]) != figures([both[1]]))
    }
  }

  @Test("of a scenario in another folder the files are those beside the command")
  func filesBesideTheCommand() throws {
    let scratch = try scratch()
    try scratch.write("other/s.json5", try scratch.text("s.json5"))
    try scratch.write("other/own.json", Self.new)
    try scratch.write("other/new.json", Self.today)
    let both = try rows(
      ["compare", "--settings", "today.json,new.json"], scratch, scenario: "other/s.json5")
    #expect(both.map { $0[0] } == ["today.json", "new.json"])
    let new = try rows(["run", "--settings", "new.json"], scratch, scenario: "other/s.json5")
    #expect(figures([both[1]]) == figures(new))
    let own = try rows(["compare", "--settings", "own.json,new.json"], scratch, scenario: "other/s.json5")
    #expect(figures([own[0]]) == figures([both[0]]), "own.json here is today.json, and new.json there")
  }

  @Test("of the shares of a rollout, 0 is the scenario and 100 is a fleet on the new Settings")
  func shares() throws {
    let scratch = try scratch()
    let shares = try rows(["compare", "--rollout", "new.json", "--share", "0,50%,100"], scratch)
    #expect(shares.map { $0[0] } == ["0 % on new.json", "50 % on new.json", "100 % on new.json"])
    #expect(figures([shares[0]]) == figures(try rows(["run"], scratch)))
    #expect(figures([shares[2]]) == figures(try rows(["run", "--settings", "new.json"], scratch)))
    #expect(figures([shares[1]]) != figures([shares[0]]) && figures([shares[1]]) != figures([shares[2]]))
    #expect(try rows(["compare", "--rollout", "new.json"], scratch) == shares, "the default shares")
    let product = try rows(
      ["compare", "--settings", "today.json,own.json", "--rollout", "new.json", "--share", "0,100"], scratch)
    #expect(product.map { $0[0] }[1] == "today.json · 100 % on new.json")
  }

  @Test("a label names a variant, and again adds a key to it")
  func labels() throws {
    let scratch = try scratch()
    let labelled = try rows(
      [
        "compare", "--vary", "old=settings=today.json", "--vary", "new=settings=new.json", "--vary",
        "new=fleet.*.flush.interval=60s",
      ], scratch)
    #expect(labelled.map { $0[0] } == ["old", "new"])
    #expect(figures([labelled[0]]) == figures(try rows(["run", "--settings", "today.json"], scratch)))
    let alone = ["run", "--settings", "new.json", "--set", "fleet.*.flush.interval=60s"]
    #expect(figures([labelled[1]]) == figures(try rows(alone, scratch)))
  }

  /// A browser's client that fetches no Settings beside phones that do.
  private static func mixed(_ first: String) -> String {
    """
    { format: 1, seed: 1, duration: "1h", interval: "10s", network: { latency: "100ms" },
      tapi: { bucket: { capacity: "20/s" }, incidents: [{ kind: "outage", at: "10m", for: "10m", status: 503 }] },
      fleet: [\(first){ name: "web", devices: 20, client: "posthog", events: { rate: "60/h" } }] }
    """
  }

  @Test("a Settings file and a key for all reach only clients that fetch any; others are named")
  func reach() throws {
    let scratch = try scratch()
    let swift =
      #"{ name: "swift", settings: "own.json", devices: 20, client: "segment-swift", events: { rate: "60/h" } }, "#
    try scratch.write("s.json5", Self.mixed(swift))
    let own = figures(try rows(["run"], scratch))
    // The scenario's own file for those that have it anyway changes nothing.
    #expect(figures(try rows(["run", "--settings", "own.json"], scratch)) == own)
    let varied = ["--vary", "settings.backoffConfig.maxRetryCount=3,30"]
    #expect(figures([try rows(["compare"] + varied, scratch)[0]]) == own)
    try scratch.run(
      "compare s.json5 --seed 5 -q", varied,
      says:
        "settings.backoffConfig.maxRetryCount reaches swift (segment-swift) alone: web (posthog) fetches no Settings"
    )
    try scratch.write("s.json5", Self.mixed(""))
    let alone = try scratch.run(
      "run s.json5 --seed 5 --settings new.json",
      says: "new.json reaches no client: web (posthog) fetches no Settings")
    #expect(try alone.standardOutput == scratch.run("run s.json5 --seed 5").standardOutput)
  }

  @Test("a warning about a value to compare names the option, or the scenario")
  func warned() throws {
    let scratch = try scratch()
    let key = "settings.backoffConfig.maxRetryCount"
    let compared = try scratch.run(
      "compare s.json5 --seed 5 -q --vary \(key)=0,9", says: "--vary: warning: \(key): with 0, ")
    #expect(compared.standardOutput.contains("backoffConfig.maxRetryCount = 9"), "\(compared)")
    let text = try scratch.text("s.json5")
    try scratch.write("s.json5", text.replacing("fleet:", with: "compare: { \"\(key)\": [0, 9] }, fleet:"))
    try scratch.run("compare s.json5 --seed 5", says: "s.json5: warning: \(key): with 0, ")
  }
}
