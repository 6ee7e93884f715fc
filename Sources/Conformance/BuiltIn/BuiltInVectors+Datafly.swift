// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let datafly = ##"""
    {
      "format": 1,
      "title": "Datafly: a full queue, what makes a flush, the schedule, which statuses are retried",
      "client": "datafly",
      "cases": [
        {
          "id": "datafly-schedule", "requirement": "D4",
          "says": "Waits of 1, 2, 4, 8, 16 and 32 s, plus 0 to 50 %",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "interval", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": [1, 1.5]}}},
            {"at": 10, "trigger": "wakeUp", "expect": {"sends": ["a"]}},
            {"at": 10, "answer": {"batch": "a", "status": 500}, "expect": {"outcome": {"retry": [2, 3]}}},
            {"at": 20, "trigger": "wakeUp", "expect": {"sends": ["a"]}},
            {"at": 20, "answer": {"batch": "a", "status": 502}, "expect": {"outcome": {"retry": [4, 6]}}},
            {"at": 30, "trigger": "wakeUp", "expect": {"sends": ["a"]}},
            {"at": 30, "answer": {"batch": "a", "status": 504}, "expect": {"outcome": {"retry": [8, 12]}}},
            {"at": 50, "trigger": "wakeUp", "expect": {"sends": ["a"]}},
            {"at": 50, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": [16, 24]}}},
            {"at": 80, "trigger": "wakeUp", "expect": {"sends": ["a"]}},
            {"at": 80, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": [32, 48]}}}
          ]
        },
        {
          "id": "datafly-lowest-wait", "requirement": "D4",
          "says": "The lowest draw adds nothing: sent 1 s later and not before",
          "given": {"batches": ["a"]},
          "jitter": "lowest",
          "steps": [
            {"at": 0, "trigger": "interval", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}},
            {"at": 0.999999, "trigger": "interval"},
            {"at": 1, "trigger": "wakeUp", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "datafly-nothing-is-lost", "requirement": "D4",
          "says": "After the seventh try the events are pending again; the next trigger starts over",
          "given": {"batches": [
            {"batch": "a", "failures": 6, "firstFailureAt": -100, "dueAt": -1, "latestFailure": "transient"}
          ]},
          "steps": [
            {"at": 0, "trigger": "interval", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}, "expect": {"queue": ["a"]}},
            {"at": 30, "trigger": "interval", "expect": {"sends": ["a"], "queue": ["a"]}},
            {"at": 30, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": [1, 1.5]}}}
          ]
        },
        {
          "id": "datafly-404-retries", "requirement": "D5",
          "says": "404 is not in the list of what is not retried",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "interval", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 404}, "expect": {
              "outcome": {"retry": [1, 1.5]}, "queue": ["a"]}}
          ]
        },
        {
          "id": "datafly-429-backs-off", "requirement": "D5",
          "says": "429 is a status like others, and no Retry-After is read",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "interval", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "100"}, "expect": {
              "outcome": {"retry": [1, 1.5]}, "queue": ["a"]}}
          ]
        },
        {
          "id": "datafly-400-drops", "requirement": "D5",
          "says": "400: retrying won't help",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "interval", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400}, "expect": {
              "outcome": {"drop": "status"}, "queue": []}}
          ]
        },
        {
          "id": "datafly-401-drops", "requirement": "D5",
          "says": "401: an invalid key",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "interval", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 401}, "expect": {
              "outcome": {"drop": "status"}, "queue": []}}
          ]
        },
        {
          "id": "datafly-oldest-goes", "requirement": "D1",
          "says": "The queue holds as many events as it is told to; the oldest makes room for a new one",
          "client": {"maximumEvents": 3, "flushAt": 1},
          "given": {"batches": ["a", "b", "c"]},
          "steps": [
            {"at": 1, "events": 1, "seals": "d", "expect": {
              "sends": ["b+c+d"], "drops": {"a": "overflow"}, "queue": ["b", "c", "d"]}}
          ]
        },
        {
          "id": "datafly-twentieth-event", "requirement": "D2",
          "says": "Twenty events make a flush",
          "steps": [
            {"at": 1, "events": 19, "seals": "a"},
            {"at": 2, "events": 1, "seals": "a", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "datafly-network-is-back", "requirement": "D2",
          "says": "The restored network makes a flush",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 1, "trigger": "reconnect", "expect": {"sends": ["a"]}}
          ]
        }
      ]
    }

    """##
}
