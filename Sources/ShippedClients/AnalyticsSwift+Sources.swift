extension AnalyticsSwiftSettings {
  /// Where in analytics-swift a switch of its preset has its value from, by the switch's path.
  static let switchSources = [
    "uploadConcurrency": "SegmentDestination.swift:168-218",
    "flushWhileUploading": "SegmentDestination.swift:145-154",
    "settingsDialect": "SegmentDestination.swift:80-82, HttpConfig.swift:161-167",
    "uploadLoop.saving": "Storage.swift:203-216",
    "uploadLoop.triggers": "SegmentDestination.swift:111",
    "uploadLoop.countOfAnEvent": observed,
    "uploadLoop.countsAllEvents": "CountBasedFlushPolicy.swift:45",
    "policy.clampAfterJitter": "RetryStateMachine.swift:176",
    "policy.retryAfterOnOtherCodes": "RetryStateMachine.swift:44",
    "policy.retryAfterForms": "HTTPClient.swift:152",
    "policy.noStatus": "HTTPClient.swift:156-159",
    "policy.retryCountHeader": "RetryStateMachine.swift:121-124, HTTPClient.swift:104",
    "policy.rateLimitingOff": "RetryStateMachine.swift:131",
    "policy.sendsAtLimit": "RetryStateMachine.swift:85, :99",
    "policy.limitsCheck": "RetryStateMachine.swift:98, :106, :114",
    "policy.rateLimitRecord": "RetryStateMachine.swift:93",
    "policy.backoffOff": "RetryStateMachine.swift:40-50",
    "policy.withoutSettings": "SegmentDestination.swift:80-82, HTTPClient.swift:48-54",
    "policy.overridden429": "RetryStateMachine.swift:28-32, :133-142",
    "policy.belowSuccess": "HTTPClient.swift:185",
  ]
}
