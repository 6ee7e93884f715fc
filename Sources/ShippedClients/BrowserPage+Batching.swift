import UploadPipeline
import UploadRetry

/// The *batching* strategy: one buffer, one timer (S/batched-dispatcher.ts).
extension BrowserPage {
  /// An event joins the buffer, which may be a flush. Whether a request has left whose answer the caller has to wait for.
  mutating func dispatch(_ event: UInt32, in loop: PollingLoop?) -> Bool {
    buffer.events.append(event)
    let isFull = buffer.events.count >= options.size || buffer.isPageHidden
    if isFull, !buffer.isWaiting, !buffer.awaitsAnswer {
      beginSending(event)
      flush(RetrySeries(), in: loop, awaited: event)
      return true
    }
    schedule(RetrySeries(), after: options.timeout)
    return false
  }

  /// The buffer leaves as one request.
  mutating func flush(
    _ series: RetrySeries, isRetry: Bool = false, in loop: PollingLoop? = nil, awaited: UInt32? = nil
  ) {
    if !isRetry { buffer.uploadsInSeries = 0 }
    if buffer.events.isEmpty { return }
    let events = buffer.events
    buffer.events = []
    buffer.awaitsAnswer = true
    begin(events, retryCount: buffer.uploadsInSeries, in: loop, awaited: awaited, series: series)
    buffer.uploadsInSeries &+= 1
  }

  /// The one timer is set, unless it runs.
  mutating func schedule(_ series: RetrySeries, after milliseconds: Double) {
    if buffer.timer != nil { return }
    var delay = milliseconds
    if buffer.asked != 0, !buffer.asked.isNaN { delay = buffer.asked }
    if delay == 0 || delay.isNaN { delay = options.timeout }
    buffer.asked = 0
    buffer.timer = (timer(after: delay), series)
  }

  mutating func fireBufferTimer() {
    guard let (_, series) = buffer.timer else { return }
    let isRetry = buffer.isWaiting
    buffer.timer = nil
    buffer.isWaiting = false
    flush(series, isRetry: isRetry)
  }

  /// The upload of a batch has ended.
  mutating func endBatch(
    _ ended: OpenUpload, _ verdict: BrowserSettings.Verdict, _ settings: BrowserSettings
  ) {
    buffer.awaitsAnswer = false
    var series = ended.series
    switch verdict {
    case .delivered: deliver(ended.events)
    case .drop: giveUp(ended.events, .status)
    case .retry:
      series.retries &+= 1
      if Double(series.retries) > options.maxRetries ?? settings.retryCount {
        giveUp(ended.events, .retryLimit)
        return
      }
      let delay = backoff(series.retries, event: ended.events[0], settings)
      series.backoffTime += delay
      if series.backoffTime > settings.maxTotalBackoffDuration * 1_000 {
        giveUp(ended.events, .age)
        return
      }
      wait(for: ended.events, series, after: delay)
    case .wait(let seconds):
      series.rateLimits &+= 1
      if Double(series.rateLimits) > settings.rateLimitRetryCount {
        giveUp(ended.events, .retryLimit)
        return
      }
      series.rateLimitTime += seconds * 1_000
      if series.rateLimitTime > settings.maxRateLimitDuration * 1_000 {
        giveUp(ended.events, .age)
        return
      }
      buffer.asked = seconds * 1_000
      wait(for: ended.events, series, after: options.timeout)
    }
  }

  /// Milliseconds before retry `n`.
  private func backoff(_ n: UInt32, event: UInt32, _ settings: BrowserSettings) -> Double {
    let power = n > 1_000 ? .infinity : Double(sign: .plus, exponent: Int(n) - 1, significand: 1)
    let wait = min(settings.baseBackoffInterval * 1_000 * power, settings.maxBackoffInterval * 1_000)
    let draw = BrowserDraws.unit(draws.wait(event, n))
    return max(0, wait * (1 + settings.jitterPercent / 100 * (2 * draw - 1)))
  }

  /// The events of an upload that failed are the first of the buffer again, and all of it waits.
  private mutating func wait(for events: [UInt32], _ series: RetrySeries, after milliseconds: Double) {
    buffer.events = events + buffer.events
    schedule(series, after: milliseconds)
    buffer.isWaiting = true
    if let timer = buffer.timer?.timer { actions.append(.decided(events[0], .pause(until: timer.time))) }
  }

  mutating func deliver(_ events: [UInt32]) {
    for event in events { counts[event] = nil }
    actions.append(.delivered(events))
    if let first = events.first { actions.append(.decided(first, .delivered)) }
  }

  mutating func giveUp(_ events: [UInt32], _ reason: DropReason) {
    lose(events, .limit(reason))
    actions.append(.decided(events[0], .drop(reason)))
  }

  /// The tab is hidden, or shown. A hidden one sends what is in the buffer and holds on to it.
  public mutating func setVisible(_ isVisible: Bool, at now: Int64) {
    clock = max(clock, now)
    if isVisible {
      buffer.isPageHidden = false
      return
    }
    if buffer.isPageHidden { return }
    buffer.isPageHidden = true
    if options.strategy == .batching, !buffer.events.isEmpty {
      begin(buffer.events, retryCount: 0, isCopy: true)
    }
  }
}

/// The state of the batching strategy.
struct BatchBuffer: Sendable {
  var events: [UInt32] = []
  /// The one timer, and the retries that its flush goes on with.
  var timer: (timer: PageTimer, series: RetrySeries)?
  /// Its flush is a retry.
  var isWaiting = false
  /// The wait that a 429 has asked for and no timer has been set to, milliseconds; 0: nothing.
  var asked = 0.0
  /// No upload has been answered since the latest left: of several at once the first answer is the answer.
  var awaitsAnswer = false
  /// Uploads since the latest flush that was no retry, that flush included.
  var uploadsInSeries: UInt32 = 0
  /// The tab is hidden, or the page has gone.
  var isPageHidden = false
}

/// The retries of one flush.
struct RetrySeries: Sendable {
  var retries: UInt32 = 0
  var rateLimits: UInt32 = 0
  /// Sums of the waits, milliseconds.
  var backoffTime = 0.0
  var rateLimitTime = 0.0
}
