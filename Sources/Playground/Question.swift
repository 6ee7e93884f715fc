import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// A scenario, and the JSON5 that says the same.
struct Question {
  let scenario: Scenario
  let json5: String

  init(_ parameters: Parameters) {
    let p = parameters
    var settings = HTTPConfig()
    settings.backoff.jitter =
      switch p.jitter {
      case .none: .none
      case .additive: .additive(percent: Double(p.percent))
      case .full: .full
      case .equal: .equal
      case .decorrelated: .decorrelated
      }
    settings.backoff.baseBackoffInterval = Int64(p.base) * 1_000
    settings.backoff.maxBackoffInterval = Int64(p.cap) * 1_000_000
    (settings.backoff.maxRetryCount, settings.rateLimit.maxRetryCount) = (p.limit, p.limit)
    let (start, length) = (Span.seconds(1_200), Span.seconds(Int64(p.outage) * 60))
    let timeout = Span.seconds(p.server == .bucket ? 15 : 10)

    var phones = Cohort(
      name: "phones", devices: p.phones, events: .poisson(meanGap: .seconds(10)),
      flush: FlushPolicy(count: 20, interval: .seconds(Int64(p.flush))),
      queue: QueuePolicy(mode: p.server == .bucket ? .files : .rebatch),
      retries: p.retries == .timer ? .timer : .gate, uploadConcurrency: 1, timeout: timeout,
      latency: .logNormal(median: .milliseconds(80), p99: .milliseconds(600), minimum: .milliseconds(10)),
      settings: settings)
    let normal = NormalLoad.batchesPerSecond(of: phones) * Double(p.phones)
    let capacity = Double(p.capacity) / 100 * normal
    let milli = max(Int64((capacity * 1_000).rounded()), 1)
    // A tenth of a second's worth. Of a small fleet it would hold less than what one phone sends at once.
    let (burst, workers) = (max(Int64((capacity / 10).rounded()), 64), max(Int((capacity / 2).rounded()), 1))
    let waiting = workers * 40
    if p.crowd == .yes {
      phones.spikes = [Spike(time: .start + start + length, spread: .seconds(10))]
    }

    let retryAfter: RetryAfterPolicy =
      p.after == 0
      ? .none
      : p.until > p.after
        ? .spread(from: .seconds(Int64(p.after)), to: .seconds(Int64(p.until)))
        : .fixed(.seconds(Int64(p.after)))
    let status = p.kind == .limited || p.after > 0 ? 429 : 503
    let kind: Incident.Kind =
      switch p.kind {
      case .silence: .outage(status: nil, retryAfter: .none, keepsWork: false)
      case .refused: .outage(status: 503, retryAfter: .none, keepsWork: false)
      case .limited: .outage(status: 429, retryAfter: retryAfter, keepsWork: false)
      case .slow: .brownout(factorPartsPerMillion: 500_000)
      }
    let server: TAPIConfiguration.Server =
      switch p.server {
      case .bucket: .bucket(TokenBucketConfiguration(capacityMilliRequestsPerSecond: milli, burst: burst))
      case .workers:
        .workers(
          WorkersConfiguration(
            count: workers, serviceTime: .exponential(mean: .milliseconds(500)), queueLimit: waiting))
      }
    let duration = start + length + .seconds(Int64(p.watch) * 60)
    let interval = duration > .hours(4) ? Span.seconds(60) : .seconds(1)
    scenario = Scenario(
      seed: UInt64(p.seed), duration: duration, interval: interval,
      tapi: TAPIConfiguration(
        server: server, overload: Overload(status: status, retryAfter: retryAfter),
        incidents: [Incident(kind: kind, start: .start + start, duration: length)]),
      fleet: [phones])

    let after =
      p.after == 0
      ? ""
      : p.until > p.after
        ? ", retryAfter: { from: \"\(p.after)s\", to: \"\(p.until)s\" }" : ", retryAfter: \"\(p.after)s\""
    let serverText =
      p.server == .bucket
      ? "bucket: { capacity: \"\(Units.text(milliPerSecond: milli))\", burst: \(burst) }"
      : "workers: { count: \(workers), serviceTime: { exponential: \"500ms\" }, queueLimit: \(waiting) }"
    let incident =
      switch p.kind {
      case .silence: "kind: \"outage\", status: \"none\""
      case .refused: "kind: \"outage\", status: 503"
      case .limited: "kind: \"outage\", status: 429" + after
      case .slow: "kind: \"brownout\", factor: \"50%\""
      }
    let jitter = p.jitter == .additive ? "additive:\(p.percent)" : p.jitter.rawValue
    json5 = """
      {
        format: 1,
        question: "\(Self.text(p))",
        seed: \(p.seed),
        duration: "\(Units.text(scenario.duration))",
        interval: "\(Units.text(interval))",
        tapi: {
          \(serverText),
          overload: { status: \(status)\(after) },
          incidents: [{ at: "20m", for: "\(p.outage)m", \(incident) }],
        },
        network: { latency: { median: "80ms", p99: "600ms", minimum: "10ms" } },
        settings: {
          rateLimitConfig: { maxRetryCount: \(p.limit) },
          backoffConfig: {
            jitterStrategy: "\(jitter)",
            baseBackoffInterval: \(Units.thousandths(Int64(p.base))),
            maxBackoffInterval: \(p.cap),
            maxRetryCount: \(p.limit),
          },
        },
        fleet: [
          {
            name: "phones",
            devices: \(p.phones),
            client: "tapi-document",
            events: "6/min",
            flush: { count: 20, interval: "\(p.flush)s" },
            queue: { mode: "\(p.server == .bucket ? "files" : "rebatch")" },
            retries: "\(p.retries.rawValue)",
            uploadConcurrency: 1,
            timeout: "\(Units.text(timeout))",
      \(p.crowd == .yes ? "      spikes: [{ at: \"\(Units.text(start + length))\", spread: \"10s\" }],\n" : "")\
          },
        ],
      }

      """
  }

  private static func text(_ p: Parameters) -> String {
    let what =
      switch p.kind {
      case .silence: "A server is silent"
      case .refused: "A server answers 503"
      case .limited: "A server answers 429"
      case .slow: "A server has half its capacity"
      }
    return "\(what) for \(p.outage) min: how does the fleet come back?"
  }
}
