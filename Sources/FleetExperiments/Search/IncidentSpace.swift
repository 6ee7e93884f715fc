import ScenarioFormat
import ScenarioModel
import SimulationKernel
import TAPIModel

/// The choices of an adversary.
package struct IncidentBounds: Sendable, Hashable {
  package var kinds = AdversaryKind.standard
  package var starts: ClosedRange<Span>
  package var lengths: ClosedRange<Span>
  /// Parts per million.
  package var depths: ClosedRange<Int64> = 100_000...900_000
  /// The range of Retry-After; nil: there never is one.
  package var waits: ClosedRange<Span>? = .seconds(10)...(.seconds(120))
  /// Whether there may be none.
  package var allowsNoWait = true

  /// Starts in the second sixth of a run, lengths up to a sixth of it: at least half of it is left to recover in.
  package init(runOf duration: Span) {
    let sixth = duration.microseconds / 6
    starts = Self.round(sixth)...Self.round(2 * sixth)
    lengths = Self.round(duration.microseconds / 240)...Self.round(sixth)
  }

  /// To whole seconds, if there is one.
  private static func round(_ microseconds: Int64) -> Span {
    Span(
      microseconds: microseconds < 1_000_000 ? max(1, microseconds) : microseconds / 1_000_000 * 1_000_000)
  }

  package var latestEnd: Span { starts.upperBound + lengths.upperBound }

  /// Reads `lo..hi`, or one value.
  package static func spans(_ text: String) throws(RangeProblem) -> ClosedRange<Span> {
    try range(text) { (text) throws(Units.Problem) in try Units.span(text) }
  }

  /// Reads `lo..hi`, or one value: shares from 1% to 100%, in parts per million.
  package static func shares(_ text: String) throws(RangeProblem) -> ClosedRange<Int64> {
    let range = try range(text) { (text) throws(Units.Problem) in try Units.partsPerMillion(text) }
    guard (10_000...1_000_000).contains(range.lowerBound), range.upperBound <= 1_000_000 else {
      throw RangeProblem("a depth is a share from 1% to 100%")
    }
    return range
  }

  /// Reads `none`, `lo..hi`, one value, or `none` and one of these with a comma between.
  package mutating func readWaits(_ text: String) throws(RangeProblem) {
    var parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    allowsNoWait = parts.contains("none")
    parts.removeAll { $0 == "none" }
    guard parts.count <= 1 else { throw RangeProblem("write none, a span or a range, or none,10s..2m") }
    waits = nil
    guard let text = parts.first else { return }
    let range = try Self.spans(text)
    let longest = RetryAfterPolicy.longestWait
    guard range.upperBound <= longest else {
      throw RangeProblem("a Retry-After is \(Units.text(longest)) at most")
    }
    waits = range
  }

  private static func range<Value: Comparable>(
    _ text: String, _ read: (String) throws(Units.Problem) -> Value
  ) throws(RangeProblem) -> ClosedRange<Value> {
    let bounds = QuantityRange.bounds(text)
    do {
      let (low, high) = (try read(bounds[0]), try read(bounds[bounds.count - 1]))
      if low <= high { return low...high }
    } catch {
      throw RangeProblem(error.message)
    }
    throw RangeProblem("a range goes from the smaller to the larger value")
  }
}

