// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let retryAfterElsewhere = ##"""
    {
      "format": 1,
      "title": "Retry-After on answers other than 429, where it does not count",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
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
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}},
                {"at": 0.5, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}}
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
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 408, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}},
                {"at": 0.5, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 408, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}}
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
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 500, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}},
                {"at": 0.5, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 500, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}}
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
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 529, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}},
                {"at": 0.5, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 529, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}}
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
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 410, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}},
                {"at": 0.5, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "a Retry-After on any retryable status pauses the pipeline",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 410, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}, "state": "WAITING", "globalRetryCount": 1,
                  "failures": {"a": 0}}}
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
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "120"}, "expect": {
                  "outcome": {"pause": 120}}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "120"}}
              ]
            }
          }
        }
      ]
    }

    """##
}
