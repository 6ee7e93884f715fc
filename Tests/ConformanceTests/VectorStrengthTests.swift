import Conformance
import Testing
import UploadRetry

/// Would the vectors notice? Every switch of every preset, set to each other value, must fail some case.
@Suite("Strength of the vectors")
struct VectorStrengthTests {
  @Test("a client with one switch changed fails", arguments: ConformanceClient.names)
  func switches(name: String) throws {
    let preset = try #require(ConformanceClient(name: name))
    let files = try VectorFile.builtIn()
    for choice in RetryPolicy.switches {
      for value in choice.values.map({ ["fixed:S": "fixed:7", "additive:P": "additive:100"][$0] ?? $0 }) {
        var policy = preset.policy
        #expect(choice.set(value, in: &policy))
        guard policy != preset.policy else { continue }
        let changed = ConformanceClient(
          name: name, policy: policy, uploads: preset.uploads, hasOneRetryRecord: preset.hasOneRetryRecord,
          ignoresFlushesWhileUploading: preset.ignoresFlushesWhileUploading)
        let report = ConformanceRunner(client: changed).run(files)
        #expect(!report.failures.isEmpty, "no vector notices \(choice.name) = \(value) in \(name)")
      }
    }
  }

  @Test("a client that uploads otherwise, or keeps another record, fails", arguments: ConformanceClient.names)
  func queueSwitches(name: String) throws {
    let preset = try #require(ConformanceClient(name: name))
    let files = try VectorFile.builtIn()
    let others = [
      (preset.uploads == 1 ? .max : 1, preset.hasOneRetryRecord),
      (preset.uploads, !preset.hasOneRetryRecord),
    ]
    for (uploads, hasOneRetryRecord) in others {
      let changed = ConformanceClient(
        name: name, policy: preset.policy, uploads: uploads, hasOneRetryRecord: hasOneRetryRecord,
        ignoresFlushesWhileUploading: preset.ignoresFlushesWhileUploading)
      #expect(!ConformanceRunner(client: changed).run(files).failures.isEmpty)
    }
  }
}
