import SimulationKernel

/// The endless line before an ideal run's server: first come, first served. Whoever cannot be reached when its turn comes loses its
/// place, and joins the end as soon as it can be reached again. Whoever a limit of its own or operators hold up waits aside, and
/// counts.
package struct IdealLine: ~Copyable {
  private var waiting = Lane<UploadRequest>()
  private var absent = EventHeap<UploadRequest>()
  private var held = EventHeap<UploadRequest>()

  package init() {}

  package init(copying other: borrowing IdealLine) {
    (waiting, absent, held) = (other.waiting, other.absent, other.held)
  }

  /// Requests in line and held; those that are absent are not.
  package var count: Int { waiting.count + held.count }
  /// The request whose turn it is.
  package var first: UploadRequest? { waiting.first }
  /// When the next request comes back.
  package var nextReturn: Instant { min(absent.nextTime, held.nextTime) }

  package mutating func append(_ request: UploadRequest) { waiting.append(request) }

  /// Removes the request whose turn it is; there must be one.
  package mutating func removeFirst() { _ = waiting.takeOldest() }

  package mutating func leave(_ request: UploadRequest, until time: Instant) { absent.add(request, at: time) }

  package mutating func hold(_ request: UploadRequest, until time: Instant) { held.add(request, at: time) }

  /// Requests that are back by `now` join the line.
  package mutating func rejoin(at now: Instant) {
    while held.nextTime <= now { waiting.append(held.takeFirst().payload) }
    while absent.nextTime <= now { waiting.append(absent.takeFirst().payload) }
  }
}

extension TAPIServer {
  /// Whether nobody is served.
  package var isDown: Bool { outage != nil }

  /// Until when operators refuse a request at least; nil: they don't.
  package func refusalEnd(of request: UploadRequest) -> Instant? {
    rules?.shedding(of: request, key) == nil ? nil : nextBoundary
  }

  /// When the server has room for a request if nothing else happens to it: by now, later, or not before its next own time (`.never`).
  package func room(for request: UploadRequest) -> Instant {
    if isDown { return .never }
    if isBucket { return bucket.time(of: rules?.cost(of: request) ?? TokenBucket.token) }
    return pool.busy < pool.workers ? .start : .never
  }

  /// Admits events that fit into a request which was served before: they cost what events do, without a request of their own.
  /// - Returns: `.lost` where there is no room for them yet.
  package mutating func admitRest(_ request: UploadRequest, at now: Instant) -> Admission {
    let served = Admission.answered(ServerAnswer(status: 200, retryAfter: nil, at: now))
    if isBucket {
      guard let cost = rules.map({ $0.cost(of: request) - TokenBucket.token }), cost > 0 else {
        return served
      }
      noteUse(at: now)
      guard bucket.take(cost, at: now) else { return .lost }
      rules?.noteTaken(cost)
      return served
    }
    if pool.perEvent == 0 { return served }
    guard pool.busy < pool.workers else { return .lost }
    pool.start(request, now: now, isRest: true)
    noteNextOwnTime()
    return .pending
  }
}
