// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let backoff = ##"""
    {
      "format": 1,
      "title": "Exponential backoff: the formula, the cap, and the jitter",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "wait-after-0", "requirement": "S10",
          "says": "After 0 earlier failures: The first wait is the base",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 0.5}, "failures": {"a": 1}}}
          ]
        },
        {
          "id": "wait-after-1", "requirement": "S10",
          "says": "After 1 earlier failures: the second twice that",
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 1}, "failures": {"a": 2}}}
          ]
        },
        {
          "id": "wait-after-2", "requirement": "S10",
          "says": "After 2 earlier failures: the third four times",
          "given": {
            "batches": [
              {"batch": "a", "failures": 2, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 2}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 2}, "failures": {"a": 3}}}
          ]
        },
        {
          "id": "wait-after-3", "requirement": "S10",
          "says": "After 3 earlier failures: 2^3 times the base",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 3}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 4}, "failures": {"a": 4}}}
          ]
        },
        {
          "id": "wait-after-8", "requirement": "S10",
          "says": "After 8 earlier failures: 2^8 times the base",
          "given": {
            "batches": [
              {"batch": "a", "failures": 8, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 8}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 128}, "failures": {"a": 9}}}
          ]
        },
        {
          "id": "wait-after-9", "requirement": "S10",
          "says": "After 9 earlier failures: 2^9 times the base, the last below the cap",
          "given": {
            "batches": [
              {"batch": "a", "failures": 9, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 9}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 256}, "failures": {"a": 10}}}
          ]
        },
        {
          "id": "wait-after-10", "requirement": "S10",
          "says": "After 10 earlier failures: 2^10 times the base would be 512 s: the cap",
          "given": {
            "batches": [
              {"batch": "a", "failures": 10, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 10}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 300}, "failures": {"a": 11}}}
          ]
        },
        {
          "id": "wait-after-62", "requirement": "S10",
          "says": "After 62 earlier failures: The cap after 62 failures",
          "given": {
            "batches": [
              {"batch": "a", "failures": 62, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 62}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 300}, "failures": {"a": 63}}}
          ]
        },
        {
          "id": "wait-after-99", "requirement": "S10",
          "says": "After 99 earlier failures: The cap, still, after 99 failures",
          "given": {
            "batches": [
              {"batch": "a", "failures": 99, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 99}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 300}, "failures": {"a": 100}}}
          ]
        },
        {
          "id": "jitter-range", "requirement": "S10",
          "says": "Ten percent of jitter on top by default: 4 to 4.4 s after three failures",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": [4, 4.4]}}}
          ]
        },
        {
          "id": "jitter-lowest", "requirement": "S10",
          "says": "The lowest draw adds nothing",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
          "jitter": "lowest",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 4}}}
          ]
        },
        {
          "id": "jitter-highest", "requirement": "S10",
          "says": "The highest draw adds ten percent",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
          "jitter": "highest",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 4.4}}}
          ]
        },
        {
          "id": "jitter-after-the-cap", "requirement": "S10",
          "says": "Jitter is added after the cap: up to 330 s",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
          "jitter": "highest",
          "given": {
            "batches": [
              {"batch": "a", "failures": 20, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 330}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "clamps backoff plus jitter to the cap",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "clamps backoff plus jitter to the cap",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 300}}}
              ]
            }
          }
        },
        {
          "id": "jitter-range-at-the-cap", "requirement": "S10",
          "says": "At the cap the wait is 300 to 330 s",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
          "given": {
            "batches": [
              {"batch": "a", "failures": 20, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [300, 330]}, "dueAt": {"a": [300, 330]}}},
            {"at": 299.999999, "trigger": "manual"},
            {"at": 330, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "jitter-near-the-cap", "requirement": "S10",
          "says": "Just below the cap jitter is not cut off either: 281.6 s",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
          "jitter": "highest",
          "given": {
            "batches": [
              {"batch": "a", "failures": 9, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 281.6}}}
          ]
        },
        {
          "id": "jitter-hundred-percent", "requirement": "S10",
          "says": "jitterPercent 100 doubles the wait at most",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 100}}},
          "jitter": "highest",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 1}}}
          ],
          "deviates": {
            "segment-kotlin": {
              "why": "clamps jitterPercent to 50 (RetryConfig.kt:71)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.749}}}
              ]
            }
          }
        },
        {
          "id": "own-base-and-cap", "requirement": "S10",
          "says": "Base 2 s and cap 10 s: 2, 4, 8, 10, 10",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "baseBackoffInterval": 2, "maxBackoffInterval": 10}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 2}}},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 4}}},
            {"at": 20, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 20, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 8}}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 30, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 10}}},
            {"at": 40, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 40, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 10}}}
          ]
        },
        {
          "id": "base-above-cap", "requirement": "S10",
          "says": "A base above the cap waits the cap",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "baseBackoffInterval": 60, "maxBackoffInterval": 5}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 5}}}
          ]
        },
        {
          "id": "global-count-is-not-it", "requirement": "S10",
          "says": "429s do not lengthen a batch's backoff",
          "given": {"batches": ["a"], "globalRetryCount": 7},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "the exponent counts 429s too (RetryManager.ts:222-223)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 64}}}
              ]
            }
          }
        },
        {
          "id": "429-between", "requirement": "S10",
          "says": "Nor does a 429 between two 5xx",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
            {"at": 1, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}},
            {"at": 6, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 6, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 1}}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "the exponent counts 429s too (RetryManager.ts:222-223)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 1, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 6, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 6, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 2}}}
              ]
            }
          }
        },
        {
          "id": "each-batch-its-own", "requirement": "S10",
          "says": "Each batch has its own exponent",
          "given": {
            "batches": [
              {"batch": "a", "failures": 4, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"},
              "b"
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"sends": ["b"], "outcome": {"retry": 8}}},
            {"at": 0, "answer": {"batch": "b", "status": 503},
              "expect": {"outcome": {"retry": 0.5}, "dueAt": {"a": 8, "b": 0.5}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 8}}},
                {"at": 0, "answer": {"batch": "b", "status": 503}, "expect": {
                  "outcome": {"retry": 0.5}, "dueAt": {"a": 8, "b": 0.5}}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}},
                {"at": 0, "answer": {"batch": "b", "status": 503}, "expect": {"outcome": {"retry": 8}}}
              ]
            }
          }
        },
        {
          "id": "backoff-from-the-answer", "requirement": "S10",
          "says": "The wait counts from the answer",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 25, "answer": {"batch": "a", "status": 503}, "expect": {"dueAt": {"a": 25.5}}},
            {"at": 25.499999, "trigger": "manual"},
            {"at": 25.5, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        }
      ]
    }

    """##
}
