import FleetReports
import FleetSimulation
import SimulationKernel

/// `fleetsim trace`: one device of a scenario, step by step.
struct TraceCommand: Command {
  static let help = CommandSpecification(
    name: "trace", abstract: "Follow one device of a scenario step by step.",
    discussion: [
      "Runs the whole fleet, because the other devices decide how the server fares, and tells of one device: flushes "
        + "and what they seal, sends with their X-Retry-Count, answers and time-outs, the backoffs drawn, the "
        + "pipeline's READY and WAITING, drops, and how many events it holds. The same command gives the same "
        + "bytes."
    ],
    examples: [
      .init(
        "fleetsim trace scenario.json5 --device 7 --from 20m --to 30m", "Ten minutes of the eighth device:")
    ])

  @Argument(.scenario) private var path: String
  @Option("device", "n", number, help: "Its number, from 0, over all cohorts in their order.")
  private var device: Int
  @Option("from", "time", time, help: "Show what happens from here on, as 20m or 0:20:00.")
  private var start: Int64?
  @Option("to", "time", time, help: "Show what happens before this time.")
  private var end: Int64?
  private var input = InputOptions(without: ["scale"])
  @Option(.memoryLimit) private var memory: MemoryLimit

  private static let number = ValueReader<Int>("a whole number from 0.") { $0.isDigits ? Int($0) : nil }
  /// A time as the timeline prints it, `0:20:35.12`, or as scenarios write spans, `20m35s`; virtual microseconds.
  private static let time = ValueReader<Int64>("write 20m or 0:20:00.") { text in
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let span = parts.count == 3 ? "\(parts[0])h\(parts[1])m\(parts[2])s" : text
    return (try? Units.span(span))?.microseconds
  }

  /// - Throws: `UsageError` for a device that does not exist; `CommandFailure`, `ScenarioProblems`.
  func execute(_ environment: CommandEnvironment) throws {
    let (start, end) = (start ?? 0, end ?? .max)
    guard start < end else { throw UsageError("Nothing is shown: '--from' is not before '--to'.") }
    let loaded = try LoadedScenario(path, input, environment.files)
    let decoded = try loaded.decode()
    let scenario = decoded.scenario
    let devices = Int(scenario.devices)
    if device >= devices { throw UsageError(NoSuchDevice(device: device, devices: devices).description) }
    environment.console.printOnce(loaded.warnings(of: [], [decoded]))
    try memory.check(scenario, loaded.path)
    let trace = try environment.inBackground(showsProgress: true) { [device] control in
      let run = control.runControl(control.add(scenario))
      return try Simulation.trace(scenario, device: device, control: run).trace
    }.value
    try environment.signals.check()
    // The text of a busy device takes longer than its run, and nothing is left behind meanwhile.
    environment.signals.release()
    try environment.console.print(DeviceTimeline.text(trace, range: start..<end))
  }
}
