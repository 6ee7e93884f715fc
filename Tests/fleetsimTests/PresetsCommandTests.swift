import ScenarioFormat
import ScenarioModel
import Testing

/// The transcripts have what `presets` prints.
@Suite("Presets command")
struct PresetsCommandTests {
  private func run(_ arguments: String...) throws -> Tool.Output {
    try Scratch().run("presets", arguments, code: 0)
  }

  @Test("the document has every value of every client, and whether the document's client has another")
  func values() throws {
    let names = ClientPreset.names
    let found = try run(names.joined(separator: ","), "--json").json["presets"]?.elements ?? []
    #expect(found.map { $0["name"]?.text } == names)
    for (preset, found) in zip(ClientPreset.all, found) {
      let expected = ClientPreset.switches.map { entry in
        let value = entry.value(preset)
        return [.string(entry.path), .string(value), .bool(value != entry.value(.tapiDocument))] as [JSON?]
      }
      let told = found["switches"]?.elements.map { own in ["path", "value", "differs"].map { own[$0] } }
      #expect(told == expected, "\(preset.name)")
    }
  }

  @Test("the list of the clients is narrow enough for a terminal")
  func list() throws {
    for line in try run().lines { #expect(line.count <= 80, "\(line)") }
  }

  @Test(
    "one preset is explained: every switch with its path, meaning and values", arguments: ClientPreset.all)
  func one(preset: ClientPreset) throws {
    let output = try run(preset.name)
    let blocks = output.standardOutput.components(separatedBy: "\n\n")
    let paths = blocks.dropFirst().dropLast().map { $0.prefix { $0 != ":" } }
    #expect(paths == ClientPreset.switches.map { $0.path[...] })
    for line in output.lines { #expect(line.count <= 100, "\(line)") }
    #expect(preset != .tapiDocument || !output.standardOutput.contains("source:"))
  }

  @Test("the paths and values of the table are those that a scenario takes", arguments: ClientPreset.all)
  func scenario(preset: ClientPreset) throws {
    // What a client does not read in its Settings, it does not take as an override either.
    let entries = ClientPreset.switches.filter { entry in
      guard entry.path.hasPrefix("settings.") else { return true }
      return preset.settingsDialect.readKeyPaths.contains(String(entry.path.dropFirst("settings.".count)))
    }
    func cohort(_ overrides: [Override]) throws -> Cohort {
      let text = Scenarios.small.replacing(#/compare: .*\n|, retries: "timer"/#, with: "")
      let file = try ScenarioFile(text: text, name: "s") { _ in "" }
      return try file.decode(overrides: overrides).scenario.fleet[0]
    }
    let found = try cohort(
      entries.map { Override(path: "fleet.phones.\($0.path)", value: $0.value(preset)) })
    let expected = try cohort([Override(path: "client", value: preset.name)])
    #expect(found.policy == expected.policy && found.gates == expected.gates)
    for member in expected.everyKey.members ?? [] where !["client", "settings"].contains(member.key) {
      let text = found.everyKey[member.key].map { JSONText.pretty($0) }
      #expect(text == JSONText.pretty(member.value), "\(member.key)")
    }
  }
}
