// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let keen = ##"""
    {
      "format": 1,
      "title": "Keen as proposed: after a 429 or a 503 the project waits, with full jitter; a batch is a query",
      "client": "keen-proposed",
      "cases": [
        {
          "id": "keen-429-holds", "requirement": "K2",
          "says": "After a 429 all of the project waits for up to 30 s",
          "jitter": "highest",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429}},
            {"at": 1, "events": 1, "seals": "b"},
            {"at": 29.9, "trigger": "manual", "expect": {"queue": ["a", "b"]}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a", "b"]}}
          ]
        },
        {
          "id": "keen-503-holds", "requirement": "K2",
          "says": "... and after a 503",
          "jitter": "highest",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503}},
            {"at": 29.9, "trigger": "manual", "expect": {"queue": ["a"]}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "keen-lowest-draw", "requirement": "K2",
          "says": "The delay is drawn from 0 on: with the lowest there is none",
          "jitter": "lowest",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429}},
            {"at": 0.000001, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "keen-second-failure", "requirement": "K2",
          "says": "The second failure waits twice as long, from itself on",
          "jitter": "highest",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 31, "answer": {"batch": "a", "status": 429}},
            {"at": 90.9, "trigger": "manual", "expect": {"queue": ["a"]}},
            {"at": 91, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "keen-success-clears", "requirement": "K2",
          "says": "A success clears the count",
          "jitter": "highest",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429}},
            {"at": 30, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 31, "answer": {"batch": "a", "status": 200}, "expect": {"outcome": "delivered", "queue": []}},
            {"at": 32, "events": 1, "seals": "b"},
            {"at": 33, "trigger": "manual", "expect": {"sends": ["b"]}},
            {"at": 33, "answer": {"batch": "b", "status": 429}},
            {"at": 62.9, "trigger": "manual", "expect": {"queue": ["b"]}},
            {"at": 63, "trigger": "manual", "expect": {"sends": ["b"]}}
          ]
        },
        {
          "id": "keen-400-holds-nothing", "requirement": "K2",
          "says": "Other statuses make nobody wait",
          "jitter": "highest",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400}},
            {"at": 1, "events": 1, "seals": "b"},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["b"]}}
          ]
        }
      ]
    }

    """##
}
