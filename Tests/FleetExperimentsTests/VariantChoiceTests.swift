import FleetExperiments
import ScenarioFormat
import Testing

@Suite("Variants")
struct VariantChoiceTests {
  private func axis(_ path: String, _ values: [String]) -> [VariantChoice] {
    VariantChoice.axis(ScenarioFile.Axis(path: path, values: values))
  }

  @Test("a jitter name sets the strategy; +clamp behind it sets the clamp too")
  func jitter() {
    #expect(
      VariantChoice.jitter("additive:10").overrides == [
        Override(path: "settings.backoffConfig.jitterStrategy", value: "additive:10")
      ])
    let clamped = VariantChoice.jitter("additive:10+clamp")
    #expect(clamped.name == "additive:10+clamp")
    #expect(
      clamped.overrides == [
        Override(path: "settings.backoffConfig.jitterStrategy", value: "additive:10"),
        Override(path: "policy.clampAfterJitter", value: "true"),
      ])
  }

  @Test("the jitter axis of a scenario knows +clamp too")
  func jitterAxis() {
    #expect(axis(Override.jitterPath, ["full", "full+clamp"]) == [.jitter("full"), .jitter("full+clamp")])
  }

  @Test("axes combine, the last turning fastest, and names are joined")
  func combinations() {
    let axes = [
      axis("a", ["1", "2"]),
      axis("b", ["x", "y"]),
    ]
    let choices = VariantChoice.combinations(axes)
    #expect(choices.map(\.name) == ["a=1 · b=x", "a=1 · b=y", "a=2 · b=x", "a=2 · b=y"])
    #expect(choices[2].overrides == [Override(path: "a", value: "2"), Override(path: "b", value: "x")])
    #expect(VariantChoice.combinations([]).isEmpty)
    #expect(VariantChoice.combinations([axes[0]]).map(\.name) == ["1", "2"])
  }

  @Test("of several axes a value has as much of its key as tells it from the others, and a strategy none")
  func labels() {
    func names(_ paths: String...) -> [String] {
      VariantChoice.combinations(
        paths.map { [VariantChoice(name: "v", overrides: [Override(path: $0, value: "v")])] }
      )
      .map(\.name)
    }
    let mixed = [
      axis("tapi.overload.retryAfter", ["v"]),
      [VariantChoice.jitter("full")],
    ]
    #expect(VariantChoice.combinations(mixed).map(\.name) == ["retryAfter=v · full"])
    #expect(names("fleet.ios.timeout", "fleet.android.timeout") == ["ios.timeout=v · android.timeout=v"])
    #expect(names("interval", "fleet.ios.flush.interval") == ["interval=v · flush.interval=v"])
  }

  @Test("files in folders go by their names alone where these differ, else by their paths")
  func files() {
    func names(_ values: String...) -> [String] {
      axis(Override.settingsPath, values).map(\.name)
    }
    #expect(names("today.json", "out/new.json") == ["today.json", "new.json"])
    #expect(names("a/new.json", "b/new.json") == ["a/new.json", "b/new.json"])
    #expect(names("a/", "b/new.json") == ["a", "new.json"])
  }

  @Test(
    "objects are named by the members that differ, by all of them where one has no other, and by their text where no member tells",
    arguments: [
      (["{base:'30ms',longest:'1s'}", "{base:'30ms',longest:'5s'}"], ["longest 1s", "longest 5s"]),
      (["null", "{capacity:5}", "{capacity:5,perRun:0}"], ["null", "capacity 5", "capacity 5, perRun 0"]),
      (["{at:{connect:'5s',request:'20s'}}", "20s"], ["at.connect 5s, at.request 20s", "20s"]),
      (
        ["[{slots:60,span:'1m'},{slots:3,span:'1s'}]", "[]"], ["slots 60, span 1m + slots 3, span 1s", "[]"]
      ),
      (["{a:1}", "{'a':1}"], ["{a:1}", "{'a':1}"]), (["{}", "{a:true}"], ["{}", "a true"]),
    ])
  func objects(values: [String], names: [String]) {
    #expect(axis("fleet.*.x", values).map(\.name) == names)
  }

  @Test(
    "nobody chooses incidents, the network or how many events there are",
    arguments: [
      ("tapi.incidents.0.for", false), ("tapi.incidents", false), ("network.latency.median", false),
      ("fleet.phones.devices", false), ("fleet.*.events.rate", false), ("duration", false),
      ("tapi.overload.retryAfter", true), ("tapi.bucket.capacity", true),
      ("fleet.phones.flush.interval", true),
      ("settings.backoffConfig.jitterStrategy", true),
    ])
  func options(path: String, isOption: Bool) {
    #expect(VariantChoice(name: "v", overrides: [Override(path: path, value: "v")]).isOption == isOption)
  }

  @Test(
    "sentences call a variant key = value, with the section where two have that key, and an object by its members"
  )
  func titles() {
    func titles(_ path: String, _ values: String...) -> [String] {
      axis(path, values).map(\.title)
    }
    #expect(titles("tapi.bucket.capacity", "1/s", "2/s") == ["capacity = 1/s", "capacity = 2/s"])
    #expect(
      titles("settings.rateLimitConfig.maxRetryCount", "3", "100")
        == ["rateLimitConfig.maxRetryCount = 3", "rateLimitConfig.maxRetryCount = 100"])
    #expect(titles("settings.rateLimitConfig.maxRetryInterval", "60") == ["maxRetryInterval = 60"])
    #expect(
      titles("tapi.bucket", "{capacity:1}", "{capacity:2}") == ["bucket = capacity 1", "bucket = capacity 2"])
    #expect(titles(Override.jitterPath, "full") == ["full"])
    #expect(titles(Override.clientPath, "segment-swift") == ["segment-swift"])
    #expect(titles(Override.settingsPath, "new.json") == ["new.json"])
    let combined = VariantChoice.combinations([
      axis("a", ["1"]),
      axis("b", ["{c:2}"]),
      [VariantChoice(name: "new", overrides: [Override(path: "d", value: "3")], isLabelled: true)],
    ])
    #expect(combined.map(\.name) == ["a=1 · b=c 2 · new"])
    #expect(combined.map(\.title) == combined.map(\.name))
  }

  @Test(
    "a list is split at the commas outside quotes and brackets",
    arguments: [
      ("a,b,c", ["a", "b", "c"]), (" a , b ", ["a", "b"]), ("a", ["a"]), ("", [""]),
      ("a,,b", ["a", "", "b"]),
      ("{x: 1, y: [2,3]},5s", ["{x: 1, y: [2,3]}", "5s"]), ("\"a,b\",'c,\\'d'", ["\"a,b\"", "'c,\\'d'"]),
      ("a),b", ["a)", "b"]),
    ])
  func splitting(text: String, items: [String]) {
    #expect(VariantChoice.splitList(text) == items)
  }
}
