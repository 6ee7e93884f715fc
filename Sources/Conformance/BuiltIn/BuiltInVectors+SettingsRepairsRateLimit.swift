// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let settingsRepairsRateLimit = ##"""
    {
      "format": 1,
      "title": "Bad values of rateLimitConfig: clamped or defaulted, reported, and uploads go on",
      "cases": [
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
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-react-native": "an interval from 0.1 s, as null is, to a day (config-validation.ts:18-28)"
          }
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
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-react-native": "an interval from 0.1 s, as null is, to a day (config-validation.ts:18-28)"
          }
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
          ],
          "deviates": {
            "segment-react-native": "an interval from 0.1 s, as null is, to a day (config-validation.ts:18-28)"
          }
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
          ],
          "deviates": {
            "segment-swift": "does not clamp its Settings (HttpConfig.swift:161-167)",
            "segment-react-native": "maxRetryCount at most 100 (config-validation.ts:42-48)"
          }
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
          ],
          "deviates": {
            "segment-swift": "one unreadable value means legacy (SegmentDestination.swift:82)",
            "segment-react-native": "only true itself switches a section on (RetryManager.ts:179)"
          }
        }
      ]
    }

    """##
}
