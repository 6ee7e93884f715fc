import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

func fail(_ message: String, _ code: Int32 = 64) -> Never {
  let text = "fleetsim-bench: \(message)\n"
  _ = write(STDERR_FILENO, text, text.utf8.count)
  exit(code)
}

func number(_ text: String, of option: String, atMost most: Int) -> Int {
  if let number = Int(text), (1...most).contains(number) { return number }
  fail("'\(text)' is invalid for \(option): a whole number from 1 to \(most)")
}

/// What a line of a file of /proc says; nil where there is no such file.
func bytes(_ name: String, in path: String) -> Double? {
  var text = [UInt8](repeating: 0, count: 8_192)
  let file = open(path, O_RDONLY)
  let count = read(file, &text, text.count)
  close(file)
  let lines = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
  return lines.first { $0.hasPrefix(name) }.flatMap { Double($0.filter(\.isNumber)) }.map { $0 * 1_024 }
}

/// The most that was resident. getrusage may tell what the parent had, from before this program was loaded.
func peakMemory() -> Double? { bytes("VmHWM:", in: "/proc/self/status") }

func json(_ number: Double?, decimals: Int = 0) -> String {
  let digits = CSVValue.decimal(number, decimals: decimals).digits
  return digits.isEmpty ? "null" : digits
}

var words = CommandLine.arguments.dropFirst()
guard let name = words.popFirst() else {
  for workload in BenchmarkWorkload.all { print("\(workload.name)\t\(workload.meaning)") }
  exit(0)
}
guard let workload = BenchmarkWorkload.all.first(where: { $0.name == name }) else {
  fail("there is no workload '\(name)', only \(BenchmarkWorkload.all.map(\.name).joined(separator: ", "))")
}
var (asked, duration, path): (Int?, Span?, String?)
var options = RunOptions()
options.threads = 1
while let option = words.popFirst() {
  let value = words.popFirst() ?? ""
  switch option {
  case "--devices": asked = number(value, of: option, atMost: 4_000_000_000)
  case "--threads": options.threads = number(value, of: option, atMost: 64)
  case "--timeseries": path = value
  case "--duration":
    duration = try? Units.span(Int(value) == nil ? value : value + "s")
    if duration ?? .zero >= .seconds(1) { continue }
    fail("'\(value)' is invalid for \(option): a span from 1s to 366d, as 20m or 2h, or so many seconds")
  default: fail("there is no '\(option)', only --devices, --threads, --duration and --timeseries")
  }
}
guard let devices = asked else { fail("how many devices? fleetsim-bench \(name) --devices 100000") }

var scenario = workload.scenario(devices)
scenario.duration = duration ?? scenario.duration
scenario.interval = min(scenario.interval, scenario.duration)
let longest = Span(microseconds: scenario.interval.microseconds * 100_000)
if scenario.duration > longest {
  fail("'\(Units.text(scenario.duration))' is too long for '\(name)': at most \(Units.text(longest))")
}
let estimate = Double(MemoryEstimate(scenario).expected)
if let available = bytes("MemAvailable:", in: "/proc/meminfo"), available < estimate {
  fail(
    "\(name) needs about \(json(estimate)) bytes, and \(json(available)) are available: fewer devices fit", 65
  )
}

let (before, started) = (peakMemory(), ContinuousClock.now)
let record = try Simulation.run(scenario, options: options)
let nanoseconds = (ContinuousClock.now - started) / .nanoseconds(1)
let after = peakMemory()
let memory = before.flatMap { before in after.map { $0 - before } }
let (series, totals) = (TimeSeriesCSV.bytes(of: record.series), record.series.totals)
if let path {
  guard let file = fopen(path, "w"), fwrite(series, 1, series.count, file) == series.count, fclose(file) == 0
  else { fail("'\(path)' cannot be written; name another file with --timeseries", 73) }
}
#if DEBUG
  let build = "debug"
#else
  let build = "release"
#endif
print(
  """
  {"workload": "\(name)", "devices": \(devices), "duration_s": \(json(scenario.duration.seconds, decimals: 3)), \
  "attempts": \(totals.attempts), "answers_2xx": \(totals[.answers2xx]), "answers_429": \(totals[.answers429]), \
  "answers_503": \(totals[.answers503]), "run_ns": \(json(nanoseconds)), \
  "ns_per_attempt": \(json(nanoseconds / Double(totals.attempts), decimals: 3)), \
  "peak_memory_bytes": \(json(after)), "run_memory_bytes": \(json(memory)), \
  "estimated_memory_bytes": \(json(estimate)), \
  "bytes_per_device": \(json(memory.map { $0 / Double(devices) }, decimals: 3)), \
  "digest": "\(SHA256.hexadecimal(series))", \
  "delivery_digest": "\(SHA256.hexadecimal(HistogramCSV.bytes(of: record.deliveries)))", "build": "\(build)"}
  """)
