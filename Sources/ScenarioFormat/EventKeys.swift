import ScenarioModel
import SimulationKernel
import UploadRetry

/// `events` as it is written: `{ rate, curve }`, `{ meanGap: "10s" }`, `{ every: "30s", phase: "random" }`, `{ polls: "30s" }` or
/// `{ csv: "day.csv", share }`.
struct EventKeys: Sendable, Equatable {
  var every: Span?
  var polls: Span?
  var phase: EventPhase?
  var meanGap: Span?
  var rate: Span?
  var curve: RateCurve?
  var csv: [ArrivalRates.Row]?
  var share: Int64?
  var atOnce = 1

  private static let forms = ["every", "polls", "meanGap", "rate", "csv"]
  private static let gaps = Span.milliseconds(1)...Units.longestSpan

  fileprivate static let keys = ObjectKeys(
    EventKeys(), alternatives: forms,
    [
      .check { decoder, node, path, _ in decoder.checkForm(of: node, path, forms) },
      Field("every", \.every, Kind.span(gaps).orNothing, "Strictly periodic."),
      Field(
        "polls", \.polls, Kind.span(gaps).orNothing,
        "A request each time, none while the one before is under way or waits. An answer that is heard delivers it."
      ),
      Field(
        "phase", \.phase, Kind.word([("random", .random), ("flush", .flush)]).orNothing,
        "Where the period starts: anywhere, or at the device's flushes.", defaultValue: .said("random")),
      Field(
        "meanGap", \.meanGap, Kind.span(gaps).orNothing,
        "A Poisson process by its mean gap."),
      Field("rate", \.rate, Kind.eventRate.orNothing, "A Poisson process; with a curve, its rate at 100%."),
      Field(
        "curve", \.curve, Kind<RateCurve>.curve.orNull, "A factor on the rate that varies in time.",
        isLater: true),
      Field(
        "csv", \.csv, Kind<[ArrivalRates.Row]>.rows.orNothing,
        "Measured rates of the whole cohort, with the header time_s,events_per_s: a file, or the table itself."
      ),
      Field(
        "share", \.share, Kind.share(1...1_000_000, allowed: "above 0% to 100%").orNothing,
        "The cohort's part of the rates in csv.", defaultValue: .said("100%")),
      Field("atOnce", \.atOnce, .count(1...1_000), "Events created at each time.", isLater: true),
    ])

  fileprivate mutating func setRate(_ gap: Span) {
    if Units.rateText(gap: gap) != nil { rate = gap } else { meanGap = gap }
  }
}

extension Cohort {
  var eventKeys: EventKeys {
    get {
      var keys = EventKeys(atOnce: eventsAtOnce)
      switch events {
      case .poisson(let gap): keys.setRate(gap)
      case .periodic(let every, _) where polls: keys.polls = every
      case .periodic(let every, let phase): (keys.every, keys.phase) = (every, phase)
      case .varying(let gap, let curve):
        keys.setRate(gap)
        keys.curve = curve
      case .replay(let rates): (keys.csv, keys.share) = (rates.rows, rates.sharePartsPerMillion)
      }
      return keys
    }
    set {
      (eventsAtOnce, polls) = (newValue.atOnce, newValue.polls != nil)
      if let every = newValue.every ?? newValue.polls {
        events = .periodic(every: every, phase: newValue.phase ?? .random)
      } else if let rows = newValue.csv {
        events = .replay(ArrivalRates(rows: rows, sharePartsPerMillion: newValue.share ?? 1_000_000))
      } else if let gap = newValue.rate ?? newValue.meanGap {
        events = newValue.curve.map { .varying(meanGap: gap, $0) } ?? .poisson(meanGap: gap)
      }
    }
  }
}

extension Kind where Value == EventKeys {
  /// `"6/min"`, or an object.
  static let events: Kind = {
    var kind = Kind.object(EventKeys.keys).or(
      Kind<Span>.eventRate, { EventKeys(rate: $0) }, part: { $0 == EventKeys(rate: $0.rate) ? $0.rate : nil })
    kind.range = ""
    return kind
  }()
}

extension Kind where Value == Span {
  fileprivate static let eventRate = gap(
    .milliseconds(1)...Units.longestSpan, example: "6/min", allowed: "one event in 366 days to 1000/s")

