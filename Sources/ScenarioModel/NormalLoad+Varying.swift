import SimulationKernel

/// Rates that vary in time, and spikes.
extension NormalLoad {
  /// Into so many equal stretches a run is cut where the load varies.
  private static var stretches: Int { 256 }

  /// Times of one device's event process in a second, as a mean over the run.
  static func occasionsPerSecond(of cohort: Cohort, over duration: Span) -> Double {
    switch cohort.events {
    case .poisson(let gap), .periodic(let gap, _):
      return gap.microseconds > 0 ? 1e6 / Double(gap.microseconds) : 0
    case .varying, .replay:
      let rate = cohort.events.cumulativeRate(devices: cohort.devices)
      return (rate?.count(through: duration.microseconds) ?? 0) / max(duration.seconds, 1e-6)
    }
  }

  /// One device's batches per second in each stretch of the run, without its spikes; nil if they don't vary.
  static func course(of cohort: Cohort, over duration: Span) -> [Double]? {
    if let sessions = cohort.sessions { return course(of: cohort, sessions, over: duration) }
    guard let rate = cohort.events.cumulativeRate(devices: cohort.devices) else { return nil }
    let interval = cohort.flush.interval?.microseconds
    return (0..<stretches).map { index in
      let middle = middle(of: index, of: duration)
      guard let interval, interval > 0 else {
        return batchesByCount(cohort, occasionsPerSecond: rate.rate(at: middle) * 1e6)
      }
      // Mean events that a flush in the middle of the stretch finds.
      let start = max(0, middle - interval / 2)
      let count = rate.count(through: start + interval) - rate.count(through: start)
      let seconds = Double(interval) / 1e6
      return batchesByInterval(cohort, seconds, times: count / seconds)
    }
  }

  private static func course(of cohort: Cohort, _ sessions: Sessions, over duration: Span) -> [Double]? {
    guard cohort.events.varies || sessions.curve != nil else { return nil }
    let alwaysOpen = alwaysOpen(cohort, sessions)
    let steady = batchesPerSecond(of: alwaysOpen, over: duration)
    let whileOpen = course(of: alwaysOpen, over: duration) ?? Array(repeating: steady, count: stretches)
    let occasions = occasions(of: cohort, over: duration)
    let inSessions = batchesPerSecond(inSessions: sessions, of: alwaysOpen, over: duration)
    let share = steady > 0 ? inSessions / steady : 1
    return zip(openShares(of: sessions, over: duration), zip(whileOpen, occasions)).map { open, found in
      let events = found.1 * Double(cohort.eventsAtOnce)
      return batchesPerSecond(
        whileOpen: found.0 * share,
        events: sessions.createsEventsInBackground ? events : events * open / sessions.share, open: open,
        of: cohort, sessions)
    }
  }

  /// The share of the devices in the foreground in each stretch of the run, as if launches had always been as frequent as then.
  private static func openShares(of sessions: Sessions, over duration: Span) -> [Double] {
    guard let factors = sessions.curve?.cumulative(rate: 1) else {
      return Array(repeating: sessions.share, count: stretches)
    }
    return (0..<stretches).map {
      sessions.share(atFactor: factors.rate(at: middle(of: $0, of: duration)))
    }
  }

  /// Times of one device's event process in a second of each stretch, sessions apart.
  private static func occasions(of cohort: Cohort, over duration: Span) -> [Double] {
    guard let rate = cohort.events.cumulativeRate(devices: cohort.devices) else {
      return Array(repeating: occasionsPerSecond(of: cohort, over: duration), count: stretches)
    }
    return (0..<stretches).map { rate.rate(at: middle(of: $0, of: duration)) * 1e6 }
  }

  /// Times of one device's event process in a second, as a mean over the run, where events come in sessions that vary; else nil.
  static func occasionsPerSecond(inSessionsOf cohort: Cohort, over duration: Span) -> Double? {
    guard let sessions = cohort.sessions, sessions.curve != nil, !sessions.createsEventsInBackground else {
      return nil
    }
    let times = zip(openShares(of: sessions, over: duration), occasions(of: cohort, over: duration))
    return times.reduce(0) { $0 + $1.0 * $1.1 } / sessions.share / Double(stretches)
  }

