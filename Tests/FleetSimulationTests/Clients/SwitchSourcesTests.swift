import ScenarioModel
import ShippedClients
import Testing

@Suite("Where the switches of shipped clients come from")
struct SwitchSourcesTests {
  @Test("every switch that is not the document's has a source, and no other", arguments: ClientPreset.all)
  func sources(preset: ClientPreset) {
    let differing = ClientPreset.switches.filter { $0.value(preset) != $0.value(.tapiDocument) }.map(\.path)
    let expected = preset.dialect == .document ? [] : Set(differing)
    #expect(expected.subtracting(preset.sources.keys) == [], "without a source")
    #expect(Set(preset.sources.keys).subtracting(expected) == [], "not a difference")
    for source in preset.sources.values {
      #expect(source.hasPrefix(preset.dialect.rawValue + " "))
      #expect(
        source.hasSuffix(", observed") || source.contains(".swift:") || source.contains(".kt:")
          || source.contains(".ts:"))
    }
  }
}
