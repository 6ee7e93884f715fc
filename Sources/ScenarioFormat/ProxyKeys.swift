import ScenarioModel
import SimulationKernel
import TAPIModel

/// `tapi.proxies`: a tier before the server with retries of its own.
extension Proxies {
  static let keys = ObjectKeys(
    Proxies(), keepsRest: true,
    [
      Field(
        "count", \.count, .count(1...1_000_000),
        "Proxies; a hash of the device says which one is its own."),
      Field(
        "retries", \.retries, .count(0...100),
        "Tries of a request after its first (num_retries)."),
      Field(
        "retryOn", \.statuses,
        Kind<Int>.count(400...599).list(0...100, of: " of statuses", named: "statuses"),
        "Statuses that are tried again (gateway-error)."),
      Field(
        "retryUnanswered", \.retriesUnanswered, .bool,
        "Whether a lost or slow try is, too."),
      Field(
        "perTryTimeout", \.tryTimeout, Kind<Span>.span(from: .milliseconds(1)).orNull,
        "When a proxy gives a try up.", defaultValue: .said("never")),
      Field(
        "backoff", \.backoff, .object(Backoff.keys),
        "The wait before a retry (retry_back_off)."),
      Field(
        "budget", \.budget, Kind.object(Budget.keys).orNull,
        "The most retries that a proxy has at once (retry_budget); null: any number."),
      .refusal("retries") { _, found in
        found.retries > 0 && found.statuses.isEmpty && !found.retriesUnanswered
          ? "nothing is ever tried again: retryOn is empty, and retryUnanswered is false" : nil
      },
      .warning("budget") { node, found in
        node["budget"] != nil && found.budget != nil && found.retries == 0
          ? "nothing reads it: retries is 0" : nil
      },
      .warning("budget") { _, found in
        guard let budget = found.budget, found.retries > 0 else { return nil }
        return budget.share == 0 && budget.minimum == 0
          ? "no proxy ever tries again: share and minimum are 0; write retries: 0, or null for no budget"
          : nil
      },
    ])
}

extension Proxies.Backoff {
  fileprivate static let keys = ObjectKeys(
    Proxies.Backoff(),
    [
      Field("base", \.base, .span(Span(microseconds: 1)...Span.hours(1)), "The longest first wait."),
      Field("maximum", \.maximum, .span(Span(microseconds: 1)...Span.hours(1)), "The longest wait of all."),
      .order("base", \.base, "maximum", \.maximum),
    ])
}

extension Proxies.Budget {
  fileprivate static let keys = ObjectKeys(
    Proxies.Budget(), keepsRest: true,
    [
      Field(
        "share", \.share, .share(),
        "Of the requests that the proxy has at the server (budget_percent)."),
      Field(
        "minimum", \.minimum, .count(0...1_000_000_000), "Never fewer (min_retry_concurrency)."),
    ])
}

extension ScenarioDecoder {
  /// Says where no client waits as long as a proxy does.
  mutating func warnOfProxies(_ scenario: Scenario, _ root: PositionedValue) {
    guard let proxies = scenario.tapi.proxies, let limit = proxies.tryTimeout,
      let longest = scenario.fleet.map(\.timeout).max(), limit >= longest,
      let node = root["tapi"]?["proxies"]?["perTryTimeout"]
    else { return }
    warn(
      "never comes: every client gives up before, after \(Units.text(longest)) at the latest",
      at: node.position, "tapi.proxies.perTryTimeout")
  }
}
