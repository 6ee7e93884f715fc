extension AnalyticsReactNativeSettings {
  /// Where in analytics-react-native a switch of its preset has its value from, by the switch's path.
  static let switchSources = [
    "queue.mode": observed,
    "queue.maximumBatchEvents": observed,
    "queue.maximumBatchSize": observed,
    "uploadConcurrency": "SegmentDestination.ts:377-385",
    "settingsDialect": "SegmentDestination.ts:455-467, config-validation.ts:18-140",
    "uploadLoop.actsAtFlushEnd": "SegmentDestination.ts:383-395",
    "uploadLoop.saving": "SegmentDestination.ts:477-479, RetryManager.ts:74, :91-93",
    "uploadLoop.triggers": "RetryManager.ts:113",
    "policy.missingRetryAfter": "SegmentDestination.ts:110",
    "policy.retryAfterOnOtherCodes": "SegmentDestination.ts:288-296",
    "policy.noStatus": "SegmentDestination.ts:179-181, :217-220",
    "policy.retryCountHeader": "api.ts:18-21",
    "policy.twoWaits": "SegmentDestination.ts:288-296",
    "policy.limitReached": "RetryManager.ts:255-261, SegmentDestination.ts:331-340",
    "policy.rateLimitingOff": "errors.ts:171",
    "policy.successEndsWait": observed,
    "policy.ageLimit": "SegmentDestination.ts:235-271, RetryManager.ts:257-259",
    "policy.backoffOff": "errors.ts:188-190, :160-162",
    "policy.overridden429": "errors.ts:153-168",
    "policy.exponent": "RetryManager.ts:222-223",
  ]
}
