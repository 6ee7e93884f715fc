import FleetExperiments
import ScenarioFormat
import Testing

@Suite("Variants")
struct VariantChoiceTests {
  private func axis(_ path: String, _ values: [String]) -> [VariantChoice] {
    VariantChoice.axis(ScenarioFile.Axis(path: path, values: values))
  }

  @Test("a jitter name sets the strategy; +clamp behind it sets the clamp too, on an axis as well")
  func jitter() {
    let (plain, clamped) = (VariantChoice.jitter("additive:10"), VariantChoice.jitter("additive:10+clamp"))
    let strategy = Override(path: "settings.backoffConfig.jitterStrategy", value: "additive:10")
    #expect(plain.overrides == [strategy])
    #expect(clamped.name == "additive:10+clamp")
    #expect(clamped.overrides == [strategy, Override(path: "policy.clampAfterJitter", value: "true")])
    #expect(axis(Override.jitterPath, ["additive:10", "additive:10+clamp"]) == [plain, clamped])
  }

  @Test("axes combine, the last turning fastest, and names are joined")
  func combinations() {
    let axes = [axis("a", ["1", "2"]), axis("b", ["x", "y"])]
    let choices = VariantChoice.combinations(axes)
    #expect(choices.map(\.name) == ["a=1 · b=x", "a=1 · b=y", "a=2 · b=x", "a=2 · b=y"])
    #expect(choices[2].overrides == [Override(path: "a", value: "2"), Override(path: "b", value: "x")])
    #expect(VariantChoice.combinations([]).isEmpty)
    #expect(VariantChoice.combinations([axes[0]]).map(\.name) == ["1", "2"])
  }

  @Test("of several axes a value has as much of its key as tells it from the others, and a strategy none")
  func labels() {
    func names(_ paths: String...) -> [String] {
      VariantChoice.combinations(paths.map { axis($0, ["v"]) }).map(\.name)
    }
    let mixed = [axis("tapi.overload.retryAfter", ["v"]), [VariantChoice.jitter("full")]]
    #expect(VariantChoice.combinations(mixed).map(\.name) == ["retryAfter=v · full"])
    #expect(names("fleet.ios.timeout", "fleet.android.timeout") == ["ios.timeout=v · android.timeout=v"])
    #expect(names("interval", "fleet.ios.flush.interval") == ["interval=v · flush.interval=v"])
  }

  @Test(
    "files go by their names, objects by their members, where these differ; else by paths or the whole text",
    arguments: [
      (Override.settingsPath, ["today.json", "out/new.json"], ["today.json", "new.json"]),
      (Override.settingsPath, ["a/new.json", "b/new.json"], ["a/new.json", "b/new.json"]),
      (Override.settingsPath, ["a/", "b/new.json"], ["a", "new.json"]),
      (
        "fleet.*.x", ["{base:'30ms',longest:'1s'}", "{base:'30ms',longest:'5s'}"],
        ["longest 1s", "longest 5s"]
      ),
      (
        "fleet.*.x", ["null", "{capacity:5}", "{capacity:5,perRun:0}"],
        ["null", "capacity 5", "capacity 5, perRun 0"]
      ),
      ("fleet.*.x", ["{at:{connect:'5s',request:'20s'}}", "20s"], ["at.connect 5s, at.request 20s", "20s"]),
      (
        "fleet.*.x", ["[{slots:60,span:'1m'},{slots:3,span:'1s'}]", "[]"],
        ["slots 60, span 1m + slots 3, span 1s", "[]"]
      ),
      ("fleet.*.x", ["{a:1}", "{'a':1}"], ["{a:1}", "{'a':1}"]),
      ("fleet.*.x", ["{}", "{a:true}"], ["{}", "a true"]),
    ])
  func names(key: String, values: [String], names: [String]) {
    #expect(axis(key, values).map(\.name) == names)
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
    "sentences call a variant key = value, with the section where two have that key",
    arguments: [
      ("tapi.bucket.capacity", ["1/s", "2/s"], ["capacity = 1/s", "capacity = 2/s"]),
      (
        "settings.rateLimitConfig.maxRetryCount", ["3", "100"],
        ["rateLimitConfig.maxRetryCount = 3", "rateLimitConfig.maxRetryCount = 100"]
      ),
      ("settings.rateLimitConfig.maxRetryInterval", ["60"], ["maxRetryInterval = 60"]),
      ("tapi.bucket", ["{capacity:1}", "{capacity:2}"], ["bucket = capacity 1", "bucket = capacity 2"]),
      (Override.jitterPath, ["full"], ["full"]),
      (Override.clientPath, ["segment-swift"], ["segment-swift"]),
      (Override.settingsPath, ["new.json"], ["new.json"]),
    ])
  func titles(path: String, values: [String], titles: [String]) {
    #expect(axis(path, values).map(\.title) == titles)
  }

  @Test("a label needs no key, and sentences call a combination as tables do")
  func combined() {
    let combined = VariantChoice.combinations([
      axis("a", ["1"]), axis("b", ["{c:2}"]),
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
