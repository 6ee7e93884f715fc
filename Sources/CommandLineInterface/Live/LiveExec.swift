import FleetExperiments
import FleetSimulation
import HTTPTransport
import ScenarioModel
import SimulationKernel
import Synchronization

/// A live run whose clients are real SDKs, a process for each device.
///
/// Each process gets the device's events with the time between them, and begins at a time that is said to all of them. It sends to a
/// relay of ours, which hands everything on to the server and sees what each upload has and how it ends.
final class LiveExec: Sendable {
  private let command: String
  private let server: LoopbackURL
  private let warmUp: Span
  private let inputs: [(json: String, leadMilliseconds: Int64)]
  private let notes = Mutex<(trouble: String?, problems: [String])>((nil, []))

  /// The longest argument that Linux takes, MAX_ARG_STRLEN, and some room.
  private static let longestInput = (128 << 10) - 1_024

  /// - Throws: `CommandFailure` 65 of a device with more events than an argument can hold.
  init(
    _ command: String, _ scenario: Scenario, _ path: String, server: LoopbackURL, warmUp: Span
  ) throws(CommandFailure) {
    (self.command, self.server, self.warmUp) = (command, server, warmUp)
    let observed = ObservedRun(scenario)
    let times = observed.times
    var device = 0
    var inputs: [(json: String, leadMilliseconds: Int64)] = []
    for cohort in scenario.fleet {
      for _ in 0..<cohort.devices {
        let input = Self.input(times[device], observed.phases[device], device, cohort, scenario.duration)
        if input.json.utf8.count > Self.longestInput {
          throw CommandFailure(
            .data,
            "\(path): fleet.\(cohort.name): a device creates \(times[device].count) events, more than the --input of a process can "
              + "hold: give fewer events or a shorter duration")
        }
        inputs.append(input)
        device += 1
      }
    }
    self.inputs = inputs
  }

  /// The reason why uploads could not leave this machine.
  var trouble: String? { notes.withLock { $0.trouble } }
  /// Problems of the processes.
  var problems: [String] { notes.withLock { $0.problems } }

  // MARK: What a process is told

  private static let portPlace = "<port>"
  private static let startPlace = "<start>"

