import ShippedClients
import TestSupport
import Testing
import UploadRetry

/// Settings with which the SDKs' own code was run, hostile ones first, and what came of them.
@Suite("Settings as recorded")
struct RecordedSettingsTests {
  @Test(
    "analytics-swift makes of recorded Settings what its own code made of them",
    arguments: [
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryCount": 1, "maxRetryInterval": 3600}, "backoffConfig": {"maxRetryCount": 2.5, "baseBackoffInterval": 60, "maxBackoffInterval": 300, "jitterPercent": 5, "default4xxBehavior": "retry"}}}"#,
        "unmanaged"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true, "maxTotalBackoffDuration": 3600}, "backoffConfig": {"enabled": true, "maxRetryCount": 3, "baseBackoffInterval": 0.1, "jitterPercent": 20, "statusCodeOverrides": {"429": "drop"}}}}"#,
        "on 100 300 max | on 3 0.1 300 43200 20 dddddrrrrr drop drops 429"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": false}, "backoffConfig": {"enabled": true, "baseBackoffInterval": 0.1, "default5xxBehavior": "retry", "unknownCodeBehavior": "drop", "statusCodeOverrides": {"408": "drop", "429": "retry"}}}}"#,
        "off 100 300 max | on 100 0.1 300 43200 10 dddddrrrrr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true}, "backoffConfig": {"enabled": true, "baseBackoffInterval": 0.1, "maxTotalBackoffDuration": 10, "jitterPercent": 50, "default5xxBehavior": "retry", "statusCodeOverrides": {"429": "drop"}}}}"#,
        "on 100 300 max | on 100 0.1 300 10 50 dddddrrrrr drop drops 429"
      ),
      (
        #"{"integrations": {"Segment.io": {"apiKey": "x", "httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryCount": 2}, "backoffConfig": {"enabled": null, "maxTotalBackoffDuration": 60, "statusCodeOverrides": {"429": "drop"}}}}}}"#,
        "on 2 300 max | on 100 0.5 300 60 10 dddddrrrrr drop drops 429"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryCount": 2}, "backoffConfig": {"enabled": null, "maxRetryCount": 1, "maxBackoffInterval": 3601, "jitterPercent": 100, "retryableStatusCodes": [500, 503]}}}"#,
        "on 2 300 max | on 1 0.5 3601 43200 100 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": null, "maxRetryCount": 5, "maxTotalBackoffDuration": 60}, "backoffConfig": {"enabled": true, "baseBackoffInterval": 0.5, "maxBackoffInterval": 3600, "jitterPercent": 50, "unknownCodeBehavior": "drop"}}}"#,
        "on 5 300 max | on 100 0.5 3600 43200 50 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryCount": 5, "maxRetryInterval": 1}, "backoffConfig": {"enabled": true, "baseBackoffInterval": 0.5, "maxBackoffInterval": 300, "jitterPercent": 1}}}"#,
        "on 5 1 max | on 100 0.5 300 43200 1 ddrrrrdrdr drop"
      ),
      (
        #"{"integrations": {"Segment.io": {"apiKey": "x", "httpConfig": {"rateLimitConfig": {"enabled": true}, "backoffConfig": {"enabled": true, "baseBackoffInterval": 0.1, "default5xxBehavior": null}}}}}"#,
        "on 100 300 max | on 100 0.1 300 43200 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": true, "maxRetryCount": 100, "baseBackoffInterval": 0.5, "maxBackoffInterval": 300, "maxTotalBackoffDuration": 60, "default4xxBehavior": "retry", "statusCodeOverrides": {}}}}"#,
        "on 100 300 max | on 100 0.5 300 60 10 drrrrrrrrr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true}, "backoffConfig": {"enabled": true, "maxTotalBackoffDuration": 43200, "jitterPercent": 1, "retryableStatusCodes": [500, 503]}}}"#,
        "on 100 300 max | on 100 0.5 300 43200 1 ddrrrrdrdr drop"
      ),
      (
        #"{"integrations": {"Segment.io": {"apiKey": "x", "httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryCount": 100}, "backoffConfig": {"enabled": false, "baseBackoffInterval": 0.1, "maxBackoffInterval": 10}}}}}"#,
        "on 100 300 max | off 100 0.1 10 43200 10 ddrrrrdrdr drop"
      ),
      (
        #"{"integrations": {"Segment.io": {"apiKey": "x", "httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryCount": 1}, "backoffConfig": {"enabled": false, "maxRetryCount": 2, "baseBackoffInterval": 10, "retryableStatusCodes": [400, 503]}}}}}"#,
        "on 1 300 max | off 2 10 300 43200 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true}, "backoffConfig": {"enabled": false, "maxTotalBackoffDuration": 0, "jitterPercent": 5, "default4xxBehavior": "retry", "retryableStatusCodes": [400, 503]}}}"#,
        "on 100 300 max | off 100 0.5 300 0 5 drrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true}, "backoffConfig": {"enabled": true, "maxBackoffInterval": 60, "maxTotalBackoffDuration": 0, "default5xxBehavior": "retry", "retryableStatusCodes": [500, 503]}}}"#,
        "on 100 300 max | on 100 0.5 60 0 10 ddrrrrdrdr drop"
      ),
    ])
  func analyticsSwift(json: String, expected: String) throws {
    #expect(try SettingsDialect.analyticsSwift.decode(settings(json)).config.summary == expected)
  }

  @Test(
    "analytics-kotlin makes of recorded Settings what its own code made of them",
    arguments: [
      (
        #"{}"#,
        "unmanaged"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryInterval": 600}, "backoffConfig": {"baseBackoffInterval": 0.1, "maxBackoffInterval": 30, "retryableStatusCodes": [500, 408]}}}"#,
        "on 100 600 max | on 100 0.1 30 43200 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryInterval": 600}, "backoffConfig": {"enabled": false, "baseBackoffInterval": 1, "maxTotalBackoffDuration": 60, "jitterPercent": 10, "retryableStatusCodes": [503, 408]}}}"#,
        "on 100 600 max | off 100 1 300 60 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"backoffConfig": {"baseBackoffInterval": 0.1, "maxBackoffInterval": 5, "statusCodeOverrides": {"400": "drop", "501": "retry", "410": "retry", "500": "retry"}, "retryableStatusCodes": [404, 408]}}}"#,
        "on 100 300 max | on 100 0.1 5 43200 10 dddrdrrrrr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryInterval": 60}, "backoffConfig": {"baseBackoffInterval": 0.25, "default4xxBehavior": "drop", "retryableStatusCodes": [500, 408]}}}"#,
        "on 100 60 max | on 100 0.25 300 43200 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryCount": 5, "maxRetryInterval": 300}, "backoffConfig": {"enabled": true, "jitterPercent": 0, "statusCodeOverrides": {"511": "retry", "401": "drop"}, "retryableStatusCodes": [404, 408]}}}"#,
        "on 5 300 max | on 100 0.5 300 43200 0 dddddrrrrr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryInterval": 5}, "backoffConfig": {"enabled": true, "baseBackoffInterval": 1, "unknownCodeBehavior": "drop", "statusCodeOverrides": {"401": "retry", "600": "drop"}, "retryableStatusCodes": [500, 408]}}}"#,
        "on 100 5 max | on 100 1 300 43200 10 dddddrrrrr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": false, "maxRetryInterval": 30}, "backoffConfig": {"statusCodeOverrides": {"501": "drop", "400": "retry", "511": "retry", "401": "retry"}}}}"#,
        "off 100 30 max | on 100 0.5 300 43200 10 drdddrdrrr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true}, "backoffConfig": {"baseBackoffInterval": 2, "jitterPercent": 20, "statusCodeOverrides": {"429": "retry", "413": "retry"}}}}"#,
        "on 100 300 max | on 100 2 300 43200 20 dddddrrrrr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxRetryCount": 5, "baseBackoffInterval": 0.5, "#
          + #""maxTotalBackoffDuration": 0, "jitterPercent": 0, "statusCodeOverrides": {}}}}"#,
        "on 100 300 max | on 5 0.5 300 0 0 dddddrrrrr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryInterval": 300}, "backoffConfig": {"enabled": true, "maxRetryCount": "12", "unknownCodeBehavior": "retry"}}}"#,
        "on 100 300 max | on 12 0.5 300 43200 10 rdrrrrdrdr retry"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryCount": 3, "maxRetryInterval": 600, "maxRateLimitDuration": 10}, "backoffConfig": {"enabled": false, "baseBackoffInterval": 0.5, "maxBackoffInterval": 1, "jitterPercent": 0}}}"#,
        "on 3 600 max | off 100 0.5 1 43200 0 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": true, "maxRetryCount": 1}, "backoffConfig": {"enabled": true, "maxRetryCount": 2, "baseBackoffInterval": -1, "jitterPercent": 51}}}"#,
        "on 1 300 max | on 2 0.1 300 43200 50 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"maxRetryCount": 5, "baseBackoffInterval": 0.1, "maxBackoffInterval": 1, "maxTotalBackoffDuration": 10, "jitterPercent": 10, "default5xxBehavior": "drop", "statusCodeOverrides": {}}}}"#,
        "on 100 300 max | on 5 0.1 1 10 10 dddddddddd drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"enabled": false, "baseBackoffInterval": 1, "maxBackoffInterval": 300, "default5xxBehavior": "drop", "retryableStatusCodes": [503, 408]}}}"#,
        "on 100 300 max | off 100 1 300 43200 10 ddrrrddddd drop"
      ),
    ])
  func analyticsKotlin(json: String, expected: String) throws {
    #expect(try SettingsDialect.analyticsKotlin.decode(settings(json)).config.summary == expected)
  }

  @Test(
    "analytics-react-native makes of recorded Settings what its own code made of them",
    arguments: [
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryInterval": 1, "enabled": null, "maxRetryCount": 2.5}, "backoffConfig": {"maxBackoffInterval": 10, "statusCodeOverrides": {"400": "retry", "500": "drop"}}}}"#,
        "neither 2 1 43200 | on 100 0.5 10 43200 10 drrrrddrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRateLimitDuration": null, "enabled": true}, "backoffConfig": {"jitterPercent": 100, "maxRetryCount": 100, "statusCodeOverrides": []}}}"#,
        "on 100 300 600 | on 100 0.5 300 43200 100 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryCount": 2}, "backoffConfig": {"baseBackoffInterval": 0.1, "maxBackoffInterval": 60, "maxTotalBackoffDuration": "10", "enabled": true}}}"#,
        "on 2 300 43200 | on 100 0.1 60 600 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryCount": 2}, "backoffConfig": {"jitterPercent": 50, "baseBackoffInterval": 0.5, "enabled": 0.01, "statusCodeOverrides": "no"}}}"#,
        "on 2 300 43200 | neither 100 0.5 300 43200 50 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {}, "backoffConfig": {"baseBackoffInterval": 0.5, "enabled": false}}}"#,
        "on 100 300 43200 | off 100 0.5 300 43200 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryInterval": 20, "maxRetryCount": "many", "enabled": []}, "backoffConfig": {"jitterPercent": 5, "maxBackoffInterval": 60, "maxRetryCount": 5}}}"#,
        "neither max 20 43200 | on 5 0.5 60 43200 5 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"backoffConfig": {"maxTotalBackoffDuration": 600, "enabled": false, "maxRetryCount": -1}, "rateLimitConfig": {"maxRetryCount": 0.01}}}"#,
        "on 1 300 43200 | off 1 0.5 300 600 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryCount": 3, "maxTotalBackoffDuration": 60, "maxRetryInterval": null}, "backoffConfig": {"maxRetryCount": 2, "statusCodeOverrides": {"408": "retry", "410": "retry"}, "default5xxBehavior": 0}}}"#,
        "on 3 0.1 43200 | on 2 0.5 300 43200 10 ddrrrddddd drop"
      ),
      (
        #"{"integrations": {"Segment.io": {"apiKey": "x", "httpConfig": {"rateLimitConfig": {"maxRetryInterval": 60, "enabled": {}}, "backoffConfig": {"jitterPercent": 20, "baseBackoffInterval": 2, "statusCodeOverrides": {"460": "drop"}}}}}}"#,
        "neither 100 60 43200 | on 100 2 300 43200 20 ddrrdrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryCount": 1}, "backoffConfig": {"jitterPercent": 0, "baseBackoffInterval": 0.1, "maxBackoffInterval": 300, "maxRetryCount": 5, "statusCodeOverrides": {"400": "retry", "410": "retry"}}}}"#,
        "on 1 300 43200 | on 5 0.1 300 43200 0 drrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": false, "maxRateLimitDuration": false}, "backoffConfig": {"baseBackoffInterval": -1}}}"#,
        "off 100 300 600 | on 100 0.1 300 43200 10 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxRetryInterval": 20}, "backoffConfig": {"maxRetryCount": 1, "default5xxBehavior": "drop", "statusCodeOverrides": {"500": "drop"}, "retryableStatusCodes": [408, 429, 500]}}}"#,
        "on 100 20 43200 | on 1 0.5 300 43200 10 ddrrrddddd drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"maxTotalBackoffDuration": 600, "enabled": 0.01}, "backoffConfig": {"jitterPercent": 100, "baseBackoffInterval": [], "maxBackoffInterval": 300, "maxRetryCount": 2}}}"#,
        "neither 100 300 43200 | on 2 0.1 300 43200 100 ddrrrrdrdr drop"
      ),
      (
        #"{"httpConfig": {"rateLimitConfig": {"enabled": "10"}, "backoffConfig": {"baseBackoffInterval": 1, "maxBackoffInterval": 5, "statusCodeOverrides": {"511": "drop"}}}}"#,
        "neither 100 300 43200 | on 100 1 5 43200 10 ddrrrrdrdd drop"
      ),
    ])
  func analyticsReactNative(json: String, expected: String) throws {
    #expect(try SettingsDialect.analyticsReactNative.decode(settings(json)).config.summary == expected)
  }
}
