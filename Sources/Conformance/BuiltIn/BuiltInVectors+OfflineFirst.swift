// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let offlineFirst = ##"""
    {
      "format": 1,
      "title": "Offline first: operations in the background wait by themselves, 5 s at first, full jitter",
      "client": "offline-first",
      "cases": [
        {
          "id": "offline-retry-after-is-longer", "requirement": "O2",
          "says": "A Retry-After beyond the own delay counts",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "50"}, "expect": {
              "outcome": {"retry": 50}, "queue": ["a"]}}
          ]
        },
        {
          "id": "offline-own-delay-is-longer", "requirement": "O2",
          "says": "... and the own delay beyond a Retry-After",
          "jitter": "highest",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 503, "retryAfter": "2"}, "expect": {
              "outcome": {"retry": 5}}}
          ]
        },
        {
          "id": "offline-429-too", "requirement": "O2",
          "says": "A 429 makes its own operation wait, and no other",
          "given": {"batches": ["a", "b"]},
          "client": {"uploads": 1},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 429, "retryAfter": "50"}, "expect": {
              "sends": ["b"], "outcome": {"retry": 50}}}
          ]
        },
        {
          "id": "offline-401-refreshes", "requirement": "O9",
          "says": "A 401 refreshes the credentials, and the operation is tried again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 401}, "expect": {
              "outcome": "refreshCredentials", "queue": ["a"]}},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}}
          ]
        },
        {
          "id": "offline-401-once", "requirement": "O9",
          "says": "... once: after the second 401 somebody has to do something",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 401}},
            {"at": 60, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 60, "answer": {"batch": "a", "status": 401}, "expect": {"outcome": {"block": "status"}}},
            {"at": 120, "trigger": "manual"}
          ]
        },
        {
          "id": "offline-400-is-blocked", "requirement": "O3",
          "says": "What is not retried is blocked",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400}, "expect": {"outcome": {"block": "status"}}},
            {"at": 60, "trigger": "manual"}
          ]
        },
        {
          "id": "offline-blocks-no-other", "requirement": "O3",
          "says": "... and stops nobody else",
          "client": {"uploads": 1},
          "given": {"batches": ["a", "b"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 0, "answer": {"batch": "a", "status": 400}, "expect": {
              "sends": ["b"], "outcome": {"block": "status"}}}
          ]
        }
      ]
    }

    """##
}
