import ShippedQuirks
import TestClients
import Testing
import UploadRetry

@Suite("The switches of the last table, as values")
struct RetryPolicyTests {
  /// The table of the requirements, row by row: document, Swift, Kotlin, React Native.
  private let table: [(name: String, values: [String])] = [
    ("clampAfterJitter", ["false", "true", "true", "false"]),
    ("missingRetryAfter", ["maxRetryInterval", "maxRetryInterval", "maxRetryInterval", "fixed:60"]),
    ("retryAfterOnOtherCodes", ["ignored", "pausesPipeline", "ignored", "pausesPipeline"]),
    ("retryAfterForms", ["secondsOrDate", "secondsOnly", "secondsOnly", "secondsOrDate"]),
    ("readsRateLimitReset", ["false", "false", "false", "false"]),
    ("noStatus", ["backoff", "untouched", "asStatus500", "clientBackoff"]),
    (
      "retryCountHeader",
      [
        "always", "onlyAboveZeroMaxOfBatchAndGlobal", "onlyAboveZeroMaxOfBatchAndGlobal", "clientCounter",
      ]
    ),
    (
      "twoWaits",
      ["laterReplaces", "laterReplaces", "laterReplaces", "shorterWinsRateLimitBeatsBackoff"]
    ),
    ("limitReached", ["dropBatch", "dropBatch", "dropBatch", "resetStateAndDropFlush"]),
    ("rateLimitingOff", ["legacy", "drop", "drop", "drop"]),
    ("missingSection", ["defaultsOn", "defaultsOn", "defaultsOn", "defaultsOn"]),
    ("sendsAtLimit", ["maxRetryCountPlusOne", "maxRetryCount", "maxRetryCount", "maxRetryCountPlusOne"]),
    ("successEndsWait", ["always", "always", "always", "onlyWhenNoOtherBatchOfTheFlushFailed"]),
    (
      "ageLimit", ["sinceFirstFailure", "sinceFirstFailure", "sinceFirstFailure", "eventAgeSinceQueued"]
    ),
    ("supportsOAuth", ["false", "false", "false", "false"]),
    ("rateLimited", ["pausesPipeline", "pausesPipeline", "pausesPipeline", "pausesPipeline"]),
    ("unauthorized", ["asTable", "asTable", "asTable", "asTable"]),
    ("givenUp", ["dropped", "dropped", "dropped", "dropped"]),
    ("limitsCheck", ["whenDue", "beforeDue", "beforeDue", "whenDue"]),
    ("rateLimitRecord", ["failure", "untouched", "untouched", "failure"]),
    ("backoffOff", ["legacy", "forgets", "drop", "drop"]),
    ("withoutSettings", ["legacy", "drops400", "drops4xx", "legacy"]),
    ("overridden429", ["ignored", "dropsAndPauses", "ignored", "drops"]),
    ("belowSuccess", ["asTable", "discarded", "resets", "asTable"]),
    ("exponent", ["ownFailures", "ownFailures", "ownFailures", "allFailures"]),
    ("waitsInMilliseconds", ["false", "false", "true", "false"]),
    (
      "retryAfterCap", ["maxRetryInterval", "maxRetryInterval", "maxRetryInterval", "maxRetryInterval"]
    ),
    ("retryAfterJitter", ["none", "none", "none", "none"]),
    ("backoffHolds", ["batch", "batch", "batch", "batch"]),
  ]

  private let presets: [ClientPolicy] = [
    .tapiDocument, .segmentSwift, .segmentKotlin, .segmentReactNative,
  ]

  @Test("Each preset is its column of the table, and no switch is missing from it")
  func columns() {
    #expect(ClientPolicy.switches.map(\.name) == table.map(\.name))
    for row in table {
      #expect(presets.map { $0.value(of: row.name) } == row.values, "\(row.name)")
    }
  }

  @Test("Setting every switch of one preset to another's values makes it the other")
  func setting() {
    for from in presets {
      for to in presets {
        var policy = from
        for part in ClientPolicy.switches {
          let isSet = policy.set(name: part.name, value: to.value(of: part.name)!)
          #expect(isSet)
        }
        #expect(policy == to)
      }
    }
  }

  @Test("Every value that a switch lists is taken and read back")
  func values() {
    for part in ClientPolicy.switches {
      #expect(!part.meaning.isEmpty && (part.requirement.hasPrefix("S") || part.requirement.hasPrefix("O")))
      for value in part.values {
        let value = value.replacing(":S", with: ":7").replacing(":P", with: ":7").replacing(":T", with: ":7s")
        var policy = ClientPolicy()
        let isSet = part.set(value, in: &policy)
        #expect(isSet, "\(part.name) \(value)")
        #expect(part.value(in: policy) == value)
      }
    }
  }

  @Test("A name or a value that is not in the table changes nothing")
  func refusals() {
    for part in ClientPolicy.switches {
      for value in [
        "", "True", "nonsense", "fixed:", "fixed:3601", "fixed:1.5", "fixed:-1", "fixed:00001", "additive:-1",
        "additive:101", "between:1s:2s",
      ] {
        var policy = ClientPolicy.segmentSwift
        let isSet = policy.set(name: part.name, value: value)
        #expect(!isSet, "\(part.name) \(value)")
        #expect(policy == .segmentSwift)
      }
    }
    var policy = ClientPolicy()
    let isSet = policy.set(name: "noSwitch", value: "true")
    #expect(!isSet)
    #expect(policy.value(of: "noSwitch") == nil)
  }

  @Test("A fixed wait is written in whole seconds, up to an hour")
  func fixedWait() {
    #expect(ShippedQuirks.MissingRetryAfter("fixed:0") == .fixed(microseconds: 0))
    #expect(ShippedQuirks.MissingRetryAfter("fixed:3600") == .fixed(microseconds: 3_600_000_000))
    #expect(ShippedQuirks.MissingRetryAfter.fixed(microseconds: 2_999_999).description == "fixed:2")
  }
}
