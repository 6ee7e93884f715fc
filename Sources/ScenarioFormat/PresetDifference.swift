import ScenarioModel
import SimulationKernel

/// A key of a cohort that is not as the cohort's client preset has it.
public struct PresetDifference: Sendable, Hashable {
  /// Its path in the cohort: `retries`, `queue.mode`, `policy.noStatus`.
  public var path: String
  /// As the scenario has it, in one line.
  public var value: String
  /// As the preset has it.
  public var preset: String
  /// What the key decides.
  public var meaning: String

  public init(path: String, value: String, preset: String, meaning: String) {
    self.path = path
    self.value = value
    self.preset = preset
    self.meaning = meaning
  }
}

extension Cohort {
  /// What the scenario says otherwise than the client preset that it names, in the order of the keys.
  ///
  /// What a preset decides is what `take(_:)` sets: the cohort with its preset taken anew is the other side, both written out in
  /// full. So a key that a preset begins to decide is compared without being named here.
  public var differencesFromPreset: [PresetDifference] {
    var taken = self
    taken.take(preset)
    if taken == self { return [] }
    return Self.keys.shape.differences(
      Self.keys.write(self, standard: nil), Self.keys.write(taken, standard: nil), at: "")
  }
}

extension ScenarioSchema.Shape {
  fileprivate func differences(
    _ scenario: PositionedValue, _ preset: PositionedValue, at path: String
  ) -> [PresetDifference] {
    keys.flatMap { key -> [PresetDifference] in
      let (mine, other) = (scenario[key.name] ?? .null, preset[key.name] ?? .null)
      if JSONText.compact(mine) == JSONText.compact(other) { return [] }
      let place = path.isEmpty ? key.name : path + "." + key.name
      if !key.shape.keys.isEmpty, mine.members != nil, other.members != nil {
        return key.shape.differences(mine, other, at: place)
      }
      return [
        PresetDifference(
          path: place, value: key.text(mine), preset: key.text(other), meaning: key.meaning)
      ]
    }
  }
}
