import ScenarioFormat
import ScenarioModel
import SimulationKernel
import Testing
import UploadGating

@Suite("Preset, client file, scenario and --set lie over one another key by key")
struct LayeringTests {
  private func text(_ client: String, _ more: String = "") -> ScenarioText {
    var text = ScenarioText()
    text.cohort += ", client: \(client)"
    if !more.isEmpty { text.cohort += ", \(more)" }
    return text
  }

  /// As its file has it: 35 tokens, 7 % of one for each success, a retry without a token is lost.
  private func expectBudget(_ decoded: ScenarioFile.Decoded, capacity: Int, perSuccess: Int = 70) throws {
    let budget = try #require(decoded.scenario.fleet[0].gates.retryBudget)
    #expect(budget.bucket?.capacity == capacity && budget.bucket?.perSuccess == perSuccess)
    #expect(budget.refusesWhenSpent)
    let again = try ScenarioFile(text: decoded.normalisedJSON, name: "n") { _ in "" }.decode()
    #expect(again.scenario == decoded.scenario && again.normalisedJSON == decoded.normalisedJSON)
  }

  @Test("one subkey of a gate leaves its others as the preset has them, wherever it is given")
  func budget() throws {
    let path = "fleet.phones.gates.retryBudget"
    let written = "gates: { retryBudget: { capacity: 100 } }"
    try expectBudget(text("'aws-sdk-2026'").decode([path + ".capacity": "100"]), capacity: 100)
    try expectBudget(text("'aws-sdk-2026'").decode([path: "{ capacity: 100 }"]), capacity: 100)
    try expectBudget(
      text("'aws-sdk-2026'").decode(["fleet.phones.gates": "{ retryBudget: { capacity: 9 } }"]), capacity: 9)
    try expectBudget(text("'aws-sdk-2026'", written).decode(), capacity: 100)
    let file = "{ name: 'mine', basedOn: 'aws-sdk-2026', switches: { \(written) } }"
    try expectBudget(text(file).decode(), capacity: 100)
    try expectBudget(
      text(file, "gates: { retryBudget: { perSuccess: '20%' } }").decode(), capacity: 100, perSuccess: 200)
    try expectBudget(
      text(file, "gates: { retryBudget: { perSuccess: '20%' } }").decode([path + ".capacity": "7"]),
      capacity: 7, perSuccess: 200)
  }

  @Test("null takes a part away, and an empty one leaves it as it is")
  func null() throws {
    let whole = try text("'aws-sdk-2026'").decode().scenario.fleet[0].gates
    #expect(
      try text("'aws-sdk-2026'", "gates: { retryBudget: {} }").decode().scenario.fleet[0].gates == whole)
    let none = try text("'aws-sdk-2026'", "gates: { retryBudget: null }").decode()
    #expect(none.scenario.fleet[0].gates.retryBudget == nil)
    let without = try text("'aws-sdk-2026'", "gates: { retryBudget: { capacity: null, perRun: 3 } }").decode()
    let budget = try #require(without.scenario.fleet[0].gates.retryBudget)
    #expect(budget.bucket == nil && budget.perRun == 3 && budget.refusesWhenSpent)
    for decoded in [none, without] {
      let again = try ScenarioFile(text: decoded.normalisedJSON, name: "n") { _ in "" }.decode()
      #expect(again.scenario == decoded.scenario)
    }
  }

  @Test("the longest wait of a class leaves its base, and the other classes")
  func classDelays() throws {
    let file = """
      { name: 'shards', switches: { classDelays: {
        server: { base: '30ms', longest: '5s' }, timeout: { base: '40ms', longest: '2s' } } } }
      """
    let delays = try text(file).decode(["fleet.phones.classDelays.server.longest": "100ms"]).scenario.fleet[0]
      .policy.classDelays
    #expect(delays.server?.base == 30_000 && delays.server?.longest == 100_000)
    #expect(delays.timeout?.base == 40_000 && delays.timeout?.longest == 2_000_000)
    #expect(delays.rateLimit == nil)
  }

  @Test("any value of any client, written once more, changes nothing", arguments: ClientPreset.names)
  func everyKey(_ client: String) throws {
    let text = text("'\(client)'")
    let decoded = try text.decode()
    let cohort = decoded.scenario.fleet[0]
    let tree = cohort.everyKey
    func leaves(_ node: PositionedValue, _ path: String) -> [(String, String)] {
      guard let members = node.members else { return [(path, JSONText.pretty(node))] }
      return members.flatMap { leaves($0.value, "\(path).\($0.key)") }
    }
    for key in ["gates", "classDelays", "page", "queue", "uploads", "uploadLoop", "policy"] {
      guard let part = tree[key] else { continue }
      for (path, value) in leaves(part, "fleet.phones.\(key)") {
        let again = try text.file().decode(overrides: [Override(path: path, value: value)])
        #expect(again.scenario == decoded.scenario, "\(path) = \(value)")
      }
    }
  }

  @Test("a 429 whose Retry-After is ignored because a file says so in part is warned of")
  func ignoredRetryAfter() throws {
    func warnings(_ client: String, _ more: String = "", status: Int = 429) -> [String] {
      var text = text(client, more)
      text.tapi = "overload: { status: \(status), retryAfter: '60s' }"
      return text.messages().filter { $0.contains("Retry-After") }
    }
    let file = "{ name: 'mine', switches: { policy: { rateLimited: 'delaysBatch' } } }"
    #expect(warnings(file).count == 1)
    #expect(warnings(file)[0].contains("fleet.phones.policy.rateLimited: "))
    #expect(warnings("'segment-kotlin'", "policy: { rateLimited: 'delaysBatch' }").count == 1)
    #expect(warnings(file, status: 503).isEmpty)
    #expect(warnings(file, "policy: { retryAfterOnOtherCodes: 'ignored' }").isEmpty)
    #expect(warnings(file, "policy: { retryAfterOnOtherCodes: 'delaysBatch' }").isEmpty)
    #expect(warnings("'aws-sdk-2026'").isEmpty, "it ignores it as its publisher's code does")
  }
}
