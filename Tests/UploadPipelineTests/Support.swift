import TestSupport
import UploadPipeline
import UploadRetry

extension ClientOptions {
  /// Those of the document's client but for a change.
  init(_ change: (inout ClientOptions) -> Void) {
    self.init()
    change(&self)
  }
}

/// One client, told step by step: what happens goes in, what it does comes out as lines of text.
///
/// Lines read `send 0-2 #1`, `ask 0`, `delivered 0-2`, `lost 3 age`, `wake 5`; events are named by their numbers, times are seconds.
final class Desk {
  var client: UploadClient
  /// Which upload carries these events.
  private var uploads: [String: BatchIndex] = [:]
  var now: Int64 = seconds(1_000)

  init(
    _ options: ClientOptions, _ config: HTTPConfig = .withoutJitter, count: FlushCount = FlushCount(nil),
    random: any RandomNumberGenerator = Constant.low
  ) {
    client = UploadClient(options: options, config: config, flushCount: count, random: random)
  }

  /// What was done since the last step.
  func lines() -> [String] {
    client.takeActions().compactMap { action in
      switch action {
      case .send(let batch, let events, let count, let asks):
        uploads[name(events)] = batch
        return (asks ? "ask " : "send ") + name(events) + (count.map { " #\($0)" } ?? "")
      case .delivered(let events): return "delivered " + name(events)
      case .lost(let events, .limit(let reason)): return "lost \(name(events)) \(reason)"
      case .lost(let events, let loss): return "lost \(name(events)) \(loss)"
      case .wake(let time): return "wake \(Double(time) / 1_000_000)"
      case .step: return nil
      }
    }
  }

  /// Events are created.
  func add(_ n: Int) -> [String] {
    client.add(n, at: now)
    return lines()
  }

  /// Something asks for a flush, after so many new events.
  func flush(_ n: Int = 0, _ trigger: ClientTrigger = .interval) -> [String] {
    if n > 0 { client.add(n, at: now) }
    client.trigger(trigger, at: now)
    return lines()
  }

  func wakeUp() -> [String] { flush(0, .wakeUp) }

  /// The upload of these events is answered.
  func answer(_ events: String, _ status: Int, retryAfter: Double? = nil) -> [String] {
    hear(events, .status(status, retryAfter: retryAfter.map(seconds)))
  }

  func loseAnswer(_ events: String) -> [String] { hear(events, .noStatus) }

  private func hear(_ events: String, _ response: UploadResponse) -> [String] {
    guard let batch = uploads[events] else { return ["no upload of \(events)"] }
    client.answered(batch, response, at: now)
    return lines()
  }

  func pass(_ time: Double) { now += seconds(time) }

  /// What is held, uploads with a star.
  var held: [String] { client.held.map { name($0.events) + ($0.isUploading ? "*" : "") } }

  /// READY, or how long the client waits from now, seconds.
  var wait: Double {
    max(0, Double(client.snapshot.waitUntil - now) / 1_000_000)
  }

  private func name(_ events: Range<UInt32>) -> String {
    events.count == 1 ? "\(events.lowerBound)" : "\(events.lowerBound)-\(events.upperBound - 1)"
  }
}
