/// What is said about a bad input, word for word: an input, and under it, indented, `line: path: message` of
/// each problem. `server`, `tapi`, `cohort`, `duration` and `top` say which part of `ScenarioText` the input
/// stands in (`+` before a cohort: added to a valid one); nothing under an input: it is accepted without a
/// warning.
enum MessageGoldens {
  /// The server, its overload answer and its incidents.
  static let server = #"""
    server bucket: { capacity: 4000 }
      2: tapi.bucket.capacity: missing unit: write "4000/s"
    server bucket: { capacity: '0/s' }
      2: tapi.bucket.capacity: "0/s" is out of range; allowed: 0.001/s to 1000000000/s
    server bucket: { capacity: '1e12/s' }
      2: tapi.bucket.capacity: "1e12/s" is out of range; allowed: 0.001/s to 1000000000/s
    server bucket: { capacity: '4000/m' }
      2: tapi.bucket.capacity: "4000/m": unknown unit "/m"; did you mean "/min"? The units of a rate are /s, /min, /h, /day
    server bucket: {  }
      2: tapi.bucket.capacity: missing; write for example capacity: "4000/s"
    server bucket: { capacity: '1/s', burst: 0 }
      2: tapi.bucket.burst: 0 is out of range; allowed: whole numbers from 1 to 1000000000
    server bucket: { capacity: '1/s', burst: 1.5 }
      2: tapi.bucket.burst: 1.5 is not a whole number; allowed: whole numbers from 1 to 1000000000
    server bucket: { capacity: '1/s', burst: 1e308 }
      2: tapi.bucket.burst: 1e308 is out of range; allowed: whole numbers from 1 to 1000000000
    server bucket: { capacity: '1/s', brust: 1, serviceTme: 2 }
      2: tapi.bucket.brust: unknown key; did you mean "burst"? Allowed here: capacity, burst, costPerEvent, serviceTime
      2: tapi.bucket.serviceTme: unknown key; did you mean "serviceTime"? Allowed here: capacity, burst, costPerEvent, serviceTime
    server bucket: { capacity: '1/s', serviceTime: {} }
      2: tapi.bucket.serviceTime: an empty distribution; write a span like "50ms" or one of constant, uniform, exponential, logNormal
    server bucket: { capacity: '1/s', serviceTime: { constant: '1s', uniform: 1 } }
      2: tapi.bucket.serviceTime: constant and uniform exclude each other; keep one
    server bucket: { capacity: '1/s', serviceTime: { uniform: ['2ms', '1ms'] } }
      2: tapi.bucket.serviceTime.uniform: the first end 2ms is above the second, 1ms
    server bucket: { capacity: '1/s', serviceTime: { exponental: '2ms'} }
      2: tapi.bucket.serviceTime.exponental: unknown key; did you mean "exponential"? Allowed here: constant, uniform, exponential, logNormal
    server bucket: { capacity: '1/s', serviceTime: { uniform: 5} }
      2: tapi.bucket.serviceTime.uniform: expected the two ends, like ["1ms", "5ms"], found 5
    server bucket: { capacity: '1/s', serviceTime: { logNormal: { median: '1ms', p99: '0.5ms', minimum: '1ms'}} }
      2: tapi.bucket.serviceTime.logNormal.median: minimum 1ms is not below median, 1ms
      2: tapi.bucket.serviceTime.logNormal.p99: median 1ms is above p99, 500us
    server bucket: { capacity: '1/s', serviceTime: true }
      2: tapi.bucket.serviceTime: expected a span such as "30s", found true
    server bucket: { capacity: -5 }
      2: tapi.bucket.capacity: missing unit: write a value like "4000/s"
    server bucket: { capacity: '1/s' }, workers: { count: 1, serviceTime: '1s' }
      2: tapi: bucket and workers exclude each other; keep one
    server overload: 'queue'
      2: tapi: no server; write bucket: { capacity: "4000/s" } or workers: { count: 200, serviceTime: "50ms" }
    server workers: {}
      2: tapi.workers.count: missing; write for example count: 200
      2: tapi.workers.serviceTime: missing; write for example serviceTime: { exponential: "50ms" }
    server workers: { count: 0, serviceTime: '0s' }
      2: tapi.workers.count: 0 is out of range; allowed: whole numbers from 1 to 1000000
    server workers: { count: 1, serviceTime: '0s' }
      2: tapi.workers.serviceTime: a service that takes no time needs no workers; give a serviceTime above 0s, or use a bucket
    server workers: { count: 1, serviceTime: '1s', queueLimit: 'infinite' }
      2: tapi.workers.queueLimit: expected a number, found the string "infinite"; allowed: whole numbers from 0 to 1000000000 or "unlimited"
    server workers: { count: 1, serviceTime: '1s', queueLimit: 5 }, overload: 'queue'
      2: tapi.overload: "queue" means that all requests wait, but queueLimit is 5; leave queueLimit out, or say what a request beyond it is answered: { status: 503 }
    server workers: { count: 1, serviceTime: '1s' }, overload: { status: 200 }
      2: tapi.overload.status: 200 is out of range; allowed: whole numbers from 400 to 599
      2: warning: tapi.overload: never answered: the queue is unlimited. Give workers.queueLimit, or write overload: "queue"
    server workers: { count: 1, serviceTime: '1s' }, overload: 'queue'
    server workers: 5
      2: tapi.workers: expected an object, found 5
    tapi overload: 'queue'
      2: tapi.overload: a bucket admits or refuses at once and has no queue; use workers, or write { status: 429 }
    tapi overload: 'drop'
      2: tapi.overload: "drop" is not known; write "queue" or { status: 429, retryAfter: "5s" }
    tapi overload: 5
      2: tapi.overload: 5 is not known; write "queue" or { status: 429, retryAfter: "5s" }
    tapi overload: { status: 399, retryAfter: '0.5s' }
      2: tapi.overload.status: 399 is out of range; allowed: whole numbers from 400 to 599
      2: tapi.overload.retryAfter: Retry-After is sent in whole seconds, and "0.5s" is none
    tapi overload: { retryAfter: { from: '5s', to: '1s' } }
      2: tapi.overload.retryAfter.to: from 5s is above to, 1s
    tapi overload: { retryAfter: { from: '5s' } }
      2: tapi.overload.retryAfter.to: missing; write for example to: "15s"
    tapi overload: { retryAfter: 5 }
      2: tapi.overload.retryAfter: missing unit: write "5s"
    tapi incidents: {}
      2: tapi.incidents: expected a list, found an object
    tapi incidents: [{}]
      2: tapi.incidents.0.kind: missing; write for example kind: "outage"
      2: tapi.incidents.0.at: missing; write for example at: "20m"
    tapi incidents: [{ kind: 'outrage', at: '1m', for: '1m' }]
      2: tapi.incidents.0.kind: "outrage" is not known; did you mean "outage"? Allowed: "outage", "brownout", "cdnOutage", "errors", "lostAnswers", "latency", "tokenExpiry", "cut"
    tapi incidents: [{ kind: 'cdnOutage', at: '1m', for: '1m', status: 503 }]
      2: tapi.incidents.0.status: unknown key. Allowed here: kind, at, for
      2: warning: tapi.incidents.0: concerns no device: apps fetch Settings at launch, and none is launched during the run; give the cohort lifecycle: { restarts: "2/day" }, or say at: "0s"
    tapi incidents: [{ kind: 'cdnOutage', at: '0s', for: '10m' }, { kind: 'outage', at: '5m', for: '1m' }]
    tapi incidents: [{ kind: 'cdnOutage', at: '0s', for: '10m' }, { kind: 'cdnOutage', at: '5m', for: '1m' }]
      2: tapi.incidents.1: overlaps incident 0 on line 2, another cdnOutage
      2: warning: tapi.incidents.1: concerns no device: apps fetch Settings at launch, and none is launched during the run; give the cohort lifecycle: { restarts: "2/day" }, or say at: "0s"
    tapi incidents: [{ kind: 'cdnOutage', at: '1m', for: '1m' }]
      2: warning: tapi.incidents.0: concerns no device: apps fetch Settings at launch, and none is launched during the run; give the cohort lifecycle: { restarts: "2/day" }, or say at: "0s"
    tapi incidents: [{ kind: 'outage', at: '1m', for: '0s', factor: 1 }]
      2: tapi.incidents.0.factor: unknown key. Allowed here: kind, at, for, status, retryAfter, keepsWork, warmUp
      2: tapi.incidents.0.for: "0s" is out of range; allowed: 1us to 366d
    tapi incidents: [{ kind: 'outage', at: '1m', for: '1m', status: 200 }]
      2: tapi.incidents.0.status: 200 accepts the upload, which is no outage; allowed: any other status
    tapi incidents: [{ kind: 'outage', at: '1m', for: '1m', status: 'none', retryAfter: '5s' }]
      2: tapi.incidents.0.retryAfter: no answer (status: "none") cannot carry a Retry-After
    tapi incidents: [{ kind: 'outage', at: '1m', for: '1m', status: 'refused' }, { kind: 'outage', at: '90s', for: '1m', status: 'refuse' }]
      2: tapi.incidents.1.status: expected a number, found the string "refuse"; allowed: whole numbers from 100 to 999 or "none" or "refused"
    tapi incidents: [{ kind: 'outage', at: '1m', for: '1m', status: 'refused', retryAfter: '5s' }]
      2: tapi.incidents.0.retryAfter: a refused connection (status: "refused") cannot carry a Retry-After
    tapi incidents: [{ kind: 'brownout', at: '1m', for: '1m' }]
      2: tapi.incidents.0.factor: missing; write for example factor: "50%"
    tapi incidents: [{ kind: 'brownout', at: '1m', for: '1m', factor: 0 }, { kind: 'brownout', at: '1m', for: '1m', factor: '200%' }, { kind: 'brownout', at: '1m', for: '1m', factor: 'half' }, { kind: 'brownout', at: '1m', for: '1m', factor: NaN }]
      2: tapi.incidents.0.factor: 0 is out of range; allowed: 0.1% to 100%. For no capacity at all use kind: "outage"
      2: tapi.incidents.1.factor: "200%" is out of range; allowed: 0.1% to 100%. For no capacity at all use kind: "outage"
      2: tapi.incidents.2.factor: "half" is not a share; write a percentage like "50%" or a number like 0.5
      2: tapi.incidents.3.factor: expected a share such as "50%" or 0.5, found NaN; allowed: 0.1% to 100%
    tapi incidents: [{ kind: 'outage', at: '1m', for: '10m' }, { kind: 'outage', at: '5m', for: '1m' }, { kind: 'brownout', at: '1m', for: '1m', factor: 0.5 }]
      2: tapi.incidents.1: overlaps incident 0 on line 2, another outage
    tapi incidents: [{ kind: 'outage', at: '110m', for: '20m' }]
      2: warning: tapi.incidents.0: ends at 130m, after the run of 2h: no recovery can be seen
    tapi incidents: [{ kind: 'outage', at: '100m', for: '20m' }]
      2: warning: tapi.incidents.0: ends at 2h, with the run of 2h: no recovery can be seen
    tapi incidents: [{ kind: 'outage', at: '3h', for: '20m' }]
      2: warning: tapi.incidents.0: starts at 3h, when the run of 2h is over: it never happens
    tapi incidents: [{ kind: 'outage', at: '100m', for: '1190s' }]
      2: warning: tapi.incidents.0: ends 10s before the run does: no recovery can be seen, which has to hold for 1m
    """#

  /// The top level and `compare`.
  static let top = #"""
    duration '0s'
      1: duration: "0s" is out of range; allowed: 1ms to 366d
    duration '1000d'
      1: duration: "1000d" is longer than 366d, the longest span
    duration 120
      1: duration: missing unit: write "120s"
    duration '0.5s'
      1: interval: 1s (the default) is longer than the duration, 500ms
    duration '300h'
      1: interval: 1s (the default) makes 1080000 rows of a run of 300h; at most 100000 are allowed, so at least 11s
    duration '366d'
      1: interval: 1s (the default) makes 31622400 rows of a run of 366d; at most 100000 are allowed, so at least 317s
    duration null
      1: duration: expected a span such as "30s", found null
    top seed: -1, interval: '3h'
      4: seed: -1 is not a seed; allowed: whole numbers from 0 to 18446744073709551615
      4: interval: 3h is longer than the duration, 2h
    top seed: 1.5, interval: '0s'
      4: seed: 1.5 is not a seed; allowed: whole numbers from 0 to 18446744073709551615
      4: interval: "0s" is out of range; allowed: 1ms to 366d
    top interval: '10ms'
      4: interval: 10ms makes 720000 rows of a run of 2h; at most 100000 are allowed, so at least 72ms
    top question: 5
      4: question: expected a string, found 5
    top compare: []
      4: compare: expected an object of paths and lists of values, found a list
    top compare: { 'tapi.bukcet.capacity': ['1/s'] }
      4: compare["tapi.bukcet.capacity"][0]: there is no "bukcet" in tapi; did you mean "bucket"? Allowed there: bucket, workers, overload, retryAfterHeader, retryAfterForm, connections, settingsEndpoint, proxies, incidents, keyLimits, retryCountLimit, requestSizeLimit, deduplication, autoscaling, crash
    top compare: { 'tapi.bucket.capacity': ['1/s', '1/s', 5] }
      4: compare["tapi.bucket.capacity"][1]: the same as value 0
      4: compare["tapi.bucket.capacity"][2]: missing unit: write "5/s"
    top compare: { client: 'all', 'fleet.phones.client': 'any', 'tapi.bucket.capacity': 'all' }
      4: compare["fleet.phones.client"]: expected a list of at least one value, found the string "any"
      4: compare["tapi.bucket.capacity"]: expected a list of at least one value, found the string "all"
    top compare: { seed: [] , duration: 5}
      4: compare["seed"]: expected a list of at least one value, found an empty one
      4: compare["duration"]: expected a list of at least one value, found 5
    top compare: { 'settings.backoffConfig.jitterStrategy': ['full', 'sideways', 'additive:10'] }
      4: compare["settings.backoffConfig.jitterStrategy"][1]: "sideways" is not a jitter strategy; allowed are none, additive:P, additive:T, additive:P:T, symmetric:P, full, equal, decorrelated, between:T:T (P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first)
    top compare: { 'settings': ['a.json', {}, 5] }
      4: compare["settings"][2]: expected the name of a Settings file or the Settings themselves, found 5
    top compare: { interval: ['1s', '3h'] }
      4: compare["interval"][1]: 3h is longer than the duration, 2h
    top settings: 'b.json'
      b.json:1:1: Settings are an object, { … }; found a list
    top settings: 'c.json'
      c.json:2:6: expected a value, found the end of the file
    """#

  /// `--set`.
  static let overrides = #"""
    --set tapi.bukcet.capacity=1/s
      --set: tapi.bukcet.capacity: there is no "bukcet" in tapi; did you mean "bucket"? Allowed there: bucket, workers, overload, retryAfterHeader, retryAfterForm, connections, settingsEndpoint, proxies, incidents, keyLimits, retryCountLimit, requestSizeLimit, deduplication, autoscaling, crash
    --set tapi.bucket.capacity=5
      --set: tapi.bucket.capacity: missing unit: write "5/s"
    --set tapi..x=1
      --set: "tapi..x" is not a path; write keys with dots between them, like tapi.bucket.capacity
    --set fleet.fones.devices=5
      --set: fleet.fones.devices: no cohort is called "fones"; did you mean "phones"? The cohorts: phones
    --set fleet.phones.devices=0
      --set: fleet.phones.devices: 0 is out of range; allowed: whole numbers from 1 to 4000000000
    --set fleet.1.devices=0
      --set: fleet.1.devices: no cohort is called "1". The cohorts: phones
    --set format=2
      --set: format: "format" cannot be changed from outside the file
    --set compare.x=[]
      --set: compare.x: "compare" cannot be changed from outside the file
    --set fleet.phones.name=x
      --set: fleet.phones.name: "name" cannot be changed from outside the file
    --set settings.backofConfig={}
      --set: settings.backofConfig: there is no "backofConfig" in settings; did you mean "backoffConfig"? Allowed there: rateLimitConfig, backoffConfig
    --set settings.backoffConfig.jiterStrategy=full
      --set: settings.backoffConfig.jiterStrategy: there is no "jiterStrategy" in settings.backoffConfig; did you mean "jitterStrategy"? Allowed there: enabled, maxRetryCount, baseBackoffInterval, maxBackoffInterval, maxTotalBackoffDuration, jitterPercent, jitterStrategy, retryableStatusCodes, default4xxBehavior, default5xxBehavior, unknownCodeBehavior, statusCodeOverrides
    --set settings.backoffConfig.jitterStrategy=sideways
      --set: settings.backoffConfig.jitterStrategy: "sideways" is not a jitter strategy; allowed are none, additive:P, additive:T, additive:P:T, symmetric:P, full, equal, decorrelated, between:T:T (P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first)
    --set settings.backoffConfig.maxRetryCount=1e308
      --set: settings.backoffConfig.maxRetryCount: 1e+308 is out of range; allowed is 0 to 1000
    --set settings.backoffConfig.maxRetryCount.x=1
      --set: settings.backoffConfig.maxRetryCount.x: settings.backoffConfig.maxRetryCount has no members
    --set settings=x.json
      --set: settings: "x.json" was not read; give the file with --settings
    --set settings=5
      --set: settings: expected the name of a Settings file or the Settings themselves, found 5
    --set duration.x=5
      --set: duration.x: duration has no members
    --set tapi.incidents.0.at=5
      --set: tapi.incidents.0.at: there is no list tapi.incidents in the file
    --set tapi.incidents=[]
    --set policy.clamp=true
      --set: policy.clamp: there is no "clamp" in policy. Allowed there: clampAfterJitter, missingRetryAfter, retryAfterOnOtherCodes, retryAfterForms, readsRateLimitReset, noStatus, retryCountHeader, twoWaits, limitReached, rateLimitingOff, missingSection, sendsAtLimit, successEndsWait, ageLimit, supportsOAuth, rateLimited, unauthorized, givenUp, limitsCheck, rateLimitRecord, backoffOff, withoutSettings, overridden429, belowSuccess, exponent, waitsInMilliseconds, retryAfterCap, retryAfterJitter, backoffHolds, multiplier, waits, jitterDraw, immediateRetries, longestRetryAfter
    --set policy.clampAfterJitter=yes
      --set: policy.clampAfterJitter: expected true or false, found the string "yes"
    --set fleet.phones.settings.backoffConfig.jitterStrategy=sideways
      --set: fleet.phones.settings.backoffConfig.jitterStrategy: "sideways" is not a jitter strategy; allowed are none, additive:P, additive:T, additive:P:T, symmetric:P, full, equal, decorrelated, between:T:T (P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first)
    --set fleet.phones.rollout.settings.backofConfig={}
      --set: fleet.phones.rollout.settings.backofConfig: there is no "backofConfig" in fleet.phones.rollout.settings; did you mean "backoffConfig"? Allowed there: rateLimitConfig, backoffConfig
    --set fleet.phones.rollout.settings.backoffConfig.jitterStrategy=sideways
      --set: fleet.phones.rollout.settings.backoffConfig.jitterStrategy: "sideways" is not a jitter strategy; allowed are none, additive:P, additive:T, additive:P:T, symmetric:P, full, equal, decorrelated, between:T:T (P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first)
      --set: fleet.phones.rollout.at: missing; write for example at: "20m"
    --set fleet.phones.rollout={ at: '0s', settings: 'x.json' }
      --set: fleet.phones.rollout.settings: "x.json" was not read; name the file in the scenario
    --set fleet.phones.rollout.share=50
      --set: fleet.phones.rollout.at: missing; write for example at: "20m"
      --set: fleet.phones.rollout.settings: missing; write for example settings: "settings-new.json"
      --set: fleet.phones.rollout.share: 50 is out of range; allowed: 0% to 100%
    --set fleet.phones.lifecycle.synchronised.0.at=5
      --set: fleet.phones.lifecycle.synchronised.0.at: there is no list fleet.phones.lifecycle.synchronised in the file
    --set fleet.phones.lifecycle=null
    --set fleet.phones.policy.noStatus=backof
      --set: fleet.phones.policy.noStatus: "backof" is not known; did you mean "backoff"? Allowed: "backoff", "untouched", "asStatus500", "clientBackoff"
    --set fleet.phones.flush.interval=30
      --set: fleet.phones.flush.interval: missing unit: write "30s"
    --set tapi.workers.count=5
      --set: tapi: bucket and workers exclude each other; keep one
    """#
}