  private static func middle(of stretch: Int, of duration: Span) -> Int64 {
    Int64((Double(stretch) + 0.5) * Double(duration.microseconds) / Double(stretches))
  }

  /// Returns the events and batches per second that spikes add to a device, as a mean over the run. What comes once is no load.
  static func spikeRates(of cohort: Cohort, over duration: Span) -> (events: Double, batches: Double) {
    var sum = (events: 0.0, batches: 0.0)
    for spike in cohort.spikes where spike.every != nil {
      let times = spike.occurrences(within: duration) * Double(spike.sharePartsPerMillion) / 1e6
      sum.events += times * Double(spike.events)
      sum.batches += times * extraBatches(of: spike, cohort, over: duration)
    }
    let seconds = max(duration.seconds, 1e-6)
    return (sum.events / seconds, sum.batches / seconds)
  }

  /// Batches that a device makes more because it takes part once.
  private static func extraBatches(of spike: Spike, _ cohort: Cohort, over duration: Span) -> Double {
    if let most = cohort.behaviour.page?.gathersAtMost {
      return spike.events > 0 ? max(1, (Double(spike.events) / most).rounded(.up)) : 0
    }
    let size = Double(batchSize(of: cohort))
    if spike.flushes { return (Double(max(spike.events, 1)) / size).rounded(.up) }
    guard let interval = cohort.flush.interval else {
      let count = Double(cohort.eventsUntilFlush ?? 1)
      return Double(spike.events) / count * (count / size).rounded(.up)
    }
    let mean = occasionsPerSecond(of: cohort, over: duration) * interval.seconds
    return batchesOfInterval(cohort, mean: mean, extra: spike.events) - batchesOfInterval(cohort, mean: mean)
  }

  /// The whole fleet's batches per second in each stretch of the run, without spikes; empty if they don't vary.
  static func course(of scenario: Scenario) -> [Double] {
    let duration = scenario.duration
    guard
      !scenario.push.isEmpty
        || scenario.fleet.contains(where: {
          !$0.spikes.isEmpty || $0.events.varies || $0.sessions?.curve != nil
        })
    else { return [] }
    var course = [Double](repeating: 0, count: stretches)
    for cohort in scenario.fleet {
      let devices = Double(cohort.devices)
      if let own = self.course(of: cohort, over: duration) {
        for i in course.indices { course[i] += own[i] * devices }
      } else {
        var steady = cohort
        steady.spikes = []
        let rate = batchesPerSecond(of: steady, over: duration) * devices
        for i in course.indices { course[i] += rate }
      }
    }
    return course
  }

  /// The middle of the stretch with the largest load, the first of equal ones; nil if the load does not vary.
  static func busiestTime(_ course: [Double], over duration: Span) -> Span? {
    guard let most = course.max(), let least = course.min(), most > least * 1.001 else { return nil }
    return course.firstIndex(of: most).map { Span(microseconds: middle(of: $0, of: duration)) }
  }

  /// From when to when a course is above `capacity`, each time.
  static func overloads(_ course: [Double], capacity: Double, over duration: Span) -> [ClosedRange<Span>] {
    func edge(_ stretch: Int) -> Span {
      Span(microseconds: Int64(Double(duration.microseconds) * Double(stretch) / Double(stretches)))
    }
    let above = course.indices.filter { course[$0] > capacity }
    let starts = above.filter { $0 == 0 || course[$0 - 1] <= capacity }
    let ends = above.filter { $0 + 1 == course.count || course[$0 + 1] <= capacity }
    return zip(starts, ends).map { edge($0)...edge($1 + 1) }
  }

