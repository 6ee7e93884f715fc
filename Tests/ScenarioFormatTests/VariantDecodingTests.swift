import ScenarioFormat
import ScenarioModel
import Testing

/// Variants share with the scenario that they are variants of what their overrides leave as it is.
@Suite("Variants of a scenario that has been decoded")
struct VariantDecodingTests {
  /// With something to warn of in Settings, in a cohort, in an action and behind the fleet.
  private let text = ScenarioText(
    bucket: "bucket: { capacity: '4000/s', burst: 20 }",
    tapi: "incidents: [{ kind: 'outage', at: '100m', for: '20m' }]",
    cohort: """
      name: 'phones', devices: 1000, events: '6/min', flush: { interval: '30s' },
        settings: { backoffConfig: { maxRetryCount: -4 } } },
      { name: 'tablets', devices: 3000, events: '1/min', policy: { supportsOAuth: true },
        rollout: { at: '70m', settings: { backoffConfig: { jitterStrategy: 'full' } } }
      """,
    top: """
      network: { latency: '80ms' }, client: 'tapi-document', settings: { rateLimitConfig: { maxRetryCount: 3 } },
      policy: { clampAfterJitter: false },
      actions: [{ kind: 'settings', at: '90m', cohort: 'phones', settings: { backoffConfig: { maxRetryCount: -5 } } }]
      """)

  /// At least one of every key that may be changed, and whether a fleet depends on it.
  private static let overrides: [(path: String, value: String, readsFleet: Bool)] = [
    ("question", "Why?", false), ("seed", "7", false), ("interval", "2s", false),
    ("tapi.bucket.capacity", "50/s", false), ("tapi.bucket.capacity", "50", false),
    ("tapi.bucket", "{ capacity: '9/s' }", false), ("tapi.incidents.0.for", "10m", false),
    ("tapi.keyLimits", "[{ key: 'nobody', capacity: '1/s' }]", false), ("interval", "3h", false),
    ("push", "[{ at: '20m', opens: '5%', delay: '1m' }]", false), ("scale", "1:2", false),
    ("scale", "1:1000000", false), ("duration", "80m", true), ("duration", "3h", true),
    ("network.latency", "90ms", true), ("client", "segment-swift", true), ("client", "nobody", true),
    ("fleet.phones.devices", "99", true), ("fleet.*.timeout", "20s", true), ("actions", "[]", true),
    ("settings.rateLimitConfig.maxRetryCount", "4", true), ("settings", "{}", true),
    ("policy.clampAfterJitter", "true", true),
  ]

  private func outcome(_ decode: () throws -> ScenarioFile.Decoded) -> (scenario: Scenario?, said: [String]) {
    do {
      let decoded = try decode()
      return (decoded.scenario, decoded.warnings.map(\.description))
    } catch {
      return (nil, (error as? ScenarioProblems)?.diagnostics.map(\.description) ?? ["\(error)"])
    }
  }

  @Test("A variant is what its overrides make of the file by themselves, with all that is said of it")
  func sameAsAlone() throws {
    let file = try text.file()
    for given in [[], [Override(path: "fleet.tablets.devices", value: "5000")]] {
      let base = try file.decode(overrides: given)
      #expect(base.warnings.count >= 3)
      for (path, value, _) in Self.overrides {
        let overrides = given + [Override(path: path, value: value)]
        let variant = outcome { try file.decode(overrides: overrides, isVariant: true, of: base) }
        let alone = outcome { try file.decode(overrides: overrides) }
        #expect(variant.scenario == alone.scenario, "\(path)=\(value)")
        #expect(variant.said == alone.said, "\(path)=\(value)")
      }
    }
  }

  @Test("A fleet is read again only for a variant that may have another")
  func fleetsRead() throws {
    let file = try text.file()
    let base = try file.decode()
    for (path, value, readsFleet) in Self.overrides {
      let override = Override(path: path, value: value)
      guard let variant = try? file.decode(overrides: [override], isVariant: true, of: base) else { continue }
      #expect(variant.hasOwnFleet == readsFleet, "\(path)=\(value)")
    }
    let given = try file.decode(overrides: [Override(path: "fleet.tablets.devices", value: "5000")])
    let other = [Override(path: "seed", value: "2")]
    #expect(try file.decode(overrides: other, isVariant: true, of: given).hasOwnFleet)
  }

  @Test("Every key of a scenario that may be changed is among these")
  func everyKey() {
    let changed = Set(Self.overrides.map { String($0.path.prefix { $0 != "." }) })
    #expect(changed == Set(ScenarioSchema.root.keys.filter(\.isSettable).map(\.name)))
  }
}
