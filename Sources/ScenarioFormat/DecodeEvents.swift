import ScenarioModel
import SimulationKernel
import UploadRetry

/// `events` and `spikes`: when a cohort's devices create events.
extension ScenarioDecoder {
  static let maximumSpikes = 100
  static let maximumCurvePoints = 10_000
  /// Events a second of one device, where rates vary.
  static let largestVaryingRate = 10_000.0
  private static let gaps = Span.milliseconds(1)...Units.longestSpan

  struct Events {
    var process: EventProcess
    var atOnce = 1
  }

  /// `"6/min"`, `{ rate, curve }`, `{ meanGap: "10s" }`, `{ every: "30s", phase: "random" }` or `{ csv: "day.csv", share }`.
  mutating func events(
    _ node: PositionedValue, _ path: String, duration: Span?, devices: Int?
  ) -> Events? {
    guard node.members != nil else {
      guard let gap = gap(node, path) else { return nil }
      return limited(Events(process: .poisson(meanGap: gap)), node, path, duration, devices)
    }
    guard object(node, path, ScenarioSchema.eventKeys) != nil else { return nil }
    let forms = ["every", "meanGap", "rate", "csv"]
    guard let member = onlyMember(node, path, of: forms) else {
      if forms.allSatisfy({ node[$0] == nil }) {
        report("missing; write for example every: \"30s\"", at: node.position, join(path, "every"))
      }
      return nil
    }
    let place = join(path, member.key)
    refuse(
      "phase", unless: ["every"], "a Poisson process (\(member.key)) has no phase", node, path, member.key)
    refuse(
      "curve", unless: ["rate", "meanGap"], "a curve goes with a rate, not with \(member.key)", node, path,
      member.key)
    refuse(
      "share", unless: ["csv"], "a share is that of the rates in a csv, not of \(member.key)", node, path,
      member.key)
    var process: EventProcess?
    switch member.key {
    case "every":
      var phase: EventPhase? = .random
      if let node = node["phase"] {
        phase = word(node, join(path, "phase"), [("random", .random), ("flush", .flush)])
      }
      if let every = span(member.value, place, in: Self.gaps), let phase {
        process = .periodic(every: every, phase: phase)
      }
    case "csv": process = replay(member.value, place, node, path)
    default:
      let gap = member.key == "rate" ? gap(member.value, place) : span(member.value, place, in: Self.gaps)
      if let curve = node["curve"], !curve.isNull {
        let curve = self.curve(curve, join(path, "curve"))
        if let gap, let curve { process = .varying(meanGap: gap, curve) }
      } else {
        process = gap.map { .poisson(meanGap: $0) }
      }
    }
    var atOnce: Int? = 1
    if let node = node["atOnce"] { atOnce = count(node, join(path, "atOnce"), in: 1...1_000) }
    guard let process, let atOnce else { return nil }
    return limited(Events(process: process, atOnce: atOnce), node, path, duration, devices)
  }

  private mutating func refuse(
    _ key: String, unless forms: [String], _ why: String, _ node: PositionedValue, _ path: String,
    _ form: String
  ) {
    guard let value = node[key], !forms.contains(form) else { return }
    report("\(why); leave it out", at: value.position, join(path, key))
  }

  private mutating func gap(_ node: PositionedValue, _ path: String) -> Span? {
    guard let text = unitText(node, path, "a rate", example: "6/min", unit: "/min") else { return nil }
    guard let read = unit(node, path, { () throws(Units.Problem) in try Units.gap(text) }) else {
      return nil
    }
    guard let gap = read, Self.gaps.contains(gap) else {
      report(
        "\(quoted(text)) is out of range; allowed: one event in 366 days to 1000/s", at: node.position, path)
      return nil
    }
    return gap
  }

