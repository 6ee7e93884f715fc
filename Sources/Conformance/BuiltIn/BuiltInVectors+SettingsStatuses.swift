// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let settingsStatuses = ##"""
    {
      "format": 1,
      "title": "Settings: what decides about a status",
      "cases": [
        {
          "id": "override-drops", "requirement": "S13",
          "says": "statusCodeOverrides drops a 503",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "statusCodeOverrides": {"503": "drop"}}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"drop": "status"}, "queue": []}}
          ]
        },
        {
          "id": "override-retries", "requirement": "S13",
          "says": "statusCodeOverrides retries a 400",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "statusCodeOverrides": {"400": "retry"}}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400}, "expect": {"outcome": {"retry": 0.5}}}
          ]
        },
        {
          "id": "override-before-list", "requirement": "S13",
          "says": "statusCodeOverrides goes before retryableStatusCodes",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {
                "jitterPercent": 0,
                "statusCodeOverrides": {"503": "drop"},
                "retryableStatusCodes": [503]
              }
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"drop": "status"}}}
          ]
        },
        {
          "id": "override-before-list-too", "requirement": "S13",
          "says": "... also where the list leaves the status out",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {
                "jitterPercent": 0,
                "statusCodeOverrides": {"500": "retry"},
                "retryableStatusCodes": [503]
              }
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 500}, "expect": {"outcome": {"retry": 0.5}}}
          ]
        },
        {
          "id": "override-before-default", "requirement": "S13",
          "says": "statusCodeOverrides goes before default5xxBehavior",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {
                "jitterPercent": 0,
                "statusCodeOverrides": {"503": "retry"},
                "default5xxBehavior": "drop"
              }
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}}
          ]
        },
        {
          "id": "listed-retries", "requirement": "S13",
          "says": "retryableStatusCodes retries what it lists, a 404 too",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "retryableStatusCodes": [404, 503]}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {"outcome": {"retry": 0.5}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not read retryableStatusCodes (HttpConfig.swift:46-51)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {
                  "outcome": {"drop": "status"}}}
              ]
            },
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
          "id": "left-out-drops", "requirement": "S13",
          "says": "A code of the retry rows that the list leaves out is dropped: 500",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "retryableStatusCodes": [503]}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 500}, "expect": {"outcome": {"drop": "status"}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not read retryableStatusCodes (HttpConfig.swift:46-51)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 500}, "expect": {"outcome": {"retry": 0.5}}}
              ]
            },
            "segment-kotlin": {
              "why": "does not read retryableStatusCodes (RetryConfig.kt:43-61)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 500}, "expect": {"outcome": {"retry": 0.5}}}
              ]
            },
            "segment-react-native": {
              "why": "does not read retryableStatusCodes (errors.ts:143-197)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 500}, "expect": {"outcome": {"retry": 0.5}}}
              ]
            }
          }
        },
        {
          "id": "left-out-408-drops", "requirement": "S13",
          "says": "... and 408",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "retryableStatusCodes": [503]}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 408}, "expect": {"outcome": {"drop": "status"}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not read retryableStatusCodes (HttpConfig.swift:46-51)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 408}, "expect": {"outcome": {"retry": 0.5}}}
              ]
            },
            "segment-kotlin": {
              "why": "does not read retryableStatusCodes (RetryConfig.kt:43-61)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 408}, "expect": {"outcome": {"retry": 0.5}}}
              ]
            },
            "segment-react-native": {
              "why": "does not read retryableStatusCodes (errors.ts:143-197)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 408}, "expect": {"outcome": {"retry": 0.5}}}
              ]
            }
          }
        },
        {
          "id": "list-silent-on-others", "requirement": "S13",
          "says": "About other codes the list says nothing: 529 is a 5xx of the table",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "retryableStatusCodes": [503]}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 529}, "expect": {"outcome": {"retry": 0.5}}}
          ]
        },
        {
          "id": "list-before-default", "requirement": "S13",
          "says": "The list goes before default5xxBehavior",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "retryableStatusCodes": [503], "default5xxBehavior": "drop"}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not read retryableStatusCodes (HttpConfig.swift:46-51)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"drop": "status"}}}
              ]
            },
            "segment-kotlin": {
              "why": "does not read retryableStatusCodes (RetryConfig.kt:43-61)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"drop": "status"}}}
              ]
            },
            "segment-react-native": {
              "why": "does not read retryableStatusCodes (errors.ts:143-197)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"drop": "status"}}}
              ]
            }
          }
        },
        {
          "id": "default-5xx-drop", "requirement": "S13",
          "says": "default5xxBehavior drop: a 503 is dropped",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "default5xxBehavior": "drop"}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"drop": "status"}}}
          ]
        },
        {
          "id": "default-4xx-retry", "requirement": "S13",
          "says": "default4xxBehavior retry: a 400 is retried",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "default4xxBehavior": "retry"}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400}, "expect": {"outcome": {"retry": 0.5}}}
          ]
        },
        {
          "id": "default-4xx-is-not-5xx", "requirement": "S13",
          "says": "default4xxBehavior says nothing about a 501",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "default4xxBehavior": "retry"}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 501}, "expect": {"outcome": {"drop": "status"}}}
          ]
        },
        {
          "id": "unknown-is-not-4xx", "requirement": "S13",
          "says": "unknownCodeBehavior says nothing about a 404",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "unknownCodeBehavior": "retry"}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {"outcome": {"drop": "status"}}}
          ]
        },
        {
          "id": "429-not-listed", "requirement": "S13",
          "says": "A 429 follows rateLimitConfig alone: also when the list leaves it out",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "retryableStatusCodes": [503]}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"},
              "expect": {"outcome": {"pause": 20}, "state": "WAITING", "globalRetryCount": 1, "queue": ["a"]}}
          ]
        },
        {
          "id": "429-overridden", "requirement": "S13",
          "says": "... and when an override says drop",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "statusCodeOverrides": {"429": "drop"}}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"},
              "expect": {"outcome": {"pause": 20}, "state": "WAITING", "globalRetryCount": 1, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "pauses and deletes the file as well (SegmentDestination.swift:195)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"}, "expect": {
                  "outcome": {"drop": "status"}, "state": "WAITING", "globalRetryCount": 1, "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "an override comes before the rule for 429 (errors.ts:153-168)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"}, "expect": {
                  "outcome": {"drop": "status"}, "state": "READY", "queue": []}}
              ]
            }
          }
        },
        {
          "id": "429-default-4xx", "requirement": "S13",
          "says": "... and whatever default4xxBehavior says",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "default4xxBehavior": "drop"}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "20"},
              "expect": {"outcome": {"pause": 20}, "state": "WAITING", "globalRetryCount": 1, "queue": ["a"]}}
          ]
        },
        {
          "id": "511-overridden", "requirement": "S13",
          "says": "An override retries a 511 without OAuth too",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "statusCodeOverrides": {"511": "retry"}}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 511}, "expect": {"outcome": {"retry": 0.5}}}
          ]
        }
      ]
    }

    """##
}