  /// The whole fleet's largest load, spikes and devices that flush together included.
  /// - Parameter mean: its load where that does not vary.
  static func peak(of scenario: Scenario, _ course: [Double], mean: Double) -> Double {
    let duration = scenario.duration
    var peak = course.max() ?? mean
    for cohort in scenario.fleet {
      let flush = cohort.flush
      if flush.isSynchronised, flush.driftPartsPerMillion == 0, !flush.rearm.restartsAtFlush,
        cohort.sessions == nil, let interval = flush.interval?.seconds
      {
        let own = batchesPerSecond(of: cohort, over: duration) * Double(cohort.devices)
        let together = own * Double(flush.togetherPartsPerMillion) / 1e6
        let times = interval / max(1, flush.spread.seconds)
        peak = max(peak, (course.max() ?? mean) + together * (max(1, times) - 1))
      }
      for spike in cohort.spikes where spike.time - .start < duration {
        // Without a flush of their own, events leave over the flush interval.
        let spread = max(
          1, spike.spread.seconds, spike.flushes ? 0 : cohort.flush.interval?.seconds ?? 0)
        // Closed apps keep them.
        let open = spike.flushes ? 1 : cohort.sessions?.share ?? 1
        let extra =
          extraBatches(of: spike, cohort, over: duration) * Double(cohort.devices) * open
          * Double(spike.sharePartsPerMillion) / 1e6 / spread
        var time = spike.time.microseconds
        for _ in 0..<100_000 where time < duration.microseconds {
          let index = Int(Double(time) / Double(duration.microseconds) * Double(stretches))
          peak = max(peak, course[min(index, stretches - 1)] + extra)
          time += spike.every?.microseconds ?? .max / 2
        }
      }
    }
    for campaign in scenario.push where campaign.time - .start < duration {
      peak = max(peak, (course.max() ?? 0) + Self.peak(of: campaign, scenario))
    }
    return peak
  }
}

/// Campaigns: what apps do that would have stayed closed.
extension NormalLoad {
  /// Returns the events and batches that the whole fleet makes more in a second, as a mean over the run, because of campaigns that
  /// repeat. A campaign that is sent once is no normal load.
  static func pushRates(_ scenario: Scenario) -> (events: Double, batches: Double) {
    var sum = (events: 0.0, batches: 0.0)
    let duration = scenario.duration
    for campaign in scenario.push where campaign.every != nil {
      var spike = Spike(time: campaign.time)
      spike.every = campaign.every
      let times = spike.occurrences(within: duration)
      for cohort in scenario.fleet {
        let openings = openings(of: campaign, cohort) * times
        let session = session(of: cohort, over: duration)
        sum.events += openings * session.events / max(duration.seconds, 1e-6)
        sum.batches += openings * session.batches / max(duration.seconds, 1e-6)
      }
    }
    return sum
  }

  /// About: a session's batches are spread evenly over its length, so that their rate is that of the apps open at once. An app with
  /// events of the background sends the first batch as it is opened.
  private static func peak(of campaign: PushCampaign, _ scenario: Scenario) -> Double {
    scenario.fleet.reduce(0) { sum, cohort in
      let openings = openings(of: campaign, cohort)
      guard openings > 0, let sessions = cohort.sessions else { return sum }
      let spread = max(1, campaign.over.seconds, campaign.delay.mean / 1e6)
      let batches = session(of: cohort, over: scenario.duration).batches
      let first = sessions.createsEventsInBackground ? min(batches, 1) : 0
      let (open, length) = mostOpen(campaign, sessions.length)
      return sum + openings * (first / spread + (batches - first) * open / length)
    }
  }

