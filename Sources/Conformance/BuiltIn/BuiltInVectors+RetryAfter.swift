// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let retryAfter = ##"""
    {
      "format": 1,
      "title": "Retry-After: its forms, its cap, its absence, and where it does not count",
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
          ]
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
              "why": "waits 60 s after a 429 without a usable Retry-After",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "1.5"},
                "expect": {"outcome": {"pause": 60}}}
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
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                "expect": {"outcome": {"pause": 300}}}
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
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sunday, 06-Nov-94 08:49:37 GMT"},
                "expect": {"outcome": {"pause": 300}}}
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
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun Nov  6 08:49:37 1994"},
                "expect": {"outcome": {"pause": 300}}}
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
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Wed Nov 16 08:49:37 1994"},
                "expect": {"outcome": {"pause": 300}}}
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
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Thu, 29 Feb 2024 08:02:00 GMT"},
                "expect": {"outcome": {"pause": 300}}}
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
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                "expect": {"outcome": {"pause": 300}}}
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
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                "expect": {"outcome": {"pause": 300}}}
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
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Saturday, 01-Jan-00 00:00:10 GMT"},
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Saturday, 01-Jan-00 00:00:10 GMT"},
                "expect": {"outcome": {"pause": 300}}}
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
                "expect": {"outcome": {"pause": 300}}}
              ]
            },
            "segment-kotlin": {
              "why": "reads Retry-After as a whole number of seconds only",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sunday, 06-Nov-94 08:49:37 GMT"},
                "expect": {"outcome": {"pause": 300}}}
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
              "why": "waits 60 s after a 429 without a usable Retry-After",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 31 Feb 1994 08:49:37 GMT"},
                "expect": {"outcome": {"pause": 60}}}
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
              "why": "waits 60 s after a 429 without a usable Retry-After",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "Sun, 06 Nov 1994 08:49:37 +0100"},
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
        },
        {
          "id": "on-503", "requirement": "S7",
          "says": "On a 503 it does not count: the batch backs off and the pipeline stays READY",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "120"},
              "expect": {
                "outcome": {"retry": 0.5},
                "state": "READY",
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 0.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            }
          }
        },
        {
          "id": "on-408", "requirement": "S7",
          "says": "On a 408 it does not count: the batch backs off and the pipeline stays READY",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 408, "retryAfter": "120"},
              "expect": {
                "outcome": {"retry": 0.5},
                "state": "READY",
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 0.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 408, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 408, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            }
          }
        },
        {
          "id": "on-500", "requirement": "S7",
          "says": "On a 500 it does not count: the batch backs off and the pipeline stays READY",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 500, "retryAfter": "120"},
              "expect": {
                "outcome": {"retry": 0.5},
                "state": "READY",
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 0.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 500, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 500, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            }
          }
        },
        {
          "id": "on-529", "requirement": "S7",
          "says": "On a 529 it does not count: the batch backs off and the pipeline stays READY",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 529, "retryAfter": "120"},
              "expect": {
                "outcome": {"retry": 0.5},
                "state": "READY",
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 0.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 529, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 529, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            }
          }
        },
        {
          "id": "on-410", "requirement": "S7",
          "says": "On a 410 it does not count: the batch backs off and the pipeline stays READY",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 410, "retryAfter": "120"},
              "expect": {
                "outcome": {"retry": 0.5},
                "state": "READY",
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 0.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 410, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 410, "retryAfter": "120"},
                "expect": {
                  "outcome": {"pause": 120},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            }
          }
        },
        {
          "id": "on-503-as-date", "requirement": "S7",
          "says": "As a date it does not count on a 503 either",
          "wallClock": 784111717,
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
              "expect": {"outcome": {"retry": 0.5}, "globalRetryCount": 0}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
              {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
              {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "Sun, 06 Nov 1994 08:49:37 GMT"},
                "expect": {
                  "outcome": {"pause": 60},
                  "state": "WAITING",
                  "globalRetryCount": 1,
                  "failures": {"a": 0}
                }}
              ]
            }
          }
        },
        {
          "id": "on-400", "requirement": "S7",
          "says": "On a status that is dropped it means nothing",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400, "retryAfter": "120"},
              "expect": {"outcome": {"drop": "status"}, "state": "READY", "globalRetryCount": 0, "queue": []}}
          ]
        },
        {
          "id": "on-200", "requirement": "S7",
          "says": "On a success it means nothing",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 200, "retryAfter": "120"},
              "expect": {"outcome": "delivered", "state": "READY", "globalRetryCount": 0, "queue": []}}
          ]
        },
        {
          "id": "loop-goes-on", "requirement": "S7",
          "says": "A 503 with Retry-After does not end the loop",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "120"}, "expect": {"sends": ["b"]}}
          ],
          "deviates": {
            "segment-swift": "sends all batches of a flush at once",
            "segment-react-native": "sends all batches of a flush at once"
          }
        }
      ]
    }

    """##
}
