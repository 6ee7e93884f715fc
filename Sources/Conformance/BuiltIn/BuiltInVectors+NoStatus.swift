// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let noStatus = ##"""
    {
      "format": 1,
      "title": "Failures without a status: they back off",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "no-status-backs-off", "requirement": "S9",
          "says": "A time-out or a lost connection backs the batch off as a 5xx does",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 30, "answer": {"batch": "a", "status": "none"},
              "expect": {
                "outcome": {"retry": 0.5},
                "failures": {"a": 1},
                "globalRetryCount": 0,
                "queue": ["a"]
              }},
            {"at": 30.4, "trigger": "manual"},
            {"at": 30.5, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "leaves retry state untouched: tried again at the next flush",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 30, "answer": {"batch": "a", "status": "none"}, "expect": {
                  "outcome": "retryAtNextTrigger", "globalRetryCount": 0, "failures": {"a": 0},
                  "queue": ["a"]}},
                {"at": 30.4, "trigger": "manual", "expect": {"sends": [{"a": null}]}},
                {"at": 30.5, "trigger": "manual"}
              ]
            }
          }
        },
        {
          "id": "no-status-twice", "requirement": "S9",
          "says": "The second failure in a row waits twice as long",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": "none"}, "expect": {"outcome": {"retry": 0.5}}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 3, "answer": {"batch": "a", "status": "none"},
              "expect": {"outcome": {"retry": 1}, "failures": {"a": 2}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "leaves retry state untouched: tried again at the next flush",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": "none"}, "expect": {
                  "outcome": "retryAtNextTrigger"}},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 3, "answer": {"batch": "a", "status": "none"}, "expect": {
                  "outcome": "retryAtNextTrigger", "failures": {"a": 0}}}
              ]
            }
          }
        },
        {
          "id": "no-status-after-503", "requirement": "S9",
          "says": "It counts on with other transient failures of its batch",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
            {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 3, "answer": {"batch": "a", "status": "none"},
              "expect": {"outcome": {"retry": 1}, "failures": {"a": 2}}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "leaves retry state untouched: tried again at the next flush",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": 503}, "expect": {"outcome": {"retry": 0.5}}},
                {"at": 2, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 3, "answer": {"batch": "a", "status": "none"}, "expect": {
                  "outcome": "retryAtNextTrigger", "failures": {"a": 1}}}
              ]
            }
          }
        },
        {
          "id": "no-status-is-no-500", "requirement": "S9",
          "says": "What the Settings say about 500 does not touch it",
          "settings": {
            "httpConfig": {
              "rateLimitConfig": {},
              "backoffConfig": {"jitterPercent": 0, "statusCodeOverrides": {"500": "drop"}}
            }
          },
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": "none"},
              "expect": {"outcome": {"retry": 0.5}, "queue": ["a"]}}
          ],
          "deviates": {
            "segment-swift": {
              "why": "leaves retry state untouched: tried again at the next flush",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": "none"}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a"]}}
              ]
            },
            "segment-kotlin": {
              "why": "forgets the failure and keeps the file (EventPipeline.kt:314-324)",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": "none"}, "expect": {
                  "outcome": "retryAtNextTrigger", "queue": ["a"]}}
              ]
            }
          }
        },
        {
          "id": "no-status-leaves-pipeline", "requirement": "S9",
          "says": "It leaves the pipeline READY",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": "none"},
              "expect": {"state": "READY", "globalRetryCount": 0}}
          ],
          "deviates": {
            "segment-react-native": {
              "why": "the whole client backs off",
              "steps": [
                {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
                {"at": 1, "answer": {"batch": "a", "status": "none"}, "expect": {
                  "outcome": {"retry": 0.5}, "state": "WAITING"}}
              ]
            }
          }
        }
      ]
    }

    """##
}
