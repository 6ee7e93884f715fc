import SimulationKernel

/// The state of `ControlledDelay`, as RFC 8289 §5 has it.
struct DelayControl {
  private let settings: ControlledDelay
  /// When the waits will have been too long for an interval; nil: the latest was not.
  private var aboveUntil: Instant?
  private var isDropping = false
  private var nextDrop = Instant.start
  /// Drops since dropping began, and as it began last.
  private var drops: Int64 = 0
  private var firstDrops: Int64 = 0

  init(_ settings: ControlledDelay) { self.settings = settings }

  /// A request has found a free worker: it has not waited.
  mutating func noteFreeWorker() {
    aboveUntil = nil
    isDropping = false
  }

  /// The one to be served of those that `take` gives in their order; `drop` gets those before it that are not.
  mutating func next(
    from line: inout WaitingLine, at now: Instant, take: (inout WaitingLine) -> UploadRequest?,
    drop: (UploadRequest) -> Void
  ) -> UploadRequest? {
    var request = take(&line)
    var mayDrop = mayDrop(request, behind: line.count, at: now)
    if isDropping {
      isDropping = mayDrop
      while isDropping, nextDrop <= now, let dropped = request {
        drop(dropped)
        drops += 1
        request = take(&line)
        isDropping = self.mayDrop(request, behind: line.count, at: now)
        if isDropping { nextDrop = later(nextDrop) }
      }
    } else if mayDrop, let dropped = request {
      drop(dropped)
      request = take(&line)
      mayDrop = self.mayDrop(request, behind: line.count, at: now)
      isDropping = true
      // Dropping that has ended a short while ago goes on about as fast as it was.
      let sinceFirst = drops - firstDrops
      drops =
        sinceFirst > 1 && (now - nextDrop).microseconds < 16 * settings.interval.microseconds ? sinceFirst : 1
      nextDrop = later(now)
      firstDrops = drops
    }
    return request
  }

  private mutating func mayDrop(_ request: UploadRequest?, behind waiting: Int, at now: Instant) -> Bool {
    guard let request, now - request.arrival >= settings.target, waiting > 1 else {
      aboveUntil = nil
      return false
    }
    if let aboveUntil { return aboveUntil <= now }
    aboveUntil = now + settings.interval
    return false
  }

  /// The control law.
  private func later(_ time: Instant) -> Instant {
    time + Span(microseconds: Int64(Double(settings.interval.microseconds) / Double(drops).squareRoot()))
  }
}
