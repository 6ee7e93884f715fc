import ScenarioModel
import SimulationKernel
import TAPIModel

/// What is done with requests that wait for a worker.
extension ControlledDelay {
  static let keys = Record(
    ControlledDelay(), keepsRest: true,
    [
      Field(
        "target", \.target, .span(from: Span(microseconds: 1)), "How long a request may wait where others do."
      ),
      Field(
        "interval", \.interval, .span(from: Span(microseconds: 2)),
        "How long all must have waited for longer than that, until one is dropped."),
      .refusal { _, found in
        found.target >= found.interval
          ? "target \(Units.text(found.target)) is not below interval, \(Units.text(found.interval))" : nil
      },
    ])
}

extension ConcurrencyLimit {
  static let keys = Record(
    ConcurrencyLimit(), keepsRest: true,
    [
      Field(
        "initial", \.initial, .count(1...1_000_000_000), "Requests at first, those that wait among them."),
      Field("minimum", \.minimum, .count(1...1_000_000_000), "Never fewer."),
      Field("maximum", \.maximum, .count(1...1_000_000_000), "Never more."),
      Field("queue", \.queue, .count(0...1_000_000), "How many more a window with even times allows."),
      Field("smoothing", \.smoothing, .share(1...1_000_000), "How much of a change a window makes."),
      Field(
        "tolerance", \.tolerance, .number(1_000_000...1_000_000_000, allowed: "numbers from 1 to 1000"),
        "Times the long-term mean that a window's mean may be."),
      Field("window", \.window, .span(.milliseconds(1)...Span.hours(1)), "How often the limit changes."),
      Field("longWindow", \.longWindow, .count(1...1_000_000), "Windows that the long-term mean looks back."),
      .refusal { _, found in
        found.minimum <= found.initial && found.initial <= found.maximum
          ? nil
          : "initial \(found.initial) is not between minimum \(found.minimum) and maximum \(found.maximum)"
      },
    ])
}

extension Dependency {
  static let keys = Record(
    Dependency(count: 0, serviceTime: .constant(.zero)),
    [
      Field("count", \.count, .count(1...1_000_000), "Calls served at once.", example: "20"),
      Field(
        "serviceTime", \.serviceTime, .serviceTime, "How long a call takes there.",
        example: "{ exponential: \"20ms\" }"),
      Field(
        "queueLimit", \.queueLimit, .count(0...1_000_000_000, or: "unlimited"),
        "Calls that may wait there; one more is refused."),
      Field("retries", \.retries, .count(0...100), "Calls after the first, at once after a failure."),
      Field(
        "roundTrip", \.roundTrip, .span(Span(microseconds: 1)...Span.hours(1)), "The way there and back."),
      Field(
        "timeout", \.timeout, Kind<Span>.span(from: Span(microseconds: 2)).orNull,
        "When a call is given up; it is worked off all the same.", standard: .said("never")),
      Field("status", \.status, .count(400...599), "The answer to a request whose calls have all failed."),
      .refusal { _, found in
        guard let timeout = found.timeout, timeout <= found.roundTrip else { return nil }
        return "no call is answered in time: timeout \(Units.text(timeout)) is not above roundTrip, "
          + Units.text(found.roundTrip)
      },
      .warning("retries") { node, found in
        found.retries > 0 && found.queueLimit == nil && found.timeout == nil && node["retries"] != nil
          ? "no call ever fails: queueLimit is unlimited, and there is no timeout" : nil
      },
    ])
}

extension WorkersConfiguration {
  /// Whether anybody may ever get the overload answer.
  var refuses: Bool {
    queueLimit != nil || queueTimeout != nil || delayControl != nil || concurrencyLimit != nil
  }
}
