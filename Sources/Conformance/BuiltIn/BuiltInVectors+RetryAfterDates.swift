// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let retryAfterDates = ##"""
    {
      "format": 1,
      "title": "Retry-After as a date, and dates that are none",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "imf-fixdate", "requirement": "S4",
          "says": "An IMF-fixdate is that time: here in 60 s",
          "wallClock": 784111717,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
              "expect": {"outcome": {"pause": 60}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 60}},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 60, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 60, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "rfc-850", "requirement": "S4",
          "says": "So is the RFC 850 form",
          "wallClock": 784111717,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sunday, 06-Nov-94 08:49:37 GMT"},
              "expect": {"outcome": {"pause": 60}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 60}},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sunday, 06-Nov-94 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 60, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sunday, 06-Nov-94 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 60, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "asctime", "requirement": "S4",
          "says": "So is asctime's form",
          "wallClock": 784111717,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun Nov  6 08:49:37 1994"},
              "expect": {"outcome": {"pause": 60}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 60}},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun Nov  6 08:49:37 1994"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 60, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun Nov  6 08:49:37 1994"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 59, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 60, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "asctime-two-digits", "requirement": "S4",
          "says": "asctime's form with a day of two digits",
          "wallClock": 784975687,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Wed Nov 16 08:49:37 1994"},
              "expect": {"outcome": {"pause": 90}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 89, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 90}},
            {"at": 90, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Wed Nov 16 08:49:37 1994"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 89, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 90, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Wed Nov 16 08:49:37 1994"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 89, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 90, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "leap-day", "requirement": "S4",
          "says": "The 29th of February of a leap year",
          "wallClock": 1709193600,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Thu, 29 Feb 2024 08:02:00 GMT"},
              "expect": {"outcome": {"pause": 120}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 119, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 120}},
            {"at": 120, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Thu, 29 Feb 2024 08:02:00 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 119, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 120, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Thu, 29 Feb 2024 08:02:00 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 119, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 120, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "date-past", "requirement": "S4",
          "says": "A date in the past is no wait",
          "wallClock": 784111778,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
              "expect": {"outcome": {"pause": 0}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 0, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 0, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "date-now", "requirement": "S4",
          "says": "A date that is now is no wait",
          "wallClock": 784111777,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
              "expect": {"outcome": {"pause": 0}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 0, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 0, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "date-far", "requirement": "S4",
          "says": "A date further away than the cap is the cap",
          "wallClock": 784111777,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Mon, 07 Nov 1994 08:49:37 GMT"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "date-year-2000", "requirement": "S4",
          "says": "A date across the turn of the century: in 20 s",
          "wallClock": 946684790,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Saturday, 01-Jan-00 00:00:10 GMT"},
              "expect": {"outcome": {"pause": 20}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 19, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 20}},
            {"at": 20, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429,
                  "retryAfter": "Saturday, 01-Jan-00 00:00:10 GMT"}, "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 19, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 20, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429,
                  "retryAfter": "Saturday, 01-Jan-00 00:00:10 GMT"}, "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 19, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
                {"at": 20, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "two-digit-year-past", "requirement": "S4",
          "says": "RFC 850 with a year that would be 68 years ahead: it was a century earlier",
          "wallClock": 1767225600,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sunday, 06-Nov-94 08:49:37 GMT"},
              "expect": {"outcome": {"pause": 0}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sunday, 06-Nov-94 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 0, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sunday, 06-Nov-94 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 0, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "impossible-date", "requirement": "S4",
          "says": "A day that does not exist cannot be read",
          "wallClock": 784111777,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 31 Feb 1994 08:49:37 GMT"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "reads whatever Date reads as a date (errors.ts:215-219)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 31 Feb 1994 08:49:37 GMT"},
                 "expect": {
                  "outcome": {"pause": 0}, "queue": ["a"]}},
                {"at": 299, "trigger": "manual", "expect": {"sends": ["a"], "state": "READY"}},
                {"at": 300, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "other-zone", "requirement": "S4",
          "says": "A zone other than GMT cannot be read",
          "wallClock": 784111717,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 +0100"},
              "expect": {"outcome": {"pause": 300}, "globalRetryCount": 1, "queue": ["a"]}},
            {"at": 299, "trigger": "manual", "expect": {"state": "WAITING", "waitUntil": 300}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "reads whatever Date reads as a date (errors.ts:215-219)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429,
                  "retryAfter": "Sun, 06 Nov 1994 08:49:37 +0100"}, "expect": {
                  "outcome": {"pause": 0}, "queue": ["a"]}},
                {"at": 299, "trigger": "manual", "expect": {"sends": ["a"], "state": "READY"}},
                {"at": 300, "trigger": "manual"}
              ]
            }
          }
        }
      ]
    }

    """##
}