  /// The mean gap of a rate such as `"6/min"`.
  static func gap(_ range: ClosedRange<Span>, example: String, allowed: String) -> Kind {
    quantity(
      "a rate", "rate", example: example, unit: "/" + (example.split(separator: "/").last ?? ""), in: range,
      allowed: allowed, { text throws(Units.Problem) in try Units.gap(text) },
      write: { Units.rateText(gap: $0) ?? "" })
  }
}

extension ScenarioDecoder {
  static let maximumEventsPerDevice: Int64 = 1_000_000_000
  /// Events a second of one device, where rates vary.
  static let largestVaryingRate = 10_000.0

  /// Whether `events` has one form, and the keys that go with it.
  fileprivate mutating func checkForm(of node: PositionedValue, _ path: String, _ forms: [String]) -> Bool {
    guard let form = forms.first(where: { node[$0] != nil }) else {
      report("missing; write for example every: \"30s\"", at: node.position, join(path, "every"))
      return false
    }
    for (key, others, why) in [
      (
        "phase", ["every"],
        form == "polls"
          ? "polls have a phase of each device's own" : "a Poisson process (\(form)) has no phase"
      ),
      ("atOnce", forms.filter { $0 != "polls" }, "a poll is one request"),
      ("curve", ["rate", "meanGap"], "a curve goes with a rate, not with \(form)"),
      ("share", ["csv"], "a share is that of the rates in a csv, not of \(form)"),
    ] {
      guard let value = node[key], !others.contains(form) else { continue }
      report("\(why); leave it out", at: value.position, join(path, key))
    }
    return true
  }

  /// A device's events are numbered: there is a most of them.
  mutating func checkNumber(of cohort: Cohort, _ node: PositionedValue, _ path: String) -> Bool {
    guard let duration else { return true }
    var expected: Int64
    switch cohort.events {
    case .poisson(let gap), .periodic(let gap, _): expected = duration.microseconds / gap.microseconds
    case .varying, .replay:
      guard let rate = cohort.events.cumulativeRate(devices: cohort.devices) else { return true }
      expected = Int64(min(rate.count(through: duration.microseconds), 1e15))
      guard rate.largest * 1e6 > Self.largestVaryingRate else { break }
      report(
        "more than \(Int(Self.largestVaryingRate)) events/s for each device at the peak; take more devices or a lower rate",
        at: node.position, path)
      return false
    }
    expected *= Int64(cohort.eventsAtOnce)
    guard expected > Self.maximumEventsPerDevice else { return true }
    report(
      "\(expected) events for each device in a run of \(Units.text(duration)); at most \(Self.maximumEventsPerDevice)",
      at: node.position, path)
    return false
  }

  /// Measured rates: the name of a file beside the scenario, or the table itself.
  fileprivate mutating func rows(_ node: PositionedValue, _ path: String) -> [ArrivalRates.Row]? {
    guard let text = string(node, path) else { return nil }
    if ArrivalRateTable.isTable(node) {
      let table = ArrivalRateTable(text)
      for problem in table.problems {
        report("line \(problem.line) of the table: \(problem.message)", at: node.position, path)
      }
      return table.problems.isEmpty ? table.rows : nil
    }
    if let read = rateFiles[text] { return read }
    // A file that could not be read has been reported; one that no one knew of comes from the command line.
    if node.position == .commandLine {
      report("\(quoted(text)) was not read; name the file in the scenario", at: node.position, path)
    }
    return nil
  }
}

// MARK: Curves

/// `curve` as it is written: `{ points: [{ at, factor }], period }` or `{ amplitude, peak, period }`.
struct CurveKeys: Sendable, Equatable {
  var points: [RateCurve.Point]?
  var amplitude: Int64?
  var peak: Span?
  var period: Span? = .hours(24)

