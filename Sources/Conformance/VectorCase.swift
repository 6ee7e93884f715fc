import FleetSimulation
import ShippedClients
import UploadPipeline
import UploadRetry

/// One file of conformance vectors (S21): cases that any SDK can run.
///
/// The format is described in the `README.md` beside the vectors. Times are microseconds here and seconds in
/// the files; a case begins at its time 0.
public struct VectorFile: Sendable {
  /// As the user named it; it stands in every message.
  public var name = ""
  /// The subject of the file.
  public var title = ""
  /// The preset that the cases are about; nil: those that follow the TAPI document's Settings.
  package var client: String?
  package var cases: [VectorCase] = []

  /// How many cases it has.
  public var count: Int { cases.count }
}

/// A value of a file and the line it stands on.
struct Located<Value: Sendable>: Sendable {
  var value: Value
  var line: Int
}

/// One case: a client in a state, what happens to it, and what it must do.
package struct VectorCase: Sendable {
  /// Unique over all files.
  package var id = ""
  /// The requirement that it tests, `S11`.
  package var requirement = ""
  /// In one sentence.
  package var says = ""
  package var line = 0
  package var settings = SettingsValue.object([])
  package var client = VectorClient()
  /// The wall clock at time 0, seconds since 1970-01-01T00:00:00Z.
  var wallClock: Int64 = 1_767_225_600
  package var given = VectorGiven()
  /// The only draw that the case is about; nil: whatever is drawn.
  var jitter: VectorDraw?
  var steps: [VectorStep] = []
  /// JSON paths of the Settings that must be repaired (S14), sorted.
  var repairs: Located<[String]>?
  /// Settings as they must be after defaults and repairs, by path from the section.
  var effective: [(path: String, value: Located<SettingsValue>)] = []
  /// Where a preset differs, by its name.
  package var deviations: [String: VectorDeviation] = [:]

  package init() {}
}

/// Options of the client that a case needs; nil leaves the preset's.
package struct VectorClient: Sendable {
  var supportsOAuth: Bool?
  package var uploads: Int?
  package var flushAt = 20
  package var maximumEvents: Int?
  /// Where events are chunked anew: events in one upload at most, a name being one event.
  package var maximumBatchEvents: Int?
  /// False: nothing survives a restart (S18); nil: the client's own way.
  package var isPersistent: Bool?
  /// The strategy of a page of a browser; nil: the case is about no page.
  var strategy: BrowserOptions.Strategy?
  /// `httpConfig` as the page itself gives it; nil: it gives none.
  var pageConfig: SettingsValue?
  var retriesEvents = true
  /// Seconds from the first event to the flush.
  var flushInterval: Double?
  var maximumRetries: Double?
  var keepsAlive = false

  package init() {}
}

package struct VectorGiven: Sendable {
  package var batches: [VectorBatch] = []
  package var globalRetryCount: UInt16 = 0
  package var waitUntil: Int64?

  package init() {}
}

/// The end of the jitter's range that is drawn, or its middle.
enum VectorDraw: String, Sendable, CaseIterable {
  case lowest, middle, highest
}

/// A batch as it is at time 0.
package struct VectorBatch: Sendable {
  var name = ""
  package var events = 1
  /// When its first event was queued; nil: at time 0, or earlier if it has failed before.
  var queuedAt: Int64?
  package var failures: UInt16 = 0
  package var firstFailureAt: Int64?
  package var dueAt: Int64?
  package var latestFailure = BatchRetryState.LatestFailure.none

  package init(name: String = "") { self.name = name }
}

