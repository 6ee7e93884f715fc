// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let settingsRepairsStructure = ##"""
    {
      "format": 1,
      "title": "Settings of the wrong structure: what is readable is used, the rest reported",
      "cases": [
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
            "segment-kotlin": {
              "why": "a missing section means legacy",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a"]}}
              ]
            }
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
            "segment-kotlin": {
              "why": "a missing section means legacy",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a"]}}
              ]
            }
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
            "segment-kotlin": {
              "why": "a missing section means legacy",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a"]}}
              ]
            }
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
          ],
          "deviates": {
            "segment-swift": "does not read retryableStatusCodes (HttpConfig.swift:46-51)",
            "segment-kotlin": {
              "why": "does not read retryableStatusCodes (RetryConfig.kt:43-61)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {
                  "outcome": {"drop": "status"}}}
              ]
            },
            "segment-react-native": {
              "why": "does not read retryableStatusCodes (errors.ts:143-197)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {
                  "outcome": {"drop": "status"}}}
              ]
            }
          }
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
          ],
          "deviates": {
            "segment-swift": "one unreadable value means legacy (SegmentDestination.swift:82)",
            "segment-kotlin": {
              "why": "one unreadable value means the defaults (RetryConfig.kt:132-135)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {
                  "outcome": {"drop": "status"}}}
              ]
            }
          }
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
          ],
          "deviates": {
            "segment-swift": {
              "why": "one unreadable value means legacy (SegmentDestination.swift:82)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "any behaviour but retry drops (errors.ts:191-193)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"drop": "status"}, "queue": []}}
              ]
            }
          }
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
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-kotlin": "one unreadable value means the defaults (RetryConfig.kt:132-135)",
            "segment-react-native": "other bounds: a base up to 300 s, a cap up to a day (config-validation.ts)"
          }
        }
      ]
    }

    """##
}
