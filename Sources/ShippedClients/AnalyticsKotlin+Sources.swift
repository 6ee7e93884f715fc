extension AnalyticsKotlinSettings {
  /// Where in analytics-kotlin a switch of its preset has its value from, by the switch's path.
  static let switchSources = [
    "flushWhileUploading": observed,
    "settingsDialect": "SegmentDestination.kt:121-131, RetryConfig.kt:132-135",
    "uploadLoop.rateLimitEndsLoop": observed,
    "uploadLoop.saving": "EventPipeline.kt:274, RetryStateStorage.kt:44-50",
    "uploadLoop.triggers": observed,
    "policy.clampAfterJitter": "RetryStateMachine.kt:110",
    "policy.retryAfterForms": "EventPipeline.kt:256",
    "policy.noStatus": "EventPipeline.kt:265, :314-324",
    "policy.retryCountHeader": "EventPipeline.kt:234, RetryStateMachine.kt:174-177",
    "policy.rateLimitingOff": "RetryStateMachine.kt:42-45, :190",
    "policy.sendsAtLimit": "RetryStateMachine.kt:142-146, :152-156",
    "policy.limitsCheck": "RetryStateMachine.kt:152-168",
    "policy.rateLimitRecord": "RetryStateMachine.kt:59-71",
    "policy.backoffOff": "RetryStateMachine.kt:48-55, :193",
    "policy.withoutSettings": "EventPipeline.kt:68-73",
    "policy.belowSuccess": "HTTPClient.kt:109",
    "policy.waitsInMilliseconds": "RetryStateMachine.kt:108",
  ]
}
