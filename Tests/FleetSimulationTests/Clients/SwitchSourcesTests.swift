import ScenarioFormat
import ScenarioModel
import ShippedClients
import Testing

@Suite("Where the switches of clients come from")
struct SwitchSourcesTests {
  @Test(
    "every switch that is not the document's has a source, and what has one is a switch",
    arguments: ClientPreset.all)
  func sources(preset: ClientPreset) {
    let differing = ClientPreset.switches.filter { $0.value(preset) != $0.value(.tapiDocument) }.map(\.path)
    #expect(Set(differing).subtracting(preset.sources.keys) == [], "without a source")
    if preset.settingsDialect == .document { return }
    #expect(Set(preset.sources.keys).subtracting(differing) == [], "not a difference")
    #expect(preset.origin.hasPrefix(preset.settingsDialect.rawValue + " "))
    for source in preset.sources.values.map(\.place) {
      #expect(
        source == "observed" || source.contains(".swift:") || source.contains(".kt:")
          || source.contains(".ts:"))
    }
  }
}
