import ShippedClients
import UploadGating
import UploadRetry

/// Compares what a step of a case expects with what was seen.
struct StepComparison {
  let step: VectorStep
  /// Time 0 of the case on the client's clock, microseconds.
  let origin: Int64
  /// Waits that the client's clock can't tell apart, microseconds.
  let resolution: Int64

  func mismatches(_ seen: ClientScript.Observation, _ script: ClientScript) -> [Mismatch] {
    if let impossible = seen.impossible { return [Mismatch(line: step.line, message: impossible)] }
    let record = script.record
    return done(seen) + state(script)
      + batches(script.heldNames) {
        record($0).map { Int($0.failureCount) }
      } dueAt: {
        record($0).map { max($0.retryAt - origin, 0) }
      }
      + Mismatch.check(
        "restored", step.expect.restored, \.rawValue, got: seen.restored?.rawValue ?? "nothing"
      ) { $0 == seen.restored }
  }

  /// What the client did.
  func done(_ seen: ClientScript.Observation) -> [Mismatch] {
    let keepAlive = step.expect.keepAlive ?? Located(value: [], line: step.line)
    return sends(seen) + drops(seen) + outcome(seen)
      + Mismatch.check("keepalive", keepAlive, list, got: list(seen.keepAlive)) { $0 == seen.keepAlive }
  }

  private func isIn(_ range: ClosedRange<Int64>, _ time: Int64) -> Bool {
    range.lowerBound - resolution <= time && time <= range.upperBound
  }

  // MARK: What the client did

  private func sends(_ seen: ClientScript.Observation) -> [Mismatch] {
    func text(_ sends: [ExpectedSend]) -> String {
      list(
        sends.map { send in
          switch send.header {
          case .any: send.batch
          case .absent: "\(send.batch) (X-Retry-Count absent)"
          case .count(let count): "\(send.batch) (X-Retry-Count \(count))"
          }
        })
    }
    let got = seen.sends.map {
      ExpectedSend(batch: $0.batch, header: $0.header.map { .count($0) } ?? .absent)
    }
    return Mismatch.check("sends", step.expect.sends, text, got: text(got)) { expected in
      expected.count == got.count
        && zip(expected, got).allSatisfy { expected, got in
          expected.batch == got.batch && (expected.header == .any || expected.header == got.header)
        }
    }
  }

  private func drops(_ seen: ClientScript.Observation) -> [Mismatch] {
    func text(_ drops: [NamedDrop]) -> String { list(drops.map(\.description)) }
    var wanted = step.expect.drops
    // A reason that the case leaves open.
    wanted.value = wanted.value.map { drop in
      drop.reason.isEmpty ? seen.drops.first { $0.batch == drop.batch } ?? drop : drop
    }
    return Mismatch.check("drops", wanted, text, got: text(seen.drops)) { expected in
      // A batch that the step has sealed itself may be left out: who looks at the queue before and after does not see it.
      Set(expected).isSubset(of: seen.drops)
        && Set(seen.drops).subtracting(expected).allSatisfy { seen.sealed.contains($0.batch) }
    }
  }

  private func outcome(_ seen: ClientScript.Observation) -> [Mismatch] {
    let got = seen.outcome.map { told($0, isBlocked: seen.isBlocked) }
    func matches(_ expected: ExpectedOutcome) -> Bool {
      switch (expected, got) {
      case (.delivered, .delivered), (.retryAtNextTrigger, .retryAtNextTrigger),
        (.refreshCredentials, .refreshCredentials):
        true
      case (.retry(let range), .retry(let wait)), (.pause(let range), .pause(let wait)):
        isIn(range, wait.lowerBound)
      case (.drop(let reason), .drop(let dropped)), (.block(let reason), .block(let dropped)):
        reason == dropped
      default: false
      }
    }
    func words(_ outcome: ExpectedOutcome) -> String {
      switch outcome {
      case .delivered: "delivered"
      case .retryAtNextTrigger: "retry at the next trigger"
      case .retry(let range): "retry after \(text(range))"
      case .pause(let range): "pause of \(text(range))"
      case .refreshCredentials: "refresh credentials and retry"
      case .drop(let reason): "drop (\(reason))"
      case .block(let reason): "blocked (\(reason))"
      }
    }
    return Mismatch.check("outcome", step.expect.outcome, words, got: got.map(words) ?? "none", matches)
  }

  /// What a client has decided, as a case would tell it.
  private func told(_ outcome: RetryOutcome, isBlocked: Bool) -> ExpectedOutcome {
    func wait(until time: Int64) -> ClosedRange<Int64> { time - origin - step.at...time - origin - step.at }
    return switch outcome {
    case .delivered, .discarded: .delivered
    case .retryAtNextTrigger: .retryAtNextTrigger
    case .refreshCredentials: .refreshCredentials
    case .retry(let time), .refreshThenRetry(let time): .retry(wait(until: time))
    case .pause(let time), .backOff(let time): .pause(wait(until: time))
    case .drop(let reason), .dropAndPause(let reason, _):
      isBlocked ? .block(DropName.name(of: reason)) : .drop(DropName.name(of: reason))
    }
  }

