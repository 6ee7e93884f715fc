extension MessageGoldens {
  /// What a server can do beyond admission.
  static let rules = #"""
    tapi keyLimits: [{ key: 'phones', rate: '100/min', burst: 100, retryAfter: '5s' }, { per: 'device', rate: '1/s' }]
    tapi keyLimits: { rate: '1/s' }
      2: tapi.keyLimits: expected a list of limits, found an object
    tapi keyLimits: [{ rate: 5, per: 'user' }]
      2: tapi.keyLimits.0.per: "user" is not known. Allowed: "key", "device", "all"
      2: tapi.keyLimits.0.rate: missing unit: write "5/s"
    tapi keyLimits: [{ key: 'fones', rate: '1/s' }]
      2: warning: tapi.keyLimits.0.key: no cohort has the writeKey "fones": the limit never applies
    tapi keyLimits: [{ burst: 0 }]
      2: tapi.keyLimits.0.burst: 0 is out of range; allowed: whole numbers from 1 to 1000000000
    tapi keyLimits: [{ key: 'phones', burst: 5 }]
      2: tapi.keyLimits.0: no limit; write rate: "100/min", or window: "1m" and requests: 100
    tapi keyLimits: [{ per: 'all', window: '1m', requests: 600, retryAfter: 'windowEnd' }, { window: { sliding: '1h' }, requests: 9 }]
      2: warning: tapi.keyLimits.1: the normal load of "phones" is 12670 % of the limit: it falls behind even without an incident
    tapi keyLimits: [{ per: 'device', rate: '1.2/min' }, { per: 'device', rate: '3/min' }, { per: 'all', rate: '12/min' }]
      2: warning: tapi.keyLimits.0: the normal load of a device of "phones" is 158 % of the limit: it falls behind even without an incident
      2: warning: tapi.keyLimits.2: the normal load of all is 158 % of the limit: it falls behind even without an incident
    tapi keyLimits: [{ window: '1m' }, { requests: 5 }, { window: '1m', requests: 5, burst: 5 }]
      2: tapi.keyLimits.0.window: a window without a limit; write for example requests: 100 beside it
      2: tapi.keyLimits.1.requests: in which time? write for example window: "1m" beside it
      2: tapi.keyLimits.2.burst: a window has no burst: all its requests may come at once; leave it out
    tapi keyLimits: [{ window: '1m', rate: '1/s' }, { window: '0s', requests: 0 }, { window: {}, requests: 1 }]
      2: tapi.keyLimits.0: window and rate exclude each other; keep one
      2: tapi.keyLimits.1.window: "0s" is out of range; allowed: 1ms to 366d
      2: tapi.keyLimits.1.requests: 0 is out of range; allowed: whole numbers from 1 to 1000000000
      2: tapi.keyLimits.2.window: empty; write a span like "1m", or { sliding: "1m" }
    tapi keyLimits: [{ rate: '1/s', retryAfter: 'windowEnd' }, { key: 'phones', per: 'all', rate: '1/s' }]
      2: tapi.keyLimits.0.retryAfter: a rate has no window that could end; write { backlog: {} } or a span
      2: tapi.keyLimits.1.key: a limit of the whole fleet is not one of a key; leave the key or per: "all" out
    tapi retryAfterHeader: 'both', overload: { status: 429, retryAfter: '5s' }
    tapi retryAfterHeader: 'X-RateLimit-Reset'
      2: tapi.retryAfterHeader: "X-RateLimit-Reset" is not known; did you mean "x-ratelimit-reset"? Allowed: "retry-after", "x-ratelimit-reset", "both"
    tapi retryAfterHeader: null
      2: tapi.retryAfterHeader: expected one of "retry-after", "x-ratelimit-reset", "both", found null
    tapi retryCountLimit: 0
      2: tapi.retryCountLimit: 0 is out of range; allowed: whole numbers from 1 to 8191
    tapi retryCountLimit: null, requestSizeLimit: null, deduplication: null, autoscaling: null
    tapi requestSizeLimit: 500
      2: tapi.requestSizeLimit: missing unit: write "500B"
    tapi requestSizeLimit: '500KB'
    tapi deduplication: {}
      2: tapi.deduplication.window: missing; write for example window: "24h"
    tapi deduplication: { window: '24h' }
    tapi autoscaling: {}
    tapi autoscaling: { target: '0%' }
      2: tapi.autoscaling.target: "0%" is out of range; allowed: 1% to 100%
    tapi autoscaling: { minimum: '200%', maximum: '100%' }
      2: tapi.autoscaling: minimum 200% is above maximum, 100%
    tapi autoscaling: { interval: '10ms', delay: '2d' }
      2: tapi.autoscaling.interval: "10ms" is out of range; allowed: 1s to 1d
      2: tapi.autoscaling.delay: "2d" is out of range; allowed: 0s to 1d
    tapi crash: { rate: '5000/s', for: '10s', backAfter: '1m' }
    tapi crash: {}
      2: tapi.crash.for: missing; write for example for: "10s"
      2: tapi.crash.backAfter: missing; write for example backAfter: "1m"
    tapi crash: { for: '10s', backAfter: '1m' }
      2: tapi.crash: no load to die of; write queue: 1000, rate: "5000/s", or both
    tapi crash: { queue: 1000, for: '10s', backAfter: '0s' }
      2: tapi.crash.backAfter: "0s" is out of range; allowed: 1ms to 366d
    tapi crash: { queue: 1000, for: '10s', backAfter: '1m' }
      2: tapi.crash.queue: a bucket has no queue that could be too long; write rate: "5000/s"
    server workers: { count: 5, serviceTime: '1s', queueLimit: 100 }, crash: { queue: 100, for: '10s', backAfter: '1m' }
      2: warning: tapi.crash.queue: never more than 100 wait, by workers.queueLimit: it does not die of them
    server bucket: { capacity: '1/s', costPerEvent: '2' }
      2: tapi.bucket.costPerEvent: expected a number, found the string "2"; leave the quotes out; allowed: numbers from 0 to 1000
    server bucket: { capacity: '1/s', costPerEvent: 1001 }
      2: tapi.bucket.costPerEvent: 1001 is out of range; allowed: numbers from 0 to 1000
    server bucket: { capacity: '1/s', costPerEvent: 0.0000001 }
      2: tapi.bucket.costPerEvent: 0.0000001 is finer than a millionth; allowed: numbers from 0 to 1000
    server workers: { count: 20, serviceTime: '30s' }
    server workers: { count: 20, serviceTime: '30001ms' }
      3: warning: fleet.phones.timeout: a worker takes 30001ms for a request, and the client gives it up after 30s
    server workers: { count: 1, serviceTime: '1s', congestion: { slowdown: 2 } }
      2: tapi.workers.congestion.queue: needs the length of queue that slows work down so much; write queue: 1000, or give workers a queueLimit
    server workers: { count: 1, serviceTime: '1s', queueLimit: 100, congestion: { slowdown: 2 } }, overload: { status: 503 }
    server workers: { count: 1, serviceTime: '1s', queueTimeout: '0s' }
      2: tapi.workers.queueTimeout: "0s" is out of range; allowed: 1ms to 366d
    server workers: { count: 1, serviceTime: '1s', queueTimeout: '5s' }, overload: { status: 503 }
    tapi connections: { handshakes: { count: 4, time: '5ms' } }
    tapi connections: null
    tapi connections: {}
      2: tapi.connections.handshakes: missing; write for example handshakes: { count: 4, time: "5ms" }
    tapi connections: { handshakes: { count: 0, time: '0s' }, idleTimeout: 60, refusal: 'drop', limit: 0 }
      2: tapi.connections.handshakes.count: 0 is out of range; allowed: whole numbers from 1 to 1000000
      2: tapi.connections.handshakes.time: "0s" is out of range; allowed: 1us to 1m
      2: tapi.connections.limit: 0 is out of range; allowed: whole numbers from 1 to 1000000000
      2: tapi.connections.idleTimeout: missing unit: write "60s"
      2: tapi.connections.refusal: "drop" is not known. Allowed: "reset", "silent"
    server workers: { count: 200, serviceTime: '1s', queueLimit: 100 }, overload: { status: 503 }, connections: { handshakes: { count: 400, time: '5ms' }, limit: 50 }
      2: tapi.connections.limit: 50 connections are fewer than the 200 workers, some of whom never get a request; allowed: 200 or more, or null
    tapi connections: { handshakes: { count: 1, time: '1m' }, idleTimeout: '1s' }
      2: warning: tapi.connections.handshakes: the tier can do 0.017/s, and the fleet needs about 0.317/s when nothing fails
    tapi connections: { handshakes: { count: 1, time: '1ms' }, limit: 5 }
      2: warning: tapi.connections.limit: the fleet holds about 10 connections open when nothing fails
    tapi settingsEndpoint: null
    tapi settingsEndpoint: {}
      2: warning: tapi.settingsEndpoint: nobody fetches anything: apps fetch Settings at launch, and none is launched during the run; give a cohort lifecycle: { restarts: "2/day" }, or sessions and settingsFetch: "foreground"
    tapi settingsEndpoint: { capacity: 5, burst: 0, status: 200 }
      2: tapi.settingsEndpoint.capacity: missing unit: write "5/s"
      2: tapi.settingsEndpoint.burst: 0 is out of range; allowed: whole numbers from 1 to 1000000000
      2: tapi.settingsEndpoint.status: 200 is out of range; allowed: whole numbers from 400 to 599
    tapi settingsEndpoint: { burst: 5 }
      2: tapi.settingsEndpoint.burst: there is no bucket of that size: give capacity, too, or leave burst out
    tapi proxies: { count: 4, retries: 3, perTryTimeout: '250ms', budget: null }
    tapi proxies: null
    tapi proxies: {}
    tapi proxies: { count: 0, retries: -1, retryOn: [200, '5xx'], perTryTimeout: 250, budget: { share: '120%', minimum: -1 } }
      2: tapi.proxies.count: 0 is out of range; allowed: whole numbers from 1 to 1000000
      2: tapi.proxies.retries: -1 is out of range; allowed: whole numbers from 0 to 100
      2: tapi.proxies.retryOn.0: 200 is out of range; allowed: whole numbers from 400 to 599
      2: tapi.proxies.retryOn.1: expected a number, found the string "5xx"; allowed: whole numbers from 400 to 599
      2: tapi.proxies.perTryTimeout: missing unit: write "250s"
      2: tapi.proxies.budget.share: "120%" is out of range; allowed: 0% to 100%
      2: tapi.proxies.budget.minimum: -1 is out of range; allowed: whole numbers from 0 to 1000000000
    tapi proxies: { retryOn: 503, backoff: { base: '1s' }, budgt: {} }
      2: tapi.proxies.budgt: unknown key; did you mean "budget"? Allowed here: count, retries, retryOn, retryUnanswered, perTryTimeout, backoff, budget
      2: tapi.proxies.retryOn: expected a list of statuses, found 503
      2: tapi.proxies.backoff.base: base 1s is above maximum, 250ms (not given here)
    tapi proxies: { retries: 0, budget: { share: '10%' } }
      2: warning: tapi.proxies.budget: nothing reads it: retries is 0
    tapi proxies: { budget: { share: 0, minimum: 0 } }
      2: warning: tapi.proxies.budget: no proxy ever tries again: share and minimum are 0; write retries: 0, or null for no budget
    tapi proxies: { retryOn: [], retryUnanswered: false }
      2: tapi.proxies.retries: nothing is ever tried again: retryOn is empty, and retryUnanswered is false
    tapi proxies: { perTryTimeout: '1h' }
      2: warning: tapi.proxies.perTryTimeout: never comes: every client gives up before, after 30s at the latest
    tapi proxies: {}, connections: { handshakes: { count: 4, time: '5ms' } }
      2: tapi.proxies: proxies and connections exclude each other: devices would be connected with the proxies, not with the server; leave one out
    tapi overload: { retryAfter: { backlog: {} } }
    tapi overload: { retryAfter: { backlog: { atMost: '1500ms' } } }
      2: tapi.overload.retryAfter.backlog.atMost: Retry-After is sent in whole seconds, and "1500ms" is none
    tapi overload: { retryAfter: { backlog: { atLeast: '9s', atMost: '5s' } } }
      2: tapi.overload.retryAfter.backlog.atMost: atLeast 9s is above atMost, 5s
    tapi overload: { retryAfter: { backlog: {}, from: '5s' } }
      2: tapi.overload.retryAfter.backlog: from and backlog exclude each other; keep one
    tapi incidents: [{ kind: 'errors', at: '1m', for: '1m', share: '10%' }]
    tapi incidents: [{ kind: 'errors', at: '1m', for: '1m', status: 200 }]
      2: tapi.incidents.0.share: missing; write for example share: "10%"
      2: tapi.incidents.0.status: 200 is out of range; allowed: whole numbers from 300 to 599
    tapi incidents: [{ kind: 'lostAnswers', at: '1m', for: '1m', share: '0%' }]
      2: tapi.incidents.0.share: "0%" is out of range; allowed: 0.0001% to 100%
    tapi incidents: [{ kind: 'latency', at: '1m', for: '1m' }]
      2: tapi.incidents.0: slows nothing; write added: "2s", factor: 3, or both
    tapi incidents: [{ kind: 'latency', at: '1m', for: '1m', added: { exponential: '2s' }, factor: 0.5 }]
      2: tapi.incidents.0.factor: 0.5 is out of range; allowed: numbers from 1 to 1000
    tapi incidents: [{ kind: 'tokenExpiry', at: '1m', for: '1m', share: '10%' }]
      2: tapi.incidents.0.share: unknown key. Allowed here: kind, at, for
    tapi incidents: [{ kind: 'cut', at: '1m', for: '1m' }, { kind: 'cut', at: '1m', of: ['phone', 'phones'], share: 0 }]
      2: tapi.incidents.0.for: unknown key. Allowed here: kind, at, over, of, share
      2: tapi.incidents.1.share: 0 is out of range; allowed: 0.0001% to 100%
    tapi incidents: [{ kind: 'cut', at: '1m' }, { kind: 'cut', at: '1m', of: ['phone', 'phones'], over: '10s' }]
      2: tapi.incidents.0: no cohort has anything open that could be cut off; give one holdsOpen: true if it has a stream, a watch or a long poll
      2: tapi.incidents.1.of.0: no cohort is called "phone"; did you mean "phones"? The cohorts: phones
      2: tapi.incidents.1.of.1: phones has nothing open that could be cut off; give it holdsOpen: true if it has a stream, a watch or a long poll
    tapi incidents: [{ kind: 'cut', at: '1m', of: [] }]
      2: tapi.incidents.0.of: no cohort is cut off; name one, or leave of out for every cohort with holdsOpen
    tapi incidents: [{ kind: 'outage', at: '1m', for: '1m', warmUp: '5m' }]
    tapi incidents: [{ kind: 'brownout', at: '1m', for: '1m', factor: '50%', warmUp: '5m' }]
      2: tapi.incidents.0.warmUp: unknown key. Allowed here: kind, at, for, factor
    cohort +writeKey: 5
      3: fleet.phones.writeKey: expected a string, found 5
    """#

  /// Who waits for a worker, and for how long.
  static let workers = #"""
    server workers: { count: 1, serviceTime: '1s', order: 'lifo', codel: { target: '1s', interval: '10s' } }, overload: { status: 503 }
    server workers: { count: 1, serviceTime: '1s', order: 'fewest-retries', codel: {} }
    server workers: { count: 1, serviceTime: '1s', order: 'most-retries', codel: null }
    server workers: { count: 1, serviceTime: '1s', ordr: 'lifo' }
      2: tapi.workers.ordr: unknown key; did you mean "order"? Allowed here: count, serviceTime, serviceTimePerEvent, queueLimit, queueTimeout, congestion, order, codel, concurrencyLimit, dependency
    server workers: { count: 1, serviceTime: '1s', order: 'most-retrys' }
      2: tapi.workers.order: "most-retrys" is not known; did you mean "most-retries"? Allowed: "fifo", "lifo", "fewest-retries", "most-retries"
    server workers: { count: 1, serviceTime: '1s', codel: 5 }
      2: tapi.workers.codel: expected an object, found 5
    server workers: { count: 1, serviceTime: '1s', codel: { targt: '5ms', interval: 5 } }
      2: tapi.workers.codel.targt: unknown key; did you mean "target"? Allowed here: target, interval
      2: tapi.workers.codel.interval: missing unit: write "5s"
    server workers: { count: 1, serviceTime: '1s', codel: { target: '100ms' } }
      2: tapi.workers.codel.target: target 100ms is not below interval, 100ms (not given here)
    server workers: { count: 1, serviceTime: '1s', codel: { target: '0s' } }
      2: tapi.workers.codel.target: "0s" is out of range; allowed: 1us to 366d
    server workers: { count: 1, serviceTime: '1s', codel: { interval: '400d' } }
      2: tapi.workers.codel.interval: "400d" is longer than 366d, the longest span
    server workers: { count: 1, serviceTime: '1s', queueLimit: 1, order: 'lifo' }
    server workers: { count: 1, serviceTime: '1s', queueLimit: 0, order: 'lifo' }
      2: warning: tapi.workers.order: nobody waits: queueLimit is 0
    server workers: { count: 1, serviceTime: '1s', queueLimit: 3, codel: {} }
    server workers: { count: 1, serviceTime: '1s', queueLimit: 2, codel: {} }
      2: warning: tapi.workers.codel: never drops anybody: a queueLimit of 2 leaves no more than one behind whose turn it is
    server workers: { count: 1, serviceTime: '1s', concurrencyLimit: {} }, overload: { status: 503 }
    server workers: { count: 1, serviceTime: '1s', concurrencyLimit: {} }, overload: 'queue'
      2: tapi.overload: "queue" means that all requests wait, but concurrencyLimit refuses some; say what they are answered: { status: 503 }
    server workers: { count: 1, serviceTime: '1s', concurrencyLimit: { initial: 300 } }
      2: tapi.workers.concurrencyLimit: initial 300 is not between minimum 20 and maximum 200
    server workers: { count: 1, serviceTime: '1s', concurrencyLimit: { maximun: 300, tolerance: 0.5, smoothing: '0%' } }
      2: tapi.workers.concurrencyLimit.maximun: unknown key; did you mean "maximum"? Allowed here: initial, minimum, maximum, queue, smoothing, tolerance, window, longWindow
      2: tapi.workers.concurrencyLimit.smoothing: "0%" is out of range; allowed: 0.0001% to 100%
      2: tapi.workers.concurrencyLimit.tolerance: 0.5 is out of range; allowed: numbers from 1 to 1000
    server workers: { count: 1, serviceTime: '1s', dependency: { count: 1, serviceTime: '1s', queueLimit: 'unlimited', retries: 3, timeout: '5s' } }
    server workers: { count: 1, serviceTime: '1s', dependency: {} }
      2: tapi.workers.dependency.count: missing; write for example count: 20
      2: tapi.workers.dependency.serviceTime: missing; write for example serviceTime: { exponential: "20ms" }
    server workers: { count: 1, serviceTime: '1s', dependency: { count: 1, serviceTime: '1s', retrys: 3, status: 200 } }
      2: tapi.workers.dependency.retrys: unknown key; did you mean "retries"? Allowed here: count, serviceTime, queueLimit, retries, roundTrip, timeout, status
      2: tapi.workers.dependency.status: 200 is out of range; allowed: whole numbers from 400 to 599
    server workers: { count: 1, serviceTime: '1s', dependency: { count: 1, serviceTime: '1s', timeout: '1ms' } }
      2: tapi.workers.dependency: no call is answered in time: timeout 1ms is not above roundTrip, 1ms
    server workers: { count: 1, serviceTime: '1s', dependency: { count: 1, serviceTime: '1s', queueLimit: 'unlimited', retries: 3 } }
      2: warning: tapi.workers.dependency.retries: no call ever fails: queueLimit is unlimited, and there is no timeout
    """#
}
