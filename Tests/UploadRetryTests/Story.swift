import ShippedQuirks
import TestSupport
import UploadRetry

/// One client and one batch, told step by step: the answers go in, what happened comes out as a line of text.
///
/// A line reads `0 s #0 503 > retry 0.5`: sent at 0 s with X-Retry-Count 0, answered 503, due 0.5 s after the
/// answer.
struct Story {
  var machine: RetryStateMachine
  var batches: [BatchRetryState] = [.init(), .init()]
  var pipeline = PipelineRetryState()
  var random = Constant.low
  var now: Int64 = 0
  private(set) var lines: [String] = []

  init(_ config: HTTPConfig = .withoutJitter, policy: ClientPolicy = .tapiDocument) {
    machine = RetryStateMachine(config: config, of: policy)
  }

  /// Sends a batch as soon as it is due and tells what became of it; moves the clock to the due time.
  mutating func send(_ batch: Int, _ response: UploadResponse) {
    var decision = machine.beforeSend(batch: batches[batch], pipeline: &pipeline, now: now)
    if case .notDue(let until) = decision {
      now = until
      decision = machine.beforeSend(batch: batches[batch], pipeline: &pipeline, now: now)
    }
    guard case .send(let count) = decision else {
      lines.append("\(at(now)) s \(name(decision))")
      return
    }
    let start = now
    let outcome = machine.afterResponse(
      response, batch: &batches[batch], pipeline: &pipeline, now: now, random: &random)
    switch outcome {
    case .pause(let until), .backOff(let until), .dropAndPause(_, let until): now = until
    default: break
    }
    lines.append("\(at(start)) s \(header(count)) \(name(response)) > \(name(outcome, from: start))")
  }

  /// The same with the first batch.
  mutating func send(_ response: UploadResponse) { send(0, response) }

  private func header(_ count: UInt16) -> String {
    machine.policy.headerValue(count).map { "#\($0)" } ?? "no header"
  }

  private func at(_ time: Int64) -> String {
    time % 1_000_000 == 0 ? "\(time / 1_000_000)" : "\(Double(time) / 1_000_000)"
  }

  private func name(_ response: UploadResponse) -> String {
    switch response {
    case .status(let code, nil): "\(code)"
    case .status(let code, let after?): "\(code)/\(at(after))"
    case .noStatus: "-"
    }
  }

  private func name(_ decision: SendDecision) -> String {
    switch decision {
    case .send(let count): "send #\(count)"
    case .notDue(let until): "not due until \(at(until))"
    case .drop(let reason): "drop \(reason)"
    }
  }

  private func name(_ outcome: RetryOutcome, from start: Int64) -> String {
    switch outcome {
    case .delivered: "delivered"
    case .retry(let time): "retry \(at(time - start))"
    case .pause(let time): "pause \(at(time - start))"
    case .backOff(let time): "back off \(at(time - start))"
    case .retryAtNextTrigger: "next trigger"
    case .refreshCredentials: "refresh"
    case .refreshThenRetry(let time): "refresh, retry \(at(time - start))"
    case .drop(let reason): "drop \(reason)"
    case .dropAndPause(let reason, let time): "drop \(reason), pause \(at(time - start))"
    case .discarded: "discarded"
    }
  }
}