  /// A device's events are numbered: there is a most of them.
  private mutating func limited(
    _ events: Events, _ node: PositionedValue, _ path: String, _ duration: Span?, _ devices: Int?
  ) -> Events? {
    guard let duration else { return events }
    var expected: Int64
    switch events.process {
    case .poisson(let gap), .periodic(let gap, _): expected = duration.microseconds / gap.microseconds
    case .varying, .replay:
      guard let rate = events.process.cumulativeRate(devices: devices ?? 1) else { return events }
      expected = Int64(min(rate.count(through: duration.microseconds), 1e15))
      guard devices != nil, rate.largest * 1e6 > Self.largestVaryingRate else { break }
      report(
        "more than \(Int(Self.largestVaryingRate)) events/s for each device at the peak; take more devices or a lower rate",
        at: node.position, path)
      return nil
    }
    expected *= Int64(events.atOnce)
    guard expected <= Self.maximumEventsPerDevice else {
      report(
        "\(expected) events for each device in a run of \(Units.text(duration)); "
          + "at most \(Self.maximumEventsPerDevice)", at: node.position, path)
      return nil
    }
    return events
  }

  // MARK: Curves

  /// `{ points: [{ at, factor }], period }` or `{ amplitude, peak, period }`.
  private mutating func curve(_ node: PositionedValue, _ path: String) -> RateCurve? {
    guard object(node, path, ScenarioSchema.curveKeys) != nil else { return nil }
    guard let member = onlyMember(node, path, of: ["points", "amplitude"]) else {
      if node["points"] == nil, node["amplitude"] == nil {
        report(
          "missing; write points: [{ at: \"8h\", factor: \"50%\" }] or amplitude: \"60%\"", at: node.position,
          join(path, "points"))
      }
      return nil
    }
    var period: Span? = .hours(24)
    var isSound = true
    if let value = node["period"] {
      period = value.isNull ? nil : span(value, join(path, "period"), in: .minutes(1)...Units.longestSpan)
      isSound = value.isNull || period != nil
      if value.isNull, member.key == "amplitude" {
        report("a sine has a period", at: value.position, join(path, "period"))
        isSound = false
      }
    }
    if member.key == "points" {
      if let peak = node["peak"] {
        report("points say themselves where the peak is; leave it out", at: peak.position, join(path, "peak"))
      }
      guard let points = points(member.value, join(path, "points"), period), isSound else { return nil }
      return RateCurve(.points(points), period: period)
    }
    let amplitude = share(
      member.value, join(path, "amplitude"), in: 0...1_000_000, allowed: "0% to 100%")
    var peak: Span? = .zero
    if let node = node["peak"] { peak = span(node, join(path, "peak"), in: .zero...Units.longestSpan) }
    guard let amplitude, let peak, isSound else { return nil }
    return RateCurve(.sine(amplitudePartsPerMillion: amplitude, peak: peak), period: period)
  }

  private mutating func points(
    _ node: PositionedValue, _ path: String, _ period: Span?
  ) -> [RateCurve.Point]? {
    guard case .array(let elements) = node.content, !elements.isEmpty else {
      report(
        "expected at least one point, like [{ at: \"8h\", factor: \"50%\" }], found "
          + (node.isEmptyArray ? "none" : describe(node)), at: node.position, path)
      return nil
    }
    guard elements.count <= Self.maximumCurvePoints else {
      report("\(elements.count) points; at most \(Self.maximumCurvePoints)", at: node.position, path)
      return nil
    }
    var points: [RateCurve.Point] = []
    var isSound = true
    for (index, element) in elements.enumerated() {
      let place = join(path, "\(index)")
      guard object(element, place, ScenarioSchema.curvePointKeys) != nil else {
        isSound = false
        continue
      }
      let time = element["at"].flatMap { span($0, join(place, "at"), in: .zero...Units.longestSpan) }
      let factor = element["factor"].flatMap {
        share($0, join(place, "factor"), in: 0...100_000_000, allowed: "0% to 10000%")
      }
      guard let time, let factor else {
        isSound = false
        continue
      }
      if let last = points.last, time <= last.time {
        report(
          "\(Units.text(time)) is not after the point before it, at \(Units.text(last.time))",
          at: element.position, join(place, "at"))
        isSound = false
      } else if let period, time >= period {
        report(
          "\(Units.text(time)) is not within the period of \(Units.text(period))", at: element.position,
          join(place, "at"))
        isSound = false
      }
      points.append(.init(time: time, factorPartsPerMillion: factor))
    }
    if isSound, points.allSatisfy({ $0.factorPartsPerMillion == 0 }) {
      report("every factor is 0: nothing would ever be created", at: node.position, path)
      return nil
    }
    return isSound ? points : nil
  }

