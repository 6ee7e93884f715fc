import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import HTTPTransport
import ScenarioModel
import SimulationKernel
import TAPIModel

/// `fleetsim live`: a scenario's clients against a real server.
struct LiveCommand: Study {
  static let document: CommandDocument<Findings<LiveFindings>>? = LiveFindings.document
  static let help = CommandSpecification(
    name: "live", abstract: "Run the scenario's clients against a real server on this machine.",
    discussion: [
      "The same client modules, the same scenario and the same draws as in a simulated run, but each upload is an HTTP request, and "
        + "the server's answers are what they are. First the simulator predicts the run, for this seed and for others; then the "
        + "run is made on the wall clock, and the result says where the server did as predicted and where not. What the scenario says "
        + "of the server is the prediction's alone: an outage has to be made at the server, by the command of --on-incident.",
      "Uploads go to addresses of this machine only (127.0.0.0/8 and ::1), each once and on a connection of its own: POST with "
        + "Authorization, X-Retry-Count and a JSON batch. Status, Retry-After, silence and refused connections are the clients' to "
        + "handle. With --speed 20 a virtual second is a twentieth of a second: the server's limits have to be 20 times as high, "
        + "and a Retry-After in seconds means virtual ones.",
      "With --exec the clients are real SDKs, a process for each device, by the contract of 'conformance --exec': each tracks the "
        + "device's own events at their times. The simulator predicts them by the scenario's client.",
      "With --out it writes what run writes, of the measured run, and live.csv; the prediction is in the folder predicted. Ctrl-C ends the run: "
        + "what has been measured by then is told and written. The exit code is \(ExitCode.unavailable.rawValue) if no upload was answered.",
    ],
    examples: [
      .init(
        "fleetsim live s.json5 --server http://127.0.0.1:8080 --speed 20 --on-incident ./outage.sh",
        "Twenty times as fast, with an outage that a script makes:"),
      .init(
        "fleetsim live s.json5 --server http://127.0.0.1:8080 --exec 'python3 cli.py'",
        "A process of an SDK for each device:"),
    ])

  private static let mostDevices: Int64 = 20_000
  private static let mostProcesses: Int64 = 500
  /// Bytes of an upload at most: all devices may send one at a time.
  private static let largestBody = 8 << 20

  @Argument(.scenario) private var path: String
  @Option("server", "url", loopback, help: "Where uploads go, as http://127.0.0.1:8080/v1/batch.")
  private var server: LoopbackURL
  @Option("speed", "x", factor, help: "Virtual seconds in one of the wall, 0.1 to 1000. (default: 1)")
  private var speed = 1.0
  @Option(
    "on-incident", "command", .text,
    help:
      "Run by sh when an incident of the scenario begins or ends, with FLEETSIM_INCIDENT (its place, from 0), FLEETSIM_KIND "
      + "and FLEETSIM_MOMENT (begin or end).")
  private var hook: String?
  @Option(
    "exec", "command", .shell,
    help:
      "A real SDK in place of the simulated clients: a command of the shell that takes --input JSON, run for each device."
  )
  private var command: String?
  @Option(
    "warm-up", "span", .span,
    help: "How long the processes of --exec may take to start before the run begins. (default: 20s)")
  private var warmUp = Span.seconds(20)
  @Option("predictions", "n", .count(1...10_000), help: "Seeds to predict, from 1.")
  private var predictions = LiveComparison.defaultPredictions
  let options = StudyOptions(without: ["journal", "memory-limit"])

  private static let loopback = ValueReader { text in
    do {
      return try LoopbackURL(text)
    } catch {
      throw UsageError("The value of '--server <url>' is invalid: \(error).")
    }
  }
  private static let factor = ValueReader<Double>("a number from 0.1 to 1000.") { text in
    Double(text).flatMap { (0.1...1_000).contains($0) ? $0 : nil }
  }

  func plan(_ environment: CommandEnvironment) throws -> StudyPlan<LiveFindings> {
    try checkExec()
    let transport = try transport()
    let input = try StudyInput(path, options, environment)
    let scenario = input.scenario
    try check(scenario, path)
    let exec = try command.map { try LiveExec($0, scenario, path, server: server, warmUp: warmUp) }
    let pace = speed == 1 ? "" : ", \(MetricText.plain(speed)) times as fast"
    let length = FigureText.span(scenario.duration.microseconds)
    var plan = StudyPlan(
      input: input, heading: input.heading("\(scenario.sizeText), \(length)\(pace), against \(server)"),
      keepsOnlyAsked: true, outlivesSignals: true,
      find: { runs in
        let predicted = try predict(scenario, runs)
        let control = runs.control.runControl(runs.control.add(scenario))
        var hook = hook.map { Hook($0, runs.environment) }
        func tell(_ moment: LiveRun.Moment) { hook?.start(moment, scenario.tapi.incidents[moment.incident]) }
        var (trouble, warnings): (String?, [String]) = (nil, [])
        let result: LiveRun.Result
        if let exec {
          (result, trouble, warnings) = try exec.run(control: control, tell: tell, runs.environment)
        } else {
          let environment = runs.environment
          let run = LiveRun(scenario, transport: transport, unixSeconds: environment.unixSeconds)
          result = try run.run(control: control, tell: tell) {
            AcceleratedClock(speed: speed, monotonicSeconds: environment.monotonicSeconds)
          }
          trouble = transport.trouble
        }
        var found = LiveFindings(scenario, result, predicted, server: server, speed: speed)
        found.warnings = (notes(found, scenario, trouble) + warnings + (hook?.problems() ?? [])).map {
          "warning: \($0)"
        }
        return found
      }, isFinished: \.isFinished,
      report: .own { found, end in
        for warning in found.warnings { environment.console.printError(warning + "\n") }
        try write(found, scenario, end)
      })
    plan.showsScenario = true
    plan.describe = { manifest, found in
      manifest.checks = true
      manifest.wall.workers = 1
      manifest.wall.runs = 1
      manifest.wall.virtualSeconds = Double(found.result.reached.microseconds) / 1e6
      manifest.wall.attempts = found.result.sent
      manifest.runs = [
        RunManifest.Run(name: found.measured.name, folder: "", overrides: []),
        RunManifest.Run(name: found.predicted.name, folder: Self.predictionFolder, overrides: []),
      ]
    }
    return plan
  }

