import ScenarioModel
import SimulationKernel
import TAPIModel

/// An action with one number left open: the smallest one that ends an ill state is looked for.
package struct RescueAction: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case shed, capacity, readmit

    /// What is looked for.
    package var quantity: String {
      switch self {
      case .shed: "the smallest share of the requests to shed"
      case .capacity: "the least capacity"
      case .readmit: "the fastest ramp"
      }
    }

    /// Where it is looked for if nobody says otherwise.
    package var range: String {
      switch self {
      case .shed: "0%..100%"
      case .capacity: "100%..400%"
      case .readmit: "0s..30m"
      }
    }

    /// What the values of a range have to be.
    fileprivate var allowed: String {
      switch self {
      case .shed: "shares from 0% to 100%"
      case .capacity: "shares of the configured capacity from 1% to 10000%"
      case .readmit: "spans up to 366d"
      }
    }
  }

  package let kind: Kind
  package let range: QuantityRange
  /// When it happens.
  package var start: Instant
  /// How long it holds; of a readmission the range says it.
  package var duration: Span
  package var key: String?
  package var isByDevice = false

  /// - Parameter range: `lo..hi`.
  package init(_ kind: Kind, range: String? = nil, at start: Instant, for duration: Span) throws(RangeProblem)
  {
    self.kind = kind
    self.range = try QuantityRange(path: kind.rawValue, range: range ?? kind.range)
    self.start = start
    self.duration = duration
    for end in [self.range.low, self.range.high] where number(end) == nil {
      throw RangeProblem(
        "'\(end.text())' in '\(range ?? kind.range)' is out of range for \(kind.rawValue): \(kind.allowed).")
    }
  }

  /// In parts per million, or microseconds; nil: none that the action can have.
  private func number(_ value: Quantity) -> Int64? {
    switch kind {
    case .shed:
      guard let parts = try? Units.partsPerMillion(value.text()) else { return nil }
      return (0...1_000_000).contains(parts) ? parts : nil
    case .capacity:
      guard let parts = try? Units.partsPerMillion(value.text()) else { return nil }
      return (10_000...100_000_000).contains(parts) ? parts : nil
    case .readmit:
      guard value.unit == .span, (0...Units.longestSpan.microseconds).contains(Int64(value.value)) else {
        return nil
      }
      return Int64(value.value.rounded())
    }
  }

  /// The action with a value of the range; nil where that is no action at all.
  package func action(_ value: Quantity) -> ServerAction? {
    guard let number = number(value) else { return nil }
    switch kind {
    case .shed:
      let shedding = Shedding(share: number, key: key, isByDevice: isByDevice)
      return number == 0 ? nil : ServerAction(.shed(shedding), at: start, for: duration)
    case .capacity:
      return number == 1_000_000
        ? nil : ServerAction(.capacity(factorPartsPerMillion: number), at: start, for: duration)
    case .readmit:
      let shedding = Shedding(key: key, isByDevice: isByDevice)
      return number == 0
        ? nil : ServerAction(.readmit(shedding), at: start, for: Span(microseconds: number))
    }
  }

  /// The scenario with the action in it.
  package func scenario(_ scenario: Scenario, with value: Quantity) -> Scenario {
    var acting = scenario
    if let action = action(value) { acting.tapi.actions.append(action) }
    return acting
  }
}
