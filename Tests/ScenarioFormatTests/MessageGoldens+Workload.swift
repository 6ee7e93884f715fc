extension MessageGoldens {
  /// Rates that vary, and spikes.
  static let workload = #"""
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: { points: [{ at: '8h', factor: '50%' }, { at: '20h', factor: 2 }] } }
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: { amplitude: '60%', peak: '20h' }, atOnce: 9 }
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: {} }
      3: fleet.a.events.curve.points: missing; write points: [{ at: "8h", factor: "50%" }] or amplitude: "60%"
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: { amplitude: '120%', peak: '20h', period: null } }
      3: fleet.a.events.curve.period: a sine has a period
      3: fleet.a.events.curve.amplitude: "120%" is out of range; allowed: 0% to 100%
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: { amplitude: '20%', points: [] } }
      3: fleet.a.events.curve: amplitude and points exclude each other; keep one
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: { points: [], peak: '1h' } }
      3: fleet.a.events.curve.peak: points say themselves where the peak is; leave it out
      3: fleet.a.events.curve.points: expected at least one point, like [{ at: "8h", factor: "50%" }], found none
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: { points: [{ at: '8h', factor: 101 }, { at: '30h', factor: 1 }, { at: '2h', factor: 1 }, { at: '1h' }] } }
      3: fleet.a.events.curve.points.0.factor: 101 is out of range; allowed: 0% to 10000%
      3: fleet.a.events.curve.points.3.factor: missing; write for example factor: "50%"
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: { points: [{ at: '8h', factor: 1 }, { at: '30h', factor: 1 }, { at: '2h', factor: 1 }] } }
      3: fleet.a.events.curve.points.1.at: 30h is not within the period of 1d
      3: fleet.a.events.curve.points.2.at: 2h is not after the point before it, at 30h
    cohort name: 'a', devices: 10, events: { rate: '6/min', curve: { points: [{ at: '8h', factor: 0 }] } }
      3: fleet.a.events.curve.points: every factor is 0: nothing would ever be created
    cohort name: 'a', devices: 10, events: { every: '1m', curve: { amplitude: '5%' }, share: '5%' }
      3: fleet.a.events.curve: a curve goes with a rate, not with every; leave it out
      3: fleet.a.events.share: a share is that of the rates in a csv, not of every; leave it out
    cohort name: 'a', devices: 10, events: { rate: '1000/s', curve: { points: [{ at: '8h', factor: 50 }] } }
      3: fleet.a.events: more than 10000 events/s for each device at the peak; take more devices or a lower rate
    cohort name: 'a', devices: 10, events: { rate: '6/min', atOnce: 0 }
      3: fleet.a.events.atOnce: 0 is out of range; allowed: whole numbers from 1 to 1000
    cohort name: 'a', devices: 10, events: { csv: 'time_s,events_per_s\n0,x\n1,-1', share: 0 }
      3: fleet.a.events.csv: line 2 of the table: events_per_s is "x", which is not a number
      3: fleet.a.events.csv: line 3 of the table: events_per_s is "-1", which is negative
      3: fleet.a.events.share: 0 is out of range; allowed: above 0% to 100%
    cohort name: 'a', devices: 10, events: { csv: 5 }
      3: fleet.a.events.csv: expected a string, found 5
    cohort name: 'a', devices: 10, events: { polls: '30s' }
    cohort name: 'a', devices: 10, events: { polls: '30s', every: '30s' }
      3: fleet.a.events: polls and every exclude each other; keep one
    cohort name: 'a', devices: 10, events: { polls: '30s', phase: 'flush', atOnce: 2 }
      3: fleet.a.events.phase: polls have a phase of each device's own; leave it out
      3: fleet.a.events.atOnce: a poll is one request; leave it out
    cohort name: 'a', devices: 10, events: { polls: '30s' }, flush: { interval: '1m' }
      3: fleet.a.flush: a client that polls flushes each poll by itself and holds one; leave flush out, or write events.every
    cohort name: 'a', devices: 10, events: { polls: '30s' }, queue: { overflow: 'dropsOldest' }
      3: fleet.a.queue: a client that polls flushes each poll by itself and holds one; leave queue out, or write events.every
    cohort name: 'a', devices: 10, events: { polls: '30s' }, queue: { mode: 'rebatch' }
      3: fleet.a.events.polls: polls are requests of their own, which this client gathers; set queue.mode to "files"
    cohort +spikes: [{ at: '1h', spread: '30s', share: '50%', events: 3, flush: true, every: '1h' }]
    cohort +spikes: {}
      3: fleet.phones.spikes: expected a list, found an object
    cohort +spikes: [{}]
      3: fleet.phones.spikes.0.at: missing; write for example at: "30m"
    cohort +spikes: [{ at: '1h', every: '1s' }, { at: '1h', spread: '2h', every: '1h' }, { at: '3h', events: 0, flush: false }]
      3: fleet.phones.spikes.0.every: "1s" is out of range; allowed: 1m to 366d
      3: fleet.phones.spikes.1.every: spread 2h is above every, 1h
      3: fleet.phones.spikes.2: neither events nor a flush: such a spike does nothing
      3: warning: fleet.phones.spikes.2.at: at 3h the run of 2h is over: it never happens
    cohort name: 'a', devices: 10, events: { rate: '6/min', atOnce: 9 }, spikes: [{ at: '1h' }]
      3: fleet.a.spikes.0.events: a spike with events does not go with events.atOnce; say events: 0, or give the spike a cohort of its own
    """#
}
