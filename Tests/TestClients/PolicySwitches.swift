import ScenarioFormat
import ScenarioModel
import ShippedQuirks

extension ClientPolicy {
  /// A switch whose values have names, as scenarios and the table of clients have it.
  package struct Switch: Sendable {
    /// The key in a scenario: the property's name.
    package let name: String
    package let meaning: String
    package let requirement: String
    /// In `fixed:S` the letter stands for whole seconds from 0 to 3600; `Jitter.names` has the others.
    package let values: [String]

    /// Written as true or false, without quotes.
    package var isBool: Bool { values == ["true", "false"] }

    package func value(in policy: ClientPolicy) -> String {
      switch ClientPolicy.keys.write(policy, defaultValue: nil)[name]?.content {
      case .bool(let value): "\(value)"
      case .string(let text): text
      default: ""
      }
    }

    /// Gives a policy a value; false, and no change, if it is not an allowed one.
    package func set(_ value: String, in policy: inout ClientPolicy) -> Bool {
      let isBool = isBool && ["true", "false"].contains(value)
      let content = isBool ? PositionedValue.Content.bool(value == "true") : .string(value)
      let member = PositionedValue.Member(
        key: name, keyPosition: .commandLine, value: PositionedValue(content, at: .commandLine))
      var (decoder, changed) = (ScenarioDecoder(sources: []), policy)
      let node = PositionedValue(.object([member]), at: .commandLine)
      guard ClientPolicy.keys.read(&decoder, node, "", into: &changed) else { return false }
      policy = changed
      return true
    }
  }

  /// Those that are told apart by names, in the order of the table.
  package static let switches = ClientPreset.switches.prefix { $0.name != "multiplier" }
    .filter { $0.path.hasPrefix("policy.") }
    .map { Switch(name: $0.name, meaning: $0.meaning, requirement: $0.requirement, values: $0.values) }

  /// The value of the switch of that name; nil if there is none.
  package func value(of name: String) -> String? {
    Self.switches.first { $0.name == name }?.value(in: self)
  }

  /// Sets a switch by name; false, and no change, if there is no such name or value.
  package mutating func set(name: String, value: String) -> Bool {
    Self.switches.first { $0.name == name }?.set(value, in: &self) ?? false
  }
}
