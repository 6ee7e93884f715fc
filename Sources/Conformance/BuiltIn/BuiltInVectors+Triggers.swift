// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let triggers = ##"""
    {
      "format": 1,
      "title": "The upload gate: what starts a loop, its order, and what comes while it runs",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "trigger-interval", "requirement": "S17",
          "says": "The flush interval starts the loop",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 1, "trigger": "interval", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "trigger-manual", "requirement": "S17",
          "says": "A manual flush starts the loop",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 1, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "trigger-reconnect", "requirement": "S17",
          "says": "Coming back online starts the loop",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 1, "trigger": "reconnect", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "trigger-foreground", "requirement": "S17",
          "says": "Coming to the foreground starts the loop",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 1, "trigger": "foreground", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not flush in the foreground (SegmentDestination.swift:111)",
              "steps": [
                {"at": 1, "trigger": "foreground"}
              ]
            }
          }
        },
        {
          "id": "trigger-background", "requirement": "S17",
          "says": "Going to the background starts the loop",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 1, "trigger": "background", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "trigger-count", "requirement": "S17",
          "says": "The 20th event starts the loop, the 19th does not",
          "given": {"batches": []},
          "steps": [
            {"at": 1, "events": 19, "seals": "a", "expect": {"queue": []}},
            {"at": 2, "events": 1, "seals": "a", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "trigger-count-own", "requirement": "S17",
          "says": "flushAt 5: the fifth",
          "client": {"flushAt": 5},
          "given": {"batches": []},
          "steps": [
            {"at": 1, "events": 4, "seals": "a"},
            {"at": 2, "events": 1, "seals": "a", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "one-event-is-no-trigger", "requirement": "S17",
          "says": "A single event is no trigger, even with a retry due",
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 10, "events": 1, "seals": "b", "expect": {"queue": ["a"]}}
          ]
        },
        {
          "id": "count-restarts-at-a-flush", "requirement": "S17",
          "says": "The count restarts at every flush",
          "given": {"batches": []},
          "steps": [
            {"at": 1, "events": 10, "seals": "a"},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 3, "answer": {"batch": "a", "status": 200}},
            {"at": 4, "events": 19, "seals": "b"},
            {"at": 5, "events": 1, "seals": "b", "expect": {"sends": ["b"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "only its own flush starts the count over (CountBasedFlushPolicy.swift:45)",
              "steps": [
                {"at": 1, "events": 10, "seals": "a"},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 3, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}},
                {"at": 4, "events": 19, "seals": "b", "expect": {"sends": ["b"]}},
                {"at": 5, "events": 1, "seals": "b"}
              ]
            }
          }
        },
        {
          "id": "count-restarts-when-blocked", "requirement": "S17",
          "says": "... at a blocked one too",
          "given": {"batches": [], "waitUntil": 30},
          "steps": [
            {"at": 1, "events": 20, "seals": "a", "expect": {"queue": ["a"], "state": "WAITING"}},
            {"at": 2, "events": 19, "seals": "b", "expect": {"queue": ["a"]}},
            {"at": 40, "events": 1, "seals": "b", "expect": {"sends": ["a"], "queue": ["a", "b"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 1, "events": 20, "seals": "a", "expect": {"state": "WAITING", "queue": ["a"]}},
                {"at": 2, "events": 19, "seals": "b", "expect": {"queue": ["a"]}},
                {"at": 40, "events": 1, "seals": "b", "expect": {"sends": ["a", "b"], "queue": ["a", "b"]}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 1, "events": 20, "seals": "a", "expect": {"state": "WAITING", "queue": ["a"]}},
                {"at": 2, "events": 19, "seals": "b", "expect": {"queue": ["a"]}},
                {"at": 40, "events": 1, "seals": "b", "expect": {"sends": ["a", "b"], "queue": ["a", "b"]}}
              ]
            }
          }
        },
        {
          "id": "waiting-trigger-is-deferred", "requirement": "S17",
          "says": "A trigger before waitUntilTime sends nothing; nothing is lost by it",
          "given": {"batches": ["a"], "waitUntil": 30},
          "steps": [
            {"at": 10, "trigger": "manual", "expect": {"state": "WAITING", "queue": ["a"]}},
            {"at": 20, "trigger": "background", "expect": {"queue": ["a"]}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "nothing-new", "requirement": "S17",
          "says": "A flush with nothing new runs the loop over what is due",
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": -10, "dueAt": -1, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 1, "trigger": "interval", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "nothing-at-all", "requirement": "S17",
          "says": "A flush of an empty queue sends nothing",
          "given": {"batches": []},
          "steps": [
            {"at": 1, "trigger": "manual", "expect": {"queue": []}},
            {"at": 2, "trigger": "interval"}
          ]
        },
        {
          "id": "not-due-waits-for-a-trigger", "requirement": "S17",
          "says": "A batch not due at a trigger goes out at the first trigger after its time",
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": -1, "dueAt": 30, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 29, "trigger": "manual", "expect": {"queue": ["a"]}},
            {"at": 31, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "oldest-to-newest", "requirement": "S17",
          "says": "The loop goes from the oldest to the newest",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 1, "events": 20, "seals": "c", "expect": {"sends": ["a"]}},
            {"at": 2, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}},
            {"at": 3, "answer": {"batch": "b", "status": 200}, "expect": {"sends": ["c"]}},
            {"at": 4, "answer": {"batch": "c", "status": 200}, "expect": {"queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 1, "events": 20, "seals": "c", "expect": {"sends": ["a", "b", "c"]}},
                {"at": 2, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}},
                {"at": 3, "answer": {"batch": "b", "status": 200}, "expect": {"outcome": "delivered"}},
                {"at": 4, "answer": {"batch": "c", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 1, "events": 20, "seals": "c", "expect": {"sends": ["a", "b", "c"]}}
              ]
            }
          }
        },
        {
          "id": "no-second-loop", "requirement": "S17",
          "says": "A trigger during a loop starts no second one",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "trigger": "manual"},
            {"at": 2, "trigger": "interval"},
            {"at": 3, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}},
            {"at": 4, "trigger": "manual"},
            {"at": 5, "answer": {"batch": "b", "status": 200}, "expect": {"queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "trigger": "manual"},
                {"at": 2, "trigger": "interval"},
                {"at": 3, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}},
                {"at": 4, "trigger": "manual"},
                {"at": 5, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "trigger": "manual"},
                {"at": 2, "trigger": "interval"},
                {"at": 3, "answer": {"batch": "a", "status": 200}},
                {"at": 4, "trigger": "manual"},
                {"at": 5, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": []}}
              ]
            }
          }
        },
        {
          "id": "sealed-meanwhile", "requirement": "S17",
          "says": "What is sealed while the loop runs is reached by it",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "events": 20, "seals": "b", "expect": {"queue": ["a", "b"]}},
            {"at": 2, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}},
            {"at": 3, "answer": {"batch": "b", "status": 200}, "expect": {"queue": []}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "ignores a flush while uploads run",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "events": 20, "seals": "b", "expect": {"queue": ["a"]}},
                {"at": 2, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}}
              ]
            },
            "segment-react-native": {
              "why": "ignores a flush during a flush (QueueFlushingPlugin.ts:77-84)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "events": 20, "seals": "b", "expect": {"queue": ["a", "b"]}},
                {"at": 2, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}}
              ]
            }
          }
        },
        {
          "id": "no-way-back", "requirement": "S17",
          "says": "The loop does not return to a batch that became due behind it",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"sends": ["b"], "dueAt": {"a": 0.5}}},
            {"at": 10, "answer": {"batch": "b", "status": 200}, "expect": {"queue": ["a"]}},
            {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"retry": 0.5}, "dueAt": {"a": 0.5}}},
                {"at": 10, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": ["a"]}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            },
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}},
                {"at": 10, "answer": {"batch": "b", "status": 200}, "expect": {
                  "outcome": "delivered", "queue": ["a"]}},
                {"at": 11, "trigger": "manual", "expect": {"sends": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "due-ahead-of-the-loop", "requirement": "S17",
          "says": "... but takes one that became due ahead of it",
          "given": {
            "batches": [
              "a",
              {"batch": "b", "failures": 1, "firstFailureAt": -1, "dueAt": 5, "latestFailure": "transient"}
            ]
          },
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 10, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["b"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 10, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}}
              ]
            },
            "segment-react-native": {
              "why": "keeps one retry record for the whole client",
              "steps": [
                {"at": 0, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "timer-wakes-a-loop", "requirement": "S17",
          "says": "A client with a timer starts the next loop at the due time",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"dueAt": {"a": 0.5}}},
            {"at": 0.5, "trigger": "wakeUp", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not apply: it sets no timer for a due time",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {
                  "outcome": {"retry": 0.5}, "dueAt": {"a": 0.5}}},
                {"at": 0.5, "trigger": "wakeUp"}
              ]
            },
            "segment-kotlin": "does not apply: it sets no timer for a due time",
            "segment-react-native": {
              "why": "does not apply: it sets no timer for a due time",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 0.5, "trigger": "wakeUp"}
              ]
            }
          }
        },
        {
          "id": "timer-inside-a-wait", "requirement": "S17",
          "says": "A wake-up inside a wait sends nothing either",
          "given": {
            "batches": [
              {"batch": "a", "failures": 1, "firstFailureAt": -10, "dueAt": 1, "latestFailure": "transient"}
            ],
            "waitUntil": 30
          },
          "steps": [
            {"at": 1, "trigger": "wakeUp", "expect": {"state": "WAITING", "queue": ["a"]}}
          ]
        },
        {
          "id": "overflow-drops-the-oldest", "requirement": "S17",
          "says": "Too many events: the oldest batch goes",
          "client": {"maximumEvents": 40},
          "given": {"batches": [{"batch": "a", "events": 20}, {"batch": "b", "events": 20}]},
          "steps": [
            {"at": 1, "events": 20, "seals": "c",
              "expect": {"sends": ["b"], "drops": {"a": "overflow"}, "queue": ["b", "c"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "does not apply: its store has no limit (DirectoryStore.swift:62)",
              "steps": [
                {"at": 1, "events": 20, "seals": "c", "expect": {
                  "sends": ["a", "b", "c"], "queue": ["a", "b", "c"]}}
              ]
            },
            "segment-kotlin": "does not apply: its store has no limit",
            "segment-react-native": {
              "why": "does not apply: its queue has no limit (QueueFlushingPlugin.ts:64-71)",
              "steps": [
                {"at": 1, "events": 20, "seals": "c", "expect": {
                  "sends": ["a", "b", "c"], "queue": ["a", "b", "c"]}}
              ]
            }
          }
        },
        {
          "id": "overflow-spares-what-is-in-flight", "requirement": "S17",
          "says": "... but never one in flight: the oldest other one",
          "client": {"maximumEvents": 40},
          "given": {"batches": [{"batch": "a", "events": 20}, {"batch": "b", "events": 20}]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "events": 20, "seals": "c", "expect": {"drops": {"b": "overflow"}, "queue": ["a", "c"]}},
            {"at": 2, "answer": {"batch": "a", "status": 200}, "expect": {"sends": ["c"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "events": 20, "seals": "c", "expect": {"queue": ["a", "b"]}},
                {"at": 2, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered"}}
              ]
            },
            "segment-kotlin": "does not apply: its store has no limit",
            "segment-react-native": {
              "why": "sends all batches of a flush at once",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a", "b"]}},
                {"at": 1, "events": 20, "seals": "c", "expect": {"queue": ["a", "b", "c"]}},
                {"at": 2, "answer": {"batch": "a", "status": 200}}
              ]
            }
          }
        },
        {
          "id": "no-loop-after-it-either", "requirement": "S17",
          "says": "... and none after it: what has become due meanwhile waits for the next trigger",
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"sends": ["b"], "dueAt": {"a": 0.5}}},
            {"at": 1, "trigger": "manual"},
            {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {"queue": ["a"]}},
            {"at": 3, "trigger": "manual", "expect": {"sends": ["a"]}}
          ],
          "deviates": {
            "segment-swift": "sends all batches of a flush at once",
            "segment-kotlin": {
              "why": "each trigger during a loop makes another one follow",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"sends": ["b"]}},
                {"at": 1, "trigger": "manual"},
                {"at": 2, "answer": {"batch": "b", "status": 200}, "expect": {"sends": ["a"], "queue": ["a"]}}
              ]
            },
            "segment-react-native": "sends all batches of a flush at once"
          }
        }
      ]
    }

    """##
}
