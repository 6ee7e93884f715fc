import ShippedClients
import ShippedQuirks
import SimulationKernel
import UploadGating
import UploadPipeline
import UploadRetry

/// A client: its switches, and what its queue, its Settings and its gates are unless the scenario says otherwise. It is read from a
/// client file (`ClientFile`); a fresh value is the design document's own.
public struct ClientPreset: Sendable, Hashable {
  /// The client's name in scenarios and tables.
  public var name = "tapi-document"
  /// The description of the client, on one line.
  public var meaning = "the design document's own client"
  /// The source of the preset: a document, or a repository with its commit or version.
  public var origin = "the TAPI design document"
  public var policy = ClientPolicy()
  /// How it reads its Settings, and a Retry-After.
  public var dialect = SettingsDialect.document
  /// The values that the Settings leave out.
  public var settings = HTTPConfig()
  public var queueMode = QueuePolicy.Mode.files
  public var maximumBatchEvents = 500
  /// Bytes of an upload; nil: no limit.
  public var maximumBatchBytes: Int?
  /// Sealed events held at most; `Int.max`: no limit.
  public var queueLimit = Int.max
  /// Whether a batch that is answered 413 is cut in two.
  public var splitsOn413 = false
  public var growsUntilFailure = false
  /// Batches held at most; `Int.max`: no limit.
  public var batchLimit = Int.max
  public var overflow = Overflow.dropsOldest
  public var uploadConcurrency = 1
  public var whileWaiting = WhileWaiting.frees
  public var flushWhileUploading = FlushWhileUploading.joins
  public var actsAtFlushEnd = false
  public var rateLimitEndsLoop = true
  public var failureEndsLoop = false
  public var saving = Saving.atOnce
  public var triggers = ClientTriggers.all
  /// Triggers that cut a wait of the client short.
  public var triggersThatSkipWaits: ClientTriggers = []
  /// The weight of an event in the flush policy's count, 1 or 2. The count goes on over flushes for other reasons.
  public var countOfAnEvent = 1
  public var countsAllEvents = false
  public var countsHeldEvents = false
  public var countFlushWhileFailing = true
  public var retries = RetryWakeUp.gate
  public var gates = ClientGates()
  /// When it asks for its Settings.
  public var settingsFetch = SettingsFetch.launch
  /// It is a page of a browser, which has no upload loop; nil: it is not.
  public var page: BrowserOptions?
  /// The trigger of its flushes; nil: the one that a scenario has anyway.
  public var flush: FlushPolicy?
  /// When it gives an upload up; nil: when a scenario's clients do anyway.
  public var timeout: Span?
  /// Where a switch has its value from, by the switch's path.
  public var sources: [String: Source] = [:]

  /// The client's version, and when that was run; nil: its file names none.
  public var version: Version?
  /// The behaviours that no switch says, a sentence each.
  public var notes: [String] = []

  /// Where a value is from.
  public struct Source: Sendable, Hashable {
    /// A file and its lines, a requirement, an address; `observed`: the client was seen to do so.
    public var place: String
    /// The reason that the value alone does not say; may be empty.
    public var why: String
    /// How it is known; nil: nothing is said of that.
    public var evidence: Evidence?

    public init(place: String, why: String = "", evidence: Evidence? = nil) {
      self.place = place
      self.why = why
      self.evidence = evidence
    }
  }

  /// How a value is known.
  public enum Evidence: String, Sendable, Hashable, CaseIterable {
    /// The client's own code was run and did so.
    case seen
    /// Its source says so; no run has shown it.
    case read
  }

  /// A published version of the client.
  public struct Version: Sendable, Hashable {
    /// The publisher's name of the version, or a commit.
    public var number: String
    /// When it was published; nil: not known.
    public var date: CalendarDate?
    /// When its own code was run; nil: it was only read.
    public var run: CalendarDate?

    public init(number: String, date: CalendarDate? = nil, run: CalendarDate? = nil) {
      self.number = number
      self.date = date
      self.run = run
    }
  }

  /// The design document's own client.
  public init() {}

  /// The properties that decide how a cohort's clients behave, and where a client keeps each.
  private static func pass(_ cohort: inout Cohort, _ client: inout ClientPreset, _ pass: Passing) {
    pass(&cohort.policy, &client.policy)
    pass(&cohort.settingsDialect, &client.dialect)
    pass(&cohort.settingsDefaults, &client.settings)
    pass(&cohort.queue.mode, &client.queueMode)
    pass(&cohort.queue.maximumBatchEvents, &client.maximumBatchEvents)
    pass(&cohort.queue.maximumBatchBytes, &client.maximumBatchBytes)
    pass(&cohort.queue.limit, &client.queueLimit)
    pass(&cohort.queue.splitsOn413, &client.splitsOn413)
    pass(&cohort.queue.growsUntilFailure, &client.growsUntilFailure)
    pass(&cohort.queue.batchLimit, &client.batchLimit)
    pass(&cohort.queue.overflow, &client.overflow)
    pass(&cohort.uploadConcurrency, &client.uploadConcurrency)
    pass(&cohort.whileWaiting, &client.whileWaiting)
    pass(&cohort.flushWhileUploading, &client.flushWhileUploading)
    pass(&cohort.actsAtFlushEnd, &client.actsAtFlushEnd)
    pass(&cohort.rateLimitEndsLoop, &client.rateLimitEndsLoop)
    pass(&cohort.failureEndsLoop, &client.failureEndsLoop)
    pass(&cohort.saving, &client.saving)
    pass(&cohort.triggers, &client.triggers)
    pass(&cohort.triggersThatSkipWaits, &client.triggersThatSkipWaits)
    pass(&cohort.countOfAnEvent, &client.countOfAnEvent)
    pass(&cohort.countsAllEvents, &client.countsAllEvents)
    pass(&cohort.countsHeldEvents, &client.countsHeldEvents)
    pass(&cohort.countFlushWhileFailing, &client.countFlushWhileFailing)
    pass(&cohort.retries, &client.retries)
    pass(&cohort.gates, &client.gates)
    pass(&cohort.page, &client.page)
    pass(&cohort.settingsFetch, &client.settingsFetch)
  }

  /// Clients of one name are rarely two; scenarios are looked up by their cohorts, which have what they take from it.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Which of two places takes the other's value.
  private enum Passing {
    case toCohort, toClient

    func callAsFunction<Value>(_ ofCohort: inout Value, _ ofClient: inout Value) {
      switch self {
      case .toCohort: ofCohort = ofClient
      case .toClient: ofClient = ofCohort
      }
    }
  }

  /// Becomes what the clients of a cohort are; name, origin and sources stay.
  package mutating func takeSwitches(of cohort: Cohort) {
    var cohort = cohort
    Self.pass(&cohort, &self, .toClient)
  }

  fileprivate func giveSwitches(to cohort: inout Cohort) {
    var client = self
    Self.pass(&cohort, &client, .toCohort)
  }
}

extension Cohort {
  /// Becomes clients of that kind.
  package mutating func take(_ preset: ClientPreset) {
    self.preset = preset
    preset.giveSwitches(to: &self)
    if let flush = preset.flush { self.flush = flush }
    if let timeout = preset.timeout { self.timeout = timeout }
  }

  /// The name of its clients.
  public var client: String { preset.name }
}