  fileprivate static let keys = ObjectKeys(
    CurveKeys(), alternatives: ["points", "amplitude"],
    [
      .check { decoder, node, path, _ in
        if node["points"] == nil, node["amplitude"] == nil {
          decoder.report(
            "missing; write points: [{ at: \"8h\", factor: \"50%\" }] or amplitude: \"60%\"",
            at: node.position, decoder.join(path, "points"))
          return false
        }
        if node["amplitude"] != nil, let period = node["period"], period.isNull {
          decoder.report("a sine has a period", at: period.position, decoder.join(path, "period"))
          return false
        }
        if node["points"] != nil, let peak = node["peak"] {
          decoder.report(
            "points say themselves where the peak is; leave it out", at: peak.position,
            decoder.join(path, "peak"))
        }
        return true
      },
      Field(
        "points", \.points, Kind.object(RateCurve.Point.keys).list(named: "points").orNothing,
        "Joined by straight lines."),
      Field(
        "amplitude", \.amplitude, Kind<Int64>.share().orNothing,
        "A sine, from 1 minus it to 1 plus it."),
      Field(
        "peak", \.peak, Kind<Span>.span(from: .zero).orNothing, "When the sine is highest.",
        defaultValue: .said("0s")),
      Field(
        "period", \.period, Kind<Span>.span(from: .minutes(1)).orNull, "The curve repeats; null: it does not."
      ),
      .check { decoder, node, path, keys in
        guard let points = keys.points, let node = node["points"] else { return true }
        return decoder.checkPoints(points, keys.period, node, decoder.join(path, "points"))
      },
    ])

  fileprivate init() {}

  fileprivate init(_ curve: RateCurve) {
    period = curve.period
    switch curve.shape {
    case .points(let points): self.points = points
    case .sine(let amplitude, let peak): (self.amplitude, self.peak) = (amplitude, peak)
    }
  }

  fileprivate var curve: RateCurve {
    RateCurve(
      points.map { .points($0) } ?? .sine(amplitudePartsPerMillion: amplitude ?? 0, peak: peak ?? .zero),
      period: period)
  }
}

extension RateCurve.Point {
  fileprivate static let keys = ObjectKeys(
    RateCurve.Point(time: .zero, factorPartsPerMillion: 0),
    [
      Field(
        "at", \.time, .span(from: .zero), "Since the start of the run, or of a period.", example: "\"8h\""),
      Field("factor", \.factorPartsPerMillion, .share(0...100_000_000), "On the rate.", example: "\"50%\""),
    ])
}

extension Kind where Value == RateCurve {
  static let curve = Kind<CurveKeys>.object(CurveKeys.keys).mapped(\.curve, CurveKeys.init)
}

extension ScenarioDecoder {
  /// Whether points come one after the other within the period. Where one could not be read, nothing can be said of the others.
  fileprivate mutating func checkPoints(
    _ points: [RateCurve.Point], _ period: Span?, _ node: PositionedValue, _ path: String
  ) -> Bool {
    guard let elements = node.elements, elements.count == points.count else { return false }
    if points.allSatisfy({ $0.factorPartsPerMillion == 0 }) {
      report(
        points.isEmpty
          ? "expected at least one point, like [{ at: \"8h\", factor: \"50%\" }], found none"
          : "every factor is 0: nothing would ever be created", at: node.position, path)
      return false
    }
    var isSound = true
    for (index, time) in points.map(\.time).enumerated() {
      let problem: String
      if index > 0, time <= points[index - 1].time {
        problem = "is not after the point before it, at \(Units.text(points[index - 1].time))"
      } else if let period, time >= period {
        problem = "is not within the period of \(Units.text(period))"
      } else {
        continue
      }
      isSound = false
      report("\(Units.text(time)) \(problem)", at: elements[index], element(index, of: path), ["at"])
    }
    return isSound
  }
}

// MARK: Spikes

extension Spike {
  static let keys = ObjectKeys(
    Spike(time: .start),
    [
      Field("at", \.time, .time, "When.", example: "\"30m\""),
      Field(
        "spread", \.spread, .span(from: .zero), "Each device at a random time in so long a span."
      ),
      Field("share", \.sharePartsPerMillion, .share(), "Of the devices; drawn anew each time."),
      Field("events", \.events, .count(0...1_000), "Events that each of them creates."),
      Field("flush", \.flushes, .bool, "Whether they flush then."),
      Field(
        "every", \.every, Kind<Span>.span(from: .minutes(1)).orNull,
        "How often it happens again; at least the spread.", defaultValue: .said("once")),
      .order("spread", \.spread, "every", \.every),
      .refusal { _, spike in
        spike.events == 0 && !spike.flushes ? "neither events nor a flush: such a spike does nothing" : nil
      },
    ])
}

