import FleetExperiments
import FleetReports
import FleetSimulation
import ScenarioModel
import SimulationKernel
import UploadRetry

/// `fleetsim trace`: one device of a scenario, step by step.
struct TraceCommand {
  enum Format: String, CaseIterable {
    case text, perfetto
  }

  var input: InputRequest
  var device: Int
  var format: Format
  /// Virtual microseconds; text only.
  var range: Range<Int64>
  var outputPath: String?
  var memory: MemoryLimit
  var environment: CommandEnvironment

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments, environment: CommandEnvironment) throws {
    input = try InputRequest(parsed)
    self.environment = environment
    guard let number = parsed.value("device") else {
      throw UsageError("Missing expected option '--device <n>'")
    }
    guard number.utf8.allSatisfy({ (48...57).contains($0) }), let device = Int(number) else {
      throw UsageError("The value '\(number)' is invalid for '--device <n>': a whole number from 0.")
    }
    self.device = device
    let name = parsed.value("format") ?? Format.text.rawValue
    guard let format = Format(rawValue: name) else {
      let known = Format.allCases.map(\.rawValue)
      let hint = nearest(to: name, among: known).map { " Did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "The format '\(name)' does not exist; there are \(known.joined(separator: ", ")).\(hint)")
    }
    self.format = format
    let start = try Self.time(parsed, "from") ?? 0
    let end = try Self.time(parsed, "to") ?? .max
    guard start < end else { throw UsageError("Nothing is shown: '--from' is not before '--to'.") }
    guard format == .text || (start == 0 && end == .max) else {
      throw UsageError("'--from' and '--to' are for the text format; a trace viewer zooms by itself.")
    }
    range = start..<end
    outputPath = parsed.value("out")
    memory = try MemoryLimit(parsed)
  }

  /// A time as the timeline prints it, `0:20:35.12`, or as scenarios write spans, `20m35s`.
  private static func time(_ parsed: ParsedArguments, _ option: String) throws -> Int64? {
    guard let text = parsed.value(option) else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let span = parts.count == 3 ? "\(parts[0])h\(parts[1])m\(parts[2])s" : text
    do {
      return try Units.span(span).microseconds
    } catch {
      throw UsageError("The value '\(text)' is invalid for '--\(option) <time>': write 20m or 0:20:00.")
    }
  }

  /// - Throws: `UsageError` for a device that does not exist; `CommandFailure`, `ScenarioProblems`.
  func execute() throws {
    let loaded = try LoadedScenario(input)
    let decoded = try loaded.decode()
    let scenario = decoded.scenario
    let devices = scenario.fleet.reduce(0) { $0 + $1.devices }
    if device >= devices { throw UsageError(NoSuchDevice(device: device, devices: devices).description) }
    printWarnings([decoded], loaded.path)
    try memory.check(scenario, loaded.path)
    let file = try outputPath.map {
      try SingleFile($0, ours: [DeviceTimeline.opening, ChromeTrace.opening], option: "--out")
    }
    let trace = try run(scenario)
    let text = format == .text ? DeviceTimeline.text(trace, range: range) : ChromeTrace.text(trace)
    guard let file else {
      return format == .text ? try Console.print(text) : try Console.printData(text)
    }
    try file.write(text)
    let next = format == .perfetto ? "; open it in a trace viewer, as ui.perfetto.dev" : ""
    try Console.print("Written to \(file.path)\(next)\n")
  }

  private func run(_ scenario: Scenario) throws -> DeviceTrace {
    let control = ComparisonControl()
    let run = control.runControl(control.add(scenario))
    let work = BackgroundWork(
      work: { [device] in try Simulation.trace(scenario, device: device, control: run).trace },
      cancel: control.cancel, progress: { control.progress }, environment: environment)
    return try work.run(showsProgress: true)
  }
}
