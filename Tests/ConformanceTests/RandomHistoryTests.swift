import Conformance
import FleetSimulation
import ScenarioModel
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

/// The client module alone and a device of the engine are one client, whatever happens to them.
@Suite("Random histories")
struct RandomHistoryTests {
  @Test(
    "the module and a device do the same in 500 random histories of each client (20 where not exhaustive)",
    arguments: ClientPreset.all.filter { $0.page == nil }.map(\.name))
  func agree(name: String) throws {
    let preset = try #require(ClientPreset.all.first { $0.name == name })
    let runner = ConformanceRunner(client: ConformanceClient(preset: preset))
    #expect(
      runner.disagreements(histories: TestDepth.cases(20, exhaustively: 200, wholly: 500), seed: 20) == [])
  }

  @Test(
    "queues of one upload and of many, and every way to take a flush during uploads, agree, too",
    // A device of Keen's client keeps held requests apart; the module asks for them in each loop.
    arguments: [ClientPreset.tapiDocument, .keenProposed])
  func otherLoops(client: ClientPreset) throws {
    for uploads in [1, 2, Int.max] {
      for flush in ["joins", "ignored", "queued"] {
        var preset = client
        preset.uploadConcurrency = uploads
        preset.flushWhileUploading = try #require(.init(rawValue: flush))
        let runner = ConformanceRunner(client: ConformanceClient(preset: preset))
        let histories = TestDepth.cases(20, exhaustively: 80, wholly: 150)
        #expect(runner.disagreements(histories: histories, seed: 7) == [], "\(uploads) \(flush)")
      }
    }
  }
}

// MARK: - Histories

/// Random histories: whatever happens, the client module alone and a device of the engine must do the same.
///
/// Nothing is expected of them but that; what a client must do, vectors and recordings say.
extension ConformanceRunner {
  /// Drives both through `count` random histories, hostile Settings among them.
  ///
  /// - Parameter seed: names the histories; the same seed, the same histories.
  /// - Returns: for each history in which they part, its number, the step and both sides.
  fileprivate func disagreements(histories count: Int, seed: UInt64) -> [String] {
    // Each begins at a number of its own: a step of the sequence further on it would be the history before, shifted by one.
    var beginnings = SeededGenerator(seed: seed)
    return (0..<count).compactMap { number in
      var random = SeededGenerator(seed: beginnings.next())
      return disagreement(&random).map { "history \(number): \($0)" }
    }
  }

  private func disagreement(_ random: inout SeededGenerator) -> String? {
    let vector = randomCase(&random)
    let (config, _) = client.preset.settingsDialect.decode(vector.settings)
    let cohort = client.cohort(for: vector, config: config)
    let flushCount = FlushCount(
      vector.client.flushAt, countOfAnEvent: client.preset.countOfAnEvent,
      countsAllEvents: client.preset.countsAllEvents)
    let words = SeededGenerator(seed: random.next())
    let device = ScriptedDevice(cohort, flushCount: flushCount, draws: words)
    let module = ModuleSubject(cohort, flushCount: flushCount, draws: words, origin: device.origin)
    var onModule = ClientScript(module, vector, client)
    var onDevice = ClientScript(device, vector, client)
    var now: Int64 = 0
    // A device keeps a batch whole of which an earlier upload may still arrive; the module knows of none. There a history ends.
    var mayStillArrive: Set<String> = []
    for step in 0..<random.below(40) + 5 {
      now += random.pick([
        0, 0, 1, 10_000, 500_000, 1_000_000, 5_000_000, 30_000_000, 300_000_000, 3_600_000_000,
      ])
      let action = randomAction(&random, onModule, step)
      switch action {
      case .answer(let batch, let status, _, _):
        if client.preset.queue.splitsOn413, status == 413, mayStillArrive.contains(batch) { return nil }
        if status == nil { mayStillArrive.insert(batch) }
      case .restart: mayStillArrive.formUnion(onModule.heldBatches.filter(\.isUploading).map(\.name))
      default: break
      }
      var vectorStep = VectorStep(line: step)
      (vectorStep.at, vectorStep.action) = (now, action)
      let (a, b) = (
        onModule.perform(vectorStep).text + " | " + onModule.text,
        onDevice.perform(vectorStep).text + " | " + onDevice.text
      )
      if a != b { return "step \(step), \(action): module \(a), device \(b)" }
    }
    return nil
  }

  // MARK: What happens

