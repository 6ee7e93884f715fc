import ScenarioModel
import SimulationKernel
import TAPIModel
import UploadRetry

/// Every key that a scenario may have, in one place: unknown-key reports, "did you mean", the paths of
/// `--set` and `compare`, and the test of `experiments/scenario.schema.json` read this table.
package enum ScenarioSchema {
  /// What may stand at a place. Many objects have a short form too (`latency: "50ms"`): the decoder knows
  /// those.
  package indirect enum Shape: Sendable {
    /// Nothing with members.
    case scalar
    case object([Key])
    /// A list, its elements addressed by number from 0.
    case list(Shape)
    /// The fleet: cohorts addressed by name, or by number from 0.
    case cohorts(Shape)
    /// The Settings: a file name or any JSON; its paths are those of `HTTPConfig.knownKeyPaths`.
    case settings
    /// `compare`: its keys are paths.
    case axes

    /// The keys of an object.
    package var keys: [Key] { if case .object(let keys) = self { keys } else { [] } }
  }

  package struct Key: Sendable {
    package var name: String
    package var shape: Shape
    /// Written as it would stand in a file; for messages about a missing key.
    package var example: String
    package var isRequired: Bool
    /// Whether `--set` and `compare` may change it.
    package var isSettable: Bool

    /// One sentence.
    package var meaning: String
    /// Its JSON Schema, without what it means and what it is by default.
    package var schema: PositionedValue
    /// What is allowed, where the schema does not say it.
    package var range: String
    package var standard: Standard?

    init(
      _ name: String, _ shape: Shape = .scalar, example: String = "", required: Bool = false,
      settable: Bool = true, meaning: String = "", schema: PositionedValue = .members([]),
      range: String = "", standard: Standard? = nil
    ) {
      self.name = name
      self.shape = shape
      self.example = example
      isRequired = required
      isSettable = settable
      self.meaning = meaning
      self.schema = schema
      self.range = range
      self.standard = standard
    }

    /// The same key where it may be missing.
    var optional: Key {
      var key = self
      key.isRequired = false
      return key
    }
  }

  /// What a key is that is left out.
  package enum Standard: Sendable {
    case value(PositionedValue)
    case words(String)
  }

  package static let root = Shape.object([
    Key("format", example: "1", required: true, settable: false),
    Key("question"),
    Key("seed"),
    Key("duration", example: "\"2h\"", required: true),
    Key("interval"),
    Key("tapi", tapi, example: "{ bucket: { capacity: \"4000/s\" } }", required: true),
    Key("network", network),
    Key(
      "fleet", .cohorts(cohort), example: "[{ name: \"phones\", devices: 1000, events: \"6/min\" }]",
      required: true),
    Key("settings", .settings),
    Key("policy", policy),
    Key("compare", .axes, settable: false),
  ])

  static let tapi = TAPIConfiguration.keys.shape
  // MARK: Distributions and the network

  static let distribution = Kind<Distribution>.serviceTime.shape
  static let network = Network.keys.shape

  // MARK: The fleet

  static let cohort = Shape.object([
    Key("name", example: "\"phones\"", required: true, settable: false),
    Key("devices", example: "1000", required: true),
    Key("client"),
    Key("events", .object(eventKeys), example: "\"6/min\"", required: true),
    Key("spikes", .list(.object(spikeKeys))),
    Key("flush", .object([Key("count"), Key("interval"), Key("phase")])),
    Key(
      "queue",
      .object([
        Key("mode"), Key("limit"), Key("maximumBatchEvents"), Key("maximumBatchSize"), Key("splitOn413"),
      ])),
    Key("retries"),
    Key("uploadConcurrency"),
    Key("flushWhileUploading"),
    Key("uploadLoop", uploadLoop),
    Key("timeout", Kind<Timeouts>.timeouts.shape),
    Key("network", network),
    Key("connectivity", Kind<Connectivity>.connectivity.shape),
    Key("sessions", Sessions.keys.shape),
    Key("settings", .settings),
    Key("settingsDialect"),
    Key("policy", policy),
    Key("classDelays", classDelays),
    Key("gates", gates),
    Key("credentialRefresh"),
    Key("lifecycle", lifecycle),
    Key("rollout", rollout),
    Key("eventSize"),
    Key("requestSize"),
    Key("writeKey"),
  ])

  /// Every class of `ClassDelays`, by its own table.
  static let classDelays = Shape.object(
    ClassDelays.names.map { Key($0.name, .object([Key("base"), Key("longest")])) })

  static let uploadLoop = Shape.object([
    Key("actsAtFlushEnd"), Key("rateLimitEndsLoop"), Key("saving"), Key("triggers"),
    Key("triggersThatSkipWaits"), Key("countOfAnEvent"),
    Key("countsAllEvents"),
  ])

  static let eventKeys = [
    Key("every"), Key("phase"), Key("meanGap"), Key("rate"), Key("curve", .object(curveKeys)), Key("csv"),
    Key("share"), Key("atOnce"),
  ]
  static let curveKeys = [
    Key("points", .list(.object(curvePointKeys))), Key("amplitude"), Key("peak"), Key("period"),
  ]
  static let curvePointKeys = [
    Key("at", example: "\"8h\"", required: true), Key("factor", example: "\"50%\"", required: true),
  ]
  static let spikeKeys = [
    Key("at", example: "\"30m\"", required: true), Key("spread"), Key("share"), Key("events"), Key("flush"),
    Key("every"),
  ]

  /// Every switch of `RetryPolicy`, by its own table.
  static let policy = Shape.object(RetryPolicy.switches.map { Key($0.name) })

  static let lifecycle = Shape.object([
    Key("restarts", .object(restartKeys)),
    Key("synchronised", .list(.object(synchronisedKeys))),
    Key("state"),
    Key("flushAtLaunch"),
  ])
  static let restartKeys = [Key("meanGap", example: "\"12h\"", required: true)]
  static let synchronisedKeys = [Key("at", example: "\"30m\"", required: true), Key("spread")]

  static let rollout = Shape.object([
    Key("at", example: "\"20m\"", required: true),
    Key("share"),
    Key("settings", .settings, example: "\"settings-new.json\"", required: true),
  ])
}
