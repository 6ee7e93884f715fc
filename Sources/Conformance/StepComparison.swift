import UploadGating
import UploadRetry

/// Compares what a step did with what its case expects.
struct StepComparison {
  let step: VectorStep
  /// Time 0 of the case on the client's clock, microseconds.
  let origin: Int64
  /// Waits that the client's clock can't tell apart, microseconds.
  let resolution: Int64

  func mismatches(_ seen: ClientScript.Observation, _ script: ClientScript) -> [Mismatch] {
    if let impossible = seen.impossible { return [Mismatch(line: step.line, message: impossible)] }
    return sends(seen) + drops(seen) + outcome(seen) + state(script) + batches(script) + restored(seen)
  }

  /// Whether a time, or a wait, is what is expected.
  private func isIn(_ range: ClosedRange<Int64>, _ time: Int64) -> Bool {
    range.lowerBound - resolution <= time && time <= range.upperBound
  }

  // MARK: What the client did

  private func sends(_ seen: ClientScript.Observation) -> [Mismatch] {
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

  private func drops(_ seen: ClientScript.Observation) -> [Mismatch] {
    let expected = step.expect.drops
    // A batch that the step has sealed itself may be left out: who looks at the queue before and after does not see it.
    let unexpected = Set(seen.drops).subtracting(expected.value)
    if Set(expected.value).isSubset(of: seen.drops), unexpected.allSatisfy({ seen.sealed.contains($0.batch) })
    {
      return []
    }
    return [
      Mismatch(
        expected.line, "drops", expected: list(expected.value.map(\.description)),
        got: list(seen.drops.map(\.description)))
    ]
  }

  private func outcome(_ seen: ClientScript.Observation) -> [Mismatch] {
    guard let expected = step.expect.outcome else { return [] }
    let now = origin + step.at
    let matches: Bool =
      switch (expected.value, seen.outcome) {
      case (.delivered, .delivered), (.delivered, .discarded), (.retryAtNextTrigger, .retryAtNextTrigger):
        true
      case (.retry(let range), .retry(let time)), (.retry(let range), .refreshThenRetry(let time)):
        isIn(range, time - now)
      case (.pause(let range), .pause(let time)), (.pause(let range), .backOff(let time)):
        isIn(range, time - now)
      case (.drop(let reason), .drop(let dropped)), (.drop(let reason), .dropAndPause(let dropped, _)):
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
      case .retry(let time), .refreshThenRetry(let time): "retry after \(text(time - now))"
      case .pause(let time), .backOff(let time): "pause of \(text(time - now))"
      case .discarded: "delivered"
      case .drop(let reason), .dropAndPause(let reason, _):
        "\(seen.isBlocked ? "blocked" : "drop") (\(DropName.name(of: reason)))"
      }
    return [Mismatch(expected.line, "outcome", expected: wanted, got: got)]
  }

  private func restored(_ seen: ClientScript.Observation) -> [Mismatch] {
    guard let expected = step.expect.restored, expected.value != seen.restored else { return [] }
    return [
      Mismatch(
        expected.line, "restored", expected: expected.value.rawValue,
        got: seen.restored?.rawValue ?? "nothing")
    ]
  }

  // MARK: The state after it

  private func state(_ script: ClientScript) -> [Mismatch] {
    var found: [Mismatch] = []
    let now = origin + step.at
    let gate = script.subject.state.gate
    let isReady = gate.isReady(at: now)
    if let expected = step.expect.isReady, expected.value != isReady {
      let names = { (ready: Bool) in ready ? "READY" : "WAITING" }
      found.append(Mismatch(expected.line, "state", expected: names(expected.value), got: names(isReady)))
    }
    if let expected = step.expect.waitUntil {
      let time = gate.waitUntil - origin
      if isReady || !isIn(expected.value, time) {
        found.append(
          Mismatch(
            expected.line, "waitUntil", expected: text(expected.value), got: isReady ? "no wait" : text(time))
        )
      }
    }
    let count = Int(script.subject.state.pipeline.retryCount)
    if let expected = step.expect.globalRetryCount, expected.value != count {
      found.append(
        Mismatch(expected.line, "globalRetryCount", expected: "\(expected.value)", got: "\(count)"))
    }
    return found
  }

  private func batches(_ script: ClientScript) -> [Mismatch] {
    var found: [Mismatch] = []
    if let expected = step.expect.queue, expected.value != script.heldNames {
      found.append(
        Mismatch(
          expected.line, "queue", expected: list(expected.value), got: list(script.heldNames)))
    }
    for (batch, expected) in step.expect.failures {
      let count = script.record(of: batch).map { Int($0.failureCount) }
      if count != expected.value {
        found.append(
          Mismatch(
            expected.line, "failures of \(batch)", expected: "\(expected.value)",
            got: count.map(String.init) ?? "no such batch"))
      }
    }
    for (batch, expected) in step.expect.dueAt {
      let state = script.record(of: batch)
      let time = state.map { max($0.retryAt - origin, 0) }
      if !(time.map { isIn(expected.value, $0) } ?? false) {
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
