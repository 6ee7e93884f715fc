import UploadGating
import UploadRetry

/// One device: flat, no reference, nothing that a strategy could not be asked about.
///
/// Times are virtual microseconds. Events are numbered per device in the order of their creation; `nextOrdinal` is the
/// first that no flush has sealed yet.
struct DeviceRecord {
  /// Creation time of event `nextOrdinal`.
  var unsealedTime: Int64
  /// Creation time of the event behind those that the pending trigger will seal.
  var aheadTime: Int64
  var nextInterval: Int64
  /// The pending trigger; one that comes up at another time is stale.
  var triggerAt: Int64
  /// The pending wake-up; `.max`: none. A wake-up that comes up at another time is stale.
  var wakeAt: Int64
  /// The next restart at random; `.max`: none.
  var nextRestart: Int64
  var lastTransmission: Int64
  /// Events sent, once for every attempt.
  var sentEvents: Int64
  var gate: UploadGate
  var nextOrdinal: UInt32
  /// Events that the pending trigger will seal: created by then, drawn in advance.
  var upcoming: UInt32
  /// Sealed events that the device holds.
  var heldEvents: UInt32
  /// The device's batches in the order of their events.
  var oldest: UInt32
  var newest: UInt32
  /// The batches that are due, in the order of their events.
  var ready: UInt32
  var lastReady: UInt32
  /// The batches that wait for their backoff.
  var waiting: WaitingHeaps.Place
  /// The running loop goes on with batches from this ordinal on.
  var cursor: UInt32
  /// A due batch that the running loop has passed, to start searching from; 0: none is known.
  var passed: UInt32
  /// With `ignoresFlushWhileUploading`: the running loop ends at batches from this ordinal on.
  var loopEnd: UInt32
  var attempts: UInt32
  var radioWakeUps: UInt32
  var inFlight: UInt16
  var pipeline: PipelineRetryState
  var flags: Flags
  var settings: SettingsVersion
  /// Restarts so far: each draws the time to the next by its number.
  var restarts: UInt16

  /// Which Settings the device runs on since its last launch (S19).
  enum SettingsVersion: UInt8 {
    case base, rollout, builtIn
  }

  struct Flags: OptionSet {
    var rawValue: UInt8
    /// An upload loop runs, or waits for its last answers.
    static let looping = Flags(rawValue: 1)
    /// The loop has ended early (429) and sends nothing more.
    static let draining = Flags(rawValue: 2)
    /// The loop was started by a trigger, not by a wake-up.
    static let byTrigger = Flags(rawValue: 4)
    /// Counted among the devices that wait.
    static let idleWithBatches = Flags(rawValue: 8)
    static let lostEvents = Flags(rawValue: 16)
    /// Some entries of the waiting heap stand for batches that have left the queue.
    static let hasStaleEntries = Flags(rawValue: 32)
    /// An upload of the running loop has failed.
    static let loopHadFailure = Flags(rawValue: 64)
  }

  init() {
    unsealedTime = 0
    aheadTime = 0
    nextInterval = .max
    triggerAt = .max
    wakeAt = .max
    nextRestart = .max
    lastTransmission = .min / 2
    gate = UploadGate()
    nextOrdinal = 0
    upcoming = 0
    heldEvents = 0
    oldest = 0
    newest = 0
    ready = 0
    lastReady = 0
    waiting = WaitingHeaps.Place()
    cursor = 0
    passed = 0
    loopEnd = .max
    attempts = 0
    sentEvents = 0
    radioWakeUps = 0
    inFlight = 0
    pipeline = PipelineRetryState()
    flags = []
    settings = .base
    restarts = 0
  }
}
