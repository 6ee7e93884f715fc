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

    /// One sentence; for a switch, which has a requirement, without capital and full stop, as a table has it.
    package var meaning: String
    /// The requirement that it belongs to: `S10`; empty for what no client differs in.
    package var requirement = ""
    /// What a table of switches writes for its values, where they cannot be told by the schema.
    package var form = ""
    /// Its JSON Schema, without what it means and what it is by default.
    package var schema: PositionedValue
    /// What is allowed, where the schema does not say it.
    package var range: String
    package var standard: Standard?

    package init(
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

  package static let root = ScenarioDocument.keys.shape
}
