import FleetMetrics
import ScenarioModel
import SimulationKernel
import TAPIModel

/// The line before the server of an ideal run, and when whoever waits in it can be reached.
struct IdealTier: ~Copyable {
  fileprivate var line: IdealLine
  /// By shard; nil: its devices can always be reached.
  private let reaches: [Reachability?]
  /// By shard, for clients that gather what waits: events that fit into a request; else 0.
  private let room: [Int]
  /// By device that has waited: what its request could still have carried, and until when it may bring it behind.
  private var visits: [UInt32: (events: Int, until: Instant)] = [:]
  private var latestVisit = Instant.start
  /// When the line has something to do by itself.
  fileprivate(set) var nextTime = Instant.never

  init(_ scenario: Scenario, shards: [ShardLayout]) {
    line = IdealLine()
    reaches = shards.map { Reachability(scenario.fleet[$0.cohort], scenario, ofUploads: true) }
    room = shards.map {
      let cohort = scenario.fleet[$0.cohort]
      return cohort.gathersWhatWaits ? cohort.largestBatch : 0
    }
  }

  init(copying other: borrowing IdealTier) {
    line = IdealLine(copying: other.line)
    (reaches, room, visits) = (other.reaches, other.room, other.visits)
    (latestVisit, nextTime) = (other.latestVisit, other.nextTime)
  }

  /// A client that gathers has events that came while it waited. They fit into the request that is served now, as far as there is
  /// room.
  fileprivate mutating func noteVisit(_ request: UploadRequest, waitedFrom start: Instant, at now: Instant) {
    let left = room[Int(request.shard)] - Int(request.events)
    guard left > 0 else { return }
    if visits[request.device] != nil {
      visits[request.device]?.events += left
    } else if now > start {
      let end = now + (now - start) + Self.grace
      visits[request.device] = (left, end)
      latestVisit = max(latestVisit, end)
    }
  }

  /// What was served is lost: the request waits again.
  fileprivate mutating func rejoin(_ request: UploadRequest, at now: Instant) {
    visits[request.device] = nil
    line.leave(request, until: now)
  }

  /// Whether the events of a request fit into those that were served before: it comes behind these, or its turn does.
  fileprivate mutating func belongsToVisit(_ request: UploadRequest, at now: Instant) -> Bool {
    let events = Int(request.events)
    guard room[Int(request.shard)] > 0, let visit = visits[request.device] else { return false }
    if now > visit.until {
      visits[request.device] = nil
      return false
    }
    return events <= visit.events
  }

  /// A request that belongs to a visit has used its room.
  fileprivate mutating func noteRest(_ request: UploadRequest) {
    visits[request.device]?.events -= Int(request.events)
  }

  /// Whether it has no say in what arrives from a time on, if its own time lies behind that.
  func isIdle(from start: Int64) -> Bool { line.count == 0 && latestVisit.microseconds < start }

  /// So long after it has left, an upload may still end in the background: the time-out of most clients.
  private static var grace: Span { .seconds(30) }

  /// When the sender of a request can be reached again; nil: now.
  fileprivate func absence(of request: UploadRequest, at now: Instant) -> Instant? {
    guard let reach = reaches[Int(request.shard)], now - request.arrival > Self.grace else { return nil }
    let time = reach.next(of: Int(request.device), from: now.microseconds)
    return time > now.microseconds ? Instant(microseconds: time) : nil
  }
}

/// When a cohort's apps are in the foreground, if they need that, and have a network.
struct Reachability {
  private let key: RandomKey
  private let end: Int64
  private let sessions: SessionPlan?
  private let connectivity: Connectivity?

  /// nil: always.
  init?(_ cohort: Cohort, _ scenario: Scenario, ofUploads: Bool = false) {
    sessions = ofUploads && cohort.sendsWhileClosed ? nil : SessionPlan(cohort, scenario)
    if sessions == nil && cohort.connectivity == nil { return nil }
    key = RandomKey(seed: scenario.seed)
    end = scenario.duration.microseconds
    connectivity = cohort.connectivity
  }

