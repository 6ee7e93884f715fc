import Conformance
import FleetExperiments
import FleetSimulation
import Synchronization

/// Judges a command by all cases, several at once.
struct ExecConformance: Sendable {
  /// A command of the shell, without `--input`.
  var command: String
  /// So long until its first connection, microseconds.
  var startLimit: Int64
  /// Whether `flushInterval` is milliseconds.
  var isMilliseconds: Bool
  /// Keys of `config` that the SDK does not heed.
  var ignored: Set<String>
  var judge: ProcessJudge
  /// Processes at once.
  var jobs: Int
  var environment: CommandEnvironment

  struct Outcome: Sendable {
    var vector: ProcessCase
    /// The log of each run, the latest last.
    var runs: [ExchangeLog] = []
    /// The verdict of the latest run, or of all of them together.
    var verdict: ProcessVerdict

    var log: ExchangeLog? { runs.last }
    var level: ProcessVerdict.Level { verdict.level }
    var remark: String { verdict.remark ?? "" }

    /// Whether another run may say more. A process that stood still between two flushes sends their events together, and a case
    /// that keeps them apart fails. This one failure may be the machine's, if it is seen only once.
    var isOpen: Bool {
      level == .inconclusive
        || level == .fails && vector.conditions.contains { if case .apart = $0 { true } else { false } }
    }
  }

  /// Runs an upload that is accepted, then every case; then the undecided ones once more, while fewer run beside them. A case
  /// that is late twice runs a third time: three waits of one length are the client's own.
  /// - Throws: `CommandFailure` about a command that can't be judged at all, or after a signal.
  func outcomes(of cases: [ProcessCase]) throws -> [Outcome] {
    try probe()
    var outcomes = cases.map { vector in
      let missing = vector.needs.intersection(ignored).sorted().joined(separator: " and ")
      return Outcome(
        vector: vector,
        verdict: missing.isEmpty ? .inconclusive("") : .notApplicable("the command ignores \(missing)"))
    }
    try run(&outcomes, jobs: jobs)
    try run(&outcomes, jobs: min(jobs, 2))
    try run(&outcomes, jobs: min(jobs, 2)) { !judge.lateAlike($0.vector, $0.runs).isEmpty }
    for index in outcomes.indices where outcomes[index].level == .inconclusive {
      let late = judge.steadilyLate(outcomes[index].vector, outcomes[index].runs)
      if !late.isEmpty { outcomes[index].verdict = .fails(late) }
    }
    return outcomes
  }

  /// Runs what is open.
  /// - Parameter isWorth: whether one more run of it may say more.
  private func run(
    _ outcomes: inout [Outcome], jobs: Int, where isWorth: (Outcome) -> Bool = { _ in true }
  ) throws {
    let open = outcomes.indices.filter { outcomes[$0].isOpen && isWorth(outcomes[$0]) }
    let cases = open.map { outcomes[$0].vector }
    let next = Atomic<Int>(0)
    let found = Mutex<[Int: ExchangeLog]>([:])
    SystemThreads.perform(min(jobs, cases.count)) {
      while !isStopped {
        let number = next.add(1, ordering: .relaxed).oldValue
        guard number < cases.count else { break }
        let log = ExecSession(cases[number], self).run()
        found.withLock { $0[number] = log }
      }
    }
    try environment.signals.check()
    for (number, log) in found.withLock({ $0 }) {
      outcomes[open[number]].runs.append(log)
      outcomes[open[number]].verdict = judge.verdict(on: cases[number], log)
    }
  }

  var isStopped: Bool { environment.signals.pending != nil }

  // MARK: A command that can't be judged

  private func probe() throws {
    var vector = ProcessCase("probe", "S21", "One event is accepted")
    vector.limit = 15_000_000
    for attempt in 0..<2 {
      let log = ExecSession(vector, self).run()
      try environment.signals.check()
      guard let trouble = trouble(log) else { return }
      // A busy machine may have been the cause of it.
      if attempt > 0 || log.child.end != .stopped || log.child.flooded { throw trouble }
    }
  }

  /// Returns what keeps the command from being judged, in a sentence; nil: nothing does.
  func trouble(_ log: ExchangeLog) -> CommandFailure? {
    let child = log.child
    let complaint = Tail.complaint(child.lastComplaint)
    let silence =
      log.connections == 0
      ? "sent nothing" : "opened \(FigureText.count(log.connections, "connection")) without an upload"
    let (isSilent, seconds) = (log.uploads.isEmpty, ProcessJudge.seconds(log.endedAt))
    let trouble: (code: ExitCode, text: String)? =
      switch child.end {
      case .unstartable(let reason): (.systemRefuses, reason)
      case _ where log.spokeTLS:
        (.unavailable, "it speaks TLS, and the server of a case speaks plain HTTP")
      case _ where log.spokeNoHTTP: (.unavailable, "what it sent is no request of HTTP/1.1")
      case _ where child.flooded: (.data, "it printed more than 1 MiB and was ended")
      case .signalled(let number): (.data, "it was ended by signal \(number)\(complaint)")
      case .exited(126) where isSilent, .exited(127) where isSilent:
        (.noInput, "there is no such command that can be run\(complaint)")
      case .exited(let status) where isSilent:
        (.unavailable, "it ended with exit status \(status) and \(silence)\(complaint)")
      case .stopped where isSilent:
        (.unavailable, "it \(silence) within \(seconds) s and was ended (--start-limit)")
      case .stopped:
        (.unavailable, "its upload was accepted, and it still ran after \(seconds) s and was ended")
      case .exited where child.success != nil: nil
      case .exited where child.lastLine.isEmpty:
        (.data, "it printed nothing; the last line of its standard output has to be JSON with 'success'")
      case .exited:
        (
          .data,
          "the last line of its standard output is no JSON object with 'success': \(child.lastLine.prefix(120))"
        )
      }
    return trouble.map { CommandFailure($0.code, "--exec '\(command)': \($0.text)") }
  }
}
