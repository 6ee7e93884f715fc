import ScenarioModel
import SimulationKernel

/// When the sessions of a cohort's devices are: its `Sessions`, and the campaigns that make people open the app.
///
/// Each period follows from the one before it and the device alone, so that any part of the engine can recompute it. A gap ends when
/// the user comes back by himself or opens a push message, whichever is earlier. By himself he comes back at a rate that forgets how
/// long the gap has been.
final class SessionPlan: Sendable {
  /// A session or a gap.
  struct Period: BitwiseCopyable {
    /// Microseconds since the start of the run; of the first period, which may have begun before: 0.
    fileprivate(set) var start: Int64
    /// 0 of a row of zeros, which is no period.
    fileprivate(set) var end: Int64
    fileprivate var number: UInt32
    fileprivate(set) var isForeground: Bool
    /// What `EventSchedule` expects to be created by its end, once that has been asked for; else no number.
    var countAtEnd = Double.nan
  }

  private let sessions: Sessions
  /// How long sessions and, where the rate at which they end does not vary, gaps last.
  private let length: Sampler
  private let gap: Sampler
  /// nil: the rate at which gaps end does not vary.
  private let launches: CumulativeRate?
  /// In the foreground at the start of the run: as if launches had always been as frequent as then.
  private let shareAtStart: Double
  /// With their places in `Scenario.push`, which name their draws.
  private let campaigns: [(index: Int, campaign: PushCampaign)]
  /// The end of the run.
  private let end: Int64

  /// nil for a cohort without sessions.
  init?(_ cohort: Cohort, _ scenario: Scenario) {
    guard let sessions = cohort.sessions else { return nil }
    self.sessions = sessions
    length = Sampler(sessions.length)
    gap = Sampler(.exponential(mean: sessions.meanGap))
    launches = sessions.launches
    let factor = launches.map { $0.rate(at: 0) * Double(sessions.meanGap.microseconds) }
    shareAtStart = factor.map(sessions.share(atFactor:)) ?? sessions.share
    campaigns = scenario.push.enumerated().filter { $0.element.concerns(cohort) }.map { ($0, $1) }
    end = scenario.duration.microseconds
  }

  /// The share of the time in the foreground at which the cohort's events have their own rate.
  var share: Double { sessions.share }
  /// nil: events come at any time.
  var withEventsInSessions: SessionPlan? { sessions.createsEventsInBackground ? nil : self }

  /// Returns the period that a device is in at the start of the run.
  func firstPeriod(_ device: RandomKey) -> Period {
    let draws = device.child(RandomPurpose.sessions)
    let isForeground = draws.child(0).unitOpen < shareAtStart
    let end =
      isForeground ? sessions.length.rest(draws.child(1)) : endOfGap(from: 0, draws.child(1), device)
    return Period(start: 0, end: end, number: 0, isForeground: isForeground)
  }

  /// How long a device that starts in a gap has been in it, microseconds: gaps are exponential, and forget. Before the run they are
  /// taken to have been as at its start.
  func ageOfFirstGap(_ device: RandomKey) -> Int64 {
    let draw = device.child(RandomPurpose.sessions).child(3)
    guard let launches else { return ordinaryGap(draw) }
    let rate = launches.rate(at: 0)
    let longest = Distribution.longestSample.microseconds
    return rate > 0
      ? max(Distribution.exponentialGap(mean: min(1 / rate, Double(longest)), key: draw), 1) : longest
  }

  /// The one that begins where another ends.
  func period(after period: Period, _ device: RandomKey) -> Period {
    let number = period.number &+ 1
    let draw = device.child(RandomPurpose.sessions).child(2).child(UInt64(number))
    let end =
      period.isForeground
      ? endOfGap(from: period.end, draw, device)
      : period.end &+ max(length.sample(draw).microseconds, 1)
    return Period(start: period.end, end: end, number: number, isForeground: !period.isForeground)
  }

  private func ordinaryGap(_ draw: RandomKey) -> Int64 {
    max(gap.sample(draw).microseconds, 1)
  }

