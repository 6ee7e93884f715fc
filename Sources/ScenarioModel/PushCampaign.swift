import FleetMetrics
import SimulationKernel
import TAPIModel

/// A push message to many devices, some of which open the app because of it.
///
/// Each device gets the message at a time of its own, whether it has a network or not. If the app is in the background when its
/// user opens the message, a session starts then. It lasts as long as any session. If the app is in the foreground, nothing
/// changes.
///
/// A campaign that is sent once is like an incident, and the twin has none of it: recovery is measured from its `end` on. One that
/// repeats is a part of the normal load.
public struct PushCampaign: Sendable, Hashable {
  /// The most campaigns of a scenario.
  public static let maximumNumber = 100

  /// For paths and labels; nil: it has none.
  public var name: String?
  /// When the first message is sent.
  public var time: Instant
  /// The cohorts that get it; nil: every cohort with `Cohort.sessions`.
  public var cohorts: [String]?
  /// How long sending takes. Each device gets its message at a random time in so long a span. Zero: all at once.
  public var over: Span
  /// The share of the devices that open it. Parts per million, drawn anew each time.
  public var opensPartsPerMillion: Int64
  /// The time from a message to its opening.
  public var delay: Distribution
  /// Repeats from `time` on; at least a minute and not less than `over`; nil: once. A message that nobody has opened yet gives way
  /// to the next one.
  public var every: Span?

  public init(time: Instant, over: Span = .zero, opensPartsPerMillion: Int64, delay: Distribution) {
    self.time = time
    self.over = over
    self.opensPartsPerMillion = opensPartsPerMillion
    self.delay = delay
  }

  /// When half of those who open the last messages have done so, to the second; of a campaign that repeats, the first time.
  public var end: Instant { time + over + .seconds(Int64((delay.quantile(0.5) / 1e6).rounded())) }

  /// Whether a cohort's devices get it. Only where there are sessions does that change anything.
  public func concerns(_ cohort: Cohort) -> Bool {
    cohort.sessions != nil && (cohorts?.contains(cohort.name) ?? true)
  }

  /// `push` or `push sale`.
  public var label: String { name.map { "push \($0)" } ?? "push" }
}

extension Scenario {
  /// The campaigns that the twin does not have.
  public var singleCampaigns: [PushCampaign] { push.filter { $0.every == nil } }

  /// The devices that get a campaign's messages.
  public func devices(of campaign: PushCampaign) -> Int {
    fleet.reduce(0) { $0 + (campaign.concerns($1) ? $1.devices : 0) }
  }

  /// What happens to the clients once, and not to the server: campaigns and spikes that do not repeat, and interruptions of the
  /// network. The twin has none of them, for what repeats is load.
  public var clientIncidents: [IncidentSpan] {
    var found = singleCampaigns.map { IncidentSpan($0.label, from: $0.time, to: $0.end) }
    var known = Set(found)
    for cohort in fleet {
      let own =
        cohort.spikes.filter { $0.every == nil }.map {
          IncidentSpan("spike", from: $0.time, to: $0.time + $0.spread)
        }
        + (cohort.connectivity?.interruptions ?? []).map {
          IncidentSpan("network interruption", from: $0.start, to: $0.start + $0.duration)
        }
      // Cohorts may share one.
      for one in own where known.insert(one).inserted { found.append(one) }
    }
    return found
  }

  package var serverIncidents: [IncidentSpan] {
    tapi.incidents.map {
      IncidentSpan($0.kind.wording.label, isOutage: $0.kind.isOutage, from: $0.start, to: $0.end)
    }
  }

  /// The incidents of the server and of the clients, with their labels.
  package var incidentSpans: [IncidentSpan] { serverIncidents + clientIncidents }

  /// Whether there is anything to recover from.
  public var hasIncidents: Bool { lastIncidentEnd != nil }

  /// When the last incident of the server or of the clients is over; nil: none begins within the run.
  public var lastIncidentEnd: Instant? {
    incidentSpans.filter { $0.start < duration.microseconds }.map { $0.end }.max()
      .map { .init(microseconds: $0) }
  }
}

extension IncidentSpan {
  package init(_ label: String, isOutage: Bool = false, from start: Instant, to end: Instant) {
    self.init(label: label, isOutage: isOutage, start: start.microseconds, end: end.microseconds)
  }
}
