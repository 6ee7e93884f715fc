// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let retryCount = ##"""
    {
      "format": 1,
      "title": "X-Retry-Count and the two counters behind it",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "first-try-says-0", "requirement": "S2",
          "says": "The first try of a batch carries X-Retry-Count: 0",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 0}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "leaves X-Retry-Count out when it is 0",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}}
              ]
            },
            "segment-kotlin": {
              "why": "leaves X-Retry-Count out when it is 0",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}}
              ]
            },
            "segment-react-native": {
              "why": "leaves X-Retry-Count out when it is 0",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}}
              ]
            }
          }
        },
        {
          "id": "retries-count-up", "requirement": "S2",
          "says": "Each retry carries the number of the batch's failures: 1, 2, 3",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"failures": {"a": 1}}},
            {"at": 10, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
            {"at": 10, "answer": {"batch": "a", "status": 500}, "expect": {"failures": {"a": 2}}},
            {"at": 20, "trigger": "manual", "expect": {"sends": [{"a": 2}]}},
            {"at": 20, "answer": {"batch": "a", "status": 408}, "expect": {"failures": {"a": 3}}},
            {"at": 30, "trigger": "manual", "expect": {"sends": [{"a": 3}]}},
            {"at": 31, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered", "queue": []}}
          ]
        },
        {
          "id": "global-count-after-429", "requirement": "S2",
          "says": "A batch without failures of its own carries the global count on its retry",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"},
              "expect": {"globalRetryCount": 1, "failures": {"a": 0}}},
            {"at": 5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
            {"at": 5, "answer": {"batch": "a", "status": 429, "retryAfter": "5"},
              "expect": {"globalRetryCount": 2, "failures": {"a": 0}}},
            {"at": 10, "trigger": "manual", "expect": {"sends": [{"a": 2}]}}
          ]
        },
        {
          "id": "own-count-before-global", "requirement": "S2",
          "says": "On a retry the batch's own count goes before the global one",
          "given": {
            "batches": [
              {"batch": "a", "failures": 2, "firstFailureAt": -20, "dueAt": -10, "latestFailure": "transient"}
            ],
            "globalRetryCount": 5
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 2}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "X-Retry-Count is the larger of the batch's and the global count",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 5}]}}
              ]
            },
            "segment-kotlin": {
              "why": "X-Retry-Count is the larger of the batch's and the global count",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 5}]}}
              ]
            },
            "segment-react-native": {
              "why": "X-Retry-Count is one counter for the whole client",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 7}]}}
              ]
            }
          }
        },
        {
          "id": "own-count-after-both", "requirement": "S2",
          "says": "A 503 and then a 429: the own count is still 1, and is what the retry carries",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}},
            {"at": 1, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "1"},
              "expect": {"failures": {"a": 1}, "globalRetryCount": 1}},
            {"at": 2, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "X-Retry-Count is one counter for the whole client",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503}},
              {"at": 1, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
              {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}},
              {"at": 2, "trigger": "manual", "expect": {"sends": [{"a": 2}]}}
              ]
            }
          }
        },
        {
          "id": "first-try-ignores-global", "requirement": "S2",
          "says": "The first try says 0 even while the global count is 3",
          "given": {"batches": ["a"], "globalRetryCount": 3},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 0}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "X-Retry-Count is the larger of the batch's and the global count",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}]}}
              ]
            },
            "segment-kotlin": {
              "why": "X-Retry-Count is the larger of the batch's and the global count",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}]}}
              ]
            },
            "segment-react-native": {
              "why": "X-Retry-Count is one counter for the whole client",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}]}}
              ]
            }
          }
        },
        {
          "id": "5xx-leaves-global", "requirement": "S2",
          "says": "A 5xx counts on its batch and not on the global counter",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 502},
              "expect": {"failures": {"a": 1}, "globalRetryCount": 0}}
          ]
        },
        {
          "id": "429-leaves-batch", "requirement": "S2",
          "says": "A 429 counts on the global counter and not on its batch",
          "given": {
            "batches": [
              {"batch": "a", "failures": 2, "firstFailureAt": -20, "dueAt": -10, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "1"},
              "expect": {"failures": {"a": 2}, "globalRetryCount": 1}}
          ]
        },
        {
          "id": "success-resets-global", "requirement": "S2",
          "says": "Any success resets the global counter",
          "given": {
            "batches": [{"batch": "a", "firstFailureAt": -20, "latestFailure": "429"}],
            "globalRetryCount": 3
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}]}},
            {"at": 0, "answer": {"batch": "a", "status": 200},
              "expect": {"outcome": "delivered", "globalRetryCount": 0}}
          ]
        },
        {
          "id": "other-success-resets-global", "requirement": "S2",
          "says": "The success of one batch resets the global counter for the others too",
          "given": {
            "batches": [{"batch": "a", "firstFailureAt": -20, "latestFailure": "429"}, "b"],
            "globalRetryCount": 3
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"sends": [{"b": 0}], "globalRetryCount": 3}},
            {"at": 1, "answer": {"batch": "b", "status": 200},
              "expect": {"globalRetryCount": 0, "failures": {"a": 1}}},
            {"at": 2, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}, {"b": 3}]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"retry": 0.5}, "globalRetryCount": 3}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "globalRetryCount": 0, "failures": {"a": 1}}},
                {"at": 2, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
              ]
            },
            "segment-kotlin": {
              "why": "X-Retry-Count is the larger of the batch's and the global count",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "sends": [{"b": 3}], "outcome": {"retry": 0.5}, "globalRetryCount": 3}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "globalRetryCount": 0, "failures": {"a": 1}}},
                {"at": 2, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}, {"b": 3}]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {"outcome": "delivered"}},
                {"at": 2, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "other-success-keeps-own", "requirement": "S2",
          "says": "The success of one batch leaves another batch's own count alone",
          "given": {
            "batches": [
              {"batch": "a", "failures": 2, "firstFailureAt": -20, "dueAt": 100, "latestFailure": "transient"},
              "b"
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["b"]}},
            {"at": 0, "answer": {"batch": "b", "status": 200},
              "expect": {"failures": {"a": 2}, "queue": ["a"]}},
            {"at": 100, "trigger": "manual", "expect": {"sends": [{"a": 2}]}}
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
          "id": "own-counts-are-apart", "requirement": "S2",
          "says": "Two batches count their failures each for itself",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 500},
              "expect": {"sends": ["b"], "failures": {"a": 1, "b": 0}}},
            {"at": 0, "answer": {"batch": "b", "status": 500}, "expect": {"failures": {"a": 1, "b": 1}}},
            {"at": 1, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
            {"at": 1, "answer": {"batch": "a", "status": 500},
              "expect": {"sends": [{"b": 1}], "failures": {"a": 2, "b": 1}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}, {"b": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 500}, "expect": {
                  "outcome": {"retry": 0.5}, "failures": {"a": 1, "b": 0}}},
                {"at": 0, "answer": {"batch": "b", "status": 500}, "expect": {
                  "outcome": {"retry": 0.5}, "failures": {"a": 1, "b": 1}}},
                {"at": 1, "trigger": "manual", "expect": {"sends": [{"a": 1}, {"b": 1}]}},
                {"at": 1, "answer": {"batch": "a", "status": 500}, "expect": {
                  "outcome": {"retry": 1}, "failures": {"a": 2, "b": 1}}}
              ]
            },
            "segment-react-native": {
              "why": "failures of a flush count once (SegmentDestination.ts:294-295)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}, {"b": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 500}},
                {"at": 0, "answer": {"batch": "b", "status": 500}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 1, "trigger": "manual", "expect": {"sends": [{"a": 1}, {"b": 1}]}},
                {"at": 1, "answer": {"batch": "a", "status": 500}}
              ]
            }
          }
        },
        {
          "id": "drop-is-no-success", "requirement": "S2",
          "says": "A drop is no success: the global counter stays",
          "given": {"batches": ["a"], "globalRetryCount": 2},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400},
              "expect": {"outcome": {"drop": "status"}, "globalRetryCount": 2}}
          ]
        },
        {
          "id": "two-batches-one-global", "requirement": "S2",
          "says": "429s of two batches add up on the one global counter",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "1"},
              "expect": {"globalRetryCount": 1}},
            {"at": 1, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 500},
              "expect": {"sends": ["b"], "globalRetryCount": 1}},
            {"at": 1, "answer": {"batch": "b", "status": 429, "retryAfter": "1"},
              "expect": {"globalRetryCount": 2}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}, "expect": {
                  "outcome": {"pause": 1}, "globalRetryCount": 1}},
                {"at": 1, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}},
                {"at": 1, "trigger": "manual"}
              ]
            }
          }
        }
      ]
    }

    """##
}
