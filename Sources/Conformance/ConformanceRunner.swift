import FleetSimulation
import UploadPipeline

/// Runs vectors against a client (S21).
public struct ConformanceRunner: Sendable {
  /// The client that is tested.
  public let client: ConformanceClient

  public init(client: ConformanceClient) { self.client = client }

  /// Runs files against the clients that they are about, in their order: the document's own, and those that a file names.
  public static func reports(on files: [VectorFile]) -> [ConformanceReport] {
    var names: [String] = []
    for file in files {
      let name = file.client ?? ConformanceClient.names[0]
      if !names.contains(name) { names.append(name) }
    }
    return names.compactMap { ConformanceClient(name: $0).map { ConformanceRunner(client: $0).run(files) } }
  }

  /// Runs every case of every file that is about this client, in order.
  public func run(_ files: [VectorFile]) -> ConformanceReport {
    ConformanceReport(
      client: client.name,
      results: files.filter(client.isMeant).flatMap { file in file.cases.map { result(of: $0, in: file) } })
  }

  /// The first case of a file that the client fails; nil: none, or the file isn't meant for the client.
  public func firstFailure(in file: VectorFile) -> CaseResult? {
    guard client.isMeant(by: file) else { return nil }
    for vector in file.cases {
      let result = result(of: vector, in: file)
      if case .failed = result.verdict { return result }
    }
    return nil
  }

  private func result(of vector: VectorCase, in file: VectorFile) -> CaseResult {
    CaseResult(
      id: vector.id, requirement: vector.requirement, says: vector.says, file: file.name, line: vector.line,
      verdict: verdict(on: vector))
  }

  private func verdict(on vector: VectorCase) -> CaseResult.Verdict {
    let mismatches = mismatches(of: vector, vector.steps)
    guard let deviation = deviation(of: vector) else {
      return mismatches.isEmpty ? .passed : .failed(mismatches)
    }
    if mismatches.isEmpty {
      let message = "\(client.name) is said to deviate (\(deviation.reason)) and does not"
      return .failed([Mismatch(line: deviation.line, message: message)])
    }
    if let steps = deviation.steps {
      let others = self.mismatches(of: vector, steps)
      if !others.isEmpty { return .failed(others) }
    }
    return .deviates(deviation.reason)
  }

  /// Where a case says nothing of a client it is taken for as the release before it.
  private func deviation(of vector: VectorCase) -> VectorDeviation? {
    if let own = vector.deviations[client.name] { return own.isNone ? nil : own }
    return client.name == "segment-kotlin-main" ? vector.deviations["segment-kotlin"] : nil
  }

  /// Returns the mismatches on the client module alone or on a device of the engine, under the first draw that finds any.
  private func mismatches(of vector: VectorCase, _ steps: [VectorStep]) -> [Mismatch] {
    if let page = client.preset.page {
      return PageCase(vector, steps, page, client.preset.settingsDefaults).mismatches(
        draws: Draws.choices(vector.jitter).map(\.word))
    }
    let (config, findings) = client.settings(vector.settings)
    let fromSettings = SettingsComparison.mismatches(vector, config, findings, client)
    if !fromSettings.isEmpty { return fromSettings }
    let cohort = client.cohort(for: vector, config: config)
    let flushCount = FlushCount(vector.client.flushAt, countsAllEvents: client.preset.countsAllEvents)
    return Mismatch.first(of: Draws.choices(vector.jitter), vector.line) { draws in
      mismatches(
        ModuleSubject(cohort, flushCount: flushCount, draws: draws, origin: vector.wallClock * 1_000_000),
        vector, steps)
    } device: { draws in
      mismatches(ScriptedDevice(cohort, flushCount: flushCount, draws: draws), vector, steps)
    }
  }

  private func mismatches(
    _ subject: any ConformanceSubject, _ vector: VectorCase, _ steps: [VectorStep]
  ) -> [Mismatch] {
    let (origin, policy) = (subject.origin, client.preset.policy)
    var script = ClientScript(subject, vector, client)
    for step in steps {
      let seen = script.perform(step)
      let comparison = StepComparison(
        step: step, origin: origin, resolution: policy.waitsInMilliseconds ? 1_000 : 0)
      let found = comparison.mismatches(seen, script)
      if !found.isEmpty { return found }
    }
    return []
  }
}