  // MARK: The state after it

  private func state(_ script: ClientScript) -> [Mismatch] {
    let gate = script.subject.state.gate
    let (isReady, time) = (gate.isReady(at: origin + step.at), gate.waitUntil - origin)
    func name(_ isReady: Bool) -> String { isReady ? "READY" : "WAITING" }
    let count = Int(script.subject.state.pipeline.retryCount)
    return Mismatch.check("state", step.expect.isReady, name, got: name(isReady)) { $0 == isReady }
      + Mismatch.check("waitUntil", step.expect.waitUntil, text, got: isReady ? "no wait" : text(time)) {
        !isReady && isIn($0, time)
      }
      + Mismatch.check("globalRetryCount", step.expect.globalRetryCount, String.init, got: "\(count)") {
        $0 == count
      }
  }

  /// The batches that the client holds.
  ///
  /// - Parameters:
  ///   - held: their names.
  ///   - failures: how often one has failed, by name; nil: it is not there.
  ///   - dueAt: when one is due, microseconds since the case began.
  func batches(_ held: [String], failures: (String) -> Int?, dueAt: (String) -> Int64?) -> [Mismatch] {
    Mismatch.check("queue", step.expect.queue, list, got: list(held)) { $0 == held }
      + step.expect.failures.flatMap { batch, expected in
        let count = failures(batch)
        let got = count.map(String.init) ?? "no such batch"
        return Mismatch.check("failures of \(batch)", expected, String.init, got: got) { $0 == count }
      }
      + step.expect.dueAt.flatMap { batch, expected in
        let time = dueAt(batch)
        return Mismatch.check("dueAt of \(batch)", expected, text, got: time.map(text) ?? "no such batch") {
          range in time.map { isIn(range, $0) } ?? false
        }
      }
  }

  // MARK: Words

  private func text(_ range: ClosedRange<Int64>) -> String {
    range.lowerBound == range.upperBound
      ? text(range.lowerBound) : "\(text(range.lowerBound)) to \(text(range.upperBound))"
  }

  private func text(_ microseconds: Int64) -> String { decimal(millionths: microseconds) + " s" }
}

/// Compares decoded Settings with what a case expects of them (S13, S14).
enum SettingsComparison {
  /// How the files name the document as a whole.
  private static let whole = "$"

  static func mismatches(
    _ vector: VectorCase, _ config: HTTPConfig, _ findings: [SettingsFinding], _ client: ConformanceClient
  ) -> [Mismatch] {
    var found: [Mismatch] = []
    // No shipped SDK reports what it repairs.
    if client.preset.settingsDialect == .document {
      let paths = Array(Set(findings.map { $0.path.isEmpty ? whole : $0.path })).sorted()
      found += Mismatch.check("repairs", vector.repairs, list, got: list(paths)) { $0 == paths }
    }
    // A case about Settings asks for this: a value that ends the process keeps no promise.
    if vector.requirement == "S14", let trap = findings.first(where: { $0.effect == .endsProcess }) {
      let line = vector.repairs?.line ?? vector.effective.first?.value.line ?? vector.line
      found.append(Mismatch(line: line, message: "\(trap.path): \(trap.message)"))
    }
    // An SDK that does not say what it makes of its Settings is judged by what it does.
    if client.preset.settingsDialect == .analyticsKotlin { return found }
    // A limit that the client does not have.
    let isUnlimited = config.rateLimit.maxTotalBackoffDuration == .max
    let expected = vector.effective.filter {
      !isUnlimited || $0.path != "rateLimitConfig.maxTotalBackoffDuration"
    }
    return found
      + effective(expected, in: config.encoded()) { path in
        config.backoff.jitter == .none && path.hasSuffix(".jitterPercent") ? .number(0) : nil
      }
  }

  /// Compares Settings as a client has them with what is expected of them, by path from the section.
  ///
  /// - Parameter standIn: the value of a path that leads to none.
  static func effective(
    _ expected: [(path: String, value: Located<SettingsValue>)], in settings: SettingsValue,
    _ standIn: (String) -> SettingsValue? = { _ in nil }
  ) -> [Mismatch] {
    expected.flatMap { path, expected in
      let value =
        path.split(separator: ".").reduce(Optional(settings)) { $0?.member(String($1)) } ?? standIn(path)
      return Mismatch.check(
        "effective \(path)", expected, described, got: value.map(described) ?? "nothing"
      ) { $0 == value }
    }
  }
}

private func list(_ texts: [String]) -> String { texts.isEmpty ? "none" : texts.joined(separator: ", ") }
