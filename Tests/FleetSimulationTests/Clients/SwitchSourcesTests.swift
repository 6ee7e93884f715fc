import ScenarioFormat
import ScenarioModel
import ShippedClients
import Testing

@Suite("Where the switches of clients come from")
struct SwitchSourcesTests {
  @Test(
    "what gives batches up in a client whose values are in its code is said by its file, none inherited",
    arguments: ClientPreset.all.filter { $0.settingsFetch == .never && $0.page == nil })
  func limits(preset: ClientPreset) {
    var limits: [String] = []
    if preset.settingsDefaults.backoff.isEnabled, preset.policy.limitReached == .dropBatch {
      limits.append("backoffConfig.maxRetryCount")
      // What is never sent again has no age.
      if preset.settingsDefaults.backoff.maxRetryCount > 0 {
        limits.append("backoffConfig.maxTotalBackoffDuration")
      }
    }
    let dropsRateLimited =
      preset.policy.overridden429 == .drops && preset.settingsDefaults.backoff.statuses.dropsRateLimited
    if preset.settingsDefaults.rateLimit.isEnabled, preset.policy.rateLimited == .pausesPipeline,
      !dropsRateLimited
    {
      limits.append("rateLimitConfig.maxRetryCount")
    }
    for limit in limits { #expect(preset.sources["settings." + limit] != nil, "\(limit)") }
  }

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
