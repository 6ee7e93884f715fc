import SimulationKernel

/// A service that the server needs for each request, such as a database: a worker whose own work is done calls it, and waits.
///
/// The dependency refuses a call that it cannot take. The worker tries again at once, `retries` times; then its request fails.
/// The dependency works off a call that was given up after a time-out all the same.
public struct Dependency: Sendable, Hashable {
  /// Calls served at once, 1 … 10^6.
  public var count: Int
  public var serviceTime: Distribution
  /// Calls that may wait there; nil: unbounded.
  public var queueLimit: Int? = 0
  /// Calls after the first, each as soon as the one before has failed.
  public var retries = 0
  /// There and back, before any answer; at least 1 µs.
  public var roundTrip = Span.milliseconds(1)
  /// How long the server waits for a call's answer, longer than `roundTrip`; nil: for ever.
  public var timeout: Span?
  /// The answer to a request that fails for its sake.
  public var status = 503

  public init(count: Int, serviceTime: Distribution) {
    self.count = count
    self.serviceTime = serviceTime
  }
}

extension WorkersConfiguration {
  /// How long a request of so many events keeps its worker, if the dependency takes its call at once; microseconds.
  package func meanTime(events: Double) -> Double {
    let own = serviceTime.mean + Double(serviceTimePerEvent.microseconds) * events
    return own + (dependency.map { $0.serviceTime.mean + Double($0.roundTrip.microseconds) } ?? 0)
  }

  /// Requests that it serves in a microsecond; without one, any number.
  var dependencyCapacity: Double {
    dependency.map { Double($0.count) / max($0.serviceTime.mean, 1e-3) } ?? .infinity
  }
}

extension Dependency {
  /// The memory that a run keeps for a worker that waits, with its call's time-out and answer.
  package static let bytesPerCaller =
    MemoryLayout<DependencyStation.Caller>.stride + 2 * DependencyStation.bytesPerEvent
  /// The memory that a run keeps for a call at the dependency, be it given up or not.
  package static let bytesPerCall =
    MemoryLayout<DependencyStation.Call>.stride + DependencyStation.bytesPerEvent
}

/// The dependency, and the workers that wait for it.
struct DependencyStation {
  /// A request whose worker waits.
  fileprivate struct Caller {
    var request: UploadRequest
    var since: Instant
    /// Its latest call; 0: it does not wait any more.
    var call: UInt64
    var calls: Int
  }

  fileprivate struct Call {
    var number: UInt64
    /// Its caller's place.
    var place: Int
    var work: Span
  }

  private enum News {
    /// At the dependency itself.
    case done
    case answer, refusal, timeOut
  }

  private let settings: Dependency
  private let serviceTime: Sampler
  private let key: RandomKey
  private var callers: [Caller] = []
  private var freePlaces: [Int] = []
  private var waiting = Lane<Call>()
  private var busy = 0
  private var calls: UInt64 = 0
  private var events = EventHeap<(news: News, call: Call)>()
  fileprivate static let bytesPerEvent = MemoryLayout<EventHeap<(news: News, call: Call)>.Entry>.stride

  init(_ settings: Dependency, key: RandomKey) {
    self.settings = settings
    serviceTime = Sampler(settings.serviceTime)
    self.key = key
  }

  var nextTime: Instant { events.nextTime }

  /// Since when those workers have waited that still do.
  var waitingSince: [Instant] { callers.filter { $0.call != 0 }.map { $0.since } }

  /// A worker calls for a request.
  mutating func call(for request: UploadRequest, at now: Instant) {
    let caller = Caller(request: request, since: now, call: 0, calls: 0)
    let place = freePlaces.popLast() ?? callers.count
    if place < callers.count { callers[place] = caller } else { callers.append(caller) }
    call(from: place, at: now)
  }

  private mutating func call(from place: Int, at now: Instant) {
    calls += 1
    let draw = callers[place].request.key(key).child(.dependency).child(UInt64(callers[place].calls))
    let call = Call(number: calls, place: place, work: serviceTime.sample(draw))
    callers[place].call = calls
    callers[place].calls += 1
    if busy < settings.count {
      start(call, at: now)
    } else if waiting.count < settings.queueLimit ?? .max {
      waiting.append(call)
    } else {
      events.add((.refusal, call), at: now + settings.roundTrip)
      return
    }
    if let timeout = settings.timeout { events.add((.timeOut, call), at: now + timeout) }
    // Time-outs of calls that were answered long ago are thrown away before they are due.
    if events.count > 4 * callers.count + 2 * busy + 64 {
      events.removeAll { [callers] in $0.news != .done && callers[$0.call.place].call != $0.call.number }
    }
  }

  private mutating func start(_ call: Call, at now: Instant) {
    busy += 1
    events.add((.done, call), at: now + call.work)
  }

  /// Does what is due at `nextTime`. Returns a request whose worker waits no longer.
  mutating func step() -> (request: UploadRequest, since: Instant, isServed: Bool)? {
    let event = events.takeFirst()
    let (news, call) = event.payload
    if news == .done {
      busy -= 1
      if waiting.count > 0 { start(waiting.takeOldest(), at: event.time) }
    }
    let caller = callers[call.place]
    if caller.call != call.number { return nil }
    switch news {
    case .done:
      events.add((.answer, call), at: event.time + settings.roundTrip)
      return nil
    case .refusal, .timeOut:
      if caller.calls <= settings.retries {
        self.call(from: call.place, at: event.time)
        return nil
      }
    case .answer: break
    }
    callers[call.place].call = 0
    freePlaces.append(call.place)
    return (caller.request, caller.since, news == .answer)
  }

  /// Loses all calls, and the workers' requests with them. `onLoss` gets each and since when its worker has waited.
  mutating func loseAll(onLoss: (UploadRequest, Instant) -> Void) {
    for caller in callers where caller.call != 0 { onLoss(caller.request, caller.since) }
    callers.removeAll(keepingCapacity: true)
    freePlaces.removeAll(keepingCapacity: true)
    waiting.removeAll()
    events.removeAll()
    busy = 0
  }
}
