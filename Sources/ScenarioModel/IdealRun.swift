import ShippedClients
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

extension Scenario {
  /// The ideal run (definitions.md, Recovery): what any client could reach at best.
  ///
  /// Devices, events, sessions, networks and the server's capacity are those of the scenario, and so are the incidents that take
  /// capacity away. Its clients make the same batches, are served in the order in which they ask, give nothing up, and lose
  /// nothing on the way. One such run serves all scenarios that differ in their clients' reactions alone.
  public var ideal: Scenario {
    var ideal = self
    ideal.isIdeal = true
    for index in fleet.indices { ideal.fleet[index].becomeIdeal(in: self) }
    ideal.tapi.becomeIdeal()
    return ideal
  }
}

extension Cohort {
  fileprivate mutating func becomeIdeal(in scenario: Scenario) {
    let client = behaviour
    take(ClientPreset())
    if let page = client.page {
      // A page sends each event as it comes, or a buffer of them.
      let gathered = page.timeout > 1 ? page.gathersAtMost : nil
      let sendsEach = gathered == nil
      flush = FlushPolicy(
        count: sendsEach ? 1 : page.strategy.isInMemory ? nil : page.size,
        interval: sendsEach ? nil : Span(microseconds: Int64(max(page.timeout * 1_000, 1_000))))
      behaviour.queue.maximumBatchEvents = Int(min(gathered ?? 1, 65_535))
      behaviour.uploadConcurrency = .max
      diesWhenClosed = true
    } else {
      behaviour.queue.mode = client.queue.mode
      behaviour.queue.maximumBatchEvents = client.queue.maximumBatchEvents
      // What the server finds too large a smaller batch delivers.
      behaviour.queue.maximumBatchBytes =
        [client.queue.maximumBatchBytes, scenario.tapi.rules.requestSizeLimit].compactMap { $0 }.min()
      behaviour.queue.growsUntilFailure = client.queue.growsUntilFailure
      // A worker that blocks holds up the batches behind its own. All others gather what comes while they wait.
      behaviour.uploadConcurrency =
        client.whileWaiting == .blocks ? .max : client.uploadConcurrency
      (behaviour.countOfAnEvent, behaviour.countsAllEvents) = (
        client.countOfAnEvent, client.countsAllEvents
      )
      behaviour.triggers = client.triggers
    }
    behaviour.queue.limit = .max
    if polls { (behaviour.queue.batchLimit, behaviour.queue.overflow) = (1, .refusesNewest) }
    settings = HTTPConfig()
    settings.backoff.maxTotalBackoffDuration = Span.hours(1_000_000).microseconds
    settings.rateLimit.maxTotalBackoffDuration = settings.backoff.maxTotalBackoffDuration
    (behaviour.settingsDefaults, settingsSource, rollout) = (settings, nil, nil)
    behaviour.settingsFetch = .never
    (lifecycle, connectTimeout) = (nil, nil)
    // Who was kept away once takes a place in the line on return, whatever a flush timer says.
    if connectivity?.periods == nil {
      connectivity?.flushesOnReconnect = true
      behaviour.triggers.formUnion(ClientTriggers([.reconnect]))
    }
    link.requestLossPartsPerMillion = 0
    link.answerLossPartsPerMillion = 0
    // A request waits in line for as long as it takes.
    timeout = scenario.duration + scenario.duration + .hours(1)
  }
}

extension TAPIConfiguration {
  /// Faults of single requests cost an ideal client nothing, unless they concern every request or the server's work.
  fileprivate mutating func becomeIdeal() {
    incidents = incidents.compactMap { $0.ofCapacity }
    // When an action ends may be for another to say, which is none of an ideal run.
    actions = zip(actions, actions.ends).compactMap { $0.ofCapacity(until: $1) }
    rules.retryCountLimit = nil
    (rules.requestSizeLimit, rules.crash) = (nil, nil)
    overload = Overload()
    (connections, settings, proxies) = (nil, nil, nil)
    guard case .workers(var workers) = server else { return }
    (workers.count, workers.queueLimit, workers.queueTimeout) = (workers.atOnce, nil, nil)
    (workers.congestion, workers.delayControl, workers.concurrencyLimit) = (nil, nil, nil)
    workers.order = .fifo
    server = .workers(workers)
  }
}
