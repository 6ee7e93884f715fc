import SimulationKernel

/// Something that happens to the server on the timeline.
public struct Incident: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// Answers with this status at once, costing neither token nor worker; nil: no answer at all.
    case outage(status: Int?, retryAfter: RetryAfterPolicy, keepsWork: Bool)
    /// An outage in which every connection is refused at once, as by a host whose process is gone.
    case refused(keepsWork: Bool)
    /// Capacity times `factorPartsPerMillion` / 10^6: the bucket's rate, or the speed of work that starts from then on.
    case brownout(factorPartsPerMillion: Int64)
    /// The Settings CDN is down: the server is not concerned, but apps launched meanwhile run on built-in defaults.
    case cdnOutage
    /// A share of requests, drawn for each attempt, is answered with this status. The answer comes at once, costing nothing,
    /// or in place of the 200 after the work is done. The server stores nothing of such a request.
    case errors(status: Int, share: Int64, afterWork: Bool, retryAfter: RetryAfterPolicy)
    /// A share of the batches that the server accepts is never confirmed: the answer gets lost.
    case lostAnswers(share: Int64)
    /// Answers that leave now travel `factor` (parts per million, at least 10^6) times as long, and `added` longer.
    case latency(added: Distribution, factor: Int64)
    /// The first request of each device is answered 401; its later ones carry a fresh token.
    case tokenExpiry
    /// What a share of the devices holds open is cut off, each device's at a random time within the incident.
    ///
    /// - Parameter cohorts: their names; nil: all that hold anything open.
    case cut(cohorts: [String]?, share: Int64)
  }
  public var kind: Kind
  public var start: Instant
  public var duration: Span
  /// After an outage or a brownout: capacity rises linearly from nothing to its full value in this time.
  public var warmUp = Span.zero
  public var end: Instant { start + duration }
  public init(kind: Kind, start: Instant, duration: Span) {
    self.kind = kind
    self.start = start
    self.duration = duration
  }
}

extension Incident.Kind {
  /// The status that the incident makes the server answer, and its Retry-After; nil: the incident makes no answer of its own.
  package var answer: (status: Int?, retryAfter: RetryAfterPolicy)? {
    switch self {
    case .outage(let status, let retryAfter, _): (status, retryAfter)
    case .errors(let status, _, _, let retryAfter): (status, retryAfter)
    case .tokenExpiry: (401, .none)
    case .refused, .brownout, .cdnOutage, .lostAnswers, .latency, .cut: nil
    }
  }
}

extension Incident {
  /// The incident as far as it takes capacity away, as ideal runs have it; nil: it does not.
  package var ofCapacity: Incident? {
    var incident = self
    switch kind {
    // Who is cut off has something more to send.
    case .outage, .refused, .brownout, .cut: break
    case .errors(let status, 1_000_000, false, _):
      incident.kind = .outage(status: status, retryAfter: .none, keepsWork: true)
    case .errors(_, let share, true, _): incident.kind = .brownout(factorPartsPerMillion: 1_000_000 - share)
    case .errors, .cdnOutage, .lostAnswers, .latency, .tokenExpiry: return nil
    }
    return incident
  }
}

extension IncidentTimeline.Condition {
  /// Adds the effects of an incident that is on to the condition.
  mutating func add(_ incident: Incident, number: Int) {
    switch incident.kind {
    case .outage(_, _, let keepsWork), .refused(let keepsWork):
      outage = incident
      if incident.start == start && !keepsWork { losesWork = true }
    case .brownout(let parts):
      factor = factor * parts / 1_000_000
    case .cdnOutage:
      isCDNDown = true
    case .errors(let status, let share, let afterWork, let retryAfter):
      faults.errors = .init(status: status, share: share, afterWork: afterWork, retryAfter: retryAfter)
    case .lostAnswers(let share):
      faults.lostAnswers = share
    case .latency(let added, let factor):
      faults.latency = .init(added: Sampler(added), factor: factor)
    case .tokenExpiry:
      faults.tokenExpiry = number
    case .cut: break
    }
  }
}

/// The effects of incidents on single requests.
struct RequestFaults: Sendable, Hashable {
  struct Errors: Sendable, Hashable {
    var status: Int
    /// Parts per million.
    var share: Int64
    var afterWork: Bool
    var retryAfter: RetryAfterPolicy
  }
  struct Latency: Sendable, Hashable {
    var added: Sampler
    var factor: Int64
  }
  var errors: Errors?
  /// Parts per million.
  var lostAnswers: Int64 = 0
  var latency: Latency?
  /// The number of the incident in which tokens expired.
  var tokenExpiry: Int?
  /// The requests that operators refuse at the door.
  var sheddings: [Shedding] = []

  var areNone: Bool { self == RequestFaults() }
}

extension Incident.Kind {
  /// Whether nothing is admitted meanwhile: it is shaded darker.
  package var isOutage: Bool {
    switch self {
    case .outage, .refused: true
    default: false
    }
  }

  /// How it is called in a chart, `outage 503`, and in a sentence before the times, `outage answered with 503`.
  package var wording: (label: String, phrase: String) {
    switch self {
    case .outage(let status?, _, _): return ("outage \(status)", "outage answered with \(status)")
    case .outage(nil, _, _): return ("outage without answer", "outage without any answer")
    case .refused: return ("connections refused", "outage with every connection refused")
    case .cdnOutage: return ("settings CDN down", "settings CDN down")
    case .brownout(let factor):
      let tenths = (factor + 500) / 1_000
      return (
        "brownout to \(tenths / 10).\(tenths % 10) %", "brownout to \(percent(factor)) of the capacity"
      )
    case .errors(let status, let share, _, _):
      return (
        "\(status) for \(Units.text(partsPerMillion: share))",
        "\(percent(share)) of requests answered with \(status)"
      )
    case .lostAnswers(let share):
      return (
        "\(Units.text(partsPerMillion: share)) of answers lost", "\(percent(share)) of the answers lost"
      )
    case .latency: return ("slow answers", "answers under way for longer")
    case .tokenExpiry: return ("tokens expired", "every device's token expired, 401,")
    case .cut(_, let share): return ("cut", "\(percent(share)) of what is open cut off")
    }
  }

  /// In whole percent.
  private func percent(_ partsPerMillion: Int64) -> String {
    "\(Int64((Double(partsPerMillion) / 1e6 * 100).rounded())) %"
  }
}
