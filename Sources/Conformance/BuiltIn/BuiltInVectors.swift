// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

enum BuiltInVectors {
  static let all: [(name: String, text: String)] = [
    ("backoff", backoff),
    ("limits", limits),
    ("retry-after", retryAfter),
    ("retry-count", retryCount),
    ("statuses-4xx", statuses4xx),
    ("statuses-5xx", statuses5xx),
    ("upload-loop", uploadLoop),
  ]
}
