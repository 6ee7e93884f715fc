import ShippedClients
import SimulationKernel
import TAPIModel
import UploadPipeline

/// The load that a scenario's fleet puts on the server when nothing fails, by formula.
public struct NormalLoad: Sendable, Hashable {
  /// Batches that the whole fleet uploads per second.
  public var batchesPerSecond: Double
  /// The least that they can be, campaigns apart: clients that gather what waits fill their requests where the server refuses some.
  public var fewestBatchesPerSecond: Double
  public var eventsPerSecond: Double
  /// The largest of `batchesPerSecond` over the run, where rates vary (`RateCurve`, `ArrivalRates`) or devices do something
  /// together (`Spike`, flushes in phase), once or again and again; else the same.
  public var peakBatchesPerSecond: Double
  /// The peak without spikes, which are over soon.
  public var busiestBatchesPerSecond: Double
  /// When that is, to 1/256 of the run; nil where rates don't vary.
  public var busiestTime: Span?
  /// The stretches of the run in which the load is above capacity, spikes apart, to 1/256 of the run; none where it does not vary.
  public var overloads: [ClosedRange<Span>] = []
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
      let one = Self.perDevice(cohort, over: scenario.duration)
      let devices = Double(cohort.devices)
      batches += one.batches * devices
      fewest += one.fewest * devices
      events += one.events * devices
    }
    let push = Self.pushRates(scenario)
    batches += push.batches
    events += push.events
    (batchesPerSecond, fewestBatchesPerSecond, eventsPerSecond) = (batches, fewest + push.batches, events)
    let course = Self.course(of: scenario)
    peakBatchesPerSecond = max(batches, Self.peak(of: scenario, course, mean: batches))
    let meanEvents = batches > 0 ? events / batches : 1
    nominalCapacityMilli = scenario.tapi.nominalCapacityMilli(meanEvents: meanEvents)
    busiestBatchesPerSecond = max(batches, course.max() ?? 0)
    busiestTime = Self.busiestTime(course, over: scenario.duration)
    overloads = Self.overloads(course, capacity: capacityPerSecond, over: scenario.duration)
  }

  /// Per second of one device: batches, the fewest that they can be, and events.
  package static func perDevice(
    _ cohort: Cohort, over duration: Span
  ) -> (batches: Double, fewest: Double, events: Double) {
    let batches = batchesPerSecond(of: cohort, over: duration)
    let events = eventsPerSecond(of: cohort, over: duration)
    let full = events / Double(cohort.largestBatch)
    return (batches, cohort.gathersWhatWaits ? min(batches, full) : batches, events)
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
  /// Where the count restarts at every flush (S17), an interval with n events makes ⌈n / size⌉ batches. `size` is the number of
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
    let times = occasionsPerSecond(of: cohort, over: duration)
    return batchesByInterval(cohort, interval.seconds, times: times) + spikes.batches
  }

  private static func batchesPerSecond(
    of cohort: Cohort, _ sessions: Sessions, over duration: Span
  ) -> Double {
    if sessions.curve != nil, let course = course(of: cohort, over: duration) {
      return course.reduce(0, +) / Double(course.count) + spikeRates(of: cohort, over: duration).batches
    }
    let open = alwaysOpen(cohort, sessions)
    return batchesPerSecond(
      whileOpen: batchesPerSecond(inSessions: sessions, of: open, over: duration),
      events: eventsPerSecond(of: cohort, over: duration), open: sessions.share, of: cohort,
      sessions) + spikeRates(of: cohort, over: duration).batches
  }

  /// The cohort as if its apps were always open, and as busy as they are while they are open; without spikes.
  static func alwaysOpen(_ cohort: Cohort, _ sessions: Sessions) -> Cohort {
    var open = cohort
    (open.sessions, open.spikes) = (nil, [])
    if !sessions.createsEventsInBackground { open.events = cohort.events.faster(by: 1 / sessions.share) }
    return open
  }

  /// About: as where the app is open, and full batches of what came in the background.
  /// - `whileOpen`: batches per second of a device whose app is open.
  /// - `events`: events per second of a device on average.
  /// - `open`: the share of the devices in the foreground.
  static func batchesPerSecond(
    whileOpen: Double, events: Double, open: Double, of cohort: Cohort, _ sessions: Sessions
  ) -> Double {
    let left =
      sessions.createsEventsInBackground
      ? events * (1 - open) / Double(batchSize(of: cohort)) : 0
    return min(events, whileOpen * open + left)
  }

  /// The batches of an app's sessions, per second of these.
  ///
  /// A session starts the flush interval anew, and what has come since its last flush leaves at its end. Clients that do not flush then
  /// make as many batches, about, as without an end.
  /// - Parameter open: the cohort as if its apps were always open.
  static func batchesPerSecond(inSessions sessions: Sessions, of open: Cohort, over duration: Span) -> Double
  {
    guard open.behaviour.page == nil, open.behaviour.triggers.contains(.background) else {
      return batchesPerSecond(of: open, over: duration)
    }
    let times = occasionsPerSecond(of: open, over: duration)
    let interval = open.flush.interval?.seconds ?? .infinity
    let lengths = (0..<64).map { sessions.length.quantile((Double($0) + 0.5) / 64) / 1e6 }
    let batches = lengths.reduce(0) { sum, length in
      let flushes = (length / interval).rounded(.down)
      let rest = flushes > 0 ? length - flushes * interval : length
      return sum + (flushes > 0 ? flushes * batchesOfInterval(open, mean: times * interval) : 0)
        + batchesOfInterval(open, mean: times * rest)
    }
    return batches / lengths.reduce(0, +)
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

  /// Batches a second of a cohort that flushes every `interval` seconds, and whose events come at `times` a second.
  ///
  /// An interval that starts anew with each flush ends with the count or with its time, whichever is first.
  static func batchesByInterval(_ cohort: Cohort, _ interval: Double, times: Double) -> Double {
    guard cohort.flush.rearm.restartsAtFlush, let count = cohort.eventsUntilFlush,
      count <= cohort.largestBatch, times > 0
    else { return batchesOfInterval(cohort, mean: times * interval) / interval }
    let most = (Double(count) / Double(cohort.eventsAtOnce)).rounded(.up)
    let length = expectation(cohort, mean: times * interval) { min($0, most) } / times
    return expectation(cohort, mean: times * interval) { min($0, 1) } / length
  }

  /// Batches that an interval's flush makes of what comes at `mean` times in it, `extra` events apart.
  static func batchesOfInterval(_ cohort: Cohort, mean: Double, extra: Int = 0) -> Double {
    let (size, atOnce) = (batchSize(of: cohort), Double(cohort.eventsAtOnce))
    if cohort.behaviour.countsAllEvents, let count = cohort.eventsUntilFlush, count <= cohort.largestBatch {
      // Each count's batch, and what has come behind the last one: something, but where that was the last event.
      let some = extra > 0 ? 1 : expectation(cohort, mean: mean) { min($0, 1) }
      return (mean * atOnce + Double(extra)) / Double(count) + some * (1 - 1 / Double(count))
    }
    return expectation(cohort, mean: mean) { (($0 * atOnce + Double(extra)) / Double(size)).rounded(.up) }
  }

  /// E f(N) of the number of times N that events come, `mean` on average.
  private static func expectation(_ cohort: Cohort, mean: Double, _ value: (Double) -> Double) -> Double {
    guard case .periodic = cohort.events else { return poissonExpectation(mean: mean, value) }
    // The mean's floor or its ceiling.
    let low = mean.rounded(.down)
    return value(low) * (1 - (mean - low)) + value(low + 1) * (mean - low)
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
