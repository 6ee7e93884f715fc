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
      .check { decoder, node, path, found in
        guard found.target >= found.interval else { return true }
        decoder.report(
          "target \(Units.text(found.target)) is not below interval, \(Units.text(found.interval))",
          at: node.position, path)
        return false
      },
    ])
}

extension WorkersConfiguration {
  /// Whether anybody may ever get the overload answer.
  var refuses: Bool { queueLimit != nil || queueTimeout != nil || delayControl != nil }
}

extension ScenarioDecoder {
  mutating func warnOfIdleQueue(
    _ node: PositionedValue, _ path: String, _ workers: WorkersConfiguration
  ) -> Bool {
    guard let limit = workers.queueLimit else { return true }
    if limit == 0, workers.order != .fifo, let order = node["order"] {
      warn("nobody waits: queueLimit is 0", at: order.position, join(path, "order"))
    }
    if limit <= 2, workers.delayControl != nil, let control = node["codel"] {
      warn(
        "never drops anybody: a queueLimit of \(limit) leaves no more than one behind whose turn it is",
        at: control.position, join(path, "codel"))
    }
    return true
  }
}
