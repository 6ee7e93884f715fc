// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let settingsRepairsBackoff = ##"""
    {
      "format": 1,
      "title": "Bad values of backoffConfig: clamped or defaulted, reported, and uploads go on",
      "cases": [
        {
          "id": "jitter-900", "requirement": "S14",
          "says": "jitterPercent 900 is 100",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 900}}},
          "repairs": ["httpConfig.backoffConfig.jitterPercent"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 100
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 1]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)"
          }
        },
        {
          "id": "jitter-negative", "requirement": "S14",
          "says": "jitterPercent -5 is 0",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": -5}}},
          "repairs": ["httpConfig.backoffConfig.jitterPercent"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 0
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 0.5}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "a negative jitterPercent ends the process (RetryStateMachine.swift:174)"
          }
        },
        {
          "id": "jitter-0", "requirement": "S14",
          "says": "jitterPercent 0 is allowed: no jitter, no trap",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
          "repairs": [],
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 0.5}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "a jitterPercent of 0 ends the process (RetryStateMachine.swift:174)"
          }
        },
        {
          "id": "jitter-100", "requirement": "S14",
          "says": "jitterPercent 100 is allowed",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 100}}},
          "repairs": [],
          "effective": {"backoffConfig": {"jitterPercent": 100}},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 1]}, "queue": ["a"]}}
          ]
        },
        {
          "id": "jitter-text", "requirement": "S14",
          "says": "A text for a number is the default",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": "10"}}},
          "repairs": ["httpConfig.backoffConfig.jitterPercent"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "one unreadable value means legacy (SegmentDestination.swift:82)"
          }
        },
        {
          "id": "base-0", "requirement": "S14",
          "says": "baseBackoffInterval 0 is 0.1",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"baseBackoffInterval": 0}}},
          "repairs": ["httpConfig.backoffConfig.baseBackoffInterval"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.1,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.1, 0.11]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "a wait of 0 is not clamped and ends the process (RetryStateMachine.swift:174)"
          }
        },
        {
          "id": "base-1000", "requirement": "S14",
          "says": "baseBackoffInterval 1000 is 60",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"baseBackoffInterval": 1000}}},
          "repairs": ["httpConfig.backoffConfig.baseBackoffInterval"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 60,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [60, 66]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-react-native": "baseBackoffInterval up to 300 s (config-validation.ts:86-91)"
          }
        },
        {
          "id": "max-backoff-0", "requirement": "S14",
          "says": "maxBackoffInterval 0 is 1",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxBackoffInterval": 0}}},
          "repairs": ["httpConfig.backoffConfig.maxBackoffInterval"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 1,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "a wait of 0 is not clamped and ends the process (RetryStateMachine.swift:174)",
            "segment-react-native": "maxBackoffInterval from 0.1 s to a day (config-validation.ts:69-79)"
          }
        },
        {
          "id": "max-backoff-huge", "requirement": "S14",
          "says": "maxBackoffInterval 10^18 is 3600",
          "settings": {
            "httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxBackoffInterval": 1000000000000000000}}
          },
          "repairs": ["httpConfig.backoffConfig.maxBackoffInterval"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 3600,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-react-native": "maxBackoffInterval from 0.1 s to a day (config-validation.ts:69-79)"
          }
        },
        {
          "id": "retries-negative", "requirement": "S14",
          "says": "maxRetryCount -1 is 0",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxRetryCount": -1}}},
          "repairs": ["httpConfig.backoffConfig.maxRetryCount"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 0,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"queue": ["a"]}},
            {"at": 5, "trigger": "manual", "expect": {"drops": {"a": "retryLimit"}}}
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-react-native": "raises maxRetryCount to 1 (config-validation.ts:113-115)"
          }
        },
        {
          "id": "retries-huge", "requirement": "S14",
          "says": "maxRetryCount 10^18 is 1000",
          "settings": {
            "httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxRetryCount": 1000000000000000000}}
          },
          "repairs": ["httpConfig.backoffConfig.maxRetryCount"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 1000,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-react-native": "maxRetryCount at most 100 (config-validation.ts:42-48)"
          }
        },
        {
          "id": "retries-fraction", "requirement": "S14",
          "says": "maxRetryCount 2.5 is 2",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxRetryCount": 2.5}}},
          "repairs": ["httpConfig.backoffConfig.maxRetryCount"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 2,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "one unreadable value means legacy (SegmentDestination.swift:82)"
          }
        },
        {
          "id": "total-negative", "requirement": "S14",
          "says": "maxTotalBackoffDuration -1 is 0",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxTotalBackoffDuration": -1}}},
          "repairs": ["httpConfig.backoffConfig.maxTotalBackoffDuration"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 0,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-react-native": "raises a short maxTotalBackoffDuration to 600 s (config-validation.ts:93-97)"
          }
        },
        {
          "id": "total-huge", "requirement": "S14",
          "says": "maxTotalBackoffDuration 10^9 is 604800, seven days",
          "settings": {
            "httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxTotalBackoffDuration": 1000000000}}
          },
          "repairs": ["httpConfig.backoffConfig.maxTotalBackoffDuration"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 604800,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)"
          }
        },
        {
          "id": "enabled-text", "requirement": "S14",
          "says": "enabled \"no\" is the default, true",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": "no"}}},
          "repairs": ["httpConfig.backoffConfig.enabled"],
          "effective": {
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 0.5,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "one unreadable value means legacy (SegmentDestination.swift:82)",
            "segment-react-native": "only true itself switches a section on (RetryManager.ts:213)"
          }
        }
      ]
    }

    """##
}
