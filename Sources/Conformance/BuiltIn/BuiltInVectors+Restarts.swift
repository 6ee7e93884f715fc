// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let restarts = ##"""
    {
      "format": 1,
      "title": "What survives a restart of the process, and what does not",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "wait-survives", "requirement": "S18",
          "says": "A wait goes on after a restart",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "100"},
              "expect": {"waitUntil": 100}},
            {"at": 50, "restart": "intact",
              "expect": {"state": "WAITING", "waitUntil": 100, "restored": "intact", "queue": ["a"]}},
            {"at": 99, "trigger": "manual"},
            {"at": 100, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "100"}, "expect": {
                  "outcome": {"pause": 100}, "waitUntil": 100}},
                {"at": 50, "restart": "intact", "expect": {
                  "state": "READY", "queue": ["a"], "restored": "fresh"}},
                {"at": 99, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 100, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "wait-in-the-past", "requirement": "S18",
          "says": "A wait that is over reads as READY",
          "given": {"batches": ["a"], "waitUntil": 100},
          "steps": [
            {"at": 200, "restart": "intact", "expect": {"state": "READY", "restored": "intact"}},
            {"at": 200, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 200, "restart": "intact", "expect": {"state": "READY", "restored": "fresh"}},
                {"at": 200, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "wait-just-over", "requirement": "S18",
          "says": "So does one that ends at the very time of the start",
          "given": {"batches": ["a"], "waitUntil": 100},
          "steps": [
            {"at": 100, "restart": "intact", "expect": {"state": "READY"}},
            {"at": 100, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "wait-too-far", "requirement": "S18",
          "says": "A wait further away than the cap (the clock was moved) is clamped to it",
          "given": {"batches": ["a"], "waitUntil": 4000},
          "steps": [
            {"at": 0, "restart": "intact",
              "expect": {"state": "WAITING", "waitUntil": 300, "restored": "repaired"}},
            {"at": 299, "trigger": "manual"},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes its saved state as it is (Storage.swift:203-216)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"state": "WAITING", "waitUntil": 4000}},
                {"at": 299, "trigger": "manual"},
                {"at": 300, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "takes its saved state as it is (RetryStateStorage.kt:44-50)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"state": "WAITING", "waitUntil": 4000}},
                {"at": 299, "trigger": "manual"},
                {"at": 300, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"state": "READY", "restored": "fresh"}},
                {"at": 299, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 300, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "wait-a-century-away", "requirement": "S18",
          "says": "... however far",
          "given": {"batches": ["a"], "waitUntil": 3000000000},
          "steps": [
            {"at": 0, "restart": "intact",
              "expect": {"state": "WAITING", "waitUntil": 300, "restored": "repaired"}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes its saved state as it is (Storage.swift:203-216)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"state": "WAITING", "waitUntil": 3000000000}}
              ]
            },
            "segment-kotlin": {
              "why": "takes its saved state as it is (RetryStateStorage.kt:44-50)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"state": "WAITING", "waitUntil": 3000000000}}
              ]
            },
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"state": "READY", "restored": "fresh"}}
              ]
            }
          }
        },
        {
          "id": "wait-at-the-cap", "requirement": "S18",
          "says": "A wait as long as the cap is as it should be",
          "given": {"batches": ["a"], "waitUntil": 300},
          "steps": [
            {"at": 0, "restart": "intact", "expect": {"waitUntil": 300, "restored": "intact"}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"restored": "fresh"}}
              ]
            }
          }
        },
        {
          "id": "wait-own-cap", "requirement": "S18",
          "says": "The cap is the one of the Settings",
          "settings": {
            "httpConfig": {"rateLimitConfig": {"maxRetryInterval": 60}, "backoffConfig": {"jitterPercent": 0}}
          },
          "given": {"batches": ["a"], "waitUntil": 250},
          "steps": [
            {"at": 0, "restart": "intact", "expect": {"waitUntil": 60, "restored": "repaired"}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes its saved state as it is (Storage.swift:203-216)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"waitUntil": 250}}
              ]
            },
            "segment-kotlin": {
              "why": "takes its saved state as it is (RetryStateStorage.kt:44-50)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"waitUntil": 250}}
              ]
            },
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"restored": "fresh"}}
              ]
            }
          }
        },
        {
          "id": "counters-survive", "requirement": "S18",
          "says": "Counters go on where they were",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -20, "dueAt": 10, "latestFailure": "transient"}
            ],
            "globalRetryCount": 5
          },
          "steps": [
            {"at": 50, "restart": "intact",
              "expect": {"globalRetryCount": 5, "failures": {"a": 3}, "restored": "intact"}},
            {"at": 50, "trigger": "manual", "expect": {"sends": [{"a": 3}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "X-Retry-Count is the larger of the batch's and the global count",
              "steps": [
                {"at": 50, "restart": "intact", "expect": {"globalRetryCount": 5, "failures": {"a": 3}}},
                {"at": 50, "trigger": "manual", "expect": {"sends": [{"a": 5}]}}
              ]
            },
            "segment-kotlin": {
              "why": "X-Retry-Count is the larger of the batch's and the global count",
              "steps": [
                {"at": 50, "restart": "intact", "expect": {"globalRetryCount": 5, "failures": {"a": 3}}},
                {"at": 50, "trigger": "manual", "expect": {"sends": [{"a": 5}]}}
              ]
            },
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 50, "restart": "intact", "expect": {"restored": "fresh"}},
                {"at": 50, "trigger": "manual", "expect": {"sends": [{"a": null}]}}
              ]
            }
          }
        },
        {
          "id": "counter-after-restart", "requirement": "S18",
          "says": "... and count on",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
            {"at": 1, "restart": "intact", "expect": {"failures": {"a": 1}}},
            {"at": 1, "trigger": "manual", "expect": {"sends": [{"a": 1}]}},
            {"at": 1, "answer": {"batch": "a", "status": 503},
              "expect": {"outcome": {"retry": 1}, "failures": {"a": 2}}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 1, "restart": "intact"},
                {"at": 1, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 1, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}}
              ]
            }
          }
        },
        {
          "id": "batch-wait-survives", "requirement": "S18",
          "says": "A batch's own wait goes on",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -20, "dueAt": 60, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 10, "restart": "intact", "expect": {"dueAt": {"a": 60}, "restored": "intact"}},
            {"at": 59, "trigger": "manual"},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 10, "restart": "intact", "expect": {"restored": "fresh"}},
                {"at": 59, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 60, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "batch-wait-too-far", "requirement": "S18",
          "says": "A batch's wait further away than the longest backoff is clamped to it",
          "given": {
            "batches": [
              {
                "batch": "a",
                "failures": 3,
                "firstFailureAt": -20,
                "dueAt": 100000,
                "latestFailure": "transient"
              }
            ]
          },
          "steps": [
            {"at": 0, "restart": "intact", "expect": {"dueAt": {"a": 300}, "restored": "repaired"}},
            {"at": 299, "trigger": "manual"},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes its saved state as it is (Storage.swift:203-216)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"dueAt": {"a": 100000}}},
                {"at": 299, "trigger": "manual"},
                {"at": 300, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "takes its saved state as it is (RetryStateStorage.kt:44-50)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"dueAt": {"a": 100000}}},
                {"at": 299, "trigger": "manual"},
                {"at": 300, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"restored": "fresh"}},
                {"at": 299, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 300, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "age-survives", "requirement": "S18",
          "says": "The time of the first failure survives: the age limit counts over restarts",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -43199, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "restart": "intact", "expect": {"restored": "intact"}},
            {"at": 2, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "limits the age of the events since they were queued",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"restored": "fresh"}},
                {"at": 2, "trigger": "manual", "expect": {"drops": {"a": "age"}, "queue": []}}
              ]
            }
          }
        },
        {
          "id": "failure-in-the-future", "requirement": "S18",
          "says": "A first failure in the future is taken as now: not dropped at once, but some time",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "maxTotalBackoffDuration": 10}
            }
          },
          "given": {
            "batches": [{"batch": "a", "failures": 1, "firstFailureAt": 5000, "latestFailure": "transient"}]
          },
          "steps": [
            {"at": 0, "restart": "intact", "expect": {"restored": "repaired", "queue": ["a"]}},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 10, "answer": {"batch": "a", "status": 503}},
            {"at": 20, "trigger": "manual", "expect": {"drops": {"a": "age"}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "keeps a first failure in the future (RetryState.swift:48-51)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"queue": ["a"]}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 1}}},
                {"at": 20, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-kotlin": {
              "why": "takes its saved state as it is (RetryStateStorage.kt:44-50)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"queue": ["a"]}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 1}}},
                {"at": 20, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"queue": ["a"], "restored": "fresh"}},
                {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 20, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "corrupt-is-fresh", "requirement": "S18",
          "says": "Corrupt state: fresh state, and the batch is sent",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -20, "dueAt": 60, "latestFailure": "transient"}
            ],
            "waitUntil": 100,
            "globalRetryCount": 5
          },
          "steps": [
            {"at": 10, "restart": "corrupt",
              "expect": {
                "state": "READY",
                "globalRetryCount": 0,
                "failures": {"a": 0},
                "queue": ["a"],
                "restored": "fresh"
              }},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "torn-is-fresh", "requirement": "S18",
          "says": "A file that was cut off: fresh state, and the batch is sent",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -20, "dueAt": 60, "latestFailure": "transient"}
            ],
            "waitUntil": 100,
            "globalRetryCount": 5
          },
          "steps": [
            {"at": 10, "restart": "torn",
              "expect": {
                "state": "READY",
                "globalRetryCount": 0,
                "failures": {"a": 0},
                "queue": ["a"],
                "restored": "fresh"
              }},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "missing-is-fresh", "requirement": "S18",
          "says": "No file: fresh state, and the batch is sent",
          "given": {
            "batches": [
              {"batch": "a", "failures": 3, "firstFailureAt": -20, "dueAt": 60, "latestFailure": "transient"}
            ],
            "waitUntil": 100,
            "globalRetryCount": 5
          },
          "steps": [
            {"at": 10, "restart": "missing",
              "expect": {
                "state": "READY",
                "globalRetryCount": 0,
                "failures": {"a": 0},
                "queue": ["a"],
                "restored": "fresh"
              }},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "in-memory-is-fresh", "requirement": "S18",
          "says": "A client that keeps its state in memory starts fresh",
          "client": {"persistent": false},
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "100"},
              "expect": {"waitUntil": 100}},
            {"at": 10, "restart": "intact",
              "expect": {"state": "READY", "globalRetryCount": 0, "queue": ["a"], "restored": "fresh"}},
            {"at": 10, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not apply: retry state is always kept (Storage.swift:219)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "100"}, "expect": {
                  "outcome": {"pause": 100}, "waitUntil": 100}},
                {"at": 10, "restart": "intact", "expect": {
                  "state": "WAITING", "globalRetryCount": 1, "queue": ["a"]}},
                {"at": 10, "trigger": "manual"}
              ]
            },
            "segment-kotlin": "does not apply: retry state is always kept (EventPipeline.kt:274)"
          }
        },
        {
          "id": "delivered-stays-delivered", "requirement": "S18",
          "says": "A delivered batch is never sent again",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}},
            {"at": 2, "restart": "intact", "expect": {"queue": ["b"]}},
            {"at": 3, "trigger": "manual", "expect": {"sends": ["b"]}},
            {"at": 4, "answer": {"batch": "b", "status": 200}, "expect": {"queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}},
                {"at": 2, "restart": "intact", "expect": {"queue": ["b"]}},
                {"at": 3, "trigger": "manual", "expect": {"sends": ["b"]}},
                {"at": 4, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "answer": {"batch": "a", "status": 200}},
                {"at": 2, "restart": "intact", "expect": {"queue": ["a", "b"]}},
                {"at": 3, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 4, "answer": {"batch": "b", "status": 200}, "expect": {"queue": ["a", "b"]}}
              ]
            }
          }
        },
        {
          "id": "delivered-stays-delivered-if-corrupt", "requirement": "S18",
          "says": "... not even when the state is corrupt",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 200}, "expect": {"queue": []}},
            {"at": 2, "restart": "corrupt", "expect": {"queue": [], "restored": "fresh"}},
            {"at": 3, "trigger": "manual"}
          ]
        },
        {
          "id": "dropped-stays-dropped", "requirement": "S18",
          "says": "Nor is a dropped one",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 400}, "expect": {"queue": []}},
            {"at": 2, "restart": "intact", "expect": {"queue": []}},
            {"at": 3, "trigger": "manual"}
          ]
        },
        {
          "id": "killed-during-an-upload", "requirement": "S18",
          "says": "A batch whose upload was cut off is kept and due again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 5, "restart": "intact",
              "expect": {"queue": ["a"], "failures": {"a": 0}, "restored": "intact"}},
            {"at": 5, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 6, "answer": {"batch": "a", "status": 200}, "expect": {"queue": []}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 5, "restart": "intact", "expect": {"queue": ["a"], "restored": "fresh"}},
                {"at": 5, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 6, "answer": {"batch": "a", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            }
          }
        },
        {
          "id": "killed-during-a-retry", "requirement": "S18",
          "says": "... with its count as it was",
          "given": {
            "batches": [
              {"batch": "a", "failures": 2, "firstFailureAt": -20, "dueAt": -10, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 2}]}},
            {"at": 5, "restart": "intact", "expect": {"queue": ["a"], "failures": {"a": 2}}},
            {"at": 5, "trigger": "manual", "expect": {"sends": [{"a": 2}]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": 2}]}},
                {"at": 5, "restart": "intact", "expect": {"queue": ["a"]}},
                {"at": 5, "trigger": "manual", "expect": {"sends": [{"a": null}]}}
              ]
            }
          }
        },
        {
          "id": "restart-ends-the-loop", "requirement": "S18",
          "says": "A restart ends the loop: nothing more goes out before a trigger",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "restart": "intact", "expect": {"queue": ["a", "b"]}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 3, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "restart": "intact", "expect": {"queue": ["a", "b"]}},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 3, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "restart": "intact", "expect": {"queue": ["a", "b"]}},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 3, "answer": {"batch": "a", "status": 200}}
              ]
            }
          }
        },
        {
          "id": "two-restarts", "requirement": "S18",
          "says": "Restarts do not lengthen a wait",
          "given": {"batches": ["a"], "waitUntil": 100},
          "steps": [
            {"at": 10, "restart": "intact", "expect": {"waitUntil": 100}},
            {"at": 20, "restart": "intact", "expect": {"waitUntil": 100}},
            {"at": 99.999999, "restart": "intact", "expect": {"state": "WAITING", "waitUntil": 100}},
            {"at": 100, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 10, "restart": "intact"},
                {"at": 20, "restart": "intact"},
                {"at": 99.999999, "restart": "intact", "expect": {"state": "READY"}},
                {"at": 100, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "clamped-once", "requirement": "S18",
          "says": "A clamped wait is not clamped again",
          "given": {"batches": ["a"], "waitUntil": 4000},
          "steps": [
            {"at": 0, "restart": "intact", "expect": {"waitUntil": 300, "restored": "repaired"}},
            {"at": 200, "restart": "intact", "expect": {"waitUntil": 300, "restored": "intact"}},
            {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "takes its saved state as it is (Storage.swift:203-216)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"waitUntil": 4000}},
                {"at": 200, "restart": "intact", "expect": {"waitUntil": 4000}},
                {"at": 300, "trigger": "manual"}
              ]
            },
            "segment-kotlin": {
              "why": "takes its saved state as it is (RetryStateStorage.kt:44-50)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"waitUntil": 4000}},
                {"at": 200, "restart": "intact", "expect": {"waitUntil": 4000}},
                {"at": 300, "trigger": "manual"}
              ]
            },
            "segment-react-native": {
              "why": "keeps retry state in memory only (SegmentDestination.ts:477-479)",
              "steps": [
                {"at": 0, "restart": "intact", "expect": {"restored": "fresh"}},
                {"at": 200, "restart": "intact", "expect": {"restored": "fresh"}},
                {"at": 300, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "saved-at-once", "requirement": "S18",
          "says": "A wait is saved at once: the process may die right after it",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "100"}},
            {"at": 0.000001, "restart": "intact", "expect": {"state": "WAITING", "waitUntil": 100}},
            {"at": 99, "trigger": "manual"},
            {"at": 100, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-react-native": "keeps retry state in memory only (SegmentDestination.ts:477-479)"
          }
        }
      ]
    }

    """##
}
