import FleetExperiments
import FleetSimulation
import HTTPTransport
import ScenarioModel
import SimulationKernel

/// A live run whose clients are real SDKs, a process for each device.
///
/// Each process gets the device's events with the time between them, and begins at a time that is
/// said to all of them. It sends to a relay of ours, which hands everything on to the server and sees
/// what each upload has and how it ends.
struct LiveExec: Sendable {
  private let command: String
  private let scenario: Scenario
  private let server: LoopbackURL
  private let warmUp: Span
  private let observed: ObservedRun
  /// The cohort of each device.
  private let cohorts: [Cohort]

  /// The longest argument that Linux takes, MAX_ARG_STRLEN, and some room.
  private static let longestInput = (128 << 10) - 1_024

  /// - Throws: `CommandFailure` 65 of a device with more events than an argument can hold.
  init(
    _ command: String, _ scenario: Scenario, _ path: String, server: LoopbackURL, warmUp: Span
  ) throws(CommandFailure) {
    (self.command, self.scenario, self.server, self.warmUp) = (command, scenario, server, warmUp)
    observed = ObservedRun(scenario)
    cohorts = scenario.fleet.flatMap { Array(repeating: $0, count: $0.devices) }
    for (device, cohort) in cohorts.enumerated()
    where input(device, port: 99_999, startAt: .max / 2).utf8.count > Self.longestInput {
      throw CommandFailure(
        .data,
        "\(path): fleet.\(cohort.name): a device creates \(observed.times[device].count) events, more than the --input of a "
          + "process can hold: give fewer events or a shorter duration")
    }
  }

