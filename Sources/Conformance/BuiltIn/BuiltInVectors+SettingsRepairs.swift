// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let settingsRepairs = ##"""
    {
      "format": 1,
      "title": "Bad values in Settings: clamped or defaulted, reported, and uploads go on",
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
        },
        {
          "id": "interval-0", "requirement": "S14",
          "says": "maxRetryInterval 0 is 1",
          "settings": {"httpConfig": {"rateLimitConfig": {"maxRetryInterval": 0}, "backoffConfig": {}}},
          "repairs": ["httpConfig.rateLimitConfig.maxRetryInterval"],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "maxRetryInterval": 1,
              "maxTotalBackoffDuration": 43200
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"},
              "expect": {"outcome": {"pause": 1}}}
          ]
        },
        {
          "id": "interval-a-million", "requirement": "S14",
          "says": "maxRetryInterval 10^6 is 3600",
          "settings": {"httpConfig": {"rateLimitConfig": {"maxRetryInterval": 1000000}, "backoffConfig": {}}},
          "repairs": ["httpConfig.rateLimitConfig.maxRetryInterval"],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "maxRetryInterval": 3600,
              "maxTotalBackoffDuration": 43200
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "100000"},
              "expect": {"outcome": {"pause": 3600}}}
          ]
        },
        {
          "id": "interval-null", "requirement": "S14",
          "says": "null is the default",
          "settings": {"httpConfig": {"rateLimitConfig": {"maxRetryInterval": null}, "backoffConfig": {}}},
          "repairs": ["httpConfig.rateLimitConfig.maxRetryInterval"],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "maxRetryInterval": 300,
              "maxTotalBackoffDuration": 43200
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "400"},
              "expect": {"outcome": {"pause": 300}}}
          ]
        },
        {
          "id": "global-retries-huge", "requirement": "S14",
          "says": "maxRetryCount 1001 of 429s is 1000",
          "settings": {"httpConfig": {"rateLimitConfig": {"maxRetryCount": 1001}, "backoffConfig": {}}},
          "repairs": ["httpConfig.rateLimitConfig.maxRetryCount"],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 1000,
              "maxRetryInterval": 300,
              "maxTotalBackoffDuration": 43200
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ]
        },
        {
          "id": "enabled-number", "requirement": "S14",
          "says": "enabled 0 is no bool: the default, true",
          "settings": {"httpConfig": {"rateLimitConfig": {"enabled": 0}, "backoffConfig": {}}},
          "repairs": ["httpConfig.rateLimitConfig.enabled"],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "maxRetryInterval": 300,
              "maxTotalBackoffDuration": 43200
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"},
              "expect": {"outcome": {"pause": 20}}}
          ]
        },
        {
          "id": "section-is-a-list", "requirement": "S14",
          "says": "A section that is no object: its defaults",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": []}},
          "repairs": ["httpConfig.backoffConfig"],
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
            "segment-swift": "a missing section means legacy",
            "segment-kotlin": "a missing section means legacy"
          }
        },
        {
          "id": "config-is-a-number", "requirement": "S14",
          "says": "httpConfig that is no object: the defaults of both",
          "settings": {"httpConfig": 7},
          "repairs": ["httpConfig"],
          "effective": {
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
            "segment-swift": "a missing section means legacy",
            "segment-kotlin": "a missing section means legacy"
          }
        },
        {
          "id": "settings-are-a-list", "requirement": "S14",
          "says": "Settings that are no object: the defaults of both",
          "settings": [],
          "repairs": ["$"],
          "effective": {
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
            "segment-swift": "a missing section means legacy",
            "segment-kotlin": "a missing section means legacy"
          }
        },
        {
          "id": "codes-are-text", "requirement": "S14",
          "says": "retryableStatusCodes that is no list is ignored",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"retryableStatusCodes": "503"}}},
          "repairs": ["httpConfig.backoffConfig.retryableStatusCodes"],
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ]
        },
        {
          "id": "codes-partly-bad", "requirement": "S14",
          "says": "Bad entries of retryableStatusCodes are ignored, the others count",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "retryableStatusCodes": ["500", 99, 404, 1e+30]}
            }
          },
          "repairs": [
            "httpConfig.backoffConfig.retryableStatusCodes[0]",
            "httpConfig.backoffConfig.retryableStatusCodes[1]",
            "httpConfig.backoffConfig.retryableStatusCodes[3]"
          ],
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {"outcome": {"retry": 0.5}}}
          ]
        },
        {
          "id": "overrides-partly-bad", "requirement": "S14",
          "says": "Bad members of statusCodeOverrides are ignored, the others count",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {
                "jitterPercent": 0,
                "statusCodeOverrides": {"404": "retry", "503": "maybe", "x": "drop"}
              }
            }
          },
          "repairs": [
            "httpConfig.backoffConfig.statusCodeOverrides[\"503\"]",
            "httpConfig.backoffConfig.statusCodeOverrides.x"
          ],
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {"outcome": {"retry": 0.5}}}
          ]
        },
        {
          "id": "behavior-unknown", "requirement": "S14",
          "says": "A behaviour other than retry and drop is ignored",
          "settings": {
            "httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"default5xxBehavior": "ignore"}}
          },
          "repairs": ["httpConfig.backoffConfig.default5xxBehavior"],
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [0.5, 0.55]}, "queue": ["a"]}}
          ]
        },
        {
          "id": "everything-at-once", "requirement": "S14",
          "says": "Several bad values: each is repaired, uploads go on",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {"maxRetryInterval": 1000000, "maxRetryCount": 1e+18},
              "backoffConfig": {"jitterPercent": 900, "baseBackoffInterval": 1000000000.0}
            }
          },
          "repairs": [
            "httpConfig.backoffConfig.baseBackoffInterval",
            "httpConfig.backoffConfig.jitterPercent",
            "httpConfig.rateLimitConfig.maxRetryCount",
            "httpConfig.rateLimitConfig.maxRetryInterval"
          ],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 1000,
              "maxRetryInterval": 3600,
              "maxTotalBackoffDuration": 43200
            },
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 60,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 100
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": [60, 120]}, "queue": ["a"]}},
            {"at": 200, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 200, "answer": {"batch": "a", "status": 429, "retryAfter": "9999"},
              "expect": {"outcome": {"pause": 3600}}}
          ]
        }
      ]
    }

    """##
}
