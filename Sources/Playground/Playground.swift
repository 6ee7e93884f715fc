import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel

/// What the page asks for, in this order: parameters as text (`room`, `begin`), slices (`advance`) until all three runs have ended, and
/// in between what is known (`series`, `figures`, `file`). Texts and numbers lie at `output`, `output_count` bytes of them.
private struct Playground {
  var input: [UInt8] = []
  var output: [UInt8] = []
  var numbers: [Double] = []
  var question: Question?
  /// The run, its twin and the ideal run, as far as they have ended.
  var records: [RunRecord] = []
  var current: SlicedRun?
  var reached: Int64 = 0

  /// The scenarios that are run, one after another.
  var scenarios: [Scenario] {
    question.map { [$0.scenario, $0.scenario.withoutIncidents, $0.scenario.ideal] } ?? []
  }

  mutating func begin() -> Bool {
    (question, current, records, reached) = (nil, nil, [], 0)
    do throws(Parameters.Problem) {
      let question = Question(try Parameters(String(decoding: input, as: UTF8.self)))
      self.question = question
      output = Array(question.json5.utf8)
      return true
    } catch {
      output = Array(error.text.utf8)
      return false
    }
  }

  /// Returns the share of the three runs that is done.
  mutating func advance(by span: Span) -> Double {
    let scenarios = scenarios
    guard let duration = scenarios.first?.duration.microseconds else { return 1 }
    if records.count < scenarios.count {
      let run = current ?? SlicedRun(scenarios[records.count])
      current = run
      reached += span.microseconds
      if run.run(until: reached) {
        records.append(run.record)
        (current, reached) = (nil, 0)
      }
    }
    return (Double(records.count) + Double(min(reached, duration)) / Double(duration))
      / Double(scenarios.count)
  }

  /// Uploads a second and events held, row after row, of the first run as far as it is known.
  mutating func readSeries() -> Int {
    guard let series = (records.first ?? current?.record)?.series else { return 0 }
    let known =
      records.isEmpty ? Int(min(reached / series.interval, Int64(series.rows.count))) : series.rows.count
    numbers = series.rows.prefix(known).map { Double($0.attempts) * 1e6 / Double($0.length) }
    numbers += series.rows.prefix(known).map { Double($0[.backlogEvents]) }
    return known
  }

  var summary: RunSummary? {
    guard let question, records.count == 3 else { return nil }
    return RunAnalysis.summary(
      of: records[0], ReferenceRuns(twin: records[1], ideal: records[2]), name: "playground",
      seed: question.scenario.seed)
  }

  /// Seconds until the endpoint was well, until the fleet had caught up and until it could have (-1: not within the run), events lost
  /// or late, extra uploads a phone, events created, capacity in requests a second, the run's length, whether the twin is healthy.
  mutating func readFigures() -> Bool {
    guard let question, let summary else { return false }
    func seconds(_ time: Int64?) -> Double { time.map { Double($0) / 1e6 } ?? -1 }
    numbers = [
      seconds(summary.healthyTime), seconds(summary.recoveryTime), seconds(summary.possibleTime),
      Double(summary.lostOrBlockedEvents), Double(summary.lateEvents), summary.attemptsAboveTwinPerDevice,
      Double(summary[.createdEvents]), Double(records[0].nominalCapacityMilli) / 1_000,
      Double(question.scenario.duration.microseconds) / 1e6, summary.baseline.isHealthy ? 1 : 0,
    ]
    return true
  }
}

nonisolated(unsafe) private var playground = Playground()

/// Room for so many bytes of parameters.
@_cdecl("room")
public func room(_ count: Int32) -> UnsafePointer<UInt8>? {
  playground.input = Array(repeating: 0, count: Int(count))
  return playground.input.withUnsafeBufferPointer { $0.baseAddress }
}

/// Takes them; 1: the output is the scenario as JSON5; 0: it is what is wrong.
@_cdecl("begin")
public func begin() -> Int32 { playground.begin() ? 1 : 0 }

@_cdecl("advance")
public func advance(_ seconds: Int32) -> Double { playground.advance(by: .seconds(Int64(seconds))) }

/// Rows of the first run that are known; `numbers` has two columns of so many.
@_cdecl("series")
public func series() -> Int32 { Int32(playground.readSeries()) }

/// 1: `numbers` has them; 0: not all runs have ended.
@_cdecl("figures")
public func figures() -> Int32 { playground.readFigures() ? 1 : 0 }

@_cdecl("numbers")
public func numbers() -> UnsafePointer<Double>? {
  playground.numbers.withUnsafeBufferPointer { $0.baseAddress }
}

/// A file of the runs, once they have ended: 0 timeseries.csv, 1 delivery_histogram.csv, 2 summary.csv.
@_cdecl("file")
public func file(_ number: Int32) -> Int32 {
  guard let record = playground.records.first, let summary = playground.summary else { return 0 }
  playground.output =
    switch number {
    case 0: TimeSeriesCSV.bytes(of: record)
    case 1: HistogramCSV.bytes(of: record.deliveries)
    default: SummaryCSV.bytes(of: [summary])
    }
  return 1
}

@_cdecl("output")
public func output() -> UnsafePointer<UInt8>? { playground.output.withUnsafeBufferPointer { $0.baseAddress } }

@_cdecl("output_count")
public func outputCount() -> Int32 { Int32(playground.output.count) }
