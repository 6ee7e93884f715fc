// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let retryAfter = ##"""
    {
      "format": 1,
      "title": "Retry-After in seconds: its forms, its cap, and its absence",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "seconds", "requirement": "S4",
          "says": "A whole number is seconds",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "120"},
              "expect": {"outcome": {"pause": 120}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 119, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 120}},
            {"at": 120, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "zero", "requirement": "S4",
          "says": "0 is no wait: the loop ends, and the next trigger sends again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "0"},
              "expect": {"outcome": {"pause": 0}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "at-the-cap", "requirement": "S4",
          "says": "300 s, the cap itself",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "300"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "above-the-cap", "requirement": "S4",
          "says": "One second more than the cap is the cap",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "301"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "an-hour", "requirement": "S4",
          "says": "An hour is the cap",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "3600"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "huge", "requirement": "S4",
          "says": "A number that no integer holds is the cap",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "99999999999999999999999"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "negative", "requirement": "S4",
          "says": "A negative number is 0",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "-5"},
              "expect": {"outcome": {"pause": 0}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "takes a negative Retry-After for none (errors.ts:211)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "-5"}, "expect": {
                  "outcome": {"pause": 60}, "queue": ["a"]}},
                {"at": 0, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "blanks", "requirement": "S4",
          "says": "Blanks around the value do not count",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "  30\t"},
              "expect": {"outcome": {"pause": 30}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 29, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 30}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "missing", "requirement": "S4",
          "says": "A 429 without Retry-After waits maxRetryInterval",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "waits 60 s after a 429 without a usable Retry-After",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429}, "expect": {"outcome": {"pause": 60}}}
              ]
            }
          }
        },
        {
          "id": "empty", "requirement": "S4",
          "says": "An empty header is as none",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": ""},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "waits 60 s after a 429 without a usable Retry-After",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": ""},
                "expect": {"outcome": {"pause": 60}}}
              ]
            }
          }
        },
        {
          "id": "words", "requirement": "S4",
          "says": "A header that cannot be read is as none",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "soon"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "waits 60 s after a 429 without a usable Retry-After",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "soon"},
                "expect": {"outcome": {"pause": 60}}}
              ]
            }
          }
        },
        {
          "id": "fraction", "requirement": "S4",
          "says": "A fraction is no delta-seconds",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "1.5"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "reads fractions of a second (errors.ts:209-212)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "1.5"}, "expect": {
                  "outcome": {"pause": 1.5}, "queue": ["a"]}},
                {"at": 299, "trigger": "manual", "expect": {"sends": ["a"], "state": "READY"}},
                {"at": 300, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "unit", "requirement": "S4",
          "says": "Nor is a number with a unit",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "30s"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "waits 60 s after a 429 without a usable Retry-After",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "30s"},
                "expect": {"outcome": {"pause": 60}}}
              ]
            }
          }
        },
        {
          "id": "lower-interval", "requirement": "S4",
          "says": "A lower maxRetryInterval is the cap",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"maxRetryInterval": 60}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "120"},
              "expect": {"outcome": {"pause": 60}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 60}},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "lower-interval-missing", "requirement": "S4",
          "says": "... and the wait without a header",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"maxRetryInterval": 60}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429},
              "expect": {"outcome": {"pause": 60}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 60}},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "rate-limit-reset-alone", "requirement": "S4",
          "says": "X-RateLimit-Reset is no Retry-After: the document does not read it",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"maxRetryInterval": 60}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "rateLimitReset": "20"},
              "expect": {"outcome": {"pause": 60}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 60}},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "from-the-answer", "requirement": "S4",
          "says": "The wait counts from the answer, not from the request",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 20, "answer": {"batch": "a", "status": 429, "retryAfter": "30"},
              "expect": {"waitUntil": 50, "outcome": {"pause": 30}}},
            {"at": 49.999999, "trigger": "manual"},
            {"at": 50, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        }
      ]
    }

    """##
}
