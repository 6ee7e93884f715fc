// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let statuses5xx = ##"""
    {
      "format": 1,
      "title": "5xx and codes of no class: which are dropped, which retried (the document's second table)",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "status-500-retries", "requirement": "S6",
          "says": "500 Internal Server Error: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 500},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-502-retries", "requirement": "S6",
          "says": "502 Bad Gateway: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 502},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-503-retries", "requirement": "S6",
          "says": "503 Service Unavailable: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 503},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-504-retries", "requirement": "S6",
          "says": "504 Gateway Timeout: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 504},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-508-retries", "requirement": "S6",
          "says": "508 Loop Detected: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 508},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-501-drops", "requirement": "S6",
          "says": "501 Not Implemented: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 501},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-505-drops", "requirement": "S6",
          "says": "505 HTTP Version Not Supported: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 505},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-511-drops", "requirement": "S6",
          "says": "511 Network Authentication Required, in a client without OAuth: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 511},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ],
          "deviates": {
            "segment-swift": {
              "why": "retries 511 as any other 5xx (RetryStateMachine.swift:187)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 511}, "expect": {
                  "outcome": {"retry": 0.5}, "globalRetryCount": 0, "queue": ["a"]}},
                {"at": 400, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-kotlin": {
              "why": "retries 511 as any other 5xx (RetryStateMachine.kt:202)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 511}, "expect": {
                  "outcome": {"retry": 0.5}, "globalRetryCount": 0, "queue": ["a"]}},
                {"at": 400, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "retries 511 as any other 5xx (errors.ts:186-193)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 511}, "expect": {
                  "outcome": {"retry": 0.5}, "queue": ["a"]}},
                {"at": 400, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "status-511-with-oauth-retries", "requirement": "S6",
          "says": "511 Network Authentication Required, in a client with OAuth: backs off, then is sent again",
          "client": {"oauth": true},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 511},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-506-retries", "requirement": "S6",
          "says": "506 not in the table: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 506},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-507-retries", "requirement": "S6",
          "says": "507 Insufficient Storage, a 5xx that the table does not name: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 507},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-529-retries", "requirement": "S6",
          "says": "529 Site is overloaded, a 5xx that the table does not name: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 529},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-599-retries", "requirement": "S6",
          "says": "599 the last 5xx: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 599},
              "expect": {
                "outcome": {"retry": 0.5},
                "queue": ["a"],
                "failures": {"a": 1},
                "globalRetryCount": 0
              }},
            {"at": 1.499999, "trigger": "manual"},
            {"at": 1.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-100-drops", "requirement": "S8",
          "says": "100 Continue: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 100},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes 1 to 199 for a success (HTTPClient.swift:185)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 100}, "expect": {
                  "outcome": "delivered", "globalRetryCount": 0, "queue": []}},
                {"at": 400, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "status-103-drops", "requirement": "S8",
          "says": "103 Early Hints: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 103},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes 1 to 199 for a success (HTTPClient.swift:185)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 103}, "expect": {
                  "outcome": "delivered", "globalRetryCount": 0, "queue": []}},
                {"at": 400, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "status-300-drops", "requirement": "S8",
          "says": "300 Multiple Choices, the first 3xx: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 300},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-301-drops", "requirement": "S8",
          "says": "301 Moved Permanently: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 301},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-304-drops", "requirement": "S8",
          "says": "304 Not Modified: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 304},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-399-drops", "requirement": "S8",
          "says": "399 the last 3xx: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 399},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-99-drops", "requirement": "S8",
          "says": "99 below every class: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 99},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes 1 to 199 for a success (HTTPClient.swift:185)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 99}, "expect": {
                  "outcome": "delivered", "globalRetryCount": 0, "queue": []}},
                {"at": 400, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "status-600-drops", "requirement": "S8",
          "says": "600 above every class: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 600},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-0-drops", "requirement": "S8",
          "says": "0 no status that HTTP knows: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 0},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "unknown-code-behavior-retry", "requirement": "S8",
          "says": "unknownCodeBehavior retry: what is of no class is retried",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "unknownCodeBehavior": "retry"}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 302}, "expect": {"outcome": {"retry": 0.5}}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 2, "answer": {"batch": "a", "status": 600}, "expect": {"outcome": {"retry": 1}}},
            {"at": 3, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 3, "answer": {"batch": "a", "status": 101}, "expect": {"outcome": {"retry": 2}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes 1 to 199 for a success (HTTPClient.swift:185)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 302}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 2, "answer": {"batch": "a", "status": 600}, "expect": {"outcome": {"retry": 1}}},
                {"at": 3, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 3, "answer": {"batch": "a", "status": 101}, "expect": {"outcome": "delivered"}}
              ]
            },
            "segment-kotlin": {
              "why": "takes a 101 for a success (HTTPClient.kt:109)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 302}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 2, "answer": {"batch": "a", "status": 600}, "expect": {"outcome": {"retry": 1}}},
                {"at": 3, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 3, "answer": {"batch": "a", "status": 101}, "expect": {
                  "outcome": {"drop": "status"}}}
              ]
            },
            "segment-react-native": {
              "why": "does not read unknownCodeBehavior (errors.ts:196)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 302}, "expect": {
                  "outcome": {"drop": "status"}}},
                {"at": 2, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "drop-lets-the-loop-go-on", "requirement": "S8",
          "says": "a code of no class drops its batch and the loop goes on to the next",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 302},
              "expect": {"sends": ["b"], "outcome": {"drop": "status"}, "queue": ["b"]}},
            {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {"outcome": "delivered", "queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 302}, "expect": {
                  "outcome": {"drop": "status"}, "queue": ["b"]}},
                {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 302}, "expect": {"queue": ["a", "b"]}},
                {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {
                  "drops": {"a": "status"}, "outcome": "delivered", "queue": []}}
              ]
            }
          }
        }
      ]
    }

    """##
}
