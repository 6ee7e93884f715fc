extension MessageGoldens {
  /// What operators do during the run.
  static let actions = #"""
    top actions: [{ kind: 'shed', at: '25m', share: '50%' }, { kind: 'shed', at: '40m', share: '20%', key: 'phones', by: 'device', status: 429, for: '10m' }]
    top actions: [{ kind: 'retryAfter', at: '0s', retryAfter: { backlog: {} } }, { kind: 'capacity', at: '1m', factor: 1.5 }, { kind: 'readmit', at: '1h', over: '2h' }]
    top actions: {}
      4: actions: expected a list, found an object
    top actions: [{}]
      4: actions.0.kind: missing; write for example kind: "shed"
      4: actions.0.at: missing; write for example at: "25m"
    top actions: [{ kind: 'shedd', at: '1m' }]
      4: actions.0.kind: "shedd" is not known; did you mean "shed"? Allowed: "retryAfter", "shed", "readmit", "capacity", "restart", "settings"
    top actions: [{ kind: 'shed', at: '1m', shre: '10%' }]
      4: actions.0.shre: unknown key; did you mean "share"? Allowed here: kind, at, share, key, by, status, for
      4: actions.0.share: missing; write for example share: "50%"
    top actions: [{ kind: 'shed', at: '3h', share: '10%' }, { kind: 'restart', at: '2h', for: '5s' }, { kind: 'restart', at: '-5m', for: '5s' }]
      4: actions.0.at: at 3h the run of 2h is over; an action happens before its end
      4: actions.1.at: at 2h the run of 2h is over; an action happens before its end
      4: actions.2.at: "-5m" is negative
    top actions: [{ kind: 'shed', at: '1m', share: '10%', key: 'phone' }]
      4: actions.0.key: no cohort has the writeKey "phone"; did you mean "phones"? There are: "phones"
    top actions: [{ kind: 'shed', at: '1m', share: '10%', for: '10m' }, { kind: 'readmit', at: '5m', over: '1m' }]
      4: actions.1: contradicts action 0 on line 4, 10% shed from 1m for 10m: both decide on who is let in
    top actions: [{ kind: 'retryAfter', at: '5m', retryAfter: '5s' }, { kind: 'retryAfter', at: '5m', retryAfter: 'none' }]
      4: actions.1: contradicts action 0 on line 4, Retry-After 5s from 5m: both decide on how long to wait
    top actions: [{ kind: 'shed', at: '1m', share: 2, status: 200, by: 'phone' }, { kind: 'capacity', at: '1m', factor: '0.5%' }, { kind: 'readmit', at: '1m', over: '0s' }]
      4: actions.0.share: 2 is out of range; allowed: 0.0001% to 100%
      4: actions.0.by: "phone" is not known. Allowed: "request", "device"
      4: actions.0.status: 200 is out of range; allowed: whole numbers from 400 to 599
      4: actions.1.factor: "0.5%" is out of range; allowed: 1% to 10000%
      4: actions.2.over: "0s" is out of range; allowed: 1us to 366d
    top actions: [{ kind: 'restart', at: '1m' }]
      4: warning: actions.0: changes nothing: a bucket has no queue, and without for: "30s" it answers all the time
    top actions: [{ kind: 'settings', at: '1m', cohort: 'phones', fetch: '1h', share: '20%', settings: 'a.json' }]
    top actions: [{ kind: 'settings', at: '1m', fetch: '1h' }]
      4: actions.0.settings: missing; write for example settings: "settings-new.json"
    top actions: [{ kind: 'settings', at: '1m', cohort: 'phone', fetch: '1h', settings: {} }]
      4: actions.0.cohort: no cohort is called "phone"; did you mean "phones"? The cohorts: phones
    top actions: [{ kind: 'settings', at: '1m', settings: 'none.json' }]
      4: actions.0.settings: cannot read "none.json": No such file
    top actions: [{ kind: 'settings', at: '1m', fetch: '1h', settings: {} }, { kind: 'settings', at: '2m', settings: {} }]
      4: actions.1: contradicts action 0 on line 4, which publishes Settings for fleet.phones too: a cohort gets one new version of Settings in a run
    cohort +rollout: { at: '0s', settings: {} } }], actions: [{ kind: 'settings', at: '1m', settings: {}
      3: actions.0: contradicts fleet.phones.rollout on line 3: a cohort gets one new version of Settings in a run
    top actions: [{ kind: 'settings', at: '1m', settings: {} }]
      4: warning: actions.0: no device picks these Settings up: apps fetch them at launch, and none is launched during the run; give the cohort lifecycle: { restarts: "2/day" }, or say at: "0s"
    top actions: [{ kind: 'settings', at: '1m', fetch: '1h', settings: { backoffConfig: { maxRetryCount: 'x' } } }]
      4: warning: actions.0.settings.backoffConfig.maxRetryCount: "x" is not a number; allowed is 0 to 1000; the default, 100, is used
    """#
}
