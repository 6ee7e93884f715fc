// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let limitsCount = ##"""
    {
      "format": 1,
      "title": "The limits on the number of retries",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "hundredth-retry", "requirement": "S12",
          "says": "After 100 failures there is still a retry, the hundredth",
          "given": {
            "batches": [
              {"batch": "a", "failures": 100, "firstFailureAt": -20, "dueAt": -10, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 100}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}}}
              ]
            },
            "segment-kotlin": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}}}
              ]
            }
          }
        },
        {
          "id": "after-the-last-retry", "requirement": "S12",
          "says": "After 101 failures the batch is dropped",
          "given": {
            "batches": [
              {"batch": "a", "failures": 101, "firstFailureAt": -20, "dueAt": -10, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "queue": []}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "its limits act at the answer, not before a send (RetryManager.ts:255-261)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"], "queue": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "two-retries", "requirement": "S12",
          "says": "maxRetryCount 2: three sends, then the batch is dropped",
          "settings": {
            "httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0, "maxRetryCount": 2}}
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}},
            {"at": 10, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
            {"at": 10, "answer": {"batch": "a", "status": 503}},
            {"at": 20, "trigger": "manual", "expect": {"sends": [{"a": 2}]}},
            {"at": 20, "answer": {"batch": "a", "status": 503}, "expect": {"queue": ["a"]}},
            {"at": 30, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 10, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
                {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 1}}},
                {"at": 20, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}}}
              ]
            },
            "segment-kotlin": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 10, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
                {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 1}}},
                {"at": 20, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}}}
              ]
            },
            "segment-react-native": "its limits act at the answer, not before a send (RetryManager.ts:255-261)"
          }
        },
        {
          "id": "no-retry", "requirement": "S12",
          "says": "maxRetryCount 0: one send, no retry",
          "settings": {
            "httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0, "maxRetryCount": 0}}
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"queue": ["a"]}},
            {"at": 10, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "queue": []}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "raises maxRetryCount to 1 (config-validation.ts:113-115)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"retry": 0.5}, "queue": ["a"]}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"], "queue": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "checked-before-a-send", "requirement": "S12",
          "says": "The count is checked before a send: not while the batch waits",
          "given": {
            "batches": [
              {"batch": "a", "failures": 101, "firstFailureAt": -20, "dueAt": 60, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"queue": ["a"]}},
            {"at": 60, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "the count comes before the wait (RetryStateMachine.swift:98)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "queue": []}},
                {"at": 60, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "the limits come before the wait (RetryStateMachine.kt:152-168)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "queue": []}},
                {"at": 60, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "its limits act at the answer, not before a send (RetryManager.ts:255-261)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"queue": ["a"]}},
                {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "global-at-the-limit", "requirement": "S12",
          "says": "With a global count of 100 the batch is still sent",
          "given": {
            "batches": [{"batch": "a", "firstFailureAt": -20, "latestFailure": "429"}],
            "globalRetryCount": 100
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 100}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "globalRetryLimit"}}}
              ]
            },
            "segment-kotlin": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "globalRetryLimit"}}}
              ]
            }
          }
        },
        {
          "id": "global-past-the-limit", "requirement": "S12",
          "says": "With 101 the batch about to be sent is dropped and the counter starts over",
          "given": {
            "batches": [{"batch": "a", "firstFailureAt": -20, "latestFailure": "429"}],
            "globalRetryCount": 101
          },
          "steps": [
            {"at": 0, "trigger": "manual",
              "expect": {"drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0, "queue": []}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "its limits act at the answer, not before a send (RetryManager.ts:255-261)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"], "queue": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "global-drops-one", "requirement": "S12",
          "says": "... and only that one: the next batch goes out",
          "given": {
            "batches": [{"batch": "a", "firstFailureAt": -20, "latestFailure": "429"}, "b"],
            "globalRetryCount": 101
          },
          "steps": [
            {"at": 0, "trigger": "manual",
              "expect": {
                "sends": [{"b": 0}],
                "drops": {"a": "globalRetryLimit"},
                "globalRetryCount": 0,
                "queue": ["b"]
              }}
          ],
          "deviates": {
            "segment-swift": {
              "why": "leaves X-Retry-Count out when it is 0",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {
                  "sends": [{"b": null}], "drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0,
                  "queue": ["b"]}}
              ]
            },
            "segment-kotlin": {
              "why": "leaves X-Retry-Count out when it is 0",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {
                  "sends": [{"b": null}], "drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0,
                  "queue": ["b"]}}
              ]
            },
            "segment-react-native": {
              "why": "its limits act at the answer, not before a send (RetryManager.ts:255-261)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {
                  "sends": [{"a": 101}, {"b": 101}], "queue": ["a", "b"]}}
              ]
            }
          }
        },
        {
          "id": "global-drops-a-fresh-one", "requirement": "S12",
          "says": "... even if that batch has never failed itself",
          "given": {"batches": ["a"], "globalRetryCount": 101},
          "steps": [
            {"at": 0, "trigger": "manual",
              "expect": {"drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "its limits act at the answer, not before a send (RetryManager.ts:255-261)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "own-limit-keeps-global", "requirement": "S12",
          "says": "A batch's own limit leaves the global counter alone",
          "given": {
            "batches": [
              {"batch": "a", "failures": 101, "firstFailureAt": -20, "dueAt": -10, "latestFailure": "transient"}
            ],
            "globalRetryCount": 3
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "globalRetryCount": 3}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "its limits act at the answer, not before a send (RetryManager.ts:255-261)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "success-starts-over", "requirement": "S12",
          "says": "A success in time lets the global count start over",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"maxRetryCount": 3}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {"batches": ["a"], "globalRetryCount": 2},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 200}, "expect": {"globalRetryCount": 0}},
            {"at": 1, "events": 20, "seals": "b", "expect": {"sends": ["b"]}},
            {"at": 1, "answer": {"batch": "b", "status": 429, "retryAfter": "1"},
              "expect": {"globalRetryCount": 1}}
          ]
        },
        {
          "id": "own-limits-are-apart", "requirement": "S12",
          "says": "One batch at its limit says nothing about another",
          "given": {
            "batches": [
              {
                "batch": "a",
                "failures": 101,
                "firstFailureAt": -20,
                "dueAt": -10,
                "latestFailure": "transient"
              },
              {"batch": "b", "failures": 3, "firstFailureAt": -20, "dueAt": -10, "latestFailure": "transient"}
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
        }
      ]
    }

    """##
}
