// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

extension BuiltInVectors {
  static let statuses4xx = ##"""
    {
      "format": 1,
      "title": "4xx: which are dropped, which retried (the document's first table)",
      "settings": {"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"jitterPercent": 0}}},
      "cases": [
        {
          "id": "status-400-drops", "requirement": "S5",
          "says": "400 Bad Request: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 400},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-401-drops", "requirement": "S5",
          "says": "401 Unauthorized: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 401},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-403-drops", "requirement": "S5",
          "says": "403 Forbidden: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 403},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-404-drops", "requirement": "S5",
          "says": "404 Not Found: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 404},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-413-drops", "requirement": "S5",
          "says": "413 Payload too large: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 413},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-422-drops", "requirement": "S5",
          "says": "422 Unprocessable Entity, the server's own retry limit: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 422},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-408-retries", "requirement": "S5",
          "says": "408 Request Timeout: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 408},
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
          "id": "status-410-retries", "requirement": "S5",
          "says": "410 Resource no longer available: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 410},
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
          "id": "status-460-retries", "requirement": "S5",
          "says": "460 Client timeout shorter than the load balancer's: backs off, then is sent again",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 460},
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
          "id": "status-429-pauses", "requirement": "S5",
          "says": "429 Too Many Requests: the whole pipeline waits for Retry-After",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 429, "retryAfter": "10"},
              "expect": {
                "outcome": {"pause": 10},
                "state": "WAITING",
                "waitUntil": 11,
                "globalRetryCount": 1,
                "failures": {"a": 0},
                "queue": ["a"]
              }},
            {"at": 10.999999, "trigger": "manual", "expect": {"state": "WAITING"}},
            {"at": 11, "trigger": "manual", "expect": {"sends": [{"a": 1}]}}
          ]
        },
        {
          "id": "status-402-drops", "requirement": "S5",
          "says": "402 Payment Required, not in the table: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 402},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-405-drops", "requirement": "S5",
          "says": "405 Method Not Allowed, a 4xx that the table does not name: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 405},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-418-drops", "requirement": "S5",
          "says": "418 a 4xx that the table does not name: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 418},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-428-drops", "requirement": "S5",
          "says": "428 a 4xx that the table does not name: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 428},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-430-drops", "requirement": "S5",
          "says": "430 a 4xx that the table does not name: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 430},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        },
        {
          "id": "status-499-drops", "requirement": "S5",
          "says": "499 the last 4xx: dropped",
          "given": {"batches": ["a"]},
          "steps": [
            {"at": 0, "trigger": "manual", "expect": {"sends": ["a"]}},
            {"at": 1, "answer": {"batch": "a", "status": 499},
              "expect": {"outcome": {"drop": "status"}, "queue": [], "globalRetryCount": 0}},
            {"at": 400, "trigger": "manual"}
          ]
        }
      ]
    }

    """##
}