  // MARK: Measured rates

  /// The name of a file beside the scenario, or the table itself.
  private mutating func replay(
    _ node: PositionedValue, _ path: String, _ events: PositionedValue, _ eventsPath: String
  ) -> EventProcess? {
    var share: Int64? = 1_000_000
    if let node = events["share"] {
      share = self.share(node, join(eventsPath, "share"), in: 1...1_000_000, allowed: "above 0% to 100%")
    }
    guard let text = string(node, path) else { return nil }
    let rows: [ArrivalRates.Row]
    if ArrivalRateTable.isTable(node) {
      let table = ArrivalRateTable(text)
      for problem in table.problems {
        report("line \(problem.line) of the table: \(problem.message)", at: node.position, path)
      }
      guard table.problems.isEmpty else { return nil }
      rows = table.rows
    } else if let read = rateFiles[text] {
      rows = read
    } else {
      // A file that could not be read has been reported; one that no one knew of comes from the command line.
      if node.position == .commandLine {
        report("\(quoted(text)) was not read; name the file in the scenario", at: node.position, path)
      }
      return nil
    }
    return share.map { .replay(ArrivalRates(rows: rows, sharePartsPerMillion: $0)) }
  }

  // MARK: Spikes

  mutating func spikes(
    _ node: PositionedValue, _ path: String, duration: Span?, atOnce: Int
  ) -> [Spike] {
    guard case .array(let elements) = node.content else {
      report("expected a list, found \(describe(node))", at: node.position, path)
      return []
    }
    guard elements.count <= Self.maximumSpikes else {
      report("\(elements.count) spikes; at most \(Self.maximumSpikes) are allowed", at: node.position, path)
      return []
    }
    return elements.enumerated().compactMap { index, element in
      spike(element, join(path, "\(index)"), duration: duration, atOnce: atOnce)
    }
  }

  private mutating func spike(
    _ node: PositionedValue, _ path: String, duration: Span?, atOnce: Int
  ) -> Spike? {
    guard object(node, path, ScenarioSchema.spikeKeys) != nil else { return nil }
    let time = node["at"].flatMap { self.time($0, join(path, "at")) }
    var spread: Span? = .zero
    if let node = node["spread"] { spread = span(node, join(path, "spread"), in: .zero...Units.longestSpan) }
    var share: Int64? = 1_000_000
    if let node = node["share"] {
      share = self.share(node, join(path, "share"), in: 0...1_000_000, allowed: "0% to 100%")
    }
    var events: Int? = 1
    if let node = node["events"] { events = count(node, join(path, "events"), in: 0...1_000) }
    var flushes: Bool? = true
    if let node = node["flush"] { flushes = bool(node, join(path, "flush")) }
    var every: Span?
    if let value = node["every"], !value.isNull {
      every = span(value, join(path, "every"), in: .minutes(1)...Units.longestSpan)
      if let every, let spread, spread > every {
        report(
          "every \(Units.text(every)) is shorter than the spread, \(Units.text(spread))", at: value.position,
          join(path, "every"))
      }
      guard every != nil else { return nil }
    }
    guard let time, let spread, let share, let events, let flushes else { return nil }
    if events == 0, !flushes {
      report("neither events nor a flush: such a spike does nothing", at: node.position, path)
    }
    if events > 0, atOnce > 1 {
      report(
        "a spike with events does not go with events.atOnce; say events: 0, or give the spike a cohort of its own",
        at: (node["events"] ?? node).position, join(path, "events"))
    }
    return Spike(
      time: time, spread: spread, sharePartsPerMillion: share, events: events, flushes: flushes, every: every)
  }
}

extension PositionedValue {
  fileprivate var isEmptyArray: Bool {
    if case .array(let elements) = content { elements.isEmpty } else { false }
  }
}