  /// The first time from `start` on at which a device can be reached, microseconds. O(periods of the device since the run's start).
  func next(of device: Int, from start: Int64) -> Int64 { next(key.child(UInt64(device)), from: start) }

  /// - Parameter key: of the device.
  func next(_ key: RandomKey, from start: Int64) -> Int64 {
    var time = start
    while time < end {
      let open = sessions.map {
        $0.inForeground(from: time, before: end, key, latest: nil) { from, _ in from }
      }
      let online = connectivity?.online(from: open ?? time, before: end, key) ?? open ?? time
      if online == open ?? time { return online }
      time = online
    }
    return time
  }
}

extension ServerFront {
  private var idle: Span { .seconds(1) }

  /// The work of the server and the line up to and including `limit`. At one instant the server's comes first.
  @inline(never)
  mutating func advanceWithLine(through limit: Instant, _ sink: inout some DeliverySink & ~Copyable) {
    guard let line else { return }
    while min(server.nextOwnTime, line.pointee.nextTime) <= limit {
      let now = min(server.nextOwnTime, line.pointee.nextTime)
      if server.nextOwnTime == now { advanceServer(through: now, &sink) }
      serveLine(at: now, &sink)
    }
  }

  /// A request that has been counted arrives at the line.
  @inline(never)
  mutating func arriveInLine(_ request: UploadRequest, _ sink: inout some DeliverySink & ~Copyable) {
    let now = request.arrival
    if answerInVisit(request, at: now, &sink) { return }
    line?.pointee.line.append(request)
    count(1, .serverQueue, at: now)
    serveLine(at: now, &sink)
  }

  /// Whether a request needs no room but for its events, and has that.
  private mutating func answerInVisit(
    _ request: UploadRequest, at now: Instant, _ sink: inout some DeliverySink & ~Copyable
  ) -> Bool {
    guard !server.isDown, server.refusalEnd(of: request) == nil,
      line?.pointee.belongsToVisit(request, at: now) ?? false
    else { return false }
    switch admit(request, isRest: true, at: now) {
    case .answered(let decision):
      countAnswer(decision, at: now)
      answer(decision, request, wasPending: true, &sink)
    case .pending: break
    default: return false
    }
    line?.pointee.noteRest(request)
    return true
  }

  /// A request that the server has lost stands in line again.
  mutating func rejoin(_ request: UploadRequest, at now: Instant) { line?.pointee.rejoin(request, at: now) }

  /// Serves those whose turn it is, for as long as there is room.
  private mutating func serveLine(at now: Instant, _ sink: inout some DeliverySink & ~Copyable) {
    guard let tier = line else { return }
    let waiting = tier.pointee.line.count
    tier.pointee.line.rejoin(at: now)
    count(Int64(tier.pointee.line.count - waiting), .serverQueue, at: now)
    while var request = tier.pointee.line.first, server.room(for: request) <= now {
      tier.pointee.line.removeFirst()
      count(-1, .serverQueue, at: now)
      if let time = tier.pointee.absence(of: request, at: now) {
        tier.pointee.line.leave(request, until: time)
        continue
      }
      if let end = server.refusalEnd(of: request) {
        tier.pointee.line.hold(request, until: end)
        count(1, .serverQueue, at: now)
        continue
      }
      if answerInVisit(request, at: now, &sink) { continue }
      let start = request.arrival
      request.arrival = now
      switch admit(request, at: now) {
      case .answered(let decision) where decision.status == 200:
        tier.pointee.noteVisit(request, waitedFrom: start, at: now)
        countAnswer(decision, at: now)
        answer(decision, request, wasPending: true, &sink)
      case .pending: tier.pointee.noteVisit(request, waitedFrom: start, at: now)
      case let refusal:
        // A limit of the sender's own: others need not wait for it.
        if case .answered(let decision) = refusal, decision.cause == .keyLimit {
          count(1, .keyLimited, at: now)
        }
        tier.pointee.line.hold(request, until: now + idle)
        count(1, .serverQueue, at: now)
      }
    }
    tier.pointee.nextTime = min(
      tier.pointee.line.nextReturn,
      tier.pointee.line.first.map { max(server.room(for: $0), now + Span(microseconds: 1)) } ?? .never)
  }
}
