import UploadRetry

/// The verdict of a case on a command.
package enum ProcessVerdict: Sendable, Hashable {
  /// With what else is worth saying.
  case holds(String?)
  /// The faults that were seen.
  case fails([String])
  /// Why nothing can be said.
  case inconclusive(String)
  case notApplicable(String)
}

/// Judges what was seen of a command: a pure function of the exchange.
///
/// A machine that is busy makes things late and never early. So what came too early, too often, at once or with a wrong header is a
/// failure, and what came too late says nothing.
package struct ProcessJudge: Sendable {
  /// A send may be this much later than its window, microseconds.
  package static let lateTolerance: Int64 = 100_000
  /// And this much earlier: a runtime's sleep may end a little before its time.
  package static let earlyTolerance: Int64 = 10_000
  /// A command that ends so long after its last upload ended has lost its patience rather than given the events up.
  package static let patience: Int64 = 5_000_000
  /// A wait is the client's own if it is longer than its window by this much in each of several runs. It also has to be as long
  /// in all of them but for `alike`. Microseconds.
  package static let steadyLateness: Int64 = 250_000
  package static let alike: Int64 = 50_000
  /// So many runs.
  private static let steadyRuns = 3
  /// Whether the exit status says the same as `success`.
  package var exitStatusCounts = true

  package init(exitStatusCounts: Bool = true) { self.exitStatusCounts = exitStatusCounts }

  /// Judges the exchange by the case.
  package func verdict(on vector: ProcessCase, _ log: ExchangeLog) -> ProcessVerdict {
    var findings = Findings()
    if log.uploads.isEmpty {
      return .inconclusive("no upload came within \(Self.seconds(log.endedAt)) s of the start")
    }
    if case .signalled(let number) = log.child.end {
      // A system without memory ends processes so.
      if number == 9 { return .inconclusive("the process was killed (signal 9)") }
      findings.failures.append("the process was ended by signal \(number)")
    }
    // Everything after that is the client's answer to a machine that was too slow.
    if let number = log.uploads.firstIndex(where: \.wasGivenUp) {
      return .inconclusive("the client gave upload \(number + 1) up before it was answered")
    }
    for condition in vector.conditions { check(condition, vector, log, &findings) }
    if !findings.failures.isEmpty { return .fails(findings.failures) }
    if let reason = findings.doubts.first { return .inconclusive(reason) }
    return .holds(findings.notes.isEmpty ? nil : findings.notes.joined(separator: "; "))
  }

  /// Waits that are the client's own: a busy machine makes no `steadyRuns` of one length.
  /// - Returns: what was seen, a sentence each; none if there were fewer runs.
  package func steadilyLate(_ vector: ProcessCase, _ logs: [ExchangeLog]) -> [String] {
    logs.count < Self.steadyRuns ? [] : lateAlike(vector, logs)
  }

  /// Finds waits that were too long in all runs of a case so far, and as long in each. More runs may show that they are the
  /// client's.
  /// - Returns: the observations, a sentence each.
  package func lateAlike(_ vector: ProcessCase, _ logs: [ExchangeLog]) -> [String] {
    vector.conditions.compactMap { condition in
      guard case .wait(let number, let windows) = condition else { return nil }
      let waits = logs.compactMap { log -> Int64? in
        guard log.uploads.indices.contains(number + 1), let end = log.uploads[number].endedAt else {
          return nil
        }
        return log.uploads[number + 1].arrivedAt - end
      }
      guard waits.count == logs.count, let least = waits.min(), let most = waits.max(),
        most - least <= Self.alike,
        windows.allSatisfy({ $0.upper.map { least > $0 + Self.steadyLateness } ?? false })
      else { return nil }
      return
        "upload \(number + 2) came \(Self.seconds(least)) to \(Self.seconds(most)) s after upload \(number + 1) had ended in each "
        + "of \(waits.count) runs; " + windows.map(Self.text).joined(separator: " or ")
    }
  }

  private struct Findings {
    var failures: [String] = []
    var doubts: [String] = []
    var notes: [String] = []
  }

  private func check(
    _ condition: ProcessCase.Condition, _ vector: ProcessCase, _ log: ExchangeLog, _ findings: inout Findings
  ) {
    let uploads = log.uploads
    switch condition {
    case .uploads(let range): count(range, log, &findings)
    case .wait(let number, let windows): wait(after: number, windows, uploads, &findings)
    case .retryCount(let reference, let count, let orAbsent):
      let place: Int? =
        switch reference {
        case .number(let number): uploads.indices.contains(number) ? number : nil
        case .of(let event): uploads.firstIndex { $0.events.contains(event) }
        }
      guard let number = place else {
        findings.doubts.append("the upload whose X-Retry-Count counts did not come, or has no readable body")
        break
      }
      let value = uploads[number].header("X-Retry-Count")
      if value == "\(count)" || (value == nil && orAbsent) { break }
      let seen = value.map { "X-Retry-Count '\($0)'" } ?? "no X-Retry-Count"
      findings.failures.append("upload \(number + 1) has \(seen); \(count) is expected")
    case .writeKey:
      // Plain, or as the user name of Basic.
      let keys = [ProcessCase.writeKey, ProcessCase.writeKeyInBase64]
      let fields = uploads.map { $0.header("Authorization") }
      for (number, field) in fields.enumerated() where !keys.contains(where: { field?.contains($0) ?? false })
      {
        let seen = field.map { "Authorization '\($0)'" } ?? "no Authorization"
        findings.failures.append("upload \(number + 1) has \(seen), without the write key")
        break
      }
    case .noOverlap:
      for (number, upload) in uploads.enumerated().dropFirst() {
        let open = uploads[..<number].first { $0.endedAt ?? .max > upload.arrivedAt }
        if open == nil { continue }
        findings.failures.append("upload \(number + 1) began before another one was answered")
        break
      }
      if uploads.count < 2 { findings.doubts.append("there was one upload, so none could overlap") }
    case .movesOn(let first, let second, let most): movesOn(first, second, most, log, &findings)
    case .apart(let first, let second):
      if let number = uploads.firstIndex(where: { $0.events.contains(first) && $0.events.contains(second) }) {
        findings.failures.append(
          "upload \(number + 1) has '\(first)' and '\(second)', which belong to two flushes")
      }
      for event in [first, second] where !uploads.contains(where: { $0.events.contains(event) }) {
        findings.doubts.append("no upload has event '\(event)' in readable form")
      }
    case .acceptedOnce: acceptedOnce(uploads, &findings)
    case .success(let expected): success(expected, log.child, &findings)
    case .fetchesSettings:
      if log.settingsFetches.isEmpty {
        findings.failures.append("it asked for no Settings")
      } else if let first = uploads.first, log.settingsFetches[0] > first.arrivedAt {
        findings.failures.append("it asked for Settings after its first upload")
      }
    }
  }

  private func count(_ range: ClosedRange<Int>, _ log: ExchangeLog, _ findings: inout Findings) {
    let seen = log.uploads.count
    if seen > range.upperBound {
      findings.failures.append("\(Self.uploads(seen)) came; \(range.upperBound) at most are expected")
    } else if seen < range.lowerBound {
      let idle = log.endedAt - (log.uploads.compactMap(\.endedAt).max() ?? 0)
      // A process that ends has given up.
      if case .exited = log.child.end, idle <= Self.patience {
        findings.failures.append("\(Self.uploads(seen)) came; \(range.lowerBound) are expected")
      } else {
        findings.doubts.append(
          "\(Self.uploads(seen)) came within \(Self.seconds(log.endedAt)) s; \(range.lowerBound) are expected"
        )
      }
    } else if case .stopped = log.child.end, range.upperBound == range.lowerBound {
      findings.doubts.append(
        "the process still ran after \(Self.seconds(log.endedAt)) s, with \(Self.uploads(seen))")
    }
  }

  private func wait(
    after number: Int, _ windows: [WaitWindow], _ uploads: [ObservedUpload], _ findings: inout Findings
  ) {
    guard uploads.indices.contains(number + 1), let end = uploads[number].endedAt else {
      if windows.contains(where: { $0.upper != nil }) {
        findings.doubts.append("no upload came after upload \(number + 1)")
      }
      return
    }
    let wait = uploads[number + 1].arrivedAt - end
    if let fitting = windows.first(where: { isWithin(wait, $0) }) {
      if windows.count > 1 { findings.notes.append("as \(fitting.name)") }
      return
    }
    let expected = windows.map(Self.text).joined(separator: " or ")
    let seen =
      "upload \(number + 2) came \(Self.seconds(wait)) s after upload \(number + 1) had ended; \(expected)"
    let earliest = windows.map(\.lower).min() ?? 0
    if wait < earliest - Self.earlyTolerance {
      findings.failures.append(seen)
    } else {
      findings.doubts.append(seen + ": later than expected, which a busy machine may be the cause of")
    }
  }

  private func isWithin(_ wait: Int64, _ window: WaitWindow) -> Bool {
    guard wait >= window.lower - Self.earlyTolerance else { return false }
    guard let upper = window.upper else { return true }
    return wait <= upper + Self.lateTolerance
  }

  private func movesOn(
    _ first: String, _ second: String, _ most: Int, _ log: ExchangeLog, _ findings: inout Findings
  ) {
    let before = log.uploads.prefix { !$0.events.contains(second) || $0.events.contains(first) }
    let times = before.count { $0.events.contains(first) }
    if times >= most {
      findings.failures.append("'\(first)' was sent \(times) times before '\(second)' was sent once")
    } else if before.count == log.uploads.count {
      findings.doubts.append("no upload has '\(second)' alone, in readable form")
    }
  }

  private func acceptedOnce(_ uploads: [ObservedUpload], _ findings: inout Findings) {
    var accepted: Set<String> = []
    for (number, upload) in uploads.enumerated() {
      if let event = upload.events.first(where: accepted.contains) {
        findings.failures.append("upload \(number + 1) has '\(event)' again, which had been accepted")
        return
      }
      if let status = upload.status, (200...299).contains(status) { accepted.formUnion(upload.events) }
    }
    if accepted.isEmpty { findings.doubts.append("no accepted upload has an event in readable form") }
  }

  private func success(_ expected: Bool, _ child: ChildReport, _ findings: inout Findings) {
    guard case .exited(let status) = child.end else {
      findings.doubts.append("the process had to be ended, so it said nothing of its success")
      return
    }
    guard let success = child.success else {
      findings.failures.append(
        "the last line of standard output is no JSON with 'success': '\(child.lastLine.prefix(80))'")
      return
    }
    if success != expected {
      findings.failures.append("it said success: \(success); \(expected) is expected")
    }
    if exitStatusCounts, (status == 0) != expected {
      findings.failures.append(
        "its exit status was \(status); \(expected ? "0" : "another one than 0") is expected")
    }
  }

  // MARK: Words

  private static func text(_ window: WaitWindow) -> String {
    guard let upper = window.upper else { return "at least \(seconds(window.lower)) s, \(window.name)" }
    return window.lower == upper
      ? "\(seconds(upper)) s, \(window.name)"
      : "\(seconds(window.lower)) to \(seconds(upper)) s, \(window.name)"
  }

  private static func uploads(_ count: Int) -> String { count == 1 ? "1 upload" : "\(count) uploads" }

  /// Milliseconds at most: `0.55`.
  package static func seconds(_ microseconds: Int64) -> String {
    let rounded = Int64((microseconds.magnitude + 500) / 1_000 * 1_000)
    return decimal(millionths: microseconds < 0 ? -rounded : rounded)
  }
}