/// A table of arrival rates as production exports it: `time_s,events_per_s` and a row for each change.
///
/// Anything wrong is a problem with its line; nothing traps.
package struct ArrivalRateTable {
  /// Something wrong in a line, counted from 1.
  package struct Problem: Sendable, Hashable {
    package var line: Int
    package var message: String
  }

  static let header = "time_s,events_per_s"
  static let maximumRows = 100_000
  package static let maximumProblems = 20
  /// Events a second, of a whole cohort.
  static let largestRate: Int64 = 1_000_000_000

  package private(set) var rows: [ArrivalRates.Row] = []
  package private(set) var problems: [Problem] = []

  package init(_ text: String) {
    var lines = CSVLines(text)
    var hasHeader = false
    while let (number, fields) = lines.next() {
      if !hasHeader {
        hasHeader = true
        if fields.map({ $0.lowercased() }).joined(separator: ",") == Self.header { continue }
        add(number, "expected the header \(Self.header), found \(quoted(String(lines.text.prefix(60))))")
        return
      }
      read(fields, lines)
      if problems.count >= Self.maximumProblems {
        add(number, "and perhaps more: reading stopped here")
        return
      }
      if rows.count > Self.maximumRows {
        add(number, "more than \(Self.maximumRows) rows; take longer steps")
        return
      }
    }
    if problems.isEmpty, rows.isEmpty {
      add(
        max(lines.number, 1),
        hasHeader
          ? "no row below the header; write at least one, like 0,1200" : "empty; expected \(Self.header)")
    } else if problems.isEmpty, rows.allSatisfy({ $0.microEventsPerSecond == 0 }) {
      add(lines.number, "every rate is 0: nothing would ever be created")
    }
  }

  /// The table in a scenario itself: text with a line feed is no file name.
  static func isTable(_ node: PositionedValue) -> Bool {
    if let text = node.text { text.utf8.contains(UInt8(ascii: "\n")) } else { false }
  }

  private mutating func add(_ line: Int, _ message: String) {
    problems.append(Problem(line: line, message: message))
  }

  private mutating func read(_ fields: [String], _ lines: CSVLines) {
    let number = lines.number
    guard fields.count == 2 else {
      add(number, "expected two values, \(Self.header), found \(quoted(String(lines.text.prefix(60))))")
      return
    }
    let time = value(
      fields[0], "time_s", number, most: Units.longestSpan.microseconds / 1_000_000, "366 days")
    let rate = value(fields[1], "events_per_s", number, most: Self.largestRate, "\(Self.largestRate)")
    guard let time, let rate else { return }
    if let last = rows.last, time <= last.time.microseconds {
      add(number, "time_s is \(fields[0]), not after the row before it (\(Self.seconds(last.time)))")
      return
    }
    rows.append(.init(time: Instant(microseconds: time), microEventsPerSecond: rate))
  }

  /// In millionths.
  private mutating func value(
    _ text: String, _ name: String, _ line: Int, most: Int64, _ limit: String
  ) -> Int64? {
    let shown = quoted(String(text.prefix(40)))
    guard let number = ExactDecimal(Self.rounded(text)) else {
      add(line, text.isEmpty ? "\(name) is missing" : "\(name) is \(shown), which is not a number")
      return nil
    }
    if number.isNegative {
      add(line, "\(name) is \(shown), which is negative")
      return nil
    }
    guard let millionths = number.times(1_000_000, dividedBy: 1), millionths <= most * 1_000_000 else {
      add(line, "\(name) is \(shown), more than \(limit)")
      return nil
    }
    return millionths
  }

  /// Exports of floating-point numbers may have more digits than count: decimals beyond the twelfth go.
  private static func rounded(_ text: String) -> String {
    guard let dot = text.firstIndex(of: "."), text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
    else { return text }
    return String(text[..<dot] + text[dot...].prefix(13))
  }

  private static func seconds(_ time: Instant) -> String { Units.seconds(microseconds: time.microseconds) }
}

extension Kind where Value == [ArrivalRates.Row] {
  /// The name of a file with a table of rates, or the table itself, as which it is written.
  fileprivate static let rows = Kind(
    schema: .type("string"), read: { $0.rows($1, $2) },
    write: { rows in
      .text(
        rows.reduce(into: ArrivalRateTable.header + "\n") { text, row in
          text += Units.seconds(microseconds: row.time.microseconds) + ","
          text += Units.millionths(row.microEventsPerSecond) + "\n"
        })
    })
}
