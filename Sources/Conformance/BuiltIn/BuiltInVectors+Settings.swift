// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let settings = ##"""
    {
      "format": 1,
      "title": "Settings: defaults, the shapes they come in, and what decides about a status",
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
            "segment-kotlin": "a missing section means legacy"
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
          ]
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
          ]
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
          ]
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
          ],
          "deviates": {
            "segment-swift": "a missing section means legacy",
            "segment-kotlin": "a missing section means legacy"
          }
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
            "segment-swift": "a missing section means legacy",
            "segment-kotlin": "a missing section means legacy"
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
        },
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
          ]
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
          ]
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
          ]
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
          ]
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
          ]
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