package struct VectorStep: Sendable {
  package var at: Int64 = 0
  var line: Int
  package var action = Action.trigger(.manual)
  /// Of new events: whose they are. Of an answer: what its body says.
  var user = ""
  var body: SettingsValue?
  var expect: VectorExpectation

  package init(line: Int) {
    self.line = line
    expect = VectorExpectation(sends: .init(value: [], line: line), drops: .init(value: [], line: line))
  }

  package enum Action: Sendable {
    /// A flush, for whatever reason (S17).
    case trigger(TriggerKind)
    /// New events, to be sealed under a name by the next flush.
    case events(Int, batch: String)
    /// How the upload of a batch ended; nil: no HTTP status (S9). Headers are as received.
    case answer(batch: String, status: Int?, retryAfter: String?, rateLimitReset: String?)
    /// The process dies and comes back with what it had saved (S18), and with Settings that it fetches (S19); nil: the same.
    case restart(SavedState, settings: SettingsValue?)
  }

  package enum TriggerKind: String, Sendable, CaseIterable {
    case count, interval, manual, reconnect, foreground, background, wakeUp
    /// A browser is offline from now on.
    case disconnect

    /// nil: it triggers nothing.
    var ofClient: ClientTrigger? { ClientTrigger(rawValue: rawValue) }
  }

  package enum SavedState: String, Sendable, CaseIterable {
    case intact, missing, corrupt, torn
  }
}

/// The behaviour that a preset shows instead.
package struct VectorDeviation: Sendable {
  /// Why, in a few words.
  package var reason = ""
  /// The client deviates no more, where the release before it does.
  package var isNone = false
  package var line = 0
  /// The steps with its own expectations, if the file gives them.
  var steps: [VectorStep]?
}

/// The required effects of a step. Sends and drops are complete: anything not listed must not happen.
package struct VectorExpectation: Sendable {
  var sends: Located<[ExpectedSend]>
  /// Batches given up before a send, with the reason.
  var drops: Located<[NamedDrop]>
  var outcome: Located<ExpectedOutcome>?
  var isReady: Located<Bool>?
  /// nil as a value: no wait.
  var waitUntil: Located<ClosedRange<Int64>>?
  var globalRetryCount: Located<Int>?
  var failures: [(batch: String, count: Located<Int>)] = []
  var dueAt: [(batch: String, time: Located<ClosedRange<Int64>>)] = []
  /// The batches held, oldest first.
  var queue: Located<[String]>?
  /// The uploads of a page that have the flag `keepalive`; nil: none of them.
  var keepAlive: Located<[String]>?
  /// When the buffer's timer fires while it does not wait.
  var flushTimer: Located<Int64>?
  /// Timers of polling loops; nil: as many as before.
  var pollingTimers: Located<Int>?
  /// Settings that a restart has fetched, by path from the section.
  var effective: [(path: String, value: Located<SettingsValue>)] = []
  var restored: Located<Restored>?

  package enum Restored: String, Sendable, CaseIterable {
    case intact, repaired, fresh
  }
}

package struct NamedDrop: Sendable, Hashable, CustomStringConvertible {
  var batch: String
  /// Empty where any is right.
  var reason: String
  package var description: String { "\(batch) (\(reason))" }
}

struct ExpectedSend: Sendable {
  var batch: String
  var header: Header

  enum Header: Sendable, Hashable {
    /// The case is not about it.
    case any
    case absent
    case count(Int)
  }
}

enum ExpectedOutcome: Sendable {
  case delivered
  /// The batch waits this long from the answer on.
  case retry(ClosedRange<Int64>)
  /// The pipeline waits this long from the answer on.
  case pause(ClosedRange<Int64>)
  case retryAtNextTrigger
  /// Credentials are refreshed, and the batch is sent once more.
  case refreshCredentials
  case drop(String)
  /// As a drop, but the events are kept.
  case block(String)
}

enum DropName {
  static let overflow = "overflow"
  static let refused = "refused"
  static let blocked = "blocked"
  /// A page held it when it went, and did not save it.
  static let unload = "unload"
  static let all = ["status", "retryLimit", "globalRetryLimit", "age", overflow, refused, blocked, unload]

  static func name(of loss: ClientLoss) -> String {
    switch loss {
    case .limit(let reason): name(of: reason)
    case .overflow: overflow
    case .refused: refused
    case .discarded: name(of: .status)
    }
  }

  static func name(of loss: DeviceTrace.Loss) -> String {
    switch loss {
    case .limit(let reason): name(of: reason)
    case .overflow: overflow
    case .refused: refused
    case .blocked: blocked
    }
  }

  static func name(of reason: DropReason) -> String {
    switch reason {
    case .status: "status"
    case .retryLimit: "retryLimit"
    case .rateLimitRetryLimit: "globalRetryLimit"
    case .age: "age"
    }
  }
}