  /// What a process is told: the events by the millisecond, so that the sum of the delays is off by
  /// less than one. A client counts its flush interval from its start, so that it starts an interval
  /// before the device's first flush. If all of them started at one time they would flush as one.
  private func input(_ device: Int, port: Int, startAt: Int64) -> String {
    let cohort = cohorts[device]
    let interval = cohort.flush.interval?.microseconds
    let lead = max(0, ((interval ?? 0) - observed.phases[device]) / 1_000)
    let events = observed.times[device].enumerated().map { ordinal, time in
      let name = "fleetsim_\(device)_\(ordinal)_event"
      let event =
        #"{"type":"track","event":"\#(name)","userId":"fleetsim-\#(device)","messageId":"\#(name)"}"#
      return (time, event)
    }
    var last = -lead
    // Nobody flushes by hand before the end of the run.
    let sequences = (events + [(scenario.duration.microseconds, "")]).map { time, event in
      let milliseconds = (time + 500) / 1_000
      defer { last = milliseconds }
      return #"{"delayMs":\#(milliseconds - last),"events":[\#(event)]}"#
    }
    let config = [
      cohort.flush.count.map { #""flushAt":\#($0)"# },
      interval.map { #""flushInterval":\#(Double($0) / 1e6)"# },
      #""timeout":\#(Double(cohort.timeout.microseconds) / 1e6)"#,
    ].compactMap(\.self)
    let host = "http://127.0.0.1:\(port)"
    return
      #"{"writeKey":"\#(cohort.effectiveWriteKey)","apiHost":"\#(host)","cdnHost":"\#(host)","startAt":\#(startAt - lead),"#
      + #""sequences":[\#(sequences.joined(separator: ","))],"config":{\#(config.joined(separator: ","))}}"#
  }

  /// The fleet's events that a body names.
  private static func events(in body: [UInt8]) -> Set<FleetEvent> {
    let names = String(decoding: body, as: UTF8.self).matches(of: /fleetsim_([0-9]{1,9})_([0-9]{1,9})/)
    return Set(names.map { FleetEvent(device: Int($0.1) ?? 0, ordinal: Int($0.2) ?? 0) })
  }

  /// Starts all processes, runs until the scenario's end or a cancellation, and ends them.
  /// - Returns: the run, why uploads could not leave this machine, and warnings of processes.
  /// - Throws: `CommandFailure` of a system that has no port or starts no process, and of a command that is none.
  func run(
    control: RunControl, tell: (LiveRun.Moment) -> Void, _ environment: CommandEnvironment
  ) throws -> (LiveRun.Result, trouble: String?, warnings: [String]) {
    var relay: HTTPRelay
    do throws(LoopbackSocket.Failure) {
      relay = try HTTPRelay(
        to: server, patience: scenario.fleet.map(\.timeout.microseconds).min() ?? 0,
        now: { Int64(environment.monotonicSeconds() * 1e6) })
    } catch {
      throw CommandFailure(.systemRefuses, "no port of 127.0.0.1 can be had: \(error)")
    }
    var observed = observed
    let lead = Double(warmUp.microseconds) / 1e6
    let zero = environment.monotonicSeconds() + lead
    let startAt = Int64((environment.unixSeconds() + lead) * 1e3)
    let now = { Int64((environment.monotonicSeconds() - zero) * 1e6) }
    var processes = ExecProcesses()
    defer { processes.end() }
    for device in cohorts.indices {
      let input = input(device, port: relay.port, startAt: startAt)
      guard processes.start(command, input, environment) else {
        throw CommandFailure(
          .systemRefuses, "--exec '\(command)': the system starts no process: \(systemMessage())")
      }
    }
    var warnings: [String] = []
    let late = now()
    if late > 0 {
      warnings.append("the processes were started \(FigureText.span(late)) too late: give a longer --warm-up")
    }
    var moments = scenario.tapi.incidents.enumerated().flatMap { index, incident in
      [(incident.start, true), (incident.end, false)].map { time, begins in
        (time.microseconds, LiveRun.Moment(incident: index, begins: begins))
      }
    }.sorted { $0.0 < $1.0 }
    var uploads: [Int: Int] = [:]
    let end = scenario.duration.microseconds
    // Until nobody is left who could send anything.
    while !control.isCancelled, now() < end, processes.endedEarly < cohorts.count || observed.count > 0 {
      while let (time, moment) = moments.first, time <= now() {
        moments.removeFirst()
        tell(moment)
      }
      let next = min(moments.first?.0 ?? end, end)
      relay.step(milliseconds: Int32(clamping: max(0, min(50, (next - now()) / 1_000)))) { happening in
        switch happening {
        case .arrives(let number, let body):
          uploads[number] = observed.arrives(Self.events(in: body), at: now())
        case .ends(let number, let how):
          if let upload = uploads.removeValue(forKey: number) { observed.ended(upload, how, at: now()) }
        }
      }
      control.report(virtualTime: Instant(microseconds: max(0, now())), attempts: Int64(observed.count))
      processes.look()
    }
    let reached = min(max(now(), 0), end)
    // A process that was told of an incident's beginning is told of its end.
    for (_, moment) in moments
    where !moment.begins && scenario.tapi.incidents[moment.incident].start.microseconds < reached {
      tell(moment)
    }
    let (ended, complaint) = (processes.endedEarly, processes.complaints.complaint)
    if observed.count == 0, reached == end || ended == cohorts.count {
      throw CommandFailure(.unavailable, "--exec '\(command)': no process sent anything\(complaint)")
    }
    if ended > 0 {
      warnings.append(
        "\(ended) of \(FigureText.count(cohorts.count, "process")) ended before the run did\(complaint)")
    }
    return (observed.result(reached: Span(microseconds: reached)), relay.trouble, warnings)
  }
}

/// The processes of a run, and the last line that one of them complained in.
private struct ExecProcesses {
  private var running: [pid_t] = []
  private(set) var endedEarly = 0
  private(set) var complaints = Tail()
  private let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)

  /// - Returns: as `CommandEnvironment.start`.
  mutating func start(_ command: String, _ input: String, _ environment: CommandEnvironment) -> Bool {
    if running.isEmpty { _ = complaints.begin() }
    guard
      let child = environment.start(
        client: command, input: input, output: nowhere, errors: complaints.input)
    else { return false }
    running.append(child)
    return true
  }

  /// Takes what they complain of, and notes who has ended.
  mutating func look() {
    complaints.take()
    let before = running.count
    running.removeAll { child in
      var status: Int32 = 0
      return waitpid(child, &status, WNOHANG) == child
    }
    endedEarly += before - running.count
  }

  /// Nothing of them is left then.
  mutating func end() {
    ChildProcess.end(running)
    complaints.end()
    close(nowhere)
  }
}
