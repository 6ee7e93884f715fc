// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let settingsShapes = ##"""
    {
      "format": 1,
      "title": "The shapes that Settings come in",
      "cases": [
        {
          "id": "the-documents-example", "requirement": "S13",
          "says": "The document's own example means its defaults",
          "settings": {
            "httpConfig": {
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
                "jitterPercent": 10,
                "retryableStatusCodes": [408, 410, 429, 460, 500, 502, 503, 504, 508]
              }
            }
          },
          "repairs": [],
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
          ]
        },
        {
          "id": "own-values", "requirement": "S13",
          "says": "Every value can be set",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {
                "enabled": true,
                "maxRetryCount": 7,
                "maxRetryInterval": 60,
                "maxTotalBackoffDuration": 3600
              },
              "backoffConfig": {
                "enabled": true,
                "maxRetryCount": 9,
                "baseBackoffInterval": 2,
                "maxBackoffInterval": 64,
                "maxTotalBackoffDuration": 7200,
                "jitterPercent": 0
              }
            }
          },
          "repairs": [],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 7,
              "maxRetryInterval": 60,
              "maxTotalBackoffDuration": 3600
            },
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 9,
              "baseBackoffInterval": 2,
              "maxBackoffInterval": 64,
              "maxTotalBackoffDuration": 7200,
              "jitterPercent": 0
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 2}}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 2, "answer": {"batch": "a", "status": 429, "retryAfter": "600"},
              "expect": {"outcome": {"pause": 60}}}
          ],
          "deviates": {
            "segment-react-native": "does not read maxTotalBackoffDuration of rateLimitConfig (types.ts:340-345)"
          }
        },
        {
          "id": "second-name", "requirement": "S13",
          "says": "retryConfig is a second name of httpConfig",
          "settings": {
            "retryConfig": {
              "rateLimitConfig": {
                "enabled": true,
                "maxRetryCount": 7,
                "maxRetryInterval": 60,
                "maxTotalBackoffDuration": 3600
              },
              "backoffConfig": {
                "enabled": true,
                "maxRetryCount": 9,
                "baseBackoffInterval": 2,
                "maxBackoffInterval": 64,
                "maxTotalBackoffDuration": 7200,
                "jitterPercent": 0
              }
            }
          },
          "repairs": [],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 7,
              "maxRetryInterval": 60,
              "maxTotalBackoffDuration": 3600
            },
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 9,
              "baseBackoffInterval": 2,
              "maxBackoffInterval": 64,
              "maxTotalBackoffDuration": 7200,
              "jitterPercent": 0
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 2}}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 2, "answer": {"batch": "a", "status": 429, "retryAfter": "600"},
              "expect": {"outcome": {"pause": 60}}}
          ],
          "deviates": {
            "segment-swift": "reads httpConfig only (SegmentDestination.swift:80)",
            "segment-kotlin": {
              "why": "reads httpConfig only (SegmentDestination.kt:20-24)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": "retryAtNextTrigger"}},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 2, "answer": {"batch": "a", "status": 429, "retryAfter": "600"}, "expect": {
                  "outcome": "retryAtNextTrigger"}}
              ]
            },
            "segment-react-native": "reads httpConfig only (types.ts:389)"
          }
        },
        {
          "id": "cdn-shape", "requirement": "S13",
          "says": "The CDN's shape: under integrations, Segment.io",
          "settings": {
            "integrations": {
              "Segment.io": {
                "apiKey": "x",
                "httpConfig": {
                  "rateLimitConfig": {
                    "enabled": true,
                    "maxRetryCount": 7,
                    "maxRetryInterval": 60,
                    "maxTotalBackoffDuration": 3600
                  },
                  "backoffConfig": {
                    "enabled": true,
                    "maxRetryCount": 9,
                    "baseBackoffInterval": 2,
                    "maxBackoffInterval": 64,
                    "maxTotalBackoffDuration": 7200,
                    "jitterPercent": 0
                  }
                }
              }
            }
          },
          "repairs": [],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 7,
              "maxRetryInterval": 60,
              "maxTotalBackoffDuration": 3600
            },
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 9,
              "baseBackoffInterval": 2,
              "maxBackoffInterval": 64,
              "maxTotalBackoffDuration": 7200,
              "jitterPercent": 0
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 2}}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 2, "answer": {"batch": "a", "status": 429, "retryAfter": "600"},
              "expect": {"outcome": {"pause": 60}}}
          ],
          "deviates": {
            "segment-react-native": "does not read maxTotalBackoffDuration of rateLimitConfig (types.ts:340-345)"
          }
        },
        {
          "id": "cdn-section-is-on", "requirement": "S13",
          "says": "A section that is there is on unless it says otherwise",
          "settings": {
            "integrations": {
              "Segment.io": {
                "httpConfig": {"rateLimitConfig": {"maxRetryCount": 5}, "backoffConfig": {"maxRetryCount": 6}}
              }
            }
          },
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 5,
              "maxRetryInterval": 300,
              "maxTotalBackoffDuration": 43200
            },
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 6,
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
        }
      ]
    }

    """##
}
