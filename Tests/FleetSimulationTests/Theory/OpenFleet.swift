import FleetMetrics
import FleetSimulation
import ScenarioModel
import SimulationKernel
import TAPIModel

/// An open Poisson fleet in front of workers: no retries, uploads unlimited, one event a batch, so that the arrivals at the
/// server are a Poisson process and the textbook applies.
struct OpenFleet {
  /// Arrivals per second at the server.
  var arrivalRate = 100.0
  var workers = 1
  var serviceTime: Distribution
  /// Requests in the system at most (K); nil: unbounded.
  var systemSize: Int?
  /// Waiting for longer, a request is shed.
  var queueTimeout: Span?
  var arrivals: Int
  var seed: UInt64
  /// Of the run's series.
  var rows: Int64 = 1_000

  /// Microseconds: what a request waits before its service, by batch means with the first batch deleted as warm-up.
  var waitingTime: Estimate {
    get throws {
      let record = try run()
      let service = serviceTime.mean
      return Estimate.batchMeans(record.series, batches: 40) { rows in
        let delivered = rows.reduce(0) { $0 + $1[.deliveredEvents] }
        let sum = rows.reduce(0) { $0 + $1[.timeToDeliverySum] }
        // Creation to acceptance is uplink + wait + service.
        return Double(sum) / Double(delivered) - Double(latency.microseconds) - service
      }
    }
  }

  /// Microseconds: the mean wait of one run, the first `warmUp` of which (0 … 1) is left out.
  func meanWait(warmUp: Double) throws -> Double {
    let rows = try run().series.rows
    let counted = rows.dropFirst(Int(Double(rows.count) * warmUp))
    let delivered = counted.reduce(0) { $0 + $1[.deliveredEvents] }
    let sum = counted.reduce(0) { $0 + $1[.timeToDeliverySum] }
    return Double(sum) / Double(delivered) - Double(latency.microseconds) - serviceTime.mean
  }

  /// The share of requests that find the system full.
  var blocking: Estimate {
    get throws {
      Estimate.batchMeans(try run().series, batches: 40) { rows in
        Double(rows.reduce(0) { $0 + $1[.answers4xxOther] }) / Double(rows.reduce(0) { $0 + $1.attempts })
      }
    }
  }

  /// The share of requests that are shed.
  var shedding: Estimate {
    get throws {
      Estimate.batchMeans(try run().series, batches: 40) { rows in
        Double(rows.reduce(0) { $0 + $1[.shed] }) / Double(rows.reduce(0) { $0 + $1.attempts })
      }
    }
  }

  private var latency: Span { .milliseconds(200) }

  private func run() throws -> RunRecord {
    let devices = 500
    var cohort = Cohort(
      name: "open", devices: devices,
      events: .poisson(meanGap: Span(microseconds: Int64(Double(devices) * 1e6 / arrivalRate))))
    cohort.flush = FlushPolicy(count: 1, interval: nil)
    cohort.uploadConcurrency = .max
    cohort.latency = .constant(latency)
    cohort.timeout = .hours(10)
    cohort.queue.limit = 1_000_000
    let duration = Span.seconds(Int64(Double(arrivals) / arrivalRate))
    var pool = WorkersConfiguration(
      count: workers, serviceTime: serviceTime, queueLimit: systemSize.map { $0 - workers })
    pool.queueTimeout = queueTimeout
    return try Simulation.run(
      Scenario(
        seed: seed, duration: duration, interval: Span(microseconds: duration.microseconds / rows),
        tapi: TAPIConfiguration(
          server: .workers(pool),
          // A full system answers 400: not retried.
          overload: Overload(status: 400)), fleet: [cohort]))
  }
}

/// A mean with its 95 % confidence interval.
struct Estimate: CustomStringConvertible {
  var mean: Double
  var halfWidth: Double

  func contains(_ value: Double) -> Bool { abs(value - mean) <= halfWidth }
  var relativeHalfWidth: Double { halfWidth / mean }
  var description: String { "\(mean) ± \(halfWidth)" }

  /// Batch means (Law, *Simulation Modeling and Analysis*, 5th ed., 9.5.3): the first batch is deleted.
  static func batchMeans(_ series: TimeSeries, batches: Int, _ mean: ([TimeSeries.Row]) -> Double) -> Estimate
  {
    let size = series.rows.count / (batches + 1)
    let means = (1...batches).map { mean(Array(series.rows[$0 * size..<($0 + 1) * size])) }
    let average = means.reduce(0, +) / Double(batches)
    let variance = means.reduce(0) { $0 + ($1 - average) * ($1 - average) } / Double(batches - 1)
    // Student's t, 97.5 %, 39 degrees of freedom (published tables): 2.0227.
    precondition(batches == 40)
    return Estimate(mean: average, halfWidth: 2.0227 * (variance / Double(batches)).squareRoot())
  }
}

/// Queueing theory: expected values to compare with (Kleinrock, *Queueing Systems* I; Erlang 1917).
enum QueueingTheory {
  /// M/M/c mean wait in units of the mean service time, by Erlang's C.
  static func waitMMc(servers c: Int, utilisation rho: Double) -> Double {
    let load = rho * Double(c)
    // Erlang B by its recurrence, then C.
    var blocking = 1.0
    for k in 1...c { blocking = load * blocking / (Double(k) + load * blocking) }
    let delayed = blocking / (1 - rho * (1 - blocking))
    return delayed / (Double(c) * (1 - rho))
  }

  /// M/D/1 mean wait in units of the service time (Pollaczek–Khinchine).
  static func waitMD1(utilisation rho: Double) -> Double { rho / (2 * (1 - rho)) }

  /// M/M/c/K blocking probability, by the birth–death balance.
  static func blockingMMcK(servers c: Int, size k: Int, utilisation rho: Double) -> Double {
    let load = rho * Double(c)
    var weight = 1.0
    var sum = 1.0
    for n in 1...k {
      weight *= load / Double(min(n, c))
      sum += weight
    }
    return weight / sum
  }

  /// M/M/1 where a request that has waited for `patience` (in mean service times) is not served: the share of those (Barrer 1957).
  static func sheddingMM1(utilisation rho: Double, patience: Double, exp: (Double) -> Double) -> Double {
    let decay = exp(-(1 - rho) * patience)
    let empty = 1 / (1 + rho * (1 - decay) / (1 - rho) + rho * decay)
    return empty * rho * decay
  }
}