  /// Returns the events by the millisecond; the sum of the delays is off by less than one. A client counts its flush interval
  /// from its start, so that it starts an interval before the device's first flush. If all of them started at one time they would
  /// flush as one.
  private static func input(
    _ times: [Int64], _ phase: Int64, _ device: Int, _ cohort: Cohort, _ duration: Span
  ) -> (json: String, leadMilliseconds: Int64) {
    let lead = max(0, ((cohort.flush.interval?.microseconds ?? 0) - phase) / 1_000)
    var last = -lead
    var sequences: [String] = []
    func add(_ time: Int64, _ events: String) {
      let milliseconds = (time + 500) / 1_000
      sequences.append(#"{"delayMs":\#(milliseconds - last),"events":[\#(events)]}"#)
      last = milliseconds
    }
    for (ordinal, time) in times.enumerated() {
      let name = "fleetsim_\(device)_\(ordinal)_event"
      add(time, #"{"type":"track","event":"\#(name)","userId":"fleetsim-\#(device)","messageId":"\#(name)"}"#)
    }
    // Nobody flushes by hand before the end of the run.
    add(duration.microseconds, "")
    var config: [String] = []
    if let count = cohort.flush.count { config.append(#""flushAt":\#(count)"#) }
    if let interval = cohort.flush.interval {
      config.append(#""flushInterval":\#(Double(interval.microseconds) / 1e6)"#)
    }
    config.append(#""timeout":\#(Double(cohort.timeout.microseconds) / 1e6)"#)
    let host = "http://127.0.0.1:\(portPlace)"
    let json =
      #"{"writeKey":"\#(cohort.effectiveWriteKey)","apiHost":"\#(host)","cdnHost":"\#(host)","startAt":\#(startPlace),"#
      + #""sequences":[\#(sequences.joined(separator: ","))],"config":{\#(config.joined(separator: ","))}}"#
    return (json, lead)
  }

  /// The fleet's events that a body names.
  static func events(in body: [UInt8]) -> Set<FleetEvent> {
    let names = String(decoding: body, as: UTF8.self).matches(of: /fleetsim_([0-9]{1,9})_([0-9]{1,9})/)
    return Set(names.map { FleetEvent(device: Int($0.1) ?? 0, ordinal: Int($0.2) ?? 0) })
  }

  // MARK: The run

  /// Starts all processes, runs until the scenario's end or until `control` says otherwise, and ends them.
  /// - Throws: `CommandFailure` of a system that has no port or starts no process, and of a command that is none.
  func run(
    _ scenario: Scenario, control: RunControl, tell: (LiveRun.Moment) -> Void,
    _ environment: CommandEnvironment
  ) throws -> LiveRun.Result {
    var relay: HTTPRelay
    do throws(LoopbackSocket.Failure) {
      relay = try HTTPRelay(
        to: server, patience: scenario.fleet.map(\.timeout.microseconds).min() ?? 0,
        now: { Int64(environment.monotonicSeconds() * 1e6) })
    } catch {
      throw CommandFailure(.systemRefuses, "no port of 127.0.0.1 can be had: \(error)")
    }
    var observed = ObservedRun(scenario)
    let zero = environment.monotonicSeconds() + Double(warmUp.microseconds) / 1e6
    let startAt = Int64((environment.unixSeconds() + Double(warmUp.microseconds) / 1e6) * 1e3)
    let processes = ExecProcesses(environment)
    defer { processes.end() }
    for input in inputs {
      let told = input.json.replacing(Self.portPlace, with: "\(relay.port)")
        .replacing(Self.startPlace, with: "\(startAt - input.leadMilliseconds)")
      guard processes.start(command, told) else {
        throw CommandFailure(
          .systemRefuses, "--exec '\(command)': the system starts no process: \(systemMessage())")
      }
    }
    let now = { Int64((environment.monotonicSeconds() - zero) * 1e6) }
    let started = now()
    if started > 0 {
      notes.withLock {
        $0.problems.append(
          "warning: the processes were started \(FigureText.span(started)) too late: give a longer --warm-up")
      }
    }
    var moments = scenario.tapi.incidents.enumerated().flatMap { index, incident in
      [
        (incident.start.microseconds, LiveRun.Moment(incident: index, begins: true)),
        (incident.end.microseconds, LiveRun.Moment(incident: index, begins: false)),
      ]
    }.sorted { $0.0 < $1.0 }
    var uploads: [Int: Int] = [:]
    let end = scenario.duration.microseconds
    while !control.isCancelled, now() < end {
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
      // Nobody is left who could send anything.
      if processes.endedEarly == inputs.count, observed.count == 0 { break }
    }
    let reached = min(max(now(), 0), end)
    // A process that was told of an incident's beginning is told of its end.
    for (_, moment) in moments
    where !moment.begins && scenario.tapi.incidents[moment.incident].start.microseconds < reached {
      tell(moment)
    }
    notes.withLock {
      $0.trouble = relay.trouble
      if processes.endedEarly > 0 {
        $0.problems.append(
          "warning: \(processes.endedEarly) of \(FigureText.count(inputs.count, "process")) ended before the run did"
            + (processes.lastComplaint.isEmpty ? "" : ": \(processes.lastComplaint.prefix(200))"))
      }
    }
    if observed.count == 0, reached == end || processes.endedEarly == inputs.count {
      throw CommandFailure(
        .unavailable,
        "--exec '\(command)': no process sent anything"
          + (processes.lastComplaint.isEmpty ? "" : ": \(processes.lastComplaint.prefix(200))"))
    }
    return observed.result(reached: Span(microseconds: reached))
  }
}

/// The processes of a run, and the last line that one of them complained in.
private final class ExecProcesses {
  private let environment: CommandEnvironment
  private var running: [pid_t] = []
  private(set) var endedEarly = 0
  private var complaints: Tail
  private let complaintsEnd: Int32
  private let nowhere: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 12)

  init(_ environment: CommandEnvironment) {
    self.environment = environment
    let ends = ChildProcess.privately {
      var ends: [Int32] = [-1, -1]
      _ = pipe(&ends)
      return ends + [open("/dev/null", O_WRONLY)]
    }
    complaints = Tail()
    complaints.descriptor = ends[0]
    if ends[0] >= 0 { _ = fcntl(ends[0], F_SETFL, O_NONBLOCK) }
    (complaintsEnd, nowhere) = (ends[1], ends[2])
  }

  func start(_ command: String, _ input: String) -> Bool {
    guard
      let child = environment.start(
        client: command, input: input, output: nowhere, errors: complaintsEnd)
    else { return false }
    running.append(child)
    return true
  }

  var lastComplaint: String { complaints.lastLine }

  /// Takes what they complain of, and notes who has ended.
  func look() {
    complaints.read(&buffer)
    running.removeAll { child in
      var status: Int32 = 0
      guard waitpid(child, &status, WNOHANG) == child else { return false }
      endedEarly += 1
      return true
    }
  }

  /// Nothing of them is left then.
  func end() {
    ChildProcess.end(running)
    for descriptor in [complaints.descriptor, complaintsEnd, nowhere] where descriptor >= 0 {
      close(descriptor)
    }
  }
}
