import ScenarioFormat
import ScenarioModel
import ShippedClients
import SimulationKernel
import TAPIModel
import TestClients
import TestSupport
import Testing
import UploadPipeline
import UploadRetry

@Suite("Normalised scenarios")
struct NormalisedScenarioTests {
  @Test("a normalised scenario decodes to an equal one: 100 random scenarios, exhaustively 400")
  func roundTrip() throws {
    for seed in 0..<UInt64(TestDepth.cases(100, exhaustively: 400)) {
      var generator = ScenarioGenerator(seed: seed)
      let scenario = generator.scenario()
      let text = scenario.normalisedJSON
      do {
        let decoded = try ScenarioFile(text: text, name: "s") { _ in throw ScenarioText.NoFile() }.decode()
        #expect(decoded.scenario == scenario, "seed \(seed)")
        #expect(decoded.normalisedJSON == text, "seed \(seed)")
      } catch {
        Issue.record("seed \(seed): \(error)\n\(text)")
      }
    }
  }

  @Test("the generator draws every key, kind and switch of the format, but for gaps that are written down")
  func drawsAll() throws {
    var drawn = DrawnKeys(.text)
    for seed in 0..<UInt64(TestDepth.cases(250, exhaustively: 600)) {
      var generator = ScenarioGenerator(seed: seed)
      try drawn.add(generator.scenario())
    }
    let never = drawn.missing.map { $0 + "\n" }.joined()
    #expect(
      try Snapshot.recorded(in: DrawnKeys.file("format"), now: never) == never,
      "never drawn: \(never) Draw it in ScenarioGenerator.")
  }

  @Test("the normalised form is as a person would write it")
  func form() throws {
    let decoded = try ScenarioText(
      bucket: "workers: { count: 2, serviceTime: { exponential: '50ms' } }",
      tapi: "incidents: [{ kind: 'brownout', at: '90s', for: '1m', factor: 0.5 }]",
      top: "question: 'Why?', seed: 7"
    ).decode(["settings.backoffConfig.jitterStrategy": "full"])
    #expect(
      decoded.normalisedJSON == """
        {
          "format": 1,
          "question": "Why?",
          "seed": 7,
          "duration": "2h",
          "interval": "1s",
          "tapi": {
            "workers": {
              "count": 2,
              "serviceTime": {
                "exponential": "50ms"
              },
              "serviceTimePerEvent": "0s",
              "queueLimit": "unlimited"
            },
            "overload": "queue",
            "incidents": [
              {
                "kind": "brownout",
                "at": "90s",
                "for": "1m",
                "factor": "50%"
              }
            ]
          },
          "fleet": [
            {
              "name": "phones",
              "devices": 10,
              "client": "tapi-document",
              "events": "6/min",
              "spikes": [],
              "flush": {
                "count": 20,
                "interval": "30s",
                "phase": "random"
              },
              "queue": {
                "mode": "files",
                "limit": null,
                "maximumBatchEvents": 500,
                "maximumBatchSize": null,
                "splitOn413": false
              },
              "retries": "gate",
              "uploadConcurrency": 1,
              "flushWhileUploading": "joins",
              "timeout": "30s",
              "network": {
                "latency": {
                  "logNormal": {
                    "median": "80ms",
                    "p99": "600ms",
                    "minimum": "5ms"
                  }
                },
                "bandwidth": null,
                "loss": {
                  "request": "0%",
                  "answer": "0%"
                }
              },
              "connectivity": null,
              "settings": {
                "rateLimitConfig": {
                  "enabled": true,
                  "maxRetryCount": 100,
                  "maxRetryInterval": 300,
                  "maxTotalBackoffDuration": 43200
                },
                "backoffConfig": {
                  "enabled": true,
                  "maxRetryCount": 100,
                  "baseBackoffInterval": 0.5,
                  "maxBackoffInterval": 300,
                  "maxTotalBackoffDuration": 43200,
                  "jitterStrategy": "full"
                }
              },
              "policy": {
                "clampAfterJitter": false,
                "missingRetryAfter": "maxRetryInterval",
                "retryAfterOnOtherCodes": "ignored",
                "retryAfterForms": "secondsOrDate",
                "noStatus": "backoff",
                "retryCountHeader": "always",
                "twoWaits": "laterReplaces",
                "limitReached": "dropBatch",
                "rateLimitingOff": "legacy",
                "missingSection": "defaultsOn",
                "sendsAtLimit": "maxRetryCountPlusOne",
                "successEndsWait": "always",
                "ageLimit": "sinceFirstFailure",
                "supportsOAuth": false,
                "rateLimited": "pausesPipeline",
                "unauthorized": "asTable",
                "givenUp": "dropped",
                "retryAfterJitter": "none"
              },
              "gates": {
                "rateWindows": null,
                "wholeRun": false,
                "restartRun": false,
                "breaker": null,
                "failureWindow": null,
                "projectDelay": null,
                "retryBudget": null,
                "adaptiveThrottling": null,
                "controller": null,
                "reconcile": false
              },
              "credentialRefresh": "1s",
              "lifecycle": null,
              "rollout": null,
              "eventSize": "1KB",
              "requestSize": "500B"
            }
          ]
        }

        """)
  }
}