  private func randomCase(_ random: inout SeededGenerator) -> VectorCase {
    var options = VectorClient()
    options.flushAt = random.pick([3, 5, 20])
    if random.below(3) == 0 { options.uploads = random.pick([1, 2, 4]) }
    if random.below(4) == 0 { options.maximumEvents = random.pick([4, 10, 30]) }
    if client.isRebatch { options.maximumBatchEvents = random.pick([1, 2, 3, 500]) }
    if random.below(3) == 0 { options.isPersistent = random.below(2) == 0 }
    var given = VectorGiven()
    for index in 0..<random.below(4) {
      var batch = VectorBatch(name: "g\(index)")
      batch.events = random.below(4) + 1
      if random.below(2) == 0 {
        batch.failures = UInt16(random.pick([1, 2, 5, 99, 101]))
        batch.latestFailure = .transient
        batch.firstFailureAt = random.pick([-1_000_000, -60_000_000, -43_199_000_000])
        batch.dueAt = random.pick([-1_000_000, 0, 1_000_000, 40_000_000])
      }
      given.batches.append(batch)
    }
    if random.below(3) == 0 { given.globalRetryCount = UInt16(random.pick([1, 3, 100])) }
    if random.below(4) == 0 { given.waitUntil = random.pick([1_000_000, 60_000_000]) }
    var vector = VectorCase()
    vector.id = "random"
    vector.requirement = "S17"
    vector.settings = randomSettings(&random)
    vector.client = options
    vector.given = given
    return vector
  }

  private func randomSettings(_ random: inout SeededGenerator) -> SettingsValue {
    var sections: [(key: String, value: SettingsValue)] = []
    func section(_ keys: [(String, [SettingsValue])]) -> SettingsValue {
      .object(keys.filter { _ in random.below(3) == 0 }.map { ($0.0, random.pick($0.1)) })
    }
    if random.below(5) > 0 {
      let value = section([
        ("enabled", [.bool(true), .bool(false), .null]),
        ("maxRetryCount", [.number(0), .number(1), .number(3)]),
        ("maxRetryInterval", [.number(1), .number(10), .number(300)]),
        ("maxTotalBackoffDuration", [.number(60), .number(3_600)]),
      ])
      sections.append(("rateLimitConfig", value))
    }
    if random.below(5) > 0 {
      let value = section([
        ("enabled", [.bool(true), .bool(false)]), ("maxRetryCount", [.number(0), .number(1), .number(2.5)]),
        ("baseBackoffInterval", [.number(0.5), .number(10)]),
        ("maxBackoffInterval", [.number(1), .number(60)]),
        ("maxTotalBackoffDuration", [.number(60), .number(600)]),
        ("jitterPercent", [.number(0), .number(50)]),
        ("default4xxBehavior", [.string("retry"), .string("drop")]), ("statusCodeOverrides", [.object([])]),
      ])
      sections.append(("backoffConfig", value))
    }
    if random.below(12) == 0 { return .object([]) }
    return .object([("httpConfig", .object(sections))])
  }

  private func randomAction(
    _ random: inout SeededGenerator, _ script: ClientScript, _ step: Int
  ) -> VectorStep.Action {
    let uploading = script.heldBatches.filter(\.isUploading).map(\.name)
    if !uploading.isEmpty, random.below(2) == 0 {
      let status = random.pick([200, 200, 429, 429, 503, 500, 400, 404, 408, 401, 413, 501, 511, 302, 100])
      let header = random.below(3) == 0 ? random.pick(["0", "2", "30", "+5", "-1", "soon", "4000"]) : nil
      return .answer(
        batch: random.pick(uploading), status: random.below(8) == 0 ? nil : status, retryAfter: header,
        rateLimitReset: nil)
    }
    switch random.below(12) {
    case 0..<4: return .events(random.below(4) + 1, batch: "s\(step)")
    case 4: return .restart(random.pick(VectorStep.SavedState.allCases), settings: nil)
    default:
      let kinds = VectorStep.TriggerKind.allCases.filter { $0 != .count && $0 != .disconnect }
      return .trigger(random.pick(kinds))
    }
  }
}

extension ClientScript.Observation {
  /// All of it, to be compared.
  fileprivate var text: String {
    "\(sends.map { "\($0.batch):\($0.header.map(String.init) ?? "-")" }) \(drops) \(outcome.map { "\($0)" } ?? "-") "
      + "\(restored.map { "\($0)" } ?? "-") \(impossible ?? "")"
  }
}

extension ClientScript {
  fileprivate var text: String {
    let state = subject.state
    let records = heldBatches.map { batch -> String in
      let record = record(of: batch.name.split(separator: "+").first.map(String.init) ?? batch.name)
      return
        "\(batch.name)\(batch.isUploading ? "^" : "") \(record?.failureCount ?? 0) \(record?.firstFailureTime ?? 0)"
    }
    return "\(state.gate.waitUntil) \(state.gate.kind) \(state.pipeline.retryCount) \(records)"
  }
}

extension SeededGenerator {
  fileprivate mutating func below(_ n: Int) -> Int { Int(next() % UInt64(n)) }
  fileprivate mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[below(elements.count)]
  }
}
