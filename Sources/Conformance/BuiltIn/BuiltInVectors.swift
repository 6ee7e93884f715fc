// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

enum BuiltInVectors {
  static let all: [(name: String, text: String)] = [
    ("backoff", backoff),
    ("legacy", legacy),
    ("limits", limits),
    ("pipeline-states", pipelineStates),
    ("restarts", restarts),
    ("retry-after", retryAfter),
    ("retry-count", retryCount),
    ("settings", settings),
    ("settings-repairs", settingsRepairs),
    ("statuses-4xx", statuses4xx),
    ("statuses-5xx", statuses5xx),
    ("triggers", triggers),
    ("upload-loop", uploadLoop),
  ]
}
