// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let limitsAge = ##"""
    {
      "format": 1,
      "title": "The limit on the total time since the first failure",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "at-the-limit", "requirement": "S11",
          "says": "Exactly 12 h after its first failure a batch is still sent",
          "given": {
            "batches": [
              {"batch": "a", "failures": 5, "firstFailureAt": -43200, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"], "queue": ["a"]}}
          ]
        },
        {
          "id": "past-the-limit", "requirement": "S11",
          "says": "A microsecond later it is dropped",
          "given": {
            "batches": [
              {
                "batch": "a",
                "failures": 5,
                "firstFailureAt": -43200.000001,
                "dueAt": -1,
                "latestFailure": "transient"
              }
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}}
          ]
        },
        {
          "id": "whatever-the-count", "requirement": "S11",
          "says": "... whatever its count: one failure is enough",
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": -50000, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}}
          ]
        },
        {
          "id": "own-limit", "requirement": "S11",
          "says": "maxTotalBackoffDuration 60: sent at 60 s",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "maxTotalBackoffDuration": 60}
            }
          },
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": 0, "dueAt": 1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "own-limit-past", "requirement": "S11",
          "says": "... and dropped at 61 s",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "maxTotalBackoffDuration": 60}
            }
          },
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": 0, "dueAt": 1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 61, "trigger": "manual", "expect": {"drops": {"a": "age"}}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "raises a short maxTotalBackoffDuration to 600 s (config-validation.ts:93-97)",
              "steps": [
                {"at": 61, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "first-failure-stays", "requirement": "S11",
          "says": "Later failures do not move the first one: failed at 0 and 5, dropped at 11 by a limit of 10",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "maxTotalBackoffDuration": 10}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}},
            {"at": 5, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 5, "answer": {"batch": "a", "status": 503}},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 10, "answer": {"batch": "a", "status": 503}},
            {"at": 15, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}}
          ],
          "deviates": {
            "segment-react-native": "raises a short maxTotalBackoffDuration to 600 s (config-validation.ts:93-97)"
          }
        },
        {
          "id": "429-sets-it", "requirement": "S11",
          "says": "A 429 is a first failure too",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {"maxTotalBackoffDuration": 10},
              "backoffConfig": {"jitterPercent": 0}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 10, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}},
            {"at": 11, "trigger": "manual", "expect": {"drops": {"a": "age"}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "a 429 starts no age (RetryStateMachine.swift:93)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}, "expect": {
                  "outcome": {"pause": 1}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-kotlin": {
              "why": "a 429 starts no age (RetryStateMachine.kt:59-71)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}, "expect": {
                  "outcome": {"pause": 1}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "does not read maxTotalBackoffDuration of rateLimitConfig (types.ts:340-345)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}, "expect": {
                  "outcome": {"pause": 1}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "429-then-503", "requirement": "S11",
          "says": "The time of a first 429 counts when a 503 follows",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "maxTotalBackoffDuration": 10}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}},
            {"at": 5, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 5, "answer": {"batch": "a", "status": 503}},
            {"at": 11, "trigger": "manual", "expect": {"drops": {"a": "age"}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "a 429 starts no age (RetryStateMachine.swift:93)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 5, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 5, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-kotlin": {
              "why": "a 429 starts no age (RetryStateMachine.kt:59-71)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 5, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 5, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "raises a short maxTotalBackoffDuration to 600 s (config-validation.ts:93-97)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 5, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 5, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 1}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "mixed-latest-429", "requirement": "S11",
          "says": "With mixed failures the section of the latest counts: a 429, limit 100 s",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {"maxTotalBackoffDuration": 100},
              "backoffConfig": {"jitterPercent": 0, "maxTotalBackoffDuration": 1000}
            }
          },
          "given": {
            "batches": [{"batch": "a", "failures": 3, "firstFailureAt": -500, "latestFailure": "429"}],
            "globalRetryCount": 1
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "age"}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "backoffConfig's limit holds whatever failed last (RetryStateMachine.swift:106)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-kotlin": {
              "why": "backoffConfig's limit holds whatever failed last (RetryStateMachine.kt:159-163)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "limits the age of the events since they were queued",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "mixed-latest-503", "requirement": "S11",
          "says": "... a 503, limit 1000 s",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {"maxTotalBackoffDuration": 100},
              "backoffConfig": {"jitterPercent": 0, "maxTotalBackoffDuration": 1000}
            }
          },
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -500, "dueAt": -1, "latestFailure": "transient"}
            ],
            "globalRetryCount": 1
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "not-before-a-retry", "requirement": "S11",
          "says": "The limit is checked before a retry: not while the batch waits",
          "given": {
            "batches": [
              {"batch": "a", "failures": 9, "firstFailureAt": -50000, "dueAt": 60, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"queue": ["a"]}},
            {"at": 60, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "the age comes before the wait (RetryStateMachine.swift:106)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}},
                {"at": 60, "trigger": "manual", "expect": {"queue": []}}
              ]
            },
            "segment-kotlin": {
              "why": "the limits come before the wait (RetryStateMachine.kt:152-168)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}},
                {"at": 60, "trigger": "manual", "expect": {"queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "limits the age of the events since they were queued",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}},
                {"at": 60, "trigger": "manual", "expect": {"queue": []}}
              ]
            }
          }
        },
        {
          "id": "fresh-has-no-age", "requirement": "S11",
          "says": "A batch that has not failed has no such age, however long it has been held",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 50000, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "limits the age of the events since they were queued",
              "steps": [
              {"at": 50000, "trigger": "manual", "expect": {"drops": {"a": "age"}}}
              ]
            }
          }
        },
        {
          "id": "shipped-key", "requirement": "S11",
          "says": "maxRateLimitDuration, the shipped name, is the limit after a 429",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {"maxRateLimitDuration": 10},
              "backoffConfig": {"jitterPercent": 0}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 10, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}},
            {"at": 11, "trigger": "manual", "expect": {"drops": {"a": "age"}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "a 429 starts no age (RetryStateMachine.swift:93)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}, "expect": {
                  "outcome": {"pause": 1}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-kotlin": {
              "why": "has no limit on the time of 429s (RetryConfig.kt:24-28)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}, "expect": {
                  "outcome": {"pause": 1}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "does not read maxTotalBackoffDuration of rateLimitConfig (types.ts:340-345)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "5"}, "expect": {
                  "outcome": {"pause": 5}}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 429, "retryAfter": "1"}, "expect": {
                  "outcome": {"pause": 1}}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        }
      ]
    }

    """##
}
