// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let pipelineStates = ##"""
    {
      "format": 1,
      "title": "READY and WAITING: the transitions, and what they leave alone",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "ready-2xx", "requirement": "S16",
          "says": "READY, 200: READY",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"], "state": "READY"}},
            {"at": 1, "answer": {"batch": "a", "status": 200},
              "expect": {"outcome": "delivered", "state": "READY", "queue": []}}
          ]
        },
        {
          "id": "ready-other-2xx", "requirement": "S16",
          "says": "Any 2xx is a success",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 204},
              "expect": {"sends": ["b"], "outcome": "delivered"}},
            {"at": 2, "answer": {"batch": "b", "status": 299}, "expect": {"outcome": "delivered", "queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 204}, "expect": {"outcome": "delivered"}},
                {"at": 2, "answer": {"batch": "b", "status": 299}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 204}},
                {"at": 2, "answer": {"batch": "b", "status": 299}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            }
          }
        },
        {
          "id": "ready-429", "requirement": "S16",
          "says": "READY, 429: WAITING until the Retry-After is over",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "20"},
              "expect": {"state": "WAITING", "waitUntil": 21}}
          ]
        },
        {
          "id": "ready-5xx", "requirement": "S16",
          "says": "READY, 5xx: the batch waits, the pipeline stays READY",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 503},
              "expect": {"state": "READY", "dueAt": {"a": 1.5}}},
            {"at": 1.1, "events": 20, "seals": "b", "expect": {"sends": ["b"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps one retry record for the whole client",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"retry": 0.5}, "state": "WAITING"}},
                {"at": 1.1, "events": 20, "seals": "b"}
              ]
            }
          }
        },
        {
          "id": "wait-reached", "requirement": "S16",
          "says": "WAITING, now = waitUntilTime: READY, and the upload goes out",
          "given": {"batches": ["a"], "waitUntil": 30},
          "steps": [
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"], "state": "READY"}}
          ]
        },
        {
          "id": "wait-not-reached", "requirement": "S16",
          "says": "WAITING, a microsecond before: nothing goes out",
          "given": {"batches": ["a"], "waitUntil": 30},
          "steps": [
            {"at": 29.999999, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 30}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "wait-passed", "requirement": "S16",
          "says": "WAITING, long after: READY",
          "given": {"batches": ["a"], "waitUntil": 30},
          "steps": [
            {"at": 5000, "trigger": "manual", "expect": {"sends": ["a"], "state": "READY"}}
          ]
        },
        {
          "id": "waiting-defers-all", "requirement": "S16",
          "says": "WAITING defers every batch, new ones too",
          "given": {"batches": ["a"], "waitUntil": 30},
          "steps": [
            {"at": 1, "events": 20, "seals": "b", "expect": {"state": "WAITING", "queue": ["a", "b"]}},
            {"at": 2, "trigger": "manual"},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
              {"at": 1, "events": 20, "seals": "b", "expect": {"state": "WAITING", "queue": ["a", "b"]}},
              {"at": 2, "trigger": "manual"},
              {"at": 30, "trigger": "manual", "expect": {"sends": ["a", "b"]}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
              {"at": 1, "events": 20, "seals": "b", "expect": {"state": "WAITING", "queue": ["a", "b"]}},
              {"at": 2, "trigger": "manual"},
              {"at": 30, "trigger": "manual", "expect": {"sends": ["a", "b"]}}
              ]
            }
          }
        },
        {
          "id": "waiting-429-later", "requirement": "S16",
          "says": "WAITING, 429: a new wait, here a later one",
          "client": {"uploads": 2},
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}, "expect": {"waitUntil": 31}},
            {"at": 2, "answer": {"batch": "b", "status": 429, "retryAfter": "60"},
              "expect": {"state": "WAITING", "waitUntil": 62, "globalRetryCount": 2}}
          ],
          "deviates": {
            "segment-kotlin": "does not apply: it uploads one file after another (EventPipeline.kt:188)",
            "segment-react-native": {
              "why": "acts when the last upload of a flush is answered (SegmentDestination.ts:383-395)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}},
                {"at": 2, "answer": {"batch": "b", "status": 429, "retryAfter": "60"}, "expect": {
                  "outcome": {"pause": 30}, "state": "WAITING", "waitUntil": 32}}
              ]
            }
          }
        },
        {
          "id": "waiting-429-earlier", "requirement": "S16",
          "says": "... here an earlier one",
          "client": {"uploads": 2},
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}, "expect": {"waitUntil": 61}},
            {"at": 2, "answer": {"batch": "b", "status": 429, "retryAfter": "30"},
              "expect": {"state": "WAITING", "waitUntil": 32, "globalRetryCount": 2}}
          ],
          "deviates": {
            "segment-kotlin": "does not apply: it uploads one file after another (EventPipeline.kt:188)",
            "segment-react-native": {
              "why": "acts when the last upload of a flush is answered (SegmentDestination.ts:383-395)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}},
                {"at": 2, "answer": {"batch": "b", "status": 429, "retryAfter": "30"}, "expect": {
                  "outcome": {"pause": 30}, "state": "WAITING", "waitUntil": 32}}
              ]
            }
          }
        },
        {
          "id": "waiting-5xx", "requirement": "S16",
          "says": "WAITING, 5xx: that batch waits, the pipeline's wait stays",
          "client": {"uploads": 2},
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}, "expect": {"waitUntil": 31}},
            {"at": 2, "answer": {"batch": "b", "status": 503},
              "expect": {"outcome": {"retry": 0.5}, "state": "WAITING", "waitUntil": 31}}
          ],
          "deviates": {
            "segment-kotlin": "does not apply: it uploads one file after another (EventPipeline.kt:188)",
            "segment-react-native": {
              "why": "a Retry-After in a flush hides its other failures (SegmentDestination.ts:288-296)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}},
                {"at": 2, "answer": {"batch": "b", "status": 503}, "expect": {
                  "outcome": {"pause": 30}, "state": "WAITING", "waitUntil": 32}}
              ]
            }
          }
        },
        {
          "id": "waiting-2xx", "requirement": "S16",
          "says": "WAITING, 2xx: READY at once",
          "client": {"uploads": 2},
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"},
              "expect": {"state": "WAITING"}},
            {"at": 2, "answer": {"batch": "b", "status": 200},
              "expect": {"state": "READY", "globalRetryCount": 0, "queue": ["a"]}},
            {"at": 3, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-kotlin": "does not apply: it uploads one file after another (EventPipeline.kt:188)",
            "segment-react-native": {
              "why": "acts when the last upload of a flush is answered (SegmentDestination.ts:383-395)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}, "expect": {
                  "state": "READY"}},
                {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "state": "WAITING", "queue": ["a"]}},
                {"at": 3, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "two-5xx-at-once", "requirement": "S16",
          "says": "Two 5xx of uploads that ran at once: each batch has its own wait",
          "client": {"uploads": 2},
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 0.5}, "state": "READY"}},
            {"at": 0.1, "answer": {"batch": "b", "status": 503},
              "expect": {"outcome": {"retry": 0.5}, "state": "READY", "dueAt": {"a": 0.5, "b": 0.6}}},
            {"at": 0.55, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-kotlin": "does not apply: it uploads one file after another (EventPipeline.kt:188)",
            "segment-react-native": {
              "why": "acts when the last upload of a flush is answered (SegmentDestination.ts:383-395)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"state": "READY"}},
                {"at": 0.1, "answer": {"batch": "b", "status": 503}, "expect": {
                  "outcome": {"retry": 0.5}, "state": "WAITING"}},
                {"at": 0.55, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "waiting-4xx", "requirement": "S16",
          "says": "WAITING, a drop: the wait stays",
          "client": {"uploads": 2},
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}},
            {"at": 2, "answer": {"batch": "b", "status": 400},
              "expect": {"outcome": {"drop": "status"}, "state": "WAITING", "waitUntil": 31}}
          ],
          "deviates": {
            "segment-kotlin": "does not apply: it uploads one file after another (EventPipeline.kt:188)",
            "segment-react-native": {
              "why": "acts when the last upload of a flush is answered (SegmentDestination.ts:383-395)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}},
                {"at": 2, "answer": {"batch": "b", "status": 400}, "expect": {
                  "outcome": {"drop": "status"}, "state": "WAITING", "waitUntil": 32}}
              ]
            }
          }
        },
        {
          "id": "reset-keeps-counters", "requirement": "S16",
          "says": "Reaching waitUntilTime resets the state and no counter",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "10"},
              "expect": {"globalRetryCount": 1}},
            {"at": 10, "trigger": "manual",
              "expect": {"sends": [{"a": 1}], "state": "READY", "globalRetryCount": 1}}
          ]
        },
        {
          "id": "reset-keeps-batches", "requirement": "S16",
          "says": "... of no batch either",
          "given": {
            "batches": [
              {"batch": "a", "failures": 4, "firstFailureAt": -20, "dueAt": 10, "latestFailure": "transient"}
            ],
            "waitUntil": 30
          },
          "steps": [
            {"at": 30, "trigger": "manual", "expect": {"sends": [{"a": 4}], "failures": {"a": 4}}}
          ]
        },
        {
          "id": "checked-before-every-send", "requirement": "S16",
          "says": "The state is checked before every attempt: a wait that begins during a loop ends it",
          "client": {"uploads": 2},
          "given": {"batches": ["a", "b", "c"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"},
              "expect": {"state": "WAITING"}},
            {"at": 2, "answer": {"batch": "b", "status": 503}, "expect": {"queue": ["a", "b", "c"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not apply: all files of a flush go at once (SegmentDestination.swift:168)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}, "expect": {
                  "outcome": {"pause": 30}, "state": "WAITING"}},
                {"at": 2, "answer": {"batch": "b", "status": 503}, "expect": {
                  "outcome": {"retry": 0.5}, "queue": ["a", "b", "c"]}}
              ]
            },
            "segment-kotlin": "does not apply: it uploads one file after another (EventPipeline.kt:188)",
            "segment-react-native": {
              "why": "does not apply: all uploads go at once (SegmentDestination.ts:377-385)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}, "expect": {
                  "state": "READY"}},
                {"at": 2, "answer": {"batch": "b", "status": 503}, "expect": {"queue": ["a", "b", "c"]}}
              ]
            }
          }
        }
      ]
    }

    """##
}