  private func endOfGap(from start: Int64, _ draw: RandomKey, _ device: RandomKey) -> Int64 {
    var time = start
    if let launches {
      // A Poisson process whose rate varies, by the inverse of its integral.
      let gap = -DeterministicMath.log(draw.unitAboveZero)
      time = max(launches.time(of: launches.count(through: start) + gap), start &+ 1)
    } else {
      time = start &+ ordinaryGap(draw)
    }
    for one in campaigns {
      let opening = one.campaign.firstOpening(from: start, before: min(time, end), one.index, device)
      if let opening { time = max(opening, start &+ 1) }
    }
    return time
  }

  /// Where a process gets to that goes on in the foreground only.
  ///
  /// - Parameters:
  ///   - time: where it is. Microseconds.
  ///   - end: of the run; behind it all times are one.
  ///   - latest: the period to which the latest call came, if it is at hand; this one's is left there.
  ///   - advance: goes on from a time within a session; nil if it does not arrive in it.
  /// - Complexity: O(periods since the start of `latest`), or of the run if that is later than `time`.
  func inForeground(
    from time: Int64, before end: Int64, _ device: RandomKey, latest: UnsafeMutablePointer<Period>?,
    _ advance: (_ from: Int64, _ period: inout Period) -> Int64?
  ) -> Int64 {
    var from = max(time, 0)
    var period: Period
    if let latest, latest.pointee.end > 0, latest.pointee.start <= from {
      period = latest.pointee
    } else {
      period = firstPeriod(device)
    }
    defer { latest?.pointee = period }
    while from < end {
      while period.end <= from { period = self.period(after: period, device) }
      if period.isForeground, let arrival = advance(from, &period) { return arrival }
      from = period.end
    }
    return max(from, end)
  }
}

extension PushCampaign {
  /// When a device gets the message of an occurrence.
  private func arrival(_ occurrence: Int64, _ draws: RandomKey) -> Int64 {
    time.microseconds &+ occurrence &* (every?.microseconds ?? 0)
      &+ draws.child(1).uniform(0, through: over.microseconds)
  }

  /// When its user opens it; nil: never, or not before the next one has taken its place.
  private func opening(_ occurrence: Int64, _ index: Int, _ device: RandomKey) -> Int64? {
    func draws(_ occurrence: Int64) -> RandomKey {
      device.child(RandomPurpose.push).child(UInt64(index) << 40 | UInt64(occurrence))
    }
    let own = draws(occurrence)
    guard Int64(own.child(0).uniform(below: 1_000_000)) < opensPartsPerMillion else { return nil }
    let opening = arrival(occurrence, own) &+ delay.sample(own.child(2)).microseconds
    if every != nil, opening >= arrival(occurrence + 1, draws(occurrence + 1)) { return nil }
    return opening
  }

  /// The first time from `start` on and before `end` at which a device's user opens a message of the campaign; nil: there is none.
  ///
  /// Openings come in the order of their messages, each before the next message: the first that is found is the earliest.
  fileprivate func firstOpening(
    from start: Int64, before end: Int64, _ index: Int, _ device: RandomKey
  ) -> Int64? {
    var occurrence: Int64 = 0
    if let every {
      occurrence = max(0, (start &- time.microseconds &- over.microseconds) / every.microseconds &- 1)
    }
    while time.microseconds &+ occurrence &* (every?.microseconds ?? 0) < end {
      if let opening = opening(occurrence, index, device), opening >= start {
        return opening < end ? opening : nil
      }
      if every == nil { return nil }
      occurrence &+= 1
    }
    return nil
  }
}

extension Distribution {
  /// Returns the rest of a span from this distribution at a random time in it: an exponential one forgets, a constant one is cut
  /// anywhere.
  func rest(_ key: RandomKey) -> Int64 {
    if case .constant(let span) = self { return key.uniform(1, through: max(span.microseconds, 1)) }
    return max(sample(key).microseconds, 1)
  }
}
