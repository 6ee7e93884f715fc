extension MessageGoldens {
  /// Who waits for a worker, and for how long.
  static let workers = #"""
    server workers: { count: 1, serviceTime: '1s', order: 'lifo', codel: { target: '1s', interval: '10s' } }, overload: { status: 503 }
    server workers: { count: 1, serviceTime: '1s', order: 'fewest-retries', codel: {} }
    server workers: { count: 1, serviceTime: '1s', order: 'most-retries', codel: null }
    server workers: { count: 1, serviceTime: '1s', ordr: 'lifo' }
      2: tapi.workers.ordr: unknown key; did you mean "order"? Allowed here: count, serviceTime, serviceTimePerEvent, queueLimit, queueTimeout, congestion, order, codel
    server workers: { count: 1, serviceTime: '1s', order: 'most-retrys' }
      2: tapi.workers.order: "most-retrys" is not known; did you mean "most-retries"? Allowed: "fifo", "lifo", "fewest-retries", "most-retries"
    server workers: { count: 1, serviceTime: '1s', codel: 5 }
      2: tapi.workers.codel: expected an object, found 5
    server workers: { count: 1, serviceTime: '1s', codel: { targt: '5ms', interval: 5 } }
      2: tapi.workers.codel.targt: unknown key; did you mean "target"? Allowed here: target, interval
      2: tapi.workers.codel.interval: missing unit: write "5s"
    server workers: { count: 1, serviceTime: '1s', codel: { target: '100ms' } }
      2: tapi.workers.codel: target 100ms is not below interval, 100ms
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
    """#
}
