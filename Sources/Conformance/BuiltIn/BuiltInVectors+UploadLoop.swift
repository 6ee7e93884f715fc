// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let uploadLoop = ##"""
    {
      "format": 1,
      "title": "One batch after another; what ends the loop and what does not",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "one-after-another", "requirement": "S3",
          "says": "Three batches are sent one after another, oldest first",
          "given": {"batches": ["a", "b", "c"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}},
            {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {"sends": ["c"], "queue": ["c"]}},
            {"at": 3, "answer": {"batch": "c", "status": 200}, "expect": {"queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}},
                {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": ["c"]}},
                {"at": 3, "answer": {"batch": "c", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "acts when the last upload of a flush is answered (SegmentDestination.ts:383-395)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 200}},
                {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {"queue": ["a", "b", "c"]}},
                {"at": 3, "answer": {"batch": "c", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            }
          }
        },
        {
          "id": "429-ends-the-loop", "requirement": "S3",
          "says": "A 429 ends the loop at once: the remaining batches are not sent",
          "given": {"batches": ["a", "b", "c"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}},
            {"at": 2, "answer": {"batch": "b", "status": 429, "retryAfter": "30"},
              "expect": {"outcome": {"pause": 30}, "queue": ["b", "c"]}},
            {"at": 31, "trigger": "manual"},
            {"at": 32, "trigger": "manual", "expect": {"sends": ["b"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}},
                {"at": 2, "answer": {"batch": "b", "status": 429, "retryAfter": "30"}, "expect": {
                  "outcome": {"pause": 30}, "queue": ["b", "c"]}},
                {"at": 31, "trigger": "manual"},
                {"at": 32, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After in a flush hides its other failures (SegmentDestination.ts:288-296)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 200}},
                {"at": 2, "answer": {"batch": "b", "status": 429, "retryAfter": "30"}, "expect": {
                  "queue": ["a", "b", "c"]}},
                {"at": 31, "trigger": "manual"},
                {"at": 32, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "5xx-moves-on", "requirement": "S3",
          "says": "A 5xx moves on to the next batch",
          "given": {"batches": ["a", "b", "c"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 503},
              "expect": {"sends": ["b"], "outcome": {"retry": 0.5}}},
            {"at": 1.1, "answer": {"batch": "b", "status": 200},
              "expect": {"sends": ["c"], "queue": ["a", "c"]}},
            {"at": 1.2, "answer": {"batch": "c", "status": 200}, "expect": {"queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 1.1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": ["a", "c"]}},
                {"at": 1.2, "answer": {"batch": "c", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After in a flush hides its other failures (SegmentDestination.ts:288-296)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 503}},
                {"at": 1.1, "answer": {"batch": "b", "status": 200}, "expect": {"queue": ["a", "b", "c"]}},
                {"at": 1.2, "answer": {"batch": "c", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "408-moves-on", "requirement": "S3",
          "says": "So do 408, 410 and 460",
          "given": {"batches": ["a", "b", "c"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0.1, "answer": {"batch": "a", "status": 408}, "expect": {"sends": ["b"]}},
            {"at": 0.2, "answer": {"batch": "b", "status": 410}, "expect": {"sends": ["c"]}},
            {"at": 0.3, "answer": {"batch": "c", "status": 460},
              "expect": {"queue": ["a", "b", "c"], "failures": {"a": 1, "b": 1, "c": 1}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 0.1, "answer": {"batch": "a", "status": 408}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 0.2, "answer": {"batch": "b", "status": 410}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 0.3, "answer": {"batch": "c", "status": 460}, "expect": {
                  "outcome": {"retry": 0.5}, "failures": {"a": 1, "b": 1, "c": 1},
                  "queue": ["a", "b", "c"]}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 0.1, "answer": {"batch": "a", "status": 408}},
                {"at": 0.2, "answer": {"batch": "b", "status": 410}},
                {"at": 0.3, "answer": {"batch": "c", "status": 460}, "expect": {
                  "outcome": {"retry": 0.5}, "queue": ["a", "b", "c"]}}
              ]
            }
          }
        },
        {
          "id": "4xx-moves-on", "requirement": "S3",
          "says": "A dropped batch moves on too",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 400},
              "expect": {"sends": ["b"], "outcome": {"drop": "status"}, "queue": ["b"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 400}, "expect": {
                  "outcome": {"drop": "status"}, "queue": ["b"]}}
              ]
            },
            "segment-react-native": {
              "why": "acts when the last upload of a flush is answered (SegmentDestination.ts:383-395)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 400}, "expect": {"queue": ["a", "b"]}}
              ]
            }
          }
        },
        {
          "id": "no-status-moves-on", "requirement": "S3",
          "says": "No HTTP status moves on too",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 30, "answer": {"batch": "a", "status": "none"},
              "expect": {"sends": ["b"], "queue": ["a", "b"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 30, "answer": {"batch": "a", "status": "none"}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a", "b"]}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 30, "answer": {"batch": "a", "status": "none"}, "expect": {"queue": ["a", "b"]}}
              ]
            }
          }
        },
        {
          "id": "not-due-is-passed", "requirement": "S3",
          "says": "A batch that is not due yet does not hold up the others",
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": -1, "dueAt": 60, "latestFailure": "transient"},
              "b"
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["b"]}},
            {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {"queue": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps one retry record for the whole client",
              "steps": [
                {"at": 0, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "drop-before-send-moves-on", "requirement": "S3",
          "says": "A batch dropped for a limit does not hold up the others",
          "given": {
            "batches": [
              {
                "batch": "a",
                "failures": 101,
                "firstFailureAt": -20,
                "dueAt": -10,
                "latestFailure": "transient"
              },
              "b"
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual",
              "expect": {"sends": ["b"], "drops": {"a": "retryLimit"}, "queue": ["b"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "at a limit all retry state starts over and the whole flush is dropped",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"], "queue": ["a", "b"]}}
              ]
            }
          }
        },
        {
          "id": "oldest-first-after-a-wait", "requirement": "S3",
          "says": "After a wait the loop begins again with the oldest batch",
          "given": {"batches": ["a", "b", "c"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"sends": ["b"]}},
            {"at": 1, "answer": {"batch": "b", "status": 429, "retryAfter": "10"},
              "expect": {"state": "WAITING"}},
            {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 12, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}},
            {"at": 13, "answer": {"batch": "b", "status": 200}, "expect": {"sends": ["c"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 1, "answer": {"batch": "b", "status": 429, "retryAfter": "10"}, "expect": {
                  "outcome": {"pause": 10}, "state": "WAITING"}},
                {"at": 11, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}},
                {"at": 1, "answer": {"batch": "b", "status": 429, "retryAfter": "10"}, "expect": {
                  "state": "READY"}},
                {"at": 11, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "started-uploads-go-on", "requirement": "S3",
          "says": "A 429 stops nothing that has been started, where several uploads run at once",
          "client": {"uploads": 2},
          "given": {"batches": ["a", "b", "c"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"},
              "expect": {"state": "WAITING", "queue": ["a", "b", "c"]}},
            {"at": 2, "answer": {"batch": "b", "status": 503},
              "expect": {"outcome": {"retry": 0.5}, "queue": ["a", "b", "c"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not apply: all files of a flush go at once (SegmentDestination.swift:168)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "30"}, "expect": {
                  "outcome": {"pause": 30}, "state": "WAITING", "queue": ["a", "b", "c"]}},
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
                  "state": "READY", "queue": ["a", "b", "c"]}},
                {"at": 2, "answer": {"batch": "b", "status": 503}, "expect": {"queue": ["a", "b", "c"]}}
              ]
            }
          }
        },
        {
          "id": "429-without-a-wait-ends-the-loop", "requirement": "S3",
          "says": "A 429 with Retry-After 0 ends the loop too: what is behind it goes at the next trigger",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "0"},
              "expect": {"state": "READY", "queue": ["a", "b"]}},
            {"at": 1, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "sends all batches of a flush at once",
            "segment-kotlin": {
              "why": "goes on with the loop after a wait of 0",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "0"},
                  "expect": {"sends": ["b"], "state": "READY", "queue": ["a", "b"]}}
              ]
            },
            "segment-react-native": "sends all batches of a flush at once"
          }
        }
      ]
    }

    """##
}
