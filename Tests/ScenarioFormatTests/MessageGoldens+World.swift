extension MessageGoldens {
  /// Links, time-outs, offline periods.
  static let world = #"""
    top network: { bandwidth: '50KB/s', loss: '1%' }
    top network: { bandwidth: '50KB', loss: '150%' }
      4: network.bandwidth: "50KB" is not a bandwidth; write a size a second, like "50KB/s"
      4: network.loss: "150%" is out of range; allowed: 0% to 100%
    top network: { bandwidth: 50, loss: { request: 2, answers: 0 } }
      4: network.bandwidth: missing unit: write "50B/s"
      4: network.loss.answers: unknown key; did you mean "answer"? Allowed here: request, answer
      4: network.loss.request: 2 is out of range; allowed: 0% to 100%
    cohort +network: { bandwidth: null, loss: { answer: '1%' } }, timeout: { connect: '5s', request: '15s' }
    cohort +timeout: { connect: '40s' }
      3: fleet.phones.timeout.connect: connect 40s is above request, 30s (not given here)
    cohort +timeout: { connect: '0s', requests: '1s' }
      3: fleet.phones.timeout.requests: unknown key; did you mean "request"? Allowed here: connect, request
      3: fleet.phones.timeout.connect: "0s" is out of range; allowed: 1ms to 366d
    cohort +timeout: '2h', network: { loss: 0.01 }
      3: fleet.phones.timeout: 2h is too long where answers get lost; at most 1h
    cohort +queue: { maximumBatchSize: '475KB', splitOn413: true }
    cohort +queue: { mode: 'rebatch', maximumBatchSize: 5, splitOn413: true }
      3: fleet.phones.queue.maximumBatchSize: missing unit: write "5B"
      3: fleet.phones.queue.splitOn413: batches are cut for good, and a client that re-chunks has none of its own; set queue.mode to "files"
    cohort +queue: { growsUntilFailure: true }
    cohort +queue: { mode: 'rebatch', growsUntilFailure: true }
      3: fleet.phones.queue.growsUntilFailure: a batch grows until it fails, and a client that re-chunks has none of its own; set queue.mode to "files"
    cohort +connectivity: { online: { exponential: '2h' }, offline: '10m', share: '30%', interruptions: [{ at: '1h', for: '10m', share: '50%' }], flushOnReconnect: false }
    cohort +connectivity: { online: '0s', interruptions: [{}, { at: '1h', for: '0s' }] }
      3: fleet.phones.connectivity.online: "0s" is out of range; allowed: 1ms to 366d
      3: fleet.phones.connectivity.offline: missing beside online; write for example offline: { exponential: "1h" }
      3: fleet.phones.connectivity.interruptions.0.at: missing; write for example at: "30m"
      3: fleet.phones.connectivity.interruptions.0.for: missing; write for example for: "10m"
      3: fleet.phones.connectivity.interruptions.1.for: "0s" is out of range; allowed: 1us to 366d
    cohort +sessions: { share: '5%', length: { exponential: '4m' } }
    cohort +sessions: { share: 1, eventsInBackground: 'no' }
      3: fleet.phones.sessions.length: missing; write for example length: "4m"
      3: fleet.phones.sessions.share: 1 is out of range; allowed: 0.0001% to 99.9999%
      3: fleet.phones.sessions.eventsInBackground: expected true or false, found the string "no"
    cohort +sessions: { share: '5%', length: '4m', curve: { amplitude: '60%', peak: '18h' } }
    cohort +sessions: { share: '5%', length: '4m', curve: { amplitude: '60%', pek: '18h', period: null } }
      3: fleet.phones.sessions.curve.pek: unknown key; did you mean "peak"? Allowed here: points, amplitude, peak, period
      3: fleet.phones.sessions.curve.period: a sine has a period
    cohort name: 'a', devices: 10, events: { csv: 'time_s,events_per_s\n0,5\n' }, sessions: { share: '5%', length: '4m', curve: { amplitude: '60%' } }
      3: fleet.a.sessions.curve: measured rates follow the day by themselves, and events that come in sessions would follow this curve too; leave it out, or set sessions.eventsInBackground to true
    top push: []
    top push: [{ at: '1h', over: '10m', opens: '5%', delay: { exponential: '10m' } }]
      4: push.0: no cohort has sessions, so that nobody can open the message; give one of them for example sessions: { share: "5%", length: { exponential: "3m" } }
    top push: [{ at: '1h', to: ['phone', 'phones'], opens: '5%', delay: '1m' }]
      4: push.0.to.0: no cohort is called "phone"; did you mean "phones"? The cohorts: phones
      4: push.0.to.1: phones has no sessions, so that its apps are always open; give it for example sessions: { share: "5%", length: { exponential: "3m" } }
    top push: [{ to: [], over: '1h', opens: 2 }]
      4: push.0.at: missing; write for example at: "20m"
      4: push.0.delay: missing; write for example delay: { exponential: "10m" }
      4: push.0.opens: 2 is out of range; allowed: 0% to 100%
    top push: [{ at: '1h', opens: '5%', delay: '1m', over: '1h', every: '10m' }]
      4: push.0.every: over 1h is above every, 10m
      4: push.0: no cohort has sessions, so that nobody can open the message; give one of them for example sessions: { share: "5%", length: { exponential: "3m" } }
    top push: [{ at: '1h', opens: '5%', delay: '1m', to: [] }]
      4: push.0.to: no cohort gets the message; name one, or leave to out for every cohort with sessions
    top push: { at: '1h', opens: '5%', delay: '1m' }
      4: push: expected a list, found an object
    top push: [{ name: 'sale', at: '1h', opens: '5%', dely: '1m' }]
      4: push.0.dely: unknown key; did you mean "delay"? Allowed here: name, at, to, over, opens, delay, every
      4: push.0.delay: missing; write for example delay: { exponential: "10m" }
    cohort +sessions: { share: '5%', length: '4m' } }], push: [{ name: 'sale', at: '1h', opens: '5%', delay: '1m' }, { name: 'sale', at: '1h', opens: '5%', delay: '1m'
      3: push.1.name: a second campaign named "sale"; the first is on line 3
    cohort +sessions: { share: '5%', length: '4m' } }], push: [{ at: '1h', over: '58m', opens: '5%', delay: '1m30s'
      3: warning: push.0: ends 30s before the run does: no recovery can be seen, which has to hold for 1m
    cohort +sessions: { share: '0.0001%', length: '2d' }
      3: fleet.phones.sessions: with sessions so long and a share so small the app is closed for more than 366d at a time
    cohort +classDelays: { timeout: { base: '2s', longest: '10m' }, rateLimit: { longest: '1h' } }
    cohort +classDelays: { network: {}, server: { base: '10m' }, timeout: { base: 5 } }
      3: fleet.phones.classDelays.network: unknown key. Allowed here: rateLimit, timeout, server
      3: fleet.phones.classDelays.timeout.base: missing unit: write "5s"
      3: fleet.phones.classDelays.server.base: base 10m is above longest, 5m (not given here)
    cohort +gates: { controller: { targetLatency: '2s', shortestGap: '50ms', longestGap: '1m' } }
    cohort +gates: { breaker: { whenOpen: 'fails', openTimeJitter: 'symmetric:25' }, retryThrottling: { maxTokens: 4 } }
    cohort +gates: { breaker: { whenOpen: 'fail', openTimeJitter: { between: ['10s', '2s'] } } }
      3: fleet.phones.gates.breaker.openTimeJitter: { "between": ["10s", "2s"] } is not known; allowed are none, additive:P, additive:T, additive:P:T, symmetric:P, full, equal, decorrelated, between:T:T (P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first)
      3: fleet.phones.gates.breaker.whenOpen: "fail" is not known; did you mean "fails"? Allowed: "holds", "fails"
    cohort +gates: { retryThrottling: { maxTokens: 0 }, retryBudget: { perRun: 1 } }
      3: fleet.phones.gates.retryThrottling.maxTokens: 0 is out of range; allowed: whole numbers from 1 to 1000
      3: fleet.phones.gates.retryThrottling: is a budget of retries itself; leave one of the two out, or write retryBudget: null
    cohort +policy: { retryAfterJitter: { additive: '50%', atMost: '30s' }, jitterDraw: 'onceADevice' }
    cohort +policy: { retryAfterJitter: 'full' }
      3: fleet.phones.policy.retryAfterJitter: the string "full" is not known; allowed are none, additive:P, additive:T, additive:P:T (P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first)
    cohort +settingsFetch: 'never', settings: { backoffConfig: { maxRetryCount: 'none', maxBackoffInterval: 86400, maxTotalBackoffDuration: 'none' } }
    cohort +settingsFetch: 'never', settings: { backoffConfig: { baseBackoffInterval: 'none' } }
      3: warning: fleet.phones.settings.backoffConfig.baseBackoffInterval: "none" is not a number; allowed is 0.001 to 31622400 s; the default, 0.5, is used
    cohort +settings: { backoffConfig: { maxRetryCount: 'none' } }
      3: fleet.phones.settings.backoffConfig.maxRetryCount: no Settings may say "none": retries are 0 to 1000, ages 0 to 604800 s. It is for a client that asks for none (settingsFetch: "never"), in its file or the scenario
    cohort +gates: { lanes: { interactive: '20%', oneBelowAfter: 4 } }
    cohort +gates: { lanes: { interactiv: '20%', oneBelowAfter: 0 } }
      3: fleet.phones.gates.lanes.interactiv: unknown key; did you mean "interactive"? Allowed here: interactive, oneBelowAfter
      3: fleet.phones.gates.lanes.oneBelowAfter: 0 is out of range; allowed: whole numbers from 1 to 255
    cohort +gates: { lanes: {}, rateWindows: [{ slots: 1, span: '1s' }], wholeRun: true }
      3: fleet.phones.gates.lanes: a run that waits for all of its slots has no lanes; leave lanes out, or set wholeRun to false
    cohort +gates: { lanes: {} }, queue: { mode: 'rebatch' }
      3: fleet.phones.gates.lanes: lanes are of uploads, and a client that re-chunks has none of its own; set queue.mode to "files"
    cohort +gates: { lanes: {} }, policy: { limitsCheck: 'beforeDue' }
      3: fleet.phones.gates.lanes: lanes don't go with policy.limitsCheck "beforeDue", which gives up whatever is oldest; set it to "whenDue"
    cohort +gates: { lanes: {} }, queue: { splitOn413: true }
      3: fleet.phones.gates.lanes: lanes don't go with queue.splitOn413; leave one of the two out
    cohort +gates: { controller: { shortestGap: '1m', longestGap: '1s' } }
      3: fleet.phones.gates.controller.shortestGap: 1m is longer than longestGap, 1s
    cohort +gates: { controller: { shortestGap: '1s' } }
      3: fleet.phones.gates.controller.shortestGap: without longestGap uploads are not paced
    cohort +connectivity: { online: {}, offline: { exponential: '1h', constant: '1h' }, interruptions: 5, flushOnReconnect: 1 }
      3: fleet.phones.connectivity.online: empty; write a span like "1h" or { exponential: "1h" }
      3: fleet.phones.connectivity.offline: exponential and constant exclude each other; keep one
      3: fleet.phones.connectivity.interruptions: expected a list, found 5
      3: fleet.phones.connectivity.flushOnReconnect: expected true or false, found 1
    """#
}
