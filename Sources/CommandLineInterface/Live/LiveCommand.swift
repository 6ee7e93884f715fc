import FleetExperiments
import FleetMetrics
import FleetReports
import FleetSimulation
import HTTPTransport
import ScenarioModel
import SimulationKernel
import Synchronization
import TAPIModel
import UploadRetry

/// `fleetsim live`: a scenario's clients against a real server.
struct LiveCommand: Command {
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
      "With --out it writes what run writes, of the measured run, and live.csv; the prediction is in the folder predicted. Ctrl-C ends the run: "
        + "what has been measured by then is told and written. The exit code is \(ExitCode.unavailable.rawValue) if no upload was answered.",
    ],
    examples: [
      .init(
        "fleetsim live s.json5 --server http://127.0.0.1:8080 --speed 20 --on-incident ./outage.sh",
        "Twenty times as fast, with an outage that a script makes:")
    ])

  private static let mostDevices = 20_000
  /// Bytes of an upload at most: all devices may send one at a time.
  private static let largestBody = 8 << 20

  @Argument(.scenario) private var path: String
  @Option("server", "url", .server, help: "Where uploads go, as http://127.0.0.1:8080/v1/batch.")
  private var server: LoopbackURL
  @Option("speed", "x", .speed, help: "Virtual seconds in one of the wall, 0.1 to 1000. (default: 1)")
  private var speed = 1.0
  @Option(
    "on-incident", "command", .text,
    help:
      "Run by sh when an incident of the scenario begins or ends, with FLEETSIM_INCIDENT (its place, from 0), FLEETSIM_KIND "
      + "and FLEETSIM_MOMENT (begin or end).")
  private var hook: String?
  @Option("predictions", "n", .count(1...10_000), help: "Seeds to predict, from 1.")
  private var predictions = LiveComparison.defaultPredictions
  private var input = InputOptions()
  @Option(.out) private var outputPath: String?
  @Option(.jobs) private var jobs: Int?
  @Flag(.json) private var isJSON: Bool
  @Flag(.quiet) private var isQuiet: Bool

  func execute(_ invocation: Invocation) throws {
    let transport = HTTPTransport(server)
    let loaded = try LoadedScenario(input.request(path))
    let base = try loaded.decode()
    var warnings = printWarnings([base], loaded.path)
    let scenario = base.scenario
    try check(scenario, loaded.path)
    let output = try outputPath.map { try OutputDirectory($0) }
    try Interruption.check()

    let started = invocation.environment.monotonicSeconds()
    let predicted = try predict(scenario, invocation.environment)
    if !isQuiet, !isJSON { try Console.print(heading(scenario, loaded.path)) }
    let hook = hook.map(Hook.init)
    let result = try measure(scenario, transport, hook, invocation.environment)
    // What there is, is written all the same.
    let signal = Interruption.take()
    let measured = Self.variant(result, scenario, twin: predicted[0].twin)
    // A part of a run has nothing to be compared with.
    let comparison = LiveComparison(
      measured: measured.summary,
      predictions: result.reached < scenario.duration ? [] : predicted.map(\.summary))
    for warning in notes(result, scenario, predicted[0].summary, transport.trouble) + (hook?.problems() ?? [])
    {
      warnings.append(warning)
      Console.printError(warning + "\n")
    }
    let verdict = Self.verdict(comparison, result, scenario)

    let writer = AnswerWriter(
      title: loaded.name, question: scenario.question, output: output, isQuiet: isQuiet, isJSON: isJSON)
    var answer = comparison.answer(
      verdict: verdict,
      facts: "\(server), \(MetricText.plain(speed)) virtual seconds a second, \(scenario.sizeText)",
      results: [measured, predicted[0]], predictedIn: Self.predictionFolder)
    answer.data = tables(measured, predicted[0], comparison)
    var manifest = RunManifest(
      arguments: invocation.arguments, seed: scenario.seed, checks: true, scenario: base.normalisedJSON,
      wall: .init(
        seconds: invocation.environment.monotonicSeconds() - started, workers: 1, runs: 1,
        virtualSeconds: Double(result.reached.microseconds) / 1e6, attempts: result.sent))
    manifest.runs = [
      RunManifest.Run(name: measured.name, folder: "", overrides: []),
      RunManifest.Run(name: predicted[0].name, folder: Self.predictionFolder, overrides: []),
    ]
    try writer.write(answer, manifest, showsScenario: true) {
      LiveFindings.document.text(
        "live",
        Findings(
          path: loaded.path, question: scenario.question, warnings: warnings,
          found: LiveFindings(
            verdict: verdict, server: server.description, speed: speed, comparison: comparison,
            measured: measured.summary, lagP99: Self.lag(result)), output: outputPath))
    }
    if let signal {
      throw Interruption.failure(
        signal,
        "what happened in the first \(FigureText.span(result.reached.microseconds)) was told"
          + (output.map { " and written to \($0.path)" } ?? ""))
    }
    guard result.answered > 0 || result.sent == 0 else {
      throw CommandFailure(
        .unavailable,
        "\(server): none of \(FigureText.count(result.sent, "upload")) was answered: "
          + (result.unheard == 0
            ? "every connection was refused; is a server listening there?"
            : "what came back, if anything, was no whole HTTP answer"))
    }
  }

  // MARK: What can be run

  /// - Throws: `CommandFailure` 65 of a scenario that no live run can do.
  private func check(_ scenario: Scenario, _ path: String) throws {
    let devices = scenario.fleet.reduce(0) { $0 + $1.devices }
    if devices > Self.mostDevices {
      throw CommandFailure(
        .data,
        "\(path): fleet: \(FigureText.grouped(Int64(devices))) devices are more than one machine can be: at most "
          + "\(FigureText.grouped(Int64(Self.mostDevices))); --scale 1:\((devices - 1) / Self.mostDevices + 1) runs a part of them, "
          + "with a part of the capacity")
    }
    if let cohort = scenario.fleet.first(where: {
      min($0.queue.maximumBatchEvents, Int(UInt16.max)) * $0.eventBytes > Self.largestBody
    }) {
      throw CommandFailure(
        .data,
        "\(path): fleet.\(cohort.name): a batch of \(FigureText.count(cohort.queue.maximumBatchEvents, "event")) of "
          + "\(FigureText.count(cohort.eventBytes, "byte")) is more than a live "
          + "run sends at once: at most \(Self.largestBody >> 20) MiB; give a smaller queue.maxBatch or eventSize"
      )
    }
    if let cohort = scenario.fleet.first(where: { $0.gates.reconciles }) {
      throw CommandFailure(
        .data,
        "\(path): fleet.\(cohort.name).gates.reconcile: clients that ask whether an upload was applied can't be run live: there is "
          + "no such request that servers agree on; leave it out")
    }
  }

  // MARK: The runs

  /// The scenario's seed, then the next ones.
  private func predict(_ scenario: Scenario, _ environment: CommandEnvironment) throws -> [VariantResult] {
    let variants = (0..<predictions).map { index in
      var variant = scenario
      variant.seed = scenario.seed &+ UInt64(index)
      return Variant(name: "predicted", scenario: variant)
    }
    let workers = jobs ?? onlineProcessors()
    return try environment.inBackground(workers: workers, showsProgress: !isQuiet) { control in
      try Comparison.run(variants, workers: workers, control: control)
    }.value
  }

  private func measure(
    _ scenario: Scenario, _ transport: HTTPTransport, _ hook: Hook?, _ environment: CommandEnvironment
  ) throws -> LiveRun.Result {
    try environment.inBackground(onSignal: .waits, showsProgress: !isQuiet) { [speed] control in
      let runControl = control.runControl(control.add(scenario))
      let run = LiveRun(scenario, transport: transport, unixSeconds: environment.unixSeconds)
      let tell = { (moment: LiveRun.Moment) -> Void in
        hook?.start(moment, scenario.tapi.incidents[moment.incident])
      }
      return try run.run(control: runControl, tell: tell) {
        AcceleratedClock(speed: speed, monotonicSeconds: environment.monotonicSeconds)
      }
    }.value
  }

  /// The command of `--on-incident`, each time that it is started.
  private final class Hook: Sendable {
    private let command: String
    private let children = Mutex<[pid_t]>([])
    private let failures = Mutex<[String]>([])

    init(_ command: String) { self.command = command }

    /// The run does not wait for it.
    func start(_ moment: LiveRun.Moment, _ incident: Incident) {
      let child = ChildProcess.start(
        shell: command,
        environment: [
          "FLEETSIM_INCIDENT": String(moment.incident), "FLEETSIM_KIND": incident.kind.label,
          "FLEETSIM_MOMENT": moment.begins ? "begin" : "end",
        ])
      if let child {
        children.withLock { $0.append(child) }
      } else {
        failures.withLock { $0.append("it could not be started") }
      }
    }

    /// Waits until all have ended, for five seconds at most.
    func problems() -> [String] {
      let ends = ChildProcess.wait(for: children.withLock { $0 }, atMost: 5_000_000)
      return (failures.withLock { $0 } + ends).map {
        "warning: --on-incident '\(command)': \($0); the server may not have done what the prediction says"
      }
    }
  }

  private static func variant(
    _ result: LiveRun.Result, _ scenario: Scenario, twin: RunRecord
  ) -> VariantResult {
    var twin = twin
    twin.series.cut(after: result.record.series.duration)
    return VariantResult(
      name: "measured", record: result.record, twin: twin,
      summary: RunAnalysis.summary(of: result.record, twin: twin, name: "measured", seed: scenario.seed))
  }

  /// How late things happened, virtual microseconds: 99th percentile.
  private static func lag(_ result: LiveRun.Result) -> Int64 { result.lags.quantile(99, of: 100) ?? 0 }

  // MARK: What is told

  private func heading(_ scenario: Scenario, _ path: String) -> String {
    let pace = speed == 1 ? "" : ", \(MetricText.plain(speed)) times as fast"
    return "\(path) against \(server): seed \(scenario.seed), \(scenario.sizeText), "
      + "\(FigureText.span(scenario.duration.microseconds))\(pace)\n"
      + (scenario.question.map { $0 + "\n" } ?? "") + "\n"
  }

  /// What makes the measurement less than what was asked for.
  private func notes(
    _ result: LiveRun.Result, _ scenario: Scenario, _ predicted: RunSummary, _ trouble: String?
  ) -> [String] {
    var notes: [String] = []
    if let trouble {
      notes.append(
        "warning: uploads could not leave this machine, which counts as refused connections: \(trouble)")
    }
    let lag = Self.lag(result)
    // As long as a tenth of the shortest time that the clients know.
    let patience = scenario.fleet.map { min($0.timeout.microseconds, $0.latency.minimum.microseconds * 10) }
    if lag > max((patience.min() ?? 0) / 10, 100_000) {
      notes.append(
        "warning: the machine was behind: a hundredth of what happened came more than \(FigureText.span(lag)) of virtual time late; "
          + "give a lower --speed or fewer devices")
    }
    if hook == nil, !scenario.tapi.incidents.isEmpty {
      notes.append(
        "warning: nothing makes the server have the scenario's incidents: "
          + "give --on-incident a command that does")
    }
    if !scenario.tapi.actions.isEmpty {
      notes.append(
        "warning: the scenario's actions are in the prediction, and nothing makes the server have them: leave them out"
      )
    }
    if predicted[.unheardAnswers] > 0 {
      notes.append(
        "warning: in the prediction \(FigureText.grouped(predicted[.unheardAnswers])) answers come when their clients have given up: live "
          + "clients hang up then, and what the server makes of it is not seen")
    }
    return notes
  }

  private static func verdict(
    _ comparison: LiveComparison, _ result: LiveRun.Result, _ scenario: Scenario
  ) -> String {
    if result.reached < scenario.duration {
      return
        "Stopped after \(FigureText.span(result.reached.microseconds)) of \(FigureText.span(scenario.duration.microseconds)): "
        + "\(FigureText.count(result.sent, "upload")), \(FigureText.count(result.answered, "answer")); the prediction is of the whole run."
    }
    return comparison.verdict
  }

  private static let predictionFolder = "predicted"

  private func tables(
    _ measured: VariantResult, _ predicted: VariantResult, _ comparison: LiveComparison
  ) -> [OutputFile] {
    let choice = VariantChoice(name: measured.name, overrides: [])
    return [OutputFile(OutputFile.summary, VariedColumns([choice]).bytes(of: [measured.summary]))]
      + (comparison.figures.isEmpty ? [] : [OutputFile(OutputFile.live, comparison.table.csv)])
      + measured.files(in: "") + predicted.files(in: Self.predictionFolder)
  }
}

extension ValueReader where Value == LoopbackURL {
  fileprivate static let server = ValueReader { text in
    do {
      return try LoopbackURL(text)
    } catch {
      throw UsageError("The value of '--server <url>' is invalid: \(error).")
    }
  }
}

extension ValueReader where Value == Double {
  fileprivate static let speed = ValueReader { text in
    if let speed = Double(text), (0.1...1_000).contains(speed) { return speed }
    throw InvalidValue("a number from 0.1 to 1000.")
  }
}
