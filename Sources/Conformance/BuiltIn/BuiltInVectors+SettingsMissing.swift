// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let settingsMissing = ##"""
    {
      "format": 1,
      "title": "Settings that are missing, whole or in part, and the defaults for them",
      "cases": [
        {
          "id": "nothing", "requirement": "S13",
          "says": "Settings without a word about retries: the defaults, both sections on",
          "settings": {"integrations": {}},
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
          "id": "empty-sections", "requirement": "S13",
          "says": "Empty sections: the defaults, on",
          "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {}}},
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
          "id": "missing-rate-limit", "requirement": "S13",
          "says": "Without rateLimitConfig its defaults hold, on",
          "settings": {
            "httpConfig": {
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
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "maxRetryInterval": 300,
              "maxTotalBackoffDuration": 43200
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
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "600"},
              "expect": {"outcome": {"pause": 300}}}
          ]
        },
        {
          "id": "missing-backoff", "requirement": "S13",
          "says": "Without backoffConfig its defaults hold, on",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {
                "enabled": true,
                "maxRetryCount": 7,
                "maxRetryInterval": 60,
                "maxTotalBackoffDuration": 3600
              }
            }
          },
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 7,
              "maxRetryInterval": 60,
              "maxTotalBackoffDuration": 3600
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
            "segment-react-native": "does not read maxTotalBackoffDuration of rateLimitConfig (types.ts:340-345)"
          }
        },
        {
          "id": "missing-keys", "requirement": "S13",
          "says": "Each missing key has its default",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {"maxRetryInterval": 60},
              "backoffConfig": {"baseBackoffInterval": 4}
            }
          },
          "repairs": [],
          "effective": {
            "rateLimitConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "maxRetryInterval": 60,
              "maxTotalBackoffDuration": 43200
            },
            "backoffConfig": {
              "enabled": true,
              "maxRetryCount": 100,
              "baseBackoffInterval": 4,
              "maxBackoffInterval": 300,
              "maxTotalBackoffDuration": 43200,
              "jitterPercent": 10
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": [4, 4.4]}}}
          ]
        }
      ]
    }

    """##
}
