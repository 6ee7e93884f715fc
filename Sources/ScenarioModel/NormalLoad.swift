import ShippedClients
import SimulationKernel
import TAPIModel

/// The load that a scenario's fleet puts on the server when nothing fails, by formula.
public struct NormalLoad: Sendable, Hashable {
  /// Batches that the whole fleet uploads per second.
  public var batchesPerSecond: Double
  /// The least that they can be, campaigns apart: clients that gather what waits fill their requests where the server refuses some.
  public var fewestBatchesPerSecond: Double
  public var eventsPerSecond: Double
  /// The largest of `batchesPerSecond` over the run, where rates vary (`RateCurve`, `ArrivalRates`) or devices do something
  /// together (`Spike`); else the same.
  public var peakBatchesPerSecond: Double
  /// The peak without spikes, which are over soon.
  public var busiestBatchesPerSecond: Double
  /// When that is, to 1/256 of the run; nil where rates don't vary.
  public var busiestTime: Span?
  /// The stretch of the run in which the load is above capacity, spikes apart. `nil`: the load never is, or does not vary.
  public var overload: ClosedRange<Span>?
  /// The requests per second, in thousandths, that the server can serve without incidents; for workers at the fleet's mean batch.
  /// Capacity means this in every ratio (definitions.md, Load).
  public var nominalCapacityMilli: Int64
  public var capacityPerSecond: Double { Double(nominalCapacityMilli) / 1_000 }

  /// Load divided by capacity; above 1 the fleet does not hold, unless its clients gather what waits (`fewestBatchesPerSecond`).
  public var utilisation: Double { share(batchesPerSecond) }
  /// Of the capacity; infinite without any.
  public func share(_ batchesPerSecond: Double) -> Double {
    capacityPerSecond > 0 ? batchesPerSecond / capacityPerSecond : .infinity
  }

  public init(_ scenario: Scenario) {
    var (batches, fewest, events) = (0.0, 0.0, 0.0)
    for cohort in scenario.fleet {
      let ownBatches = Self.batchesPerSecond(of: cohort, over: scenario.duration) * Double(cohort.devices)
      let ownEvents = Self.eventsPerSecond(of: cohort, over: scenario.duration) * Double(cohort.devices)
      batches += ownBatches
      let full = ownEvents / Double(cohort.largestBatch)
      fewest += cohort.gathersWhatWaits ? min(ownBatches, full) : ownBatches
      events += ownEvents
    }
    let push = Self.pushRates(scenario)
    batches += push.batches
    events += push.events
    (batchesPerSecond, fewestBatchesPerSecond, eventsPerSecond) = (batches, fewest + push.batches, events)
    let course = Self.course(of: scenario)
    peakBatchesPerSecond = max(batches, Self.peak(of: scenario, course))
    let meanEvents = batches > 0 ? events / batches : 1
    nominalCapacityMilli = scenario.tapi.nominalCapacityMilli(meanEvents: meanEvents)
    busiestBatchesPerSecond = max(batches, course.max() ?? 0)
    busiestTime = Self.busiestTime(course, over: scenario.duration)
    overload = Self.overload(course, capacity: capacityPerSecond, over: scenario.duration)
  }

  /// At its peak, load divided by capacity.
  public var peakUtilisation: Double { share(peakBatchesPerSecond) }

  /// One device's events per second, as a mean over the run.
  package static func eventsPerSecond(of cohort: Cohort, over duration: Span = .hours(24)) -> Double {
    let occasions =
      occasionsPerSecond(inSessionsOf: cohort, over: duration)
      ?? occasionsPerSecond(of: cohort, over: duration)
    return occasions * Double(cohort.eventsAtOnce) + spikeRates(of: cohort, over: duration).events
  }

  /// One device's batches per second, as a mean over the run.
  ///
  /// The count restarts at every flush (S17), so an interval with n events makes ⌈n / size⌉ batches. `size` is the number of
  /// events that make a flush or fill a batch, whichever is fewer. Without an interval each `count` events make a flush.
  package static func batchesPerSecond(of cohort: Cohort, over duration: Span = .hours(24)) -> Double {
    if let sessions = cohort.sessions { return batchesPerSecond(of: cohort, sessions, over: duration) }
    let spikes = spikeRates(of: cohort, over: duration)
    guard let interval = cohort.flush.interval, interval > .zero else {
      return batchesByCount(cohort, occasionsPerSecond: occasionsPerSecond(of: cohort, over: duration))
        + spikes.batches
    }
    if let course = course(of: cohort, over: duration) {
      return course.reduce(0, +) / Double(course.count) + spikes.batches
    }
    let mean = occasionsPerSecond(of: cohort, over: duration) * interval.seconds
    return batchesOfInterval(cohort, mean: mean) / interval.seconds + spikes.batches
  }