  /// Writes the findings so far, whatever ended the run.
  private func write(_ found: LiveFindings, _ scenario: Scenario, _ end: StudyEnd) throws {
    let result = found.result
    var answer = found.comparison.answer(
      found.story,
      facts: "\(server), \(MetricText.plain(speed)) virtual seconds a second, \(scenario.sizeText)",
      results: [found.measured, found.predicted])
    answer.data =
      [OutputFile(.summary, SummaryCSV.bytes(of: [found.measured.summary]))]
      + (found.comparison.figures.isEmpty ? [] : [OutputFile(.live, found.comparison.table.csv)])
      + found.measured.files(in: "") + found.predicted.files(in: Self.predictionFolder)
    try end.write(answer, warnings: found.warnings)
    if let signal = end.signal {
      throw Signals.failure(
        signal,
        "what happened in the first \(FigureText.span(result.reached.microseconds)) was told"
          + (options.outputPath.map { " and written to \($0)" } ?? ""))
    }
    guard result.answered > 0 || result.sent == 0 else {
      throw CommandFailure(
        .unavailable,
        "\(server): none of \(FigureText.count(result.sent, "upload")) was answered: "
          + (result.refused > 0 && result.unheard == 0
            ? "every connection was refused; is a server listening there?"
            : "what came back, if anything, was no whole HTTP answer"))
    }
  }

  // MARK: What can be run

  private func checkExec() throws(UsageError) {
    if command == nil { return try refuse("warm-up") { "The option \($0) goes with '--exec'." } }
    if speed != 1 {
      throw UsageError(
        "'--exec' runs SDKs with clocks of their own, so that '--speed' can be 1 only: leave it out.")
    }
  }

  /// - Throws: `CommandFailure` 65 of a scenario that no live run can do.
  private func check(_ scenario: Scenario, _ path: String) throws {
    let devices = scenario.devices
    let (most, who) =
      command == nil
      ? (Self.mostDevices, "one machine can be")
      : (Self.mostProcesses, "'--exec' can start processes for")
    func refusal(_ problem: String) -> CommandFailure { CommandFailure(.data, "\(path): \(problem)") }
    if devices > most {
      throw refusal(
        "fleet: \(FigureText.grouped(devices)) devices are more than \(who): at most \(FigureText.grouped(most)); "
          + "--scale 1:\((devices - 1) / most + 1) runs a part of them, with a part of the capacity")
    }
    for cohort in scenario.fleet {
      let events = cohort.queue.maximumBatchEvents
      if min(events, Int(UInt16.max)) * cohort.eventBytes > Self.largestBody {
        throw refusal(
          "fleet.\(cohort.name): a batch of \(FigureText.count(events, "event")) of "
            + "\(FigureText.count(cohort.eventBytes, "byte")) is more than a live run sends at once: at most "
            + "\(Self.largestBody >> 20) MiB; give a smaller queue.maxBatch or eventSize")
      }
      if cohort.gates.reconciles {
        throw refusal(
          "fleet.\(cohort.name).gates.reconcile: clients that ask whether an upload was applied can't be run live: there is no "
            + "such request that servers agree on; leave it out")
      }
    }
  }

  /// - Throws: `CommandFailure` 71 of a system that gives no files or no thread for it.
  private func transport() throws(CommandFailure) -> HTTPTransport {
    do {
      return try HTTPTransport(server)
    } catch let error as SystemThreads.Failure {
      throw CommandFailure.tooFewThreads("a live run takes one for its uploads", error)
    } catch {
      throw CommandFailure.tooFewFiles("a live run takes two and one for each upload on its way (\(error))")
    }
  }

  // MARK: The runs

  /// The scenario's seed, then the next ones.
  private func predict(_ scenario: Scenario, _ runs: StudyRuns) throws -> [VariantResult] {
    let variants = (0..<predictions).map { index in
      Variant(name: "predicted", scenario: scenario.with(seed: scenario.seed &+ UInt64(index)))
    }
    return try Comparison.run(variants, workers: runs.workers, control: runs.control)
  }

