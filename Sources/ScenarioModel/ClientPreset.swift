import ShippedClients
import ShippedQuirks
import SimulationKernel
import UploadPipeline
import UploadRetry

/// What clients do, whatever fleet they are in: all that a client decides of a cohort, but for flushes and time-outs, which a
/// scenario has of its own.
public struct ClientBehaviour: Sendable, Hashable {
  /// The switches in which clients differ.
  public var policy = ClientPolicy()
  /// How the clients read their Settings.
  public var settingsDialect = SettingsDialect.document
  /// The meaning of Settings that leave a value out, by the client's preset.
  public var settingsDefaults = HTTPConfig()
  /// When the clients ask for their Settings, where that is a request (`TAPIConfiguration.settings`).
  public var settingsFetch = SettingsFetch.launch
  /// How events become batches, and how many a device holds.
  public var queue = QueuePolicy()
  /// 1 … ; `Int.max` for unlimited.
  public var uploadConcurrency = 1
  /// What a batch that waits leaves of the uploads at once. *files* only.
  public var whileWaiting = WhileWaiting.frees
  /// The effect of a flush that comes while uploads run (S17).
  public var flushWhileUploading = FlushWhileUploading.joins
  /// *rebatch*: whether the client acts only when the last upload of a flush has been answered.
  public var actsAtFlushEnd = false
  /// Whether a 429 ends the running loop even if it asks for no wait (S3).
  public var rateLimitEndsLoop = true
  /// Whether any failure ends it: nothing more leaves before the next trigger, or the end of a wait.
  public var failureEndsLoop = false
  /// When retry state is saved, and what a launch makes of it (S18).
  public var saving = Saving.atOnce
  /// The triggers that make a device flush (S17).
  public var triggers = ClientTriggers.all
  /// Triggers that cut a wait of the client short (D7).
  public var triggersThatSkipWaits: ClientTriggers = []
  /// How much an event counts for `flush.count`: 1 or 2.
  public var countOfAnEvent = 1
  /// Whether the count of events goes on over flushes that come for other reasons. There is then one flush every so many events,
  /// instead of a count that starts over at each flush.
  public var countsAllEvents = false
  /// Whether the count is compared with all events that the device holds, those that have failed included, at each new event.
  public var countsHeldEvents = false
  /// Whether the count makes flushes while uploads fail: from a failure until a run of the upload loop has none.
  public var countFlushWhileFailing = true
  /// The trigger that brings a batch back whose wait is over.
  public var retries = RetryWakeUp.gate
  /// The gates between the upload loop and the network.
  public var gates = ClientGates()
  /// The browser page that the cohort's clients are, in place of an upload loop. Flush, queue, gates and policy then say nothing
  /// of them. `nil`: the clients are no pages.
  public var page: BrowserOptions? = nil

  /// The design document's own.
  public init() {}
}

/// A client: its switches, and what its queue, its Settings and its gates are unless the scenario says otherwise. It is read from a
/// client file (`ClientFile`); a fresh value is the design document's own.
@dynamicMemberLookup
public struct ClientPreset: Sendable, Hashable {
  /// The client's name in scenarios and tables.
  public var name = "tapi-document"
  /// The description of the client, on one line.
  public var meaning = "the design document's own client"
  /// The source of the preset: a document, or a repository with its commit or version.
  public var origin = "the TAPI design document"
  public var behaviour = ClientBehaviour()
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
    public var why = ""
    /// How it is known; nil: nothing is said of that.
    public var evidence: Evidence?

    public init(place: String) { self.place = place }
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

    public init(number: String) { self.number = number }
  }

  /// The design document's own client.
  public init() {}

  /// Clients of one name are rarely two; scenarios are looked up by their cohorts, which have what they take from it.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  public subscript<Value>(dynamicMember path: WritableKeyPath<ClientBehaviour, Value>) -> Value {
    @inline(__always) get { behaviour[keyPath: path] }
    @inline(__always) set { behaviour[keyPath: path] = newValue }
  }
}

extension Cohort {
  /// Becomes clients of that kind.
  package mutating func take(_ preset: ClientPreset) {
    self.preset = preset
    behaviour = preset.behaviour
    if let flush = preset.flush { self.flush = flush }
    if let timeout = preset.timeout { self.timeout = timeout }
  }

  /// The name of its clients.
  public var client: String { preset.name }
}
