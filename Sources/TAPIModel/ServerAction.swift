import SimulationKernel

/// Something that operators do to the server while it runs, as incidents happen to it.
public struct ServerAction: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// The server says to wait for so long: where it refuses for want of capacity, and in what incidents make it answer.
    case retryAfter(RetryAfterPolicy)
    /// A share of the requests is refused before anything is spent on them.
    case shed(Shedding)
    /// A shedding whose share falls evenly to nothing: the traffic is let in again little by little.
    case readmit(Shedding)
    /// The bucket's rate, or the number of workers, times `factorPartsPerMillion` / 10^6.
    case capacity(factorPartsPerMillion: Int64)
    /// Queued and running work is lost; while it lasts there is no answer.
    case restart
  }

  /// The part of the server that an action changes. Two actions can't change one subject at once: the later replaces the earlier.
  public enum Subject: Sendable, Hashable {
    case retryAfter
    /// The admission of the requests with this write key; nil: of all.
    case admission(key: String?)
    case capacity
    case process
  }

  public var kind: Kind
  public var start: Instant
  /// nil: until the next action on the same subject, or to the end of the run; a restart without one is over at once.
  public var duration: Span?

  public init(_ kind: Kind, at start: Instant, for duration: Span? = nil) {
    self.kind = kind
    self.start = start
    self.duration = duration
  }

  public var subject: Subject {
    switch kind {
    case .retryAfter: .retryAfter
    case .shed(let shedding), .readmit(let shedding): .admission(key: shedding.key)
    case .capacity: .capacity
    case .restart: .process
    }
  }
}

/// The rule for the requests that are refused at the door.
public struct Shedding: Sendable, Hashable {
  /// Parts per million; of a readmission at its beginning.
  public var share: Int64 = 1_000_000
  /// The write key whose requests it concerns; nil: all.
  public var key: String?
  /// Whether the share is one of devices, always the same ones, or each attempt is drawn for itself.
  public var isByDevice = false
  /// nil: as in overload. The Retry-After is that of overload in any case.
  public var status: Int?

  public init() {}
}

extension TAPIConfiguration {
  /// The most that actions make of the configured capacity, at least all of it; parts per million.
  package var largestScale: Int64 {
    actions.reduce(1_000_000) { most, action in
      if case .capacity(let factor) = action.kind { max(most, factor) } else { most }
    }
  }
}

extension [ServerAction] {
  /// When each is over, in their order; `.never`: not before the end of the run.
  public var ends: [Instant] {
    map { action in
      if let duration = action.duration { return action.start + duration }
      if action.kind == .restart { return action.start }
      return lazy.filter { $0.subject == action.subject && $0.start > action.start }.map { $0.start }.min()
        ?? .never
    }
  }

  /// The numbers of each action that another leaves no room for, and of that other. The two begin together, or the first begins
  /// while the other is to hold.
  public var contradictions: [(action: Int, other: Int)] {
    indices.compactMap { index in
      let action = self[index]
      let other = indices.first { other in
        guard other != index, self[other].subject == action.subject else { return false }
        if self[other].start == action.start { return other < index }
        return self[other].start < action.start
          && self[other].duration.map { action.start < self[other].start + $0 } ?? false
      }
      return other.map { (index, $0) }
    }
  }
}

extension ServerAction.Kind {
  /// The status that the action makes the server answer, and its Retry-After; nil: the action makes no answer of its own.
  package var answer: (status: Int?, retryAfter: RetryAfterPolicy)? {
    switch self {
    case .retryAfter(let retryAfter): (nil, retryAfter)
    case .shed(let shedding), .readmit(let shedding): (shedding.status, .none)
    case .capacity, .restart: nil
    }
  }
}

extension ServerAction {
  /// The action as far as ideal runs have it, nil if they don't: it keeps everybody out, or the same devices, or takes capacity away.
  package func ofCapacity(until end: Instant) -> ServerAction? {
    var action = self
    if end != .never { action.duration = end - start }
    switch kind {
    case .shed(let shedding) where shedding.isByDevice || shedding.share == 1_000_000: return action
    case .readmit(let shedding) where shedding.isByDevice: return action
    case .capacity, .restart: return self
    // An attempt that is drawn for itself has another at once.
    case .retryAfter, .shed, .readmit: return nil
    }
  }
}

extension IncidentTimeline.Condition {
  /// Incidents have been added before.
  mutating func add(_ action: ServerAction, until end: Instant) {
    switch action.kind {
    case .retryAfter(let policy):
      retryAfter = policy
      faults.errors?.retryAfter = policy
      if case .outage(let status?, _, let keepsWork)? = outage?.kind {
        outage?.kind = .outage(status: status, retryAfter: policy, keepsWork: keepsWork)
      }
    case .shed(let shedding): faults.sheddings.append(shedding)
    case .readmit(var shedding):
      shedding.share = shedding.share * (1_000_000 - action.ramp.height(at: start)) / 1_000_000
      faults.sheddings.append(shedding)
    case .capacity(let factor): scale = factor
    case .restart:
      if action.start == start { losesWork = true }
      if start < end {
        outage = Incident(
          kind: .outage(status: nil, retryAfter: .none, keepsWork: false), start: action.start,
          duration: end - action.start)
      }
    }
  }
}

extension ServerAction.Kind {
  /// How it is called in a chart, and in a sentence before the times.
  package var wording: (label: String, phrase: String) {
    func both(_ text: String) -> (String, String) { (text, text) }
    switch self {
    case .retryAfter(.none): return both("no Retry-After")
    case .retryAfter(.fixed(let span)): return both("Retry-After \(Units.text(span))")
    case .retryAfter(.spread(let from, let to)):
      return both("Retry-After \(Units.text(from)) to \(Units.text(to))")
    case .retryAfter(.backlog): return ("Retry-After by backlog", "Retry-After by the backlog")
    case .shed(let shedding):
      let share = Units.text(partsPerMillion: shedding.share)
      return ("\(share) shed\(shedding.keyText)", "\(share) of \(shedding.subject) refused at the door")
    case .readmit(let shedding):
      return ("readmission\(shedding.keyText)", "\(shedding.subject) let in again little by little")
    case .capacity(let factor): return both("capacity at \(Units.text(partsPerMillion: factor))")
    case .restart: return ("restart", "restart with an empty queue")
    }
  }
}

extension Shedding {
  fileprivate var keyText: String { key.map { " of \($0)" } ?? "" }
  fileprivate var subject: String { (isByDevice ? "devices" : "requests") + keyText }
}