/// Random words for a case: it must hold for the lowest jitter, for the highest, and in between.
struct Draws: RandomNumberGenerator, Sendable {
  var word: UInt64
  var increment: UInt64

  static func choices(_ end: VectorDraw?) -> [Draws] {
    let (lowest, highest) = (Draws(word: 0, increment: 0), Draws(word: .max, increment: 0))
    return switch end {
    case .lowest: [lowest]
    case .middle: [Draws(word: 1 << 63, increment: 0)]
    case .highest: [highest]
    case nil: [lowest, highest, Draws(word: 0x5851_F42D_4C95_7F2D, increment: 0x9E37_79B9_7F4A_7C15)]
    }
  }

  mutating func next() -> UInt64 {
    defer { word &+= increment }
    return word
  }
}

/// A difference between what was expected and what came.
public struct Mismatch: Sendable, Hashable {
  /// The line of the vector file.
  public var line: Int
  public var message: String

  /// One where something is expected and what was seen does not match it.
  static func check<Value>(
    _ what: String, _ expected: Located<Value>?, _ text: (Value) -> String, got: @autoclosure () -> String,
    _ matches: (Value) -> Bool
  ) -> [Mismatch] {
    guard let expected, !matches(expected.value) else { return [] }
    let message = "\(what): expected \(text(expected.value)), got \(got())"
    return [Mismatch(line: expected.line, message: message)]
  }

  /// Returns the mismatches under the first draw that finds any. The client module alone and a device of the engine must find the
  /// same.
  static func first<Draw>(
    of draws: [Draw], _ line: Int, module: (Draw) -> [Mismatch], device: (Draw) -> [Mismatch]
  ) -> [Mismatch] {
    for draw in draws {
      let (module, device) = (module(draw), device(draw))
      if module != device {
        let only = (module + device).first { !module.contains($0) || !device.contains($0) }
        return [
          Mismatch(
            line: only?.line ?? line,
            message: "the client module and the engine's device differ: \(only?.message ?? "")")
        ]
      }
      if !module.isEmpty { return module }
    }
    return []
  }
}

/// How one case ended.
public struct CaseResult: Sendable {
  public var id: String
  public var requirement: String
  public var says: String
  public var file: String
  /// Where the case begins.
  public var line: Int
  public var verdict: Verdict

  public enum Verdict: Sendable, Hashable {
    case passed
    case failed([Mismatch])
    /// As the case says that this client does, for the reason given.
    case deviates(String)
  }
}

/// The results of a run.
public struct ConformanceReport: Sendable {
  /// The preset's name.
  public var client: String
  /// In the order of the files.
  public var results: [CaseResult]

  /// One requirement's row.
  public struct Row: Sendable, Hashable {
    public var requirement: String
    public var title: String
    public var passed = 0
    public var failed = 0
    public var deviates = 0
  }

  /// One row for each requirement that a case tests, in order.
  public var rows: [Row] {
    Requirement.all.compactMap { requirement in
      let own = results.filter { $0.requirement == requirement.id }
      if own.isEmpty { return nil }
      var row = Row(requirement: requirement.id, title: requirement.title)
      for result in own {
        switch result.verdict {
        case .passed: row.passed += 1
        case .failed: row.failed += 1
        case .deviates: row.deviates += 1
        }
      }
      return row
    }
  }

  /// Every mismatch as `file:line: id: what`.
  public var failures: [String] {
    results.flatMap { result -> [String] in
      guard case .failed(let mismatches) = result.verdict else { return [] }
      return mismatches.map { "\(result.file):\($0.line): \(result.id): \($0.message)" }
    }
  }

  /// The cases that deviate as they are said to, in the order of the requirements.
  public var deviations: [(result: CaseResult, reason: String)] {
    Requirement.all.flatMap { requirement in
      results.compactMap { result -> (result: CaseResult, reason: String)? in
        guard result.requirement == requirement.id, case .deviates(let reason) = result.verdict else {
          return nil
        }
        return (result, reason)
      }
    }
  }
}