  /// The command of `--on-incident`, each time that it is started.
  private struct Hook {
    private let command: String
    private let environment: CommandEnvironment
    private var children: [pid_t] = []
    private var failures: [String] = []

    init(_ command: String, _ environment: CommandEnvironment) {
      (self.command, self.environment) = (command, environment)
    }

    /// The run does not wait for it. A server that it has started stays.
    mutating func start(_ moment: LiveRun.Moment, _ incident: Incident) {
      let child = environment.start(
        shell: command,
        variables: [
          "FLEETSIM_INCIDENT": String(moment.incident), "FLEETSIM_KIND": incident.kind.wording.label,
          "FLEETSIM_MOMENT": moment.begins ? "begin" : "end",
        ], leavesOthers: true)
      if let child { children.append(child) } else { failures.append("it could not be started") }
    }

    /// Waits until all have ended, for five seconds at most, and ends the others.
    func problems() -> [String] {
      (failures + ChildProcess.wait(for: children, atMost: 5_000_000)).map {
        "--on-incident '\(command)': \($0); the server may not have done what the prediction says"
      }
    }
  }

  // MARK: What is told

  /// Returns notes on everything that makes the measurement less than was asked for.
  private func notes(_ found: LiveFindings, _ scenario: Scenario, _ trouble: String?) -> [String] {
    let (lag, unheard) = (found.lagP99, found.predicted.summary[.unheardAnswers])
    // As long as a tenth of the shortest time that the clients know.
    let patience = scenario.fleet.map { min($0.timeout.microseconds, $0.latency.minimum.microseconds * 10) }
    var notes: [String] = []
    func note(_ holds: Bool, _ text: String) { if holds { notes.append(text) } }
    note(
      trouble != nil,
      "uploads could not leave this machine, which counts as refused connections: \(trouble ?? "")")
    note(
      lag > max((patience.min() ?? 0) / 10, 100_000),
      "the machine was behind: a hundredth of what happened came more than \(FigureText.span(lag)) of virtual "
        + "time late; give a lower --speed or fewer devices")
    note(
      hook == nil && !scenario.tapi.incidents.isEmpty,
      "nothing makes the server have the scenario's incidents: give --on-incident a command that does")
    note(
      !scenario.tapi.actions.isEmpty,
      "the scenario's actions are in the prediction, and nothing makes the server have them: leave them out")
    note(
      unheard > 0,
      "in the prediction \(FigureText.grouped(unheard)) answers come when their clients have given up: live "
        + "clients hang up then, and what the server makes of it is not seen")
    return notes
  }

  private static let predictionFolder = "predicted"
}

/// The measurements of `live`, and the prediction.
struct LiveFindings: Sendable {
  let result: LiveRun.Result
  let measured: VariantResult
  let predicted: VariantResult
  let comparison: LiveComparison
  let story: Story
  let server: String
  let speed: Double
  let isFinished: Bool
  /// About the run.
  var warnings: [String] = []

  init(
    _ scenario: Scenario, _ result: LiveRun.Result, _ predictions: [VariantResult], server: LoopbackURL,
    speed: Double
  ) {
    predicted = predictions[0]
    var references = predicted.references
    references.twin.series.cut(after: result.record.series.duration)
    references.ideal?.series.cut(after: result.record.series.duration)
    measured = VariantResult(
      name: "measured", record: result.record, references: references,
      summary: RunAnalysis.summary(of: result.record, references, name: "measured", seed: scenario.seed))
    (self.result, self.server, self.speed) = (result, server.description, speed)
    isFinished = result.reached >= scenario.duration
    // A part of a run has nothing to be compared with.
    comparison = LiveComparison(
      measured: measured.summary, predictions: isFinished ? predictions.map(\.summary) : [])
    story =
      isFinished
      ? comparison.story
      : Story(
        "Stopped after \(FigureText.span(result.reached.microseconds)) of \(FigureText.span(scenario.duration.microseconds))",
        basis: "\(FigureText.count(result.sent, "upload")), \(FigureText.count(result.answered, "answer"))")
  }

  /// How late things happened, virtual microseconds: 99th percentile.
  var lagP99: Int64 { result.lags.quantile(99, of: 100) ?? 0 }

  static let document = CommandDocument.study(
    "a run against a real server beside what was predicted of it.",
    warnings: "about the scenario and the run",
    [
      .init("server", "Where the uploads went.") { $0.server },
      .init("speed", "Virtual seconds in one of the wall.") { $0.speed },
      .init("lagP99", "How late things happened, virtual seconds: 99th percentile.") {
        Double($0.lagP99) / 1e6
      },
      .init("predictions", "Seeds predicted.") { $0.comparison.seeds },
      .rows("figures", "The rows of `live.csv`.", LiveComparison.columns) { $0.comparison.figures },
      .rows("measured", "The measured run's row of `summary.csv`.", SummaryCSV.columns) {
        [$0.measured.summary]
      },
    ] as [JSONShape<LiveFindings>.Member], story: { $0.story })
}
