// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let limits = ##"""
    {
      "format": 1,
      "title": "The limits: total time since the first failure, and the number of retries",
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
          ],
          "deviates": {
            "segment-react-native": "limits the age of the events since they were queued"
          }
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
          ],
          "deviates": {
            "segment-react-native": "limits the age of the events since they were queued"
          }
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
          ]
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
          ]
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
          ]
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
          ]
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
            "segment-react-native": "limits the age of the events since they were queued"
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
            "segment-react-native": "limits the age of the events since they were queued"
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
          ]
        },
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
            },
            "segment-react-native": {
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
          ]
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
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503}},
              {"at": 10, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
              {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"queue": ["a"]}},
              {"at": 20, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "queue": []}}
              ]
            },
            "segment-kotlin": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503}},
              {"at": 10, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
              {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"queue": ["a"]}},
              {"at": 20, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503}},
              {"at": 10, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
              {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"queue": ["a"]}},
              {"at": 20, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "queue": []}}
              ]
            }
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
          ]
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
          ]
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
              {"at": 0, "trigger": "manual",
                "expect": {"drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0}}
              ]
            },
            "segment-kotlin": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
              {"at": 0, "trigger": "manual",
                "expect": {"drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0}}
              ]
            },
            "segment-react-native": {
              "why": "drops when the count has reached maxRetryCount: one send fewer",
              "steps": [
              {"at": 0, "trigger": "manual",
                "expect": {"drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0}}
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
          ]
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
              {"at": 0, "trigger": "manual",
                "expect": {"sends": [{"b": null}], "drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0}}
              ]
            },
            "segment-kotlin": {
              "why": "leaves X-Retry-Count out when it is 0",
              "steps": [
              {"at": 0, "trigger": "manual",
                "expect": {"sends": [{"b": null}], "drops": {"a": "globalRetryLimit"}, "globalRetryCount": 0}}
              ]
            },
            "segment-react-native": {
              "why": "at a limit all retry state starts over and the whole flush is dropped",
              "steps": [
              {"at": 0, "trigger": "manual",
                "expect": {
                  "drops": {"a": "globalRetryLimit", "b": "globalRetryLimit"},
                  "globalRetryCount": 0,
                  "queue": []
                }}
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
          ]
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
            "segment-swift": {
              "why": "any limit resets the global counter",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "globalRetryCount": 0}}
              ]
            },
            "segment-kotlin": {
              "why": "any limit resets the global counter",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "globalRetryCount": 0}}
              ]
            },
            "segment-react-native": {
              "why": "any limit resets the global counter",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}, "globalRetryCount": 0}}
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
            "segment-react-native": "at a limit all retry state starts over and the whole flush is dropped"
          }
        }
      ]
    }

    """##
}
