// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.

enum BuiltInVectors {
  static let all: [(name: String, text: String)] = [
    ("backoff", backoff),
    ("datafly", datafly),
    ("keen", keen),
    ("legacy", legacy),
    ("limits-age", limitsAge),
    ("limits-count", limitsCount),
    ("no-status", noStatus),
    ("offline-first", offlineFirst),
    ("pipeline-states", pipelineStates),
    ("restarts", restarts),
    ("retry-after", retryAfter),
    ("retry-after-dates", retryAfterDates),
    ("retry-after-elsewhere", retryAfterElsewhere),
    ("retry-count", retryCount),
    ("settings-missing", settingsMissing),
    ("settings-repairs-backoff", settingsRepairsBackoff),
    ("settings-repairs-rate-limit", settingsRepairsRateLimit),
    ("settings-repairs-structure", settingsRepairsStructure),
    ("settings-shapes", settingsShapes),
    ("settings-statuses", settingsStatuses),
    ("statuses-4xx", statuses4xx),
    ("statuses-5xx", statuses5xx),
    ("toggl", toggl),
    ("triggers", triggers),
    ("upload-loop", uploadLoop),
  ]
}
