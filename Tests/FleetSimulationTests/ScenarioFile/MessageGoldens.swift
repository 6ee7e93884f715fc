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
      2: tapi.bucket.brust: unknown key; did you mean "burst"? Allowed here: capacity, burst, serviceTime
      2: tapi.bucket.serviceTme: unknown key; did you mean "serviceTime"? Allowed here: capacity, burst, serviceTime
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
      2: tapi.bucket.serviceTime.logNormal.minimum: minimum 1ms is not below the median 1ms
      2: tapi.bucket.serviceTime.logNormal.p99: p99 500us is below the median 1ms
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
      2: tapi.overload: expected an object or "queue", found 5
    tapi overload: { status: 399, retryAfter: '0.5s' }
      2: tapi.overload.status: 399 is out of range; allowed: whole numbers from 400 to 599
      2: tapi.overload.retryAfter: Retry-After is sent in whole seconds, and "0.5s" is none
    tapi overload: { retryAfter: { from: '5s', to: '1s' } }
      2: tapi.overload.retryAfter: from 5s is above to, 1s
    tapi overload: { retryAfter: { from: '5s' } }
      2: tapi.overload.retryAfter.to: missing; write for example to: "15s"
    tapi overload: { retryAfter: 5 }
      2: tapi.overload.retryAfter: missing unit: write "5s"
    tapi incidents: {}
      2: tapi.incidents: expected a list, found an object
    tapi incidents: [{}]
      2: tapi.incidents.0.kind: missing; write for example kind: "outage"
      2: tapi.incidents.0.at: missing; write for example at: "20m"
      2: tapi.incidents.0.for: missing; write for example for: "10m"
    tapi incidents: [{ kind: 'outrage', at: '1m', for: '1m' }]
      2: tapi.incidents.0.kind: "outrage" is not known; did you mean "outage"? Allowed: "outage", "brownout", "cdnOutage"
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
      2: tapi.incidents.0.factor: unknown key. Allowed here: kind, at, for, status, retryAfter, keepsWork
      2: tapi.incidents.0.for: "0s" is out of range; allowed: 1us to 366d
    tapi incidents: [{ kind: 'outage', at: '1m', for: '1m', status: 200 }]
      2: tapi.incidents.0.status: 200 accepts the upload, which is no outage; allowed: any other status
    tapi incidents: [{ kind: 'outage', at: '1m', for: '1m', status: 'none', retryAfter: '5s' }]
      2: tapi.incidents.0.retryAfter: no answer (status: "none") cannot carry a Retry-After
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
      2: warning: tapi.incidents.0: ends at 130m, after the run of 2h
    tapi incidents: [{ kind: 'outage', at: '3h', for: '20m' }]
      2: warning: tapi.incidents.0: starts at 3h, when the run of 2h is over: it never happens
    """#

  /// Cohorts.
  static let cohort = #"""
    cohort 
      3: fleet.0.name: missing; write for example name: "phones"
      3: fleet.0.devices: missing; write for example devices: 1000
      3: fleet.0.events: missing; write for example events: "6/min"
    cohort name: 'a b', devices: 0, events: '0/s'
      3: fleet.0.name: "a b" cannot be a name; allowed: a letter, then letters, digits, "-" and "_", at most 64
      3: fleet.0.devices: 0 is out of range; allowed: whole numbers from 1 to 4000000000
      3: fleet.0.events: "0/s" is out of range; allowed: one event in 366 days to 1000/s
    cohort name: 5, devices: 1e30, events: 6
      3: fleet.0.name: expected a string, found 5
      3: fleet.0.devices: 1e30 is out of range; allowed: whole numbers from 1 to 4000000000
      3: fleet.0.events: missing unit: write "6/min"
    cohort name: 'a', devices: '10', events: { phase: 'flush' }
      3: fleet.a.devices: expected a number, found the string "10"; leave the quotes out; allowed: whole numbers from 1 to 4000000000
      3: fleet.a.events.every: missing; write for example every: "30s"
    cohort name: 'a', devices: 10, events: { every: '1s', meanGap: '1s' }
      3: fleet.a.events: every and meanGap exclude each other; keep one
    cohort name: 'a', devices: 10, events: { meanGap: '1s', phase: 'random' }
      3: fleet.a.events.phase: a Poisson process (meanGap) has no phase; leave it out
    cohort name: 'a', devices: 10, events: '2000/s'
      3: fleet.a.events: "2000/s" is out of range; allowed: one event in 366 days to 1000/s
    cohort +client: 'tapi-dokument'
      3: fleet.phones.client: "tapi-dokument" is not known; did you mean "tapi-document"? Allowed: "tapi-document", "segment-swift", "segment-kotlin", "segment-react-native"
    cohort +client: 'segment-swfit', flushWhileUploading: 'join'
      3: fleet.phones.client: "segment-swfit" is not known; did you mean "segment-swift"? Allowed: "tapi-document", "segment-swift", "segment-kotlin", "segment-react-native"
      3: fleet.phones.flushWhileUploading: "join" is not known; did you mean "joins"? Allowed: "joins", "ignored"
    cohort +client: 'segment-kotlin'
      3: warning: settings: no backoffConfig (a failed batch is tried again at every flush, without waits or limits), no rateLimitConfig (a 429 drops its batch): with missingSection "off" (fleetsim presets) a missing section is switched off; write {} to switch it on with its defaults
    cohort +client: 'segment-swift', settings: { backoffConfig: {}, rateLimitConfig: { enabled: false } }
    cohort +policy: { missingSection: 'off' }, settings: { httpConfig: { backoffConfig: {} } }
      3: warning: fleet.phones.settings: no rateLimitConfig (a 429 makes nothing wait): with missingSection "off" (fleetsim presets) a missing section is switched off; write {} to switch it on with its defaults
    cohort +client: 'segment-react-native'
    cohort +client: 5
      3: fleet.phones.client: expected one of "tapi-document", "segment-swift", "segment-kotlin", "segment-react-native", found 5
    cohort +flush: { count: null, interval: null }
      3: fleet.phones.flush: neither a count nor an interval: such a device never flushes; keep one
    cohort +flush: { count: 0, interval: 30, phase: 'synchronized' }
      3: fleet.phones.flush.count: 0 is out of range; allowed: whole numbers from 1 to 1000000
      3: fleet.phones.flush.interval: missing unit: write "30s"
      3: fleet.phones.flush.phase: "synchronized" is not known; did you mean "synchronised"? Allowed: "random", "synchronised"
    cohort +queue: { mode: 'file', limit: 0, maximumBatchEvents: 70000 }
      3: fleet.phones.queue.mode: "file" is not known; did you mean "files"? Allowed: "files", "rebatch"
      3: fleet.phones.queue.limit: 0 is out of range; allowed: whole numbers from 1 to 1000000
      3: fleet.phones.queue.maximumBatchEvents: 70000 is out of range; allowed: whole numbers from 1 to 65535
    cohort +retries: 'timers', uploadConcurrency: 0
      3: fleet.phones.retries: "timers" is not known; did you mean "timer"? Allowed: "gate", "timer"
      3: fleet.phones.uploadConcurrency: 0 is out of range; allowed: whole numbers from 1 to 1000000 or "unlimited"
    cohort +uploadConcurrency: 'unlimitd'
      3: fleet.phones.uploadConcurrency: expected a number, found the string "unlimitd"; allowed: whole numbers from 1 to 1000000 or "unlimited"
    cohort +timeout: '0s'
      3: fleet.phones.timeout: "0s" is out of range; allowed: 1ms to 366d
    cohort +timeout: '5ms'
      3: warning: fleet.phones.timeout: every upload times out: the time-out is 5ms, the way to the server and back takes at least 10ms
    cohort +network: { latency: '0.5ms' }
      3: fleet.phones.network.latency: "0.5ms" is out of range; allowed: 1ms to 1h
    cohort +network: { latency: { exponential: '5ms' } }
      3: fleet.phones.network.latency.exponential: an exponential latency comes arbitrarily close to 0; the shortest is 1ms. Use { median, p99, minimum } instead
    cohort +network: { latency: { median: '5ms', p99: '600ms' } }
      3: fleet.phones.network.latency.minimum: minimum 5ms (the default) is not below the median 5ms
    cohort +network: { latency: { median: '50ms', p99: '600ms', minimum: '0ms' } }
      3: fleet.phones.network.latency.minimum: "0ms" is out of range; allowed: 1ms to 1h
    cohort +network: { latency: { p99: '600ms' } }
      3: fleet.phones.network.latency.median: missing; write for example median: "80ms"
    cohort +network: { latency: { p9: '600ms' } }
      3: fleet.phones.network.latency.p9: unknown key; did you mean "p99"? Allowed here: median, p99, minimum
      3: fleet.phones.network.latency.median: missing; write for example median: "80ms"
      3: fleet.phones.network.latency.p99: missing; write for example p99: "600ms"
    cohort +network: { latency: {} }
      3: fleet.phones.network.latency: an empty distribution; write a span like "50ms" or one of constant, uniform, exponential, logNormal
    cohort +network: '50ms'
      3: fleet.phones.network: expected an object, found the string "50ms"
    cohort +policy: { clampAfterJitter: 1, missingRetryAfter: 'none', supportsOAuth: null }
      3: fleet.phones.policy.clampAfterJitter: expected true or false, found 1
      3: fleet.phones.policy.missingRetryAfter: "none" is not known. Allowed: "maxRetryInterval", "fixed:S", "exponentialBackoff"
      3: fleet.phones.policy.supportsOAuth: expected true or false, found null
    cohort +policy: { missingRetryAfter: 'fixed:3601', noStatus: 'asStatus5000', limitReached: 1, twoWait: 'x' }
      3: fleet.phones.policy.twoWait: unknown key; did you mean "twoWaits"? Allowed here: clampAfterJitter, missingRetryAfter, retryAfterOnOtherCodes, retryAfterForms, noStatus, retryCountHeader, twoWaits, limitReached, rateLimitingOff, missingSection, sendsAtLimit, successEndsWait, ageLimit, supportsOAuth
      3: fleet.phones.policy.missingRetryAfter: "fixed:3601" is not known; write for example "fixed:60": whole seconds from 0 to 3600
      3: fleet.phones.policy.noStatus: "asStatus5000" is not known; did you mean "asStatus500"? Allowed: "backoff", "untouched", "asStatus500", "clientBackoff"
      3: fleet.phones.policy.limitReached: expected one of "dropBatch", "dropBatchAndResetGlobal", "resetStateAndDropFlush", found 1
    cohort +policy: { missingRetryAfter: 'fixed:S' }
      3: fleet.phones.policy.missingRetryAfter: "fixed:S" is not known; write for example "fixed:60": whole seconds from 0 to 3600
    cohort +policy: 'shipped'
      3: fleet.phones.policy: expected an object, found the string "shipped"
    cohort +lifecycle: null, rollout: null
    cohort +lifecycle: { restarts: 2, synchronised: { at: '30m' }, state: 'memory', flushAtLaunch: 'yes' }
      3: fleet.phones.lifecycle.restarts: missing unit: write "2/day"
      3: fleet.phones.lifecycle.synchronised: expected a list, found an object
      3: fleet.phones.lifecycle.state: "memory" is not known; did you mean "inMemory"? Allowed: "persisted", "inMemory"
      3: fleet.phones.lifecycle.flushAtLaunch: expected true or false, found the string "yes"
    cohort +lifecycle: { restarts: '2/s', synchronised: [{ spread: 10 }, { at: -1, spred: '1s' }] }
      3: fleet.phones.lifecycle.restarts: "2/s" is out of range; allowed: one restart in 366 days to 1/s
      3: fleet.phones.lifecycle.synchronised.0.at: missing; write for example at: "30m"
      3: fleet.phones.lifecycle.synchronised.0.spread: missing unit: write "10s"
      3: fleet.phones.lifecycle.synchronised.1.spred: unknown key; did you mean "spread"? Allowed here: at, spread
      3: fleet.phones.lifecycle.synchronised.1.at: missing unit: write a value like "30s"
    cohort +lifecycle: { restarts: '0/day' }
      3: fleet.phones.lifecycle.restarts: "0/day" is out of range; allowed: one restart in 366 days to 1/s
    cohort +lifecycle: { restarts: { meanGap: '1ms' } }
      3: fleet.phones.lifecycle.restarts.meanGap: "1ms" is out of range; allowed: 1s to 366d
    cohort +lifecycle: { restarts: {} }
      3: fleet.phones.lifecycle.restarts.meanGap: missing; write for example meanGap: "12h"
    cohort +lifecycle: { synchronised: [{ at: '3h' }] }
      3: warning: fleet.phones.lifecycle.synchronised.0.at: at 3h the run of 2h is over: it never happens
    cohort +lifecycle: { restart: '2/day' }
      3: fleet.phones.lifecycle.restart: unknown key; did you mean "restarts"? Allowed here: restarts, synchronised, state, flushAtLaunch
    cohort +lifecycle: '2/day'
      3: fleet.phones.lifecycle: expected an object, found the string "2/day"
    cohort +rollout: {}
      3: fleet.phones.rollout.at: missing; write for example at: "20m"
      3: fleet.phones.rollout.settings: missing; write for example settings: "settings-new.json"
    cohort +rollout: { at: '0s', share: '101%', settings: {} }
      3: fleet.phones.rollout.share: "101%" is out of range; allowed: 0% to 100%
    cohort +rollout: { at: '0s', share: true, settings: 5 }
      3: fleet.phones.rollout.settings: expected the name of a Settings file or the Settings themselves, found 5
      3: fleet.phones.rollout.share: expected a share such as "50%" or 0.5, found true; allowed: 0% to 100%
    cohort +rollout: { at: '0s', share: '50', settings: 'no.json' }
      3: fleet.phones.rollout.settings: cannot read "no.json": No such file
      3: fleet.phones.rollout.share: missing unit: write "50%", or the number 0.5 for a half
    cohort +rollout: { at: '0s', settings: { backoffConfig: { jitterPercent: 200 } } }
      3: warning: fleet.phones.rollout.settings.backoffConfig.jitterPercent: 200 is out of range; allowed is 0 to 100 %; 100 is used
    cohort +rollout: { at: '20m', settings: {} }
      3: warning: fleet.phones.rollout: no device picks these Settings up: apps fetch them at launch, and none is launched during the run; give the cohort lifecycle: { restarts: "2/day" }, or say at: "0s"
    cohort +rollout: { at: '20m', settings: {} }, lifecycle: { restarts: '2/day' }
    cohort +eventSize: '0B', requestSize: 500
      3: fleet.phones.eventSize: "0B" is out of range; allowed: 1B to 100MB
      3: fleet.phones.requestSize: missing unit: write "500B"
    cohort +settings: 5
      3: fleet.phones.settings: expected the name of a Settings file or the Settings themselves, found 5
    cohort +settings: 'no.json'
      3: fleet.phones.settings: cannot read "no.json": No such file
    cohort +flsh: {}, Devices: 5
      3: fleet.phones.flsh: unknown key; did you mean "flush"? Allowed here: name, devices, client, events, flush, queue, retries, uploadConcurrency, flushWhileUploading, timeout, network, settings, policy, lifecycle, rollout, eventSize, requestSize
      3: fleet.phones.Devices: unknown key; did you mean "devices"? Allowed here: name, devices, client, events, flush, queue, retries, uploadConcurrency, flushWhileUploading, timeout, network, settings, policy, lifecycle, rollout, eventSize, requestSize
    cohort +settings: { httpConfig: { backoffConfig: { jitterPercent: 200, jitterStrategy: 'ful' } } }
      3: warning: fleet.phones.settings.httpConfig.backoffConfig.jitterPercent: 200 is out of range; allowed is 0 to 100 %; 100 is used
      3: warning: fleet.phones.settings.httpConfig.backoffConfig.jitterStrategy: "ful" is not a jitter strategy; allowed are none, additive:P (P from 0 to 100, at most 6 decimals), full, equal, decorrelated; did you mean full? additive:100 is used
    cohort +}, { name: 'phones', devices: 10, events: '6/min', 
      3: fleet.phones.name: a second cohort named "phones"; the first is on line 3
    cohort name: 'a', devices: 3000000000, events: '1/h' }, { name: 'b', devices: 3000000000, events: '1/h'
      3: fleet: 6000000000 devices in all cohorts together; at most 4000000000
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
      4: compare["tapi.bukcet.capacity"][0]: there is no "bukcet" in tapi; did you mean "bucket"? Allowed there: bucket, workers, overload, incidents
    top compare: { 'tapi.bucket.capacity': ['1/s', '1/s', 5] }
      4: compare["tapi.bucket.capacity"][1]: the same as value 0
      4: compare["tapi.bucket.capacity"][2]: missing unit: write "5/s"
    top compare: { seed: [] , duration: 5}
      4: compare["seed"]: expected a list of at least one value, found an empty one
      4: compare["duration"]: expected a list of at least one value, found 5
    top compare: { 'settings.backoffConfig.jitterStrategy': ['full', 'sideways', 'additive:10'] }
      4: compare["settings.backoffConfig.jitterStrategy"][1]: "sideways" is not a jitter strategy; allowed are none, additive:P (P from 0 to 100, at most 6 decimals), full, equal, decorrelated
    top compare: { 'settings': ['a.json', {}, 5] }
      4: compare["settings"][2]: expected the name of a Settings file or the Settings themselves, found 5
    top compare: { interval: ['1s', '3h'] }
      4: compare["interval"][1]: 3h is longer than the duration, 2h
    top settings: 'b.json'
      b.json:1:1: Settings are an object, { … }; found a list
    top settings: 'c.json'
      c.json:2:4: expected a value, found the end of the file
    """#

  /// `--set`.
  static let overrides = #"""
    --set tapi.bukcet.capacity=1/s
      --set: tapi.bukcet.capacity: there is no "bukcet" in tapi; did you mean "bucket"? Allowed there: bucket, workers, overload, incidents
    --set tapi.bucket.capacity=5
      --set: tapi.bucket.capacity: missing unit: write "5/s"
    --set tapi..x=1
      --set: "tapi..x" is not a path; write keys with dots between them, like tapi.bucket.capacity
    --set fleet.fones.devices=5
      --set: fleet.fones.devices: no cohort is called "fones". The cohorts: phones
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
      --set: settings.backoffConfig.jitterStrategy: "sideways" is not a jitter strategy; allowed are none, additive:P (P from 0 to 100, at most 6 decimals), full, equal, decorrelated
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
      --set: policy.clamp: there is no "clamp" in policy. Allowed there: clampAfterJitter, missingRetryAfter, retryAfterOnOtherCodes, retryAfterForms, noStatus, retryCountHeader, twoWaits, limitReached, rateLimitingOff, missingSection, sendsAtLimit, successEndsWait, ageLimit, supportsOAuth
    --set policy.clampAfterJitter=yes
      --set: policy.clampAfterJitter: expected true or false, found the string "yes"
    --set fleet.phones.settings.backoffConfig.jitterStrategy=sideways
      --set: fleet.phones.settings.backoffConfig.jitterStrategy: "sideways" is not a jitter strategy; allowed are none, additive:P (P from 0 to 100, at most 6 decimals), full, equal, decorrelated
    --set fleet.phones.rollout.settings.backofConfig={}
      --set: fleet.phones.rollout.settings.backofConfig: there is no "backofConfig" in fleet.phones.rollout.settings; did you mean "backoffConfig"? Allowed there: rateLimitConfig, backoffConfig
    --set fleet.phones.rollout.settings.backoffConfig.jitterStrategy=sideways
      --set: fleet.phones.rollout.settings.backoffConfig.jitterStrategy: "sideways" is not a jitter strategy; allowed are none, additive:P (P from 0 to 100, at most 6 decimals), full, equal, decorrelated
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
