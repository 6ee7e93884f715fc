import Conformance
import ScenarioModel
import ShippedQuirks
import TestClients
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

/// Would the vectors notice? A preset with one switch set to another value must fail a vector or, if it is a shipped client's, a
/// recorded history.
@Suite("Strength of the vectors")
struct VectorStrengthTests {
  /// Changes that nothing can notice, and why.
  static let unnoticed: [String: [String: String]] = [
    "tapi-document": [
      "countOfAnEvent 2": "a vector says what counts as an event",
      "waitsInMilliseconds true": "a client that counts in milliseconds may be a millisecond off",
      "withoutSettings drops400": "the document's reading never fails",
      "withoutSettings drops4xx": "the document's reading never fails",
    ],
    "segment-swift": [
      "countOfAnEvent 1": "a vector says what counts as an event",
      "missingSection off": "its own reading of Settings decides",
      "rateLimitEndsLoop false": "all uploads have begun when a 429 comes",
      "readsRateLimitReset true": "its own reading of headers decides",
      "retryAfterForms secondsOrDate": "its own reading of headers decides",
      "supportsOAuth true": "its own table retries a 511 anyway",
    ],
    "segment-kotlin": [
      "countOfAnEvent 2": "a vector says what counts as an event",
      "missingSection off": "its own reading of Settings decides",
      "overridden429 drops": "its own reading takes no override of 429 over",
      "overridden429 dropsAndPauses": "its own reading takes no override of 429 over",
      "readsRateLimitReset true": "its own reading of headers decides",
      "retryAfterForms secondsOrDate": "its own reading of headers decides",
      "supportsOAuth true": "its own table retries a 511 anyway",
      "twoWaits shorterWinsRateLimitBeatsBackoff":
        "one upload at a time: no wait is announced during another",
    ],
    "segment-kotlin-main": [
      "countOfAnEvent 2": "a vector says what counts as an event",
      "missingSection off": "its own reading of Settings decides",
      "overridden429 drops": "its own reading takes no override of 429 over",
      "overridden429 dropsAndPauses": "its own reading takes no override of 429 over",
      "readsRateLimitReset true": "its own reading of headers decides",
      "retryAfterForms secondsOrDate": "its own reading of headers decides",
      "saving atOnceAsItIs":
        "its own vectors were not recorded, and no given history restarts between a look and an answer",
      "supportsOAuth true": "its own table retries a 511 anyway",
      "twoWaits shorterWinsRateLimitBeatsBackoff":
        "one upload at a time: no wait is announced during another",
    ],
    // `FlushTally` decides for a client that acts when a flush ends, by fewer switches.
    "segment-react-native": [
      "backoffHolds client": tally, "belowSuccess discarded": tally, "belowSuccess resets": tally,
      "limitReached startOverAtNextTrigger": tally, "limitsCheck beforeDue": tally,
      "noStatus asStatus500": tally, "noStatus backoff": tally,
      "noStatus untouched": tally, "rateLimitRecord untouched": tally, "rateLimited delaysBatch": tally,
      "retryAfterJitter additive:100": tally, "retryAfterJitter additive:100:7s": tally,
      "retryAfterJitter additive:7s": tally, "sendsAtLimit maxRetryCount": tally,
      "successEndsWait always": tally, "twoWaits laterReplaces": tally,
      "unauthorized refreshThenRetryOnce": tally,
      "countOfAnEvent 2": "a vector says what counts as an event",
      "missingSection off": "its own reading of Settings decides",
      "rateLimitEndsLoop false": "all uploads have begun when a 429 comes",
      "readsRateLimitReset true": "its own reading of headers decides",
      "retryAfterForms secondsOnly": "its own reading of headers decides",
      "supportsOAuth true": "its own table retries a 511 anyway",
      "withoutSettings drops400": "its own reading never fails",
      "withoutSettings drops4xx": "its own reading never fails",
    ],
  ]
  private static let tally = "the tally of a flush does not ask"

  /// Every client in CI, and otherwise each third.
  private static let clients = TestDepth.part(of: ConformanceClient.names, each: 3, from: 1)

  @Test("a client with one switch changed fails", arguments: clients)
  func switches(name: String) throws {
    let preset = try #require(ConformanceClient(name: name)).preset
    var files = try VectorFile.builtIn()
    if Recordings.clients.contains(name) { files.append(try Recordings.histories(of: name)) }
    var cases = files.flatMap(Self.singly)
    // That nothing notices what is listed is tried on every case in CI, and on a part of them by default.
    let part = TestDepth.part(of: cases, each: 5)
    let listed = Self.unnoticed[name, default: [:]]
    var unnoticed: Set<String> = []
    for (change, changed) in Self.changes(of: preset) where changed != preset && Self.isPossible(changed) {
      let runner = ConformanceRunner(client: ConformanceClient(preset: changed))
      func fails(_ file: VectorFile) -> Bool { runner.firstFailure(in: file) != nil }
      if listed[change] != nil, !part.contains(where: fails) {
        unnoticed.insert(change)
      } else if let index = cases.firstIndex(where: fails) {
        // What has noticed one change often notices the next.
        cases.insert(cases.remove(at: index), at: 0)
      } else {
        unnoticed.insert(change)
      }
    }
    #expect(unnoticed.sorted() == listed.keys.sorted())
  }

  /// A file for each case.
  private static func singly(_ file: VectorFile) -> [VectorFile] {
    file.cases.map { vector in
      var one = file
      one.cases = [vector]
      return one
    }
  }

  /// A client that acts when the last upload of a flush is answered keeps one record for all.
  private static func isPossible(_ preset: ClientPreset) -> Bool {
    !preset.actsAtFlushEnd || preset.queue.mode == .rebatch
  }

  /// Every switch with each value, some of them the preset's own.
  private static func changes(of preset: ClientPreset) -> [(String, ClientPreset)] {
    var changes: [(String, ClientPreset)] = []
    func change(_ name: String, _ set: (inout ClientPreset) -> Void) {
      var changed = preset
      set(&changed)
      changes.append((name, changed))
    }
    for choice in ClientPolicy.switches {
      for pattern in choice.values {
        let value = pattern.replacing(":S", with: ":7").replacing(":P", with: ":100").replacing(
          ":T", with: ":7s")
        change("\(choice.name) \(value)") { #expect(choice.set(value, in: &$0.policy)) }
      }
    }
    for uploads in [1, .max] {
      change("uploads \(uploads == 1 ? "1" : "unlimited")") { $0.uploadConcurrency = uploads }
    }
    change("mode files") { $0.queue.mode = .files }
    change("mode rebatch") { $0.queue.mode = .rebatch }
    for value in FlushWhileUploading.allCases {
      change("flushWhileUploading \(value)") { $0.flushWhileUploading = value }
    }
    for value in [true, false] {
      change("actsAtFlushEnd \(value)") { $0.actsAtFlushEnd = value }
      change("rateLimitEndsLoop \(value)") { $0.rateLimitEndsLoop = value }
      change("countsAllEvents \(value)") { $0.countsAllEvents = value }
    }
    for value in Saving.allCases { change("saving \(value)") { $0.saving = value } }
    for value in [1, 2] { change("countOfAnEvent \(value)") { $0.countOfAnEvent = value } }
    for trigger in ClientTrigger.allCases {
      change("trigger \(trigger)") { $0.triggers.formSymmetricDifference(ClientTriggers([trigger])) }
    }
    return changes
  }
}