/// The incidents within bounds, as a grid so fine that it does not show. Each length is at most 4 % longer than the one before.
package struct IncidentSpace: Sendable {
  /// The dimensions of a candidate, in the order of its choices.
  package enum Dimension: Int, Sendable, Hashable, CaseIterable {
    case kind, start, depth, retryAfter, length
  }

  package let bounds: IncidentBounds
  package let starts: [Span]
  /// The shortest first.
  package let lengths: [Span]
  /// Parts per million.
  package let depths: [Int64]
  /// The first may be none.
  package let waits: [Span?]
  package let grid: SearchSpace
  /// The scenario that an incident is put into.
  package let scenario: Scenario

  /// - Parameter joins: whether the scenario's own incidents stay; else they make room.
  package init(_ bounds: IncidentBounds, in scenario: Scenario, joins: Bool = false) {
    self.bounds = bounds
    var scenario = scenario
    if !joins { scenario.tapi.incidents = [] }
    self.scenario = scenario
    starts = Self.spans(bounds.starts, steps: 16, inRatios: false)
    let ratio =
      Double(bounds.lengths.upperBound.microseconds) / Double(bounds.lengths.lowerBound.microseconds)
    let steps = (DeterministicMath.log(ratio) / DeterministicMath.log(1.04)).rounded(.up)
    lengths = Self.spans(bounds.lengths, steps: min(Int(steps), 400), inRatios: true)
    let (least, range) = (bounds.depths.lowerBound, bounds.depths.upperBound - bounds.depths.lowerBound)
    depths = range == 0 ? [least] : (0...Int64(20)).map { least + range * $0 / 20 }
    // A header holds whole seconds.
    let some = (bounds.waits.map { Self.spans($0, steps: 6, inRatios: true) } ?? [])
      .map { Span.seconds(($0.microseconds + 999_999) / 1_000_000) }
    waits = (bounds.allowsNoWait || some.isEmpty ? [nil] : []) + Set(some).sorted()
    let dimensions = [
      ("kind", bounds.kinds.count), ("at", starts.count), ("depth", depths.count),
      ("retryAfter", waits.count), ("for", lengths.count),
    ]
    grid = SearchSpace(
      parameters: dimensions.map { name, count in
        SearchParameter(path: name, values: (0..<count).map(String.init), isOrdered: name != "kind")
      })
  }

  /// Whole seconds where there are as many as steps.
  private static func spans(_ range: ClosedRange<Span>, steps: Int, inRatios: Bool) -> [Span] {
    let (low, high) = (range.lowerBound.microseconds, range.upperBound.microseconds)
    guard low < high, steps > 0 else { return [range.lowerBound] }
    let unit: Int64 = low >= 10_000_000 && (high - low) / 1_000_000 >= Int64(steps) ? 1_000_000 : 1_000
    let (first, last) = (Double(max(low, 1)), Double(high))
    var spans = [range.lowerBound]
    for step in 1..<max(steps, 1) {
      let share = Double(step) / Double(steps)
      let value =
        inRatios
        ? first * DeterministicMath.exp(DeterministicMath.log(last / first) * share)
        : first + (last - first) * share
      let span = Span(microseconds: Int64(value) / unit * unit)
      if span > spans[spans.count - 1], span < range.upperBound { spans.append(span) }
    }
    return spans + [range.upperBound]
  }

  // MARK: Candidates

  package func index(_ dimension: Dimension, of candidate: SearchCandidate) -> Int? {
    candidate.choices[dimension.rawValue]
  }

  /// The candidate with another choice.
  package func setting(_ dimension: Dimension, of candidate: SearchCandidate, to index: Int?)
    -> SearchCandidate
  {
    var candidate = candidate
    candidate.choices[dimension.rawValue] = index
    return candidate
  }

  package func kind(of candidate: SearchCandidate) -> AdversaryKind? {
    index(.kind, of: candidate).map { bounds.kinds[$0] }
  }

  /// No incident at all.
  package var none: SearchCandidate { grid.today }

  /// Without choices that mean nothing to its kind; the deepest and no Retry-After where one is missing.
  package func settled(_ candidate: SearchCandidate) -> SearchCandidate {
    guard let kind = kind(of: candidate) else { return none }
    var candidate = setting(
      .depth, of: candidate, to: kind.hasDepth ? index(.depth, of: candidate) ?? depths.count - 1 : nil)
    candidate = setting(
      .retryAfter, of: candidate, to: kind.hasRetryAfter ? index(.retryAfter, of: candidate) ?? 0 : nil)
    return candidate
  }

  /// The longest and deepest of each kind: without a Retry-After, with the shortest and with the longest; as late as can be.
  package var corners: [SearchCandidate] {
    let some = Set([0, waits.first == .some(nil) ? 1 : 0, waits.count - 1]).filter(waits.indices.contains)
    return bounds.kinds.indices.flatMap { kind in
      (bounds.kinds[kind].hasRetryAfter ? some.sorted() : [0]).map { wait in
        settled(
          SearchCandidate(choices: [kind, starts.count - 1, depths.count - 1, wait, lengths.count - 1]))
      }
    }.filter(isPossible)
  }

  /// The `index`-th of a sequence that covers all of them evenly; nil where there can be no such incident.
  package func spread(_ index: Int, seed: UInt64) -> SearchCandidate? {
    let candidate = settled(grid.spread(index, seed: seed))
    return isPossible(candidate) ? candidate : nil
  }

  package func neighbours(of candidate: SearchCandidate, stride: [Int]) -> [SearchCandidate] {
    grid.neighbours(of: candidate, stride: stride).map(settled).filter(isPossible)
  }

  /// The incident; nil of the candidate that is none.
  package func incident(_ candidate: SearchCandidate) -> Incident? {
    guard let kind = kind(of: candidate), let start = index(.start, of: candidate),
      let length = index(.length, of: candidate)
    else { return nil }
    let depth = index(.depth, of: candidate).map { depths[$0] } ?? 1_000_000
    let retryAfter = wait(of: candidate).map { RetryAfterPolicy.fixed($0) } ?? .none
    let choice = AdversaryKind.Choice(
      depth: depth, retryAfter: retryAfter, timeout: scenario.fleet.map(\.timeout).min() ?? .zero)
    return Incident(kind: kind.incident(choice), start: .start + starts[start], duration: lengths[length])
  }

  package func depth(of candidate: SearchCandidate) -> Int64? {
    index(.depth, of: candidate).map { depths[$0] }
  }

  package func wait(of candidate: SearchCandidate) -> Span? {
    index(.retryAfter, of: candidate).flatMap { waits[$0] }
  }

  /// The scenario with the incident in it.
  package func scenario(_ candidate: SearchCandidate) -> Scenario {
    var scenario = scenario
    if let incident = incident(candidate) { scenario.tapi.incidents.append(incident) }
    return scenario
  }

  /// Two of one kind cannot be at one time.
  private func isPossible(_ candidate: SearchCandidate) -> Bool {
    guard let new = incident(candidate) else { return false }
    return !scenario.tapi.incidents.contains {
      $0.start < new.end && new.start < $0.end && $0.kind.name == new.kind.name
    }
  }

  /// The time for which every incident within the bounds can be watched. It lasts up to the end of the run, but for the stretch
  /// in which a recovery has to hold.
  package var horizon: Span {
    let own = scenario.tapi.incidents.map { $0.end - .start }.max() ?? .zero
    let used = max(bounds.latestEnd, own) + scenario.recoveryHold
    return used < scenario.duration ? scenario.duration - used : .zero
  }
}
