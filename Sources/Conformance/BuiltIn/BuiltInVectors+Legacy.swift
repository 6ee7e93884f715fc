// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let legacy = ##"""
    {
      "format": 1,
      "title": "enabled: false is legacy, for each section by itself",
      "cases": [
        {
          "id": "backoff-off-no-wait", "requirement": "S15",
          "says": "backoffConfig off: no wait, the next flush tries again",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": "retryAtNextTrigger", "queue": ["a"], "state": "READY"}},
            {"at": 1e-06, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 500}, "expect": {"outcome": "retryAtNextTrigger"}},
            {"at": 1, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-kotlin": {
              "why": "drops every retryable status while backoff is off (RetryStateMachine.kt:48-55)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"drop": "status"}, "state": "READY", "queue": []}},
                {"at": 0.000001, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "drops every retryable status while backoff is off (errors.ts:188-190)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"drop": "status"}, "state": "READY", "queue": []}},
                {"at": 0.000001, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "backoff-off-not-by-timer", "requirement": "S15",
          "says": "... but not before a trigger, by no timer",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": "retryAtNextTrigger"}},
            {"at": 10, "trigger": "wakeUp", "expect": {"queue": ["a"]}},
            {"at": 30, "trigger": "interval", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-kotlin": {
              "why": "drops every retryable status while backoff is off (RetryStateMachine.kt:48-55)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"drop": "status"}}},
                {"at": 10, "trigger": "wakeUp", "expect": {"queue": []}},
                {"at": 30, "trigger": "interval"}
              ]
            },
            "segment-react-native": {
              "why": "drops every retryable status while backoff is off (errors.ts:188-190)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"drop": "status"}}},
                {"at": 10, "trigger": "wakeUp", "expect": {"queue": []}},
                {"at": 30, "trigger": "interval"}
              ]
            }
          }
        },
        {
          "id": "backoff-off-not-in-the-same-loop", "requirement": "S15",
          "says": "... nor in the loop that is running",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"sends": ["b"]}},
            {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {"queue": ["a"]}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": "retryAtNextTrigger"}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": ["a"]}},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-kotlin": {
              "why": "drops every retryable status while backoff is off (RetryStateMachine.kt:48-55)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "sends": ["b"], "outcome": {"drop": "status"}}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}},
                {"at": 2, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "drops": {"a": "status"}, "outcome": "delivered", "queue": []}},
                {"at": 2, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "backoff-off-no-count-limit", "requirement": "S15",
          "says": "... and never a drop for the number of retries",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {
            "batches": [{"batch": "a", "failures": 5000, "firstFailureAt": -20, "latestFailure": "transient"}]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"], "queue": ["a"]}}
          ]
        },
        {
          "id": "backoff-off-no-age-limit", "requirement": "S15",
          "says": "... nor for the time since the first failure",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {
            "batches": [
              {"batch": "a", "failures": 5, "firstFailureAt": -10000000, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"], "queue": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "limits the age of events whatever is enabled (SegmentDestination.ts:235-271)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}}
              ]
            }
          }
        },
        {
          "id": "backoff-off-drops-4xx", "requirement": "S15",
          "says": "... but what is not retried is dropped as ever",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400}, "expect": {"outcome": {"drop": "status"}}}
          ]
        },
        {
          "id": "backoff-off-no-status", "requirement": "S15",
          "says": "No HTTP status is tried again at the next flush too",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 30, "answer": {"batch": "a", "status": "none"},
              "expect": {"outcome": "retryAtNextTrigger", "queue": ["a"]}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "backoff-off-429-pauses", "requirement": "S15",
          "says": "With backoffConfig alone off a 429 still pauses",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"},
              "expect": {"outcome": {"pause": 60}, "state": "WAITING"}},
            {"at": 59, "trigger": "manual"},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "rate-off-no-pause", "requirement": "S15",
          "says": "rateLimitConfig off: a 429 does not pause, whatever its Retry-After",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"enabled": false}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"},
              "expect": {"outcome": "retryAtNextTrigger", "state": "READY", "queue": ["a"]}},
            {"at": 1e-06, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "drops a batch on a 429 while rate limiting is off",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}, "expect": {
                  "outcome": {"drop": "status"}, "state": "READY", "queue": []}},
                {"at": 0.000001, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "drops a batch on a 429 while rate limiting is off",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}, "expect": {
                  "outcome": {"drop": "status"}, "state": "READY", "queue": []}},
                {"at": 0.000001, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "drops a batch on a 429 while rate limiting is off",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}, "expect": {
                  "outcome": {"drop": "status"}, "queue": []}}
              ]
            }
          }
        },
        {
          "id": "rate-off-loop-goes-on", "requirement": "S15",
          "says": "... and does not end the loop",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"enabled": false}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}, "expect": {"sends": ["b"]}},
            {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {"queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "drops a batch on a 429 while rate limiting is off",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}, "expect": {
                  "outcome": {"drop": "status"}}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            },
            "segment-kotlin": {
              "why": "drops a batch on a 429 while rate limiting is off",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}, "expect": {
                  "sends": ["b"], "outcome": {"drop": "status"}}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "drops a batch on a 429 while rate limiting is off",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "60"}},
                {"at": 1, "answer": {"batch": "b", "status": 200}, "expect": {
                  "drops": {"a": "status"}, "outcome": "delivered", "queue": []}}
              ]
            }
          }
        },
        {
          "id": "rate-off-no-limit", "requirement": "S15",
          "says": "... and the global count is no limit",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"enabled": false}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {
            "batches": [{"batch": "a", "firstFailureAt": -20, "latestFailure": "429"}],
            "globalRetryCount": 500
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"], "queue": ["a"]}}
          ]
        },
        {
          "id": "rate-off-no-age-limit", "requirement": "S15",
          "says": "... nor the time since the first failure, after a 429",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"enabled": false}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {
            "batches": [{"batch": "a", "firstFailureAt": -10000000, "latestFailure": "429"}],
            "globalRetryCount": 1
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"], "queue": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "limits the age of events whatever is enabled (SegmentDestination.ts:235-271)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}}
              ]
            }
          }
        },
        {
          "id": "rate-off-503-waits", "requirement": "S15",
          "says": "With rateLimitConfig alone off a 503 still waits",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"enabled": false}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
            {"at": 0.4, "trigger": "manual"},
            {"at": 0.5, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "both-off", "requirement": "S15",
          "says": "Both off: every batch is tried at every flush",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"enabled": false}, "backoffConfig": {"enabled": false}}
          },
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"sends": ["b"]}},
            {"at": 0, "answer": {"batch": "b", "status": 500}, "expect": {"queue": ["a", "b"]}},
            {"at": 1, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 503}, "expect": {"sends": ["b"]}},
            {"at": 1, "answer": {"batch": "b", "status": 500}, "expect": {"queue": ["a", "b"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": "retryAtNextTrigger"}},
                {"at": 0, "answer": {"batch": "b", "status": 500}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a", "b"]}},
                {"at": 1, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": "retryAtNextTrigger"}},
                {"at": 1, "answer": {"batch": "b", "status": 500}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a", "b"]}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}},
                {"at": 0, "answer": {"batch": "b", "status": 500}, "expect": {
                  "drops": {"a": "status"}, "outcome": {"drop": "status"}, "queue": []}},
                {"at": 1, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "backoff-off-still-counts", "requirement": "S15",
          "says": "Without waits and limits failures still count for X-Retry-Count",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false}}},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 0}]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": "retryAtNextTrigger"}},
            {"at": 1, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-swift": "leaves X-Retry-Count out when it is 0",
            "segment-kotlin": "drops every retryable status while backoff is off (RetryStateMachine.kt:48-55)",
            "segment-react-native": "drops every retryable status while backoff is off (errors.ts:188-190)"
          }
        }
      ]
    }

    """##
}