  private static func batchesPerSecond(
    of cohort: Cohort, _ sessions: Sessions, over duration: Span
  ) -> Double {
    if sessions.curve != nil, let course = course(of: cohort, over: duration) {
      return course.reduce(0, +) / Double(course.count) + spikeRates(of: cohort, over: duration).batches
    }
    return batchesPerSecond(
      whileOpen: batchesPerSecond(of: alwaysOpen(cohort, sessions), over: duration),
      events: eventsPerSecond(of: cohort, over: duration), open: sessions.share, of: cohort, sessions)
  }

  /// The cohort as if its apps were always open, and as busy as they are while they are open.
  static func alwaysOpen(_ cohort: Cohort, _ sessions: Sessions) -> Cohort {
    var open = cohort
    open.sessions = nil
    if !sessions.createsEventsInBackground { open.events = cohort.events.faster(by: 1 / sessions.share) }
    return open
  }

  /// About: as without sessions where the app is open, and half an interval's batches more for each session that ends. Events of the
  /// background wait for the next session, as full batches.
  /// - `whileOpen`: batches per second of a device whose app is open.
  /// - `events`: events per second of a device on average.
  /// - `open`: the share of the devices in the foreground.
  static func batchesPerSecond(
    whileOpen: Double, events: Double, open: Double, of cohort: Cohort, _ sessions: Sessions
  ) -> Double {
    let left =
      sessions.createsEventsInBackground
      ? events * (1 - open) / Double(batchSize(of: cohort)) : 0
    return min(events, whileOpen * open + left + sessions.perSecond(at: open) / 2)
  }

  /// Events that make a flush or fill a batch, whichever is fewer. Of more at one moment a client that makes a batch when the one
  /// before it is answered sends the first, and then the rest: half of them a batch.
  static func batchSize(of cohort: Cohort) -> Int {
    let gathers = cohort.behaviour.queue.mode == .rebatch && cohort.behaviour.uploadConcurrency == 1
    let half = gathers ? (cohort.eventsAtOnce + 1) / 2 : 0
    return max(1, min(max(cohort.eventsUntilFlush ?? .max, half), cohort.largestBatch))
  }

  /// The batches a second of a cohort that flushes by no clock.
  ///
  /// A page that gathers sends what has come within a time-out of the first event: one request for that and what follows it.
  static func batchesByCount(_ cohort: Cohort, occasionsPerSecond occasions: Double) -> Double {
    let atOnce = Double(cohort.eventsAtOnce)
    if let page = cohort.behaviour.page, let most = page.gathersAtMost {
      let more = occasions * page.timeout / 1_000
      let isPeriodic = if case .periodic = cohort.events { true } else { false }
      return occasions * atOnce / min(atOnce * (1 + (isPeriodic ? more.rounded(.down) : more)), most)
    }
    guard let count = cohort.eventsUntilFlush, count > 0 else { return 0 }
    let (size, flushed) = (batchSize(of: cohort), max(count, batchSize(of: cohort)))
    return occasions * atOnce / Double(flushed) * Double((flushed - 1) / size + 1)
  }

  /// Batches that an interval's flush makes of what comes at `mean` times in it, `extra` events apart.
  static func batchesOfInterval(_ cohort: Cohort, mean: Double, extra: Int = 0) -> Double {
    let (size, atOnce) = (batchSize(of: cohort), Double(cohort.eventsAtOnce))
    func made(_ times: Double) -> Double {
      ((times * atOnce + Double(extra)) / Double(size)).rounded(.up)
    }
    guard case .periodic = cohort.events else { return poissonExpectation(mean: mean, made) }
    // The mean's floor or its ceiling.
    let low = mean.rounded(.down)
    return made(low) * (1 - (mean - low)) + made(low + 1) * (mean - low)
  }

  /// E f(N) for Poisson N, by the ratios of neighbouring probabilities from the mode outwards: no exponential
  /// needed.
  private static func poissonExpectation(mean: Double, _ value: (Double) -> Double) -> Double {
    guard mean > 0 else { return value(0) }
    // Far above a batch's size, rounding up makes no difference worth the sum.
    guard mean < 1e6 else { return value(mean) }
    let mode = mean.rounded(.down)
    var weights = 1.0
    var sum = value(mode)
    var (n, weight) = (mode, 1.0)
    while weight > 1e-18 {
      n += 1
      weight *= mean / n
      weights += weight
      sum += weight * value(n)
    }
    (n, weight) = (mode, 1.0)
    while n > 0, weight > 1e-18 {
      weight *= n / mean
      n -= 1
      weights += weight
      sum += weight * value(n)
    }
    return sum / weights
  }
}

extension BrowserOptions {
  /// Events of a request at most; nil: each is one of its own.
  var gathersAtMost: Double? {
    switch strategy {
    case .standard: nil
    case .batching, .oneTimer: Double(max(size, 1))
    case .polls, .userLoops: .infinity
    }
  }
}
