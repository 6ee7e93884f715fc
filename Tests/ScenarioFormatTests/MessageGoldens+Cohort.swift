import ScenarioModel

extension MessageGoldens {
  /// Those that ship, as a message lists them.
  private static let clients = ClientPreset.names.map { "\"\($0)\"" }.joined(separator: ", ")

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
      3: fleet.phones.client: "tapi-dokument" is not known; did you mean "tapi-document"? Allowed: \#(clients), or a client file such as "mine.json5"
    cohort +client: 'segment-swfit', flushWhileUploading: 'join'
      3: fleet.phones.client: "segment-swfit" is not known; did you mean "segment-swift"? Allowed: \#(clients), or a client file such as "mine.json5"
      3: fleet.phones.flushWhileUploading: "join" is not known; did you mean "joins"? Allowed: "joins", "ignored", "queued"
    cohort +client: 'segment-kotlin'
    cohort +client: 'segment-kotlin', settings: {}
      3: warning: fleet.phones.settings: there is no httpConfig: analytics-kotlin runs in legacy, without waits and limits, and drops every 4xx but 429, a 408, 410 or 460 too
    cohort +client: 'segment-swift', settings: { backoffConfig: {}, rateLimitConfig: { enabled: false } }
      3: warning: fleet.phones.settings.rateLimitConfig.enabled: with rate limiting off and backoff on, analytics-swift drops every batch that gets a 429, whatever statusCodeOverrides say; switch both off, or neither
    cohort +client: 'segment-swift', settingsDialect: 'docment'
      3: fleet.phones.settingsDialect: "docment" is not known; did you mean "document"? Allowed: "document", "analytics-swift", "analytics-kotlin", "analytics-react-native", "analytics-next"
    cohort +policy: { missingSection: 'off' }, settings: { httpConfig: { backoffConfig: {} } }
      3: warning: fleet.phones.settings: no rateLimitConfig (a 429 makes nothing wait): with missingSection "off" (fleetsim presets) a missing section is switched off; write {} to switch it on with its defaults
    cohort +client: 'segment-react-native'
    cohort +client: 5
      3: fleet.phones.client: expected the name of a client, a file such as "mine.json5" or a client, found 5
    cohort +flush: { count: null, interval: null }
      3: fleet.phones.flush: neither a count nor an interval: such a device never flushes; keep one
    cohort +flush: { count: null, interval: null }, spikes: [{ at: '1m', events: 3, flush: false }]
      3: fleet.phones.flush: neither a count nor an interval: such a device never flushes; keep one
    cohort +flush: { count: null, interval: null }, spikes: [{ at: '1m', events: 3 }]
    cohort +holdsOpen: true, page: {}
      3: fleet.phones.holdsOpen: a page asks for nothing again when it is cut off; leave it out
    cohort name: 'a', devices: 10, events: { rate: '6/min', atOnce: 9 }, holdsOpen: true
      3: fleet.a.holdsOpen: who is cut off asks once, which does not go with events.atOnce; leave one of the two out
    cohort +network: { latency: { median: '80', p99: 600 } }
      3: fleet.phones.network.latency.median: missing unit: write "80ms"
      3: fleet.phones.network.latency.p99: missing unit: write "600ms"
    cohort +client: { name: 'c', switches: { settings: { backoffConfig: { maxBackoffInterval: 86400, baseBackoffInterval: 'x' } } } }
      3: fleet.phones.client.switches.settings.backoffConfig.baseBackoffInterval: "x" is not a number; allowed is 0.1 to 60 s
      3: fleet.phones.client.switches.settings.backoffConfig.maxBackoffInterval: 86400 is out of range; allowed is 1 to 3600 s
    cohort +queue: { mode: 'rebatch', batches: 3, overflow: 'refusesNewest' }, uploads: { whileWaiting: 'blocks' }
      3: fleet.phones.queue.batches: batches are counted (events: queue.limit), and a client that re-chunks has none of its own; set queue.mode to "files"
      3: fleet.phones.queue.overflow: batches are refused as a whole, and a client that re-chunks has none of its own; set queue.mode to "files"
      3: fleet.phones.uploads.whileWaiting: batches wait one by one, and a client that re-chunks has none of its own; set queue.mode to "files"
    cohort +queue: { growsUntilFailure: true, overflow: 'refusesNewest' }, uploads: { whileWaiting: 'blocks' }, gates: { wholeRun: true }
      3: fleet.phones.queue.overflow: batches are refused as a whole, and here the newest has old events too; leave out queue.growsUntilFailure, and flushWhileUploading "queued"
      3: fleet.phones.uploads.whileWaiting: workers that block have no runs and no lanes; leave out gates.wholeRun, gates.restartRun and gates.lanes
    cohort +uploads: { whileWaiting: 'blocks' }, flushWhileUploading: 'ignored'
      3: fleet.phones.uploads.whileWaiting: workers that block take what is there, run or not; set flushWhileUploading to "joins"
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
    cohort +client: 'segment-react-native', queue: { mode: 'files', limit: null }
      3: fleet.phones.queue.mode: a client that acts at the end of a flush re-chunks its events; set queue.mode to "rebatch", or uploadLoop.actsAtFlushEnd to false
    cohort +uploadLoop: { actsAtFlushEnd: true }
      3: fleet.phones.uploadLoop.actsAtFlushEnd: a client that acts at the end of a flush re-chunks its events; set queue.mode to "rebatch", or uploadLoop.actsAtFlushEnd to false
    cohort +uploadLoop: { saving: 'atonce', triggers: 'some', countOfAnEvent: 3, countsAllEvents: 1, rateLimitEndsLoop: null, actAtFlushEnd: true }
      3: fleet.phones.uploadLoop.actAtFlushEnd: unknown key; did you mean "actsAtFlushEnd"? Allowed here: actsAtFlushEnd, rateLimitEndsLoop, failureEndsLoop, saving, triggers, triggersThatSkipWaits, countOfAnEvent, countsAllEvents, countsHeldEvents, countFlushWhileFailing
      3: fleet.phones.uploadLoop.rateLimitEndsLoop: expected true or false, found null
      3: fleet.phones.uploadLoop.saving: "atonce" is not known; did you mean "atOnce"? Allowed: "atOnce", "atOnceAsItIs", "afterAnswers", "delayed", "never"
      3: fleet.phones.uploadLoop.triggers: expected "all" or a list of triggers, found the string "some"
      3: fleet.phones.uploadLoop.countOfAnEvent: 3 is out of range; allowed: whole numbers from 1 to 2
      3: fleet.phones.uploadLoop.countsAllEvents: expected true or false, found 1
    cohort +uploadLoop: { triggers: ['count', 'flush', 5] }
      3: fleet.phones.uploadLoop.triggers: "flush" is not known. Allowed: "count", "interval", "manual", "reconnect", "foreground", "background", "wakeUp"
      3: fleet.phones.uploadLoop.triggers: expected one of "count", "interval", "manual", "reconnect", "foreground", "background", "wakeUp", found 5
    cohort +uploadLoop: true
      3: fleet.phones.uploadLoop: expected an object, found true
    cohort +timeout: '0s'
      3: fleet.phones.timeout: "0s" is out of range; allowed: 1ms to 366d
    cohort +timeout: '5ms'
      3: warning: fleet.phones.timeout: every upload times out: the time-out is 5ms, the way to the server and back takes at least 10ms
    cohort +network: { latency: '0.5ms' }
      3: fleet.phones.network.latency: "0.5ms" is out of range; allowed: 1ms to 1h
    cohort +network: { latency: { exponential: '5ms' } }
      3: fleet.phones.network.latency.exponential: an exponential latency comes arbitrarily close to 0; the shortest is 1ms. Use { median, p99, minimum } instead
    cohort +network: { latency: { median: '5ms', p99: '600ms' } }
      3: fleet.phones.network.latency.median: minimum 5ms (not given here) is not below median, 5ms
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
      3: fleet.phones.policy.twoWait: unknown key; did you mean "twoWaits"? Allowed here: clampAfterJitter, missingRetryAfter, retryAfterOnOtherCodes, retryAfterForms, readsRateLimitReset, noStatus, retryCountHeader, twoWaits, limitReached, rateLimitingOff, missingSection, sendsAtLimit, successEndsWait, ageLimit, supportsOAuth, rateLimited, unauthorized, givenUp, limitsCheck, rateLimitRecord, backoffOff, withoutSettings, overridden429, belowSuccess, exponent, waitsInMilliseconds, retryAfterCap, retryAfterJitter, backoffHolds, multiplier, waits, jitterDraw, immediateRetries, longestRetryAfter
      3: fleet.phones.policy.missingRetryAfter: "fixed:3601" is not known; write for example "fixed:60": whole seconds from 0 to 3600
      3: fleet.phones.policy.noStatus: "asStatus5000" is not known; did you mean "asStatus500"? Allowed: "backoff", "untouched", "asStatus500", "clientBackoff"
      3: fleet.phones.policy.limitReached: expected one of "dropBatch", "resetStateAndDropFlush", "startOverAtNextTrigger", found 1
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
      3: warning: fleet.phones.lifecycle.synchronised: is part of the load, and no incident: no verdict tells what it does; compare the scenario with one without it
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
      3: fleet.phones.flsh: unknown key; did you mean "flush"? Allowed here: name, devices, share, client, events, spikes, holdsOpen, flush, queue, retries, uploadConcurrency, uploads, flushWhileUploading, page, uploadLoop, timeout, network, connection, connectivity, sessions, os, settings, settingsDialect, settingsFetch, policy, classDelays, gates, credentialRefresh, lifecycle, rollout, eventSize, requestSize, writeKey
      3: fleet.phones.Devices: unknown key; did you mean "devices"? Allowed here: name, devices, share, client, events, spikes, holdsOpen, flush, queue, retries, uploadConcurrency, uploads, flushWhileUploading, page, uploadLoop, timeout, network, connection, connectivity, sessions, os, settings, settingsDialect, settingsFetch, policy, classDelays, gates, credentialRefresh, lifecycle, rollout, eventSize, requestSize, writeKey
    cohort +settings: { httpConfig: { backoffConfig: { jitterPercent: 200, jitterStrategy: 'ful' } } }
      3: warning: fleet.phones.settings.httpConfig.backoffConfig.jitterPercent: 200 is out of range; allowed is 0 to 100 %; 100 is used
      3: warning: fleet.phones.settings.httpConfig.backoffConfig.jitterStrategy: "ful" is not a jitter strategy; allowed are none, additive:P, additive:T, additive:P:T, symmetric:P, full, equal, decorrelated, between:T:T (P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first); did you mean full? additive:100 is used
    cohort +settingsFetch: 'launch'
      3: warning: fleet.phones.settingsFetch: nothing reads it: without tapi.settingsEndpoint a fetch of Settings is no request
    cohort +settingsFetch: 'daily'
      3: fleet.phones.settingsFetch: "daily" is not known. Allowed: "never", "launch", "foreground"
      3: warning: fleet.phones.settingsFetch: nothing reads it: without tapi.settingsEndpoint a fetch of Settings is no request
    cohort +connection: { keepAlive: '5m' }
      3: warning: fleet.phones.connection: nothing reads it: without tapi.connections a connection costs nothing
    cohort +connection: { keepAlive: '0s', roundTrips: 11 }
      3: fleet.phones.connection.keepAlive: "0s" is out of range; allowed: 1ms to 366d
      3: fleet.phones.connection.roundTrips: 11 is out of range; allowed: whole numbers from 0 to 10
      3: warning: fleet.phones.connection: nothing reads it: without tapi.connections a connection costs nothing
    cohort +}, { name: 'phones', devices: 10, events: '6/min', 
      3: fleet.phones.name: a second cohort named "phones"; the first is on line 3
    cohort name: 'a', devices: 3000000000, events: '1/h' }, { name: 'b', devices: 3000000000, events: '1/h'
      3: fleet: 6000000000 devices in all cohorts together; at most 4000000000
    """#
}
