import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

// Parts of scenarios in one expression: what is not said is as it is by default.

extension Autoscaling {
  package init(
    target: Int64 = Autoscaling().target, interval: Span = Autoscaling().interval,
    delay: Span = Autoscaling().delay, minimum: Int64 = Autoscaling().minimum,
    maximum: Int64 = Autoscaling().maximum
  ) {
    self.init()
    self.target = target
    self.interval = interval
    self.delay = delay
    self.minimum = minimum
    self.maximum = maximum
  }
}

extension ControlledDelay {
  package init(target: Span = ControlledDelay().target, interval: Span = ControlledDelay().interval) {
    self.init()
    self.target = target
    self.interval = interval
  }
}

extension Dependency {
  /// One for the sake of its defaults.
  package static let plain = Dependency(count: 1, serviceTime: .constant(.zero))

  package init(
    count: Int, serviceTime: Distribution, queueLimit: Int? = plain.queueLimit, retries: Int = plain.retries,
    roundTrip: Span = plain.roundTrip, timeout: Span? = nil, status: Int = plain.status
  ) {
    self.init(count: count, serviceTime: serviceTime)
    self.queueLimit = queueLimit
    self.retries = retries
    self.roundTrip = roundTrip
    self.timeout = timeout
    self.status = status
  }
}

extension LoadCrash {
  package init(queue: Int? = nil, rateMilliRequestsPerSecond: Int64? = nil, patience: Span, downtime: Span) {
    self.init(patience: patience, downtime: downtime)
    self.queue = queue
    self.rateMilliRequestsPerSecond = rateMilliRequestsPerSecond
  }
}

extension Proxies {
  package init(
    count: Int = Proxies().count, retries: Int = Proxies().retries, tryTimeout: Span? = nil,
    backoff: Backoff = Proxies().backoff, budget: Budget? = Proxies().budget
  ) {
    self.init()
    self.count = count
    self.retries = retries
    self.tryTimeout = tryTimeout
    self.backoff = backoff
    self.budget = budget
  }
}

extension Proxies.Backoff {
  package init(base: Span = Proxies.Backoff().base, maximum: Span = Proxies.Backoff().maximum) {
    self.init()
    self.base = base
    self.maximum = maximum
  }
}

extension Proxies.Budget {
  package init(share: Int64 = Proxies.Budget().share, minimum: Int = Proxies.Budget().minimum) {
    self.init()
    self.share = share
    self.minimum = minimum
  }
}

extension SettingsEndpoint {
  package init(
    capacityMilliRequestsPerSecond: Int64? = nil, burst: Int64 = SettingsEndpoint().burst,
    status: Int = SettingsEndpoint().status
  ) {
    self.init()
    self.capacityMilliRequestsPerSecond = capacityMilliRequestsPerSecond
    self.burst = burst
    self.status = status
  }
}

extension Shedding {
  package init(
    share: Int64 = Shedding().share, key: String? = nil, isByDevice: Bool = Shedding().isByDevice,
    status: Int? = nil
  ) {
    self.init()
    self.share = share
    self.key = key
    self.isByDevice = isByDevice
    self.status = status
  }
}

extension Connectivity {
  package init(
    interruptions: [Interruption] = [], flushesOnReconnect: Bool = Connectivity().flushesOnReconnect
  ) {
    self.init()
    self.interruptions = interruptions
    self.flushesOnReconnect = flushesOnReconnect
  }
}

extension Lifecycle {
  package init(
    meanTimeBetweenRestarts: Span? = nil, synchronised: [SynchronisedRestart] = [],
    keepsState: Bool = Lifecycle().keepsState, flushesAtLaunch: Bool = Lifecycle().flushesAtLaunch
  ) {
    self.init()
    self.meanTimeBetweenRestarts = meanTimeBetweenRestarts
    self.synchronised = synchronised
    self.keepsState = keepsState
    self.flushesAtLaunch = flushesAtLaunch
  }
}

extension Lifecycle.SynchronisedRestart {
  package init(time: Instant, spread: Span = .zero) {
    self.init(time: time)
    self.spread = spread
  }
}

extension Spike {
  /// One for the sake of its defaults.
  package static let plain = Spike(time: .start)

  package init(
    time: Instant, spread: Span = .zero, sharePartsPerMillion: Int64 = plain.sharePartsPerMillion,
    events: Int = plain.events, flushes: Bool = plain.flushes, every: Span? = nil
  ) {
    self.init(time: time, spread: spread)
    self.sharePartsPerMillion = sharePartsPerMillion
    self.events = events
    self.flushes = flushes
    self.every = every
  }
}

extension Scenario {
  /// Phones before a bucket.
  package static func planted(
    seed: UInt64 = 1, duration: Span, interval: Span = .seconds(1), capacityMilli: Int64 = 1_000,
    burst: Int64 = 1, incidents: [Incident] = [], devices: Int = 1, gap: Span = .seconds(1),
    settings: HTTPConfig = HTTPConfig()
  ) -> Scenario {
    let server = TokenBucketConfiguration(capacityMilliRequestsPerSecond: capacityMilli, burst: burst)
    return Scenario(
      seed: seed, duration: duration, interval: interval,
      tapi: TAPIConfiguration(server: .bucket(server), incidents: incidents),
      fleet: [
        Cohort(name: "phones", devices: devices, events: .poisson(meanGap: gap), settings: settings)
      ])
  }
}

extension Incident {
  package static func outage(
    status: Int? = 503, keepsWork: Bool = false, at start: Span = .zero, for duration: Span
  ) -> Incident {
    Incident(
      kind: .outage(status: status, retryAfter: .none, keepsWork: keepsWork), start: .start + start,
      duration: duration)
  }
}
