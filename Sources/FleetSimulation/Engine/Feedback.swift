import SimulationKernel

/// The feedback that a client may react to.
enum Feedback: Int, Comparable {
  case nothing
  /// An answer other than 200, or none.
  case failure
  /// A 429, or a wait that the server asks for.
  case rateLimit

  static func < (a: Feedback, b: Feedback) -> Bool { a.rawValue < b.rawValue }
}

extension ShardRunner {
  /// Returns the most that the devices are to hear in the window that comes next. These are the deliveries due by now, and
  /// time-outs of uploads that arrive when their clients are about to give up. Nothing else that the server decides reaches them
  /// in the same window.
  func feedback(slot: Int) -> Feedback {
    var feedback = Feedback.nothing
    calendar.deliveries.forEach(inSlot: slot) { delivery in
      guard delivery.kind == .timeOut || delivery.isFailure,
        case let batch = shard.batches[delivery.batch], batch.generation == delivery.generation,
        batch.attempts == delivery.attempt, batch.flags.contains(.inFlight)
      else { return }
      let isRateLimit =
        delivery.kind == .answer && (delivery.status == 429 || delivery.retryAfter != .max)
      feedback = max(feedback, isRateLimit ? .rateLimit : .failure)
    }
    let latest = shard.plan.pointee.network.timeout &- calendar.clock.width
    for i in 0..<arrivals.count where Int64(arrivals[i].uplink) >= latest {
      feedback = max(feedback, .failure)
    }
    return feedback
  }
}
