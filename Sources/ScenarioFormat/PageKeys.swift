import ScenarioModel
import ShippedClients
import SimulationKernel

/// `page`: what a page of a browser, or a script, says to its SDK. It has no upload loop.
extension BrowserOptions {
  static let keys = ObjectKeys(
    BrowserOptions(), keepsRest: true,
    [
      .ofClient("strategy", \.strategy, .choice, "what leaves together, and when again", "S3"),
      .ofClient(
        "size", \.size, .count(1...1_000_000),
        "batching: events that make a flush; oneTimer: of an upload at most", "S17"),
      .ofClient(
        "timeout", \.timeout,
        Kind<Span>.span(from: .milliseconds(1)).mapped(
          { Double($0.microseconds / 1_000) }, { .milliseconds(Int64($0)) }),
        "not standard: from the first event to the flush", "S17"),
      .ofClient(
        "maxRetries", \.maxRetries, Kind<Int>.count(0...1_000).mapped(Double.init, { Int($0) }).orNull,
        "not standard: retries; null: backoffConfig.maxRetryCount", "S12"),
      .ofClient("retryQueue", \.retriesEvents, .bool, "a failed event is sent again", "S12"),
      .ofClient("persistence", \.savesEvents, .bool, "a page that goes saves what it holds", "S18"),
      .ofClient("keepalive", \.keepsAlive, .bool, "batching: each request outlives its page", "S18"),
    ])
}
