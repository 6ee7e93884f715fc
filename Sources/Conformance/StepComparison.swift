import UploadGating
import UploadRetry

/// Compares what a step did with what its case expects.
struct StepComparison {
  let step: VectorStep
  /// Time 0 of the case, microseconds since 1970.
  let origin: Int64

  func mismatches(_ seen: ClientHarness.Observation, _ harness: ClientHarness) -> [Mismatch] {
    if let impossible = seen.impossible { return [Mismatch(line: step.line, message: impossible)] }
    return sends(seen) + drops(seen) + outcome(seen) + state(harness) + batches(harness) + restored(seen)
  }

  // MARK: What the client did

  private func sends(_ seen: ClientHarness.Observation) -> [Mismatch] {
    let expected = step.expect.sends.value
    let matches =
      expected.count == seen.sends.count
      && zip(expected, seen.sends).allSatisfy { expected, seen in
        guard expected.batch == seen.batch else { return false }
        return switch expected.header {
        case .any: true
        case .absent: seen.header == nil
        case .count(let count): seen.header == count
        }
      }
    if matches { return [] }
    let got = seen.sends.map { "\($0.batch) (X-Retry-Count \($0.header.map(String.init) ?? "absent"))" }
    let wanted = expected.map { send in
      switch send.header {
      case .any: send.batch
      case .absent: "\(send.batch) (X-Retry-Count absent)"
      case .count(let count): "\(send.batch) (X-Retry-Count \(count))"
      }
    }
    return [Mismatch(step.expect.sends.line, "sends", expected: list(wanted), got: list(got))]
  }

  private func drops(_ seen: ClientHarness.Observation) -> [Mismatch] {
    let expected = step.expect.drops
    if Set(expected.value) == Set(seen.drops) { return [] }
    return [
      Mismatch(
        expected.line, "drops", expected: list(expected.value.map(\.description)),
        got: list(seen.drops.map(\.description)))
    ]
  }

  private func outcome(_ seen: ClientHarness.Observation) -> [Mismatch] {
    guard let expected = step.expect.outcome else { return [] }
    let now = origin + step.at
    let matches =
      switch (expected.value, seen.outcome) {
      case (.delivered, .delivered), (.retryAtNextTrigger, .retryAtNextTrigger): true
      case (.retry(let range), .retry(let time)): range.contains(time - now)
      case (.pause(let range), .pause(let time)), (.pause(let range), .backOff(let time)):
        range.contains(time - now)
      case (.drop(let reason), .drop(let dropped)):
        reason == DropName.name(of: dropped) && !seen.isBlocked
      default: false
      }
    if matches { return [] }
    let wanted =
      switch expected.value {
      case .delivered: "delivered"
      case .retryAtNextTrigger: "retry at the next trigger"
      case .retry(let range): "retry after \(text(range))"
      case .pause(let range): "pause of \(text(range))"
      case .drop(let reason): "drop (\(reason))"
      }
    let got =
      switch seen.outcome {
      case nil: "none"
      case .delivered: "delivered"
      case .retryAtNextTrigger: "retry at the next trigger"
      case .refreshCredentials: "refresh credentials and retry"
      case .retry(let time): "retry after \(text(time - now))"
      case .pause(let time), .backOff(let time): "pause of \(text(time - now))"
      case .drop(let reason): "\(seen.isBlocked ? "blocked" : "drop") (\(DropName.name(of: reason)))"
      }
    return [Mismatch(expected.line, "outcome", expected: wanted, got: got)]
  }

  private func restored(_ seen: ClientHarness.Observation) -> [Mismatch] {
    guard let expected = step.expect.restored, expected.value != seen.restored else { return [] }
    return [
      Mismatch(
        expected.line, "restored", expected: expected.value.rawValue,
        got: seen.restored?.rawValue ?? "nothing")
    ]
  }

  // MARK: The state after it

  private func state(_ harness: ClientHarness) -> [Mismatch] {
    var found: [Mismatch] = []
    let now = origin + step.at
    let isReady = harness.gate.isReady(at: now)
    if let expected = step.expect.isReady, expected.value != isReady {
      let names = { (ready: Bool) in ready ? "READY" : "WAITING" }
      found.append(Mismatch(expected.line, "state", expected: names(expected.value), got: names(isReady)))
    }
    if let expected = step.expect.waitUntil {
      let time = harness.gate.waitUntil - origin
      if isReady || !expected.value.contains(time) {
        found.append(
          Mismatch(
            expected.line, "waitUntil", expected: text(expected.value), got: isReady ? "no wait" : text(time))
        )
      }
    }
    let count = Int(harness.pipeline.retryCount)
    if let expected = step.expect.globalRetryCount, expected.value != count {
      found.append(
        Mismatch(expected.line, "globalRetryCount", expected: "\(expected.value)", got: "\(count)"))
    }
    return found
  }

  private func batches(_ harness: ClientHarness) -> [Mismatch] {
    var found: [Mismatch] = []
    if let expected = step.expect.queue, expected.value != harness.batches.map(\.name) {
      found.append(
        Mismatch(
          expected.line, "queue", expected: list(expected.value), got: list(harness.batches.map(\.name))))
    }
    for (batch, expected) in step.expect.failures {
      let count = harness.retryState(of: batch).map { Int($0.failureCount) }
      if count != expected.value {
        found.append(
          Mismatch(
            expected.line, "failures of \(batch)", expected: "\(expected.value)",
            got: count.map(String.init) ?? "no such batch"))
      }
    }
    for (batch, expected) in step.expect.dueAt {
      let state = harness.retryState(of: batch)
      let time = state.map { max($0.retryAt - origin, 0) }
      if !(time.map(expected.value.contains) ?? false) {
        found.append(
          Mismatch(
            expected.line, "dueAt of \(batch)", expected: text(expected.value),
            got: time.map(text) ?? "no such batch"))
      }
    }
    return found
  }

  // MARK: Words

  private func list(_ texts: [String]) -> String { texts.isEmpty ? "none" : texts.joined(separator: ", ") }

  private func text(_ range: ClosedRange<Int64>) -> String {
    range.lowerBound == range.upperBound
      ? text(range.lowerBound) : "\(text(range.lowerBound)) to \(text(range.upperBound))"
  }

  private func text(_ microseconds: Int64) -> String { DecimalSeconds.text(microseconds) + " s" }
}

/// Microseconds as seconds without an exponent or trailing zeros.
enum DecimalSeconds {
  static func text(_ microseconds: Int64) -> String {
    let magnitude = microseconds.magnitude
    let sign = microseconds < 0 ? "-" : ""
    var decimals = String(String(magnitude % 1_000_000 + 1_000_000).dropFirst())
    while decimals.last == "0" { decimals.removeLast() }
    return sign + String(magnitude / 1_000_000) + (decimals.isEmpty ? "" : "." + decimals)
  }
}