  /// The largest share of the opened apps that is open at once, and the mean of the lengths that it is of, seconds.
  private static func mostOpen(_ campaign: PushCampaign, _ length: Distribution) -> (
    share: Double, length: Double
  ) {
    let (parts, moments) = (48, 256)
    func seconds(_ distribution: Distribution, _ quantile: Double) -> Double {
      distribution.quantile(quantile / Double(parts)) / 1e6
    }
    // Each part of the messages is opened at a delay between two quantiles, and sent evenly over a time.
    let over = max(1, campaign.over.seconds)
    let delays = (0..<parts).map { part in
      (
        from: part == 0 ? campaign.delay.minimum.seconds : seconds(campaign.delay, Double(part)),
        to: seconds(campaign.delay, min(Double(part + 1), Double(parts) - 0.25))
      )
    }
    /// The integral of the share of a part that would be opened by a time, if all were sent at once.
    func integral(_ delay: (from: Double, to: Double), to time: Double) -> Double {
      let (since, width) = (time - delay.from, delay.to - delay.from)
      if since <= 0 { return 0 }
      return since < width ? since * since / (2 * width) : since - width / 2
    }
    func opened(by time: Double) -> Double {
      delays.reduce(0) { $0 + (integral($1, to: time) - integral($1, to: time - over)) / over }
        / Double(parts)
    }
    let isConstant = if case .constant = length { true } else { false }
    let lengths =
      isConstant ? [length.mean / 1e6] : (0..<parts).map { seconds(length, Double($0) + 0.5) }
    let end = over + (delays.last?.to ?? 0)
    let edges = delays.flatMap { [$0.from, $0.to] }
    let times = (1...moments).map { end * Double($0) / Double(moments) } + edges + edges.map { $0 + over }
    let most = times.reduce(0) { most, time in
      let closed = lengths.reduce(0) { $0 + opened(by: time - $1) } / Double(lengths.count)
      return max(most, opened(by: time) - closed)
    }
    return (most, max(lengths.reduce(0, +) / Double(lengths.count), 1e-6))
  }

  /// Closed apps that are opened each time, in the mean.
  private static func openings(of campaign: PushCampaign, _ cohort: Cohort) -> Double {
    guard campaign.concerns(cohort), let sessions = cohort.sessions else { return 0 }
    return Double(cohort.devices) * Double(campaign.opensPartsPerMillion) / 1e6 * (1 - sessions.share)
  }

  /// Events and batches of one session, in the mean.
  private static func session(of cohort: Cohort, over duration: Span) -> (events: Double, batches: Double) {
    guard let sessions = cohort.sessions else { return (0, 0) }
    let seconds = sessions.length.mean / 1e6
    let rate = occasionsPerSecond(of: cohort, over: duration) * Double(cohort.eventsAtOnce) / sessions.share
    let open = alwaysOpen(cohort, sessions)
    let batches = batchesPerSecond(inSessions: sessions, of: open, over: duration) * seconds
    if sessions.createsEventsInBackground { return (0, batches) }
    return (rate * seconds, min(batches, rate * seconds))
  }
}

extension EventProcess {
  /// Whether the rate varies in time.
  package var varies: Bool {
    switch self {
    case .poisson, .periodic: false
    case .varying, .replay: true
    }
  }

  /// This process with another rate; for forecasts.
  func faster(by factor: Double) -> EventProcess {
    func shorter(_ gap: Span) -> Span {
      Span(microseconds: max(Int64((Double(gap.microseconds) / factor).rounded()), 1))
    }
    switch self {
    case .poisson(let gap): return .poisson(meanGap: shorter(gap))
    case .periodic(let every, let phase): return .periodic(every: shorter(every), phase: phase)
    case .varying(let gap, let curve): return .varying(meanGap: shorter(gap), curve)
    case .replay(var rates):
      let most = Double(Int64.max / 2)
      for index in rates.rows.indices {
        let rate = Double(rates.rows[index].microEventsPerSecond) * factor
        rates.rows[index].microEventsPerSecond = Int64(min(rate, most))
      }
      return .replay(rates)
    }
  }
}

extension Spike {
  /// How often it happens in a run.
  func occurrences(within duration: Span) -> Double {
    let left = duration.microseconds - time.microseconds
    guard left > 0 else { return 0 }
    guard let every, every > .zero else { return 1 }
    return Double((left - 1) / every.microseconds + 1)
  }
}
