/// The faults of what a store has kept of a run.
public enum StoredRecord {
  /// A fault of a text, without a place: nobody writes the text by hand.
  public struct Problem: Error, Hashable, CustomStringConvertible {
    public var description: String
    package init(description: String) { self.description = description }
  }
}

/// A run's summary as lines of text, and back without loss; its name is not kept.
package enum StoredSummary {
  package static func write(_ summary: RunSummary, to writer: inout StoredLines.Writer) {
    for field in fields { writer.line(field.name, field.values(summary)) }
  }

  /// Reads the lines that `write` has written.
  package static func read(_ reader: inout StoredLines.Reader) throws(StoredRecord.Problem) -> RunSummary {
    var summary = RunSummary(run: "", seed: 0)
    for field in fields {
      guard field.set(try reader.values(field.name, atMost: 1_000_000), &summary) else {
        throw StoredRecord.Problem(description: "'\(field.name)' has values that there cannot be")
      }
    }
    return summary
  }

  private struct Field: Sendable {
    var name: String
    var values: @Sendable (RunSummary) -> [Int64]
    /// false: there are no such values.
    var set: @Sendable ([Int64], inout RunSummary) -> Bool

    init<Value: StoredValue>(_ name: String, _ path: any WritableKeyPath<RunSummary, Value> & Sendable) {
      self.name = name
      values = { $0[keyPath: path].stored }
      set = { values, summary in
        guard let value = Value(stored: values) else { return false }
        summary[keyPath: path] = value
        return true
      }
    }
  }

  private static let fields: [Field] =
    [
      Field("seed", \.seed), Field("devices", \.devices), Field("duration", \.duration),
      Field("totals", \.totals), Field("amplification", \.amplification),
      Field("acceptedUnconfirmedEvents", \.acceptedUnconfirmedEvents),
      Field("peakOfferedRatio", \.peakOfferedRatio), Field("herdFactor", \.herdFactor),
      Field("excessLoadSeconds", \.excessLoadSeconds), Field("secondsAboveCapacity", \.secondsAboveCapacity),
      Field("idleWhileBackloggedSeconds", \.idleWhileBackloggedSeconds),
      Field("baseline.grows", \.baseline.grows), Field("baseline.createdEvents", \.baseline.createdEvents),
      Field("baseline.lostEvents", \.baseline.lostEvents), Field("baseline.givenUp", \.baseline.givenUp),
      Field("recoveryTime", \.recoveryTime), Field("drainedTime", \.drainedTime),
      Field("healthyTime", \.healthyTime), Field("possibleTime", \.possibleTime),
      Field("hasIncidents", \.hasIncidents), Field("recoveryHorizon", \.recoveryHorizon),
      Field("lateEvents", \.lateEvents), Field("doomedEvents", \.doomedEvents),
      Field("affectedEvents", \.affectedEvents),
      Field("affectedDeliveryP50", \.affectedDeliveryP50),
      Field("affectedDeliveryP90", \.affectedDeliveryP90),
      Field("affectedDeliveryP99", \.affectedDeliveryP99),
      Field("idealDeliveryP50", \.idealDeliveryP50), Field("idealDeliveryP90", \.idealDeliveryP90),
      Field("idealDeliveryP99", \.idealDeliveryP99),
      Field("affectedHorizon", \.affectedHorizon), Field("timeToDeliveryMean", \.timeToDeliveryMean),
      Field("timeToDeliveryP50", \.timeToDeliveryP50), Field("timeToDeliveryP90", \.timeToDeliveryP90),
      Field("timeToDeliveryP95", \.timeToDeliveryP95), Field("timeToDeliveryP99", \.timeToDeliveryP99),
      Field("timeToDeliveryP999", \.timeToDeliveryP999), Field("timeToDeliveryMax", \.timeToDeliveryMax),
      Field("attemptsAboveTwinPerDevice", \.attemptsAboveTwinPerDevice), Field("cohorts", \.cohorts),
    ] + DeviceFigure.storedOfSummary.map { Field($0.name, $0.path) }
}

/// A value that can stand on a line of `StoredLines`.
package protocol StoredValue: Sendable {
  var stored: [Int64] { get }
  /// nil: no value has these.
  init?(stored: [Int64])
}

extension StoredValue where Self: FixedWidthInteger {
  package var stored: [Int64] { [Int64(truncatingIfNeeded: self)] }
  package init?(stored: [Int64]) {
    guard stored.count == 1 else { return nil }
    self.init(truncatingIfNeeded: stored[0])
  }
}

extension Int64: StoredValue {}
extension UInt64: StoredValue {}

extension Double: StoredValue {
  package var stored: [Int64] { bitPattern.stored }
  package init?(stored: [Int64]) {
    guard let bits = UInt64(stored: stored) else { return nil }
    self.init(bitPattern: bits)
  }
}

extension Bool: StoredValue {
  package var stored: [Int64] { [self ? 1 : 0] }
  package init?(stored: [Int64]) {
    guard stored == [0] || stored == [1] else { return nil }
    self = stored == [1]
  }
}

extension Optional: StoredValue where Wrapped: StoredValue {
  package var stored: [Int64] { self?.stored ?? [] }
  package init?(stored: [Int64]) {
    let value = Wrapped(stored: stored)
    if value == nil, !stored.isEmpty { return nil }
    self = value
  }
}

extension MeasureTotals: StoredValue {
  package var stored: [Int64] { Measure.allCases.map { self[$0] } }
  package init?(stored: [Int64]) {
    guard stored.count == Measure.allCases.count else { return nil }
    self.init()
    for (measure, value) in zip(Measure.allCases, stored) { self[measure] = value }
  }
}

extension [Measure: Int64]: StoredValue {
  package var stored: [Int64] {
    keys.sorted { $0.rawValue < $1.rawValue }.flatMap { [Int64($0.rawValue), self[$0] ?? 0] }
  }
  package init?(stored: [Int64]) {
    self.init()
    guard stored.count.isMultiple(of: 2) else { return nil }
    for index in stride(from: 0, to: stored.count, by: 2) {
      guard let number = Int(exactly: stored[index]), let measure = Measure(rawValue: number) else {
        return nil
      }
      self[measure] = stored[index + 1]
    }
  }
}

extension [CohortLosses]: StoredValue {
  package var stored: [Int64] {
    flatMap { losses in
      let givenUp = losses.givenUp.stored
      let counts = [losses.createdEvents, losses.lostEvents] + PendingPlace.allCases.map { losses.late[$0] }
      return counts + [Int64(givenUp.count)] + givenUp
    }
  }
  package init?(stored: [Int64]) {
    self.init()
    var rest = stored[...]
    while !rest.isEmpty {
      let head = 3 + PendingPlace.allCases.count
      guard rest.count >= head else { return nil }
      let values: [Int64] = rest.prefix(head).map(\.self)
      rest = rest.dropFirst(head)
      var losses = CohortLosses()
      (losses.createdEvents, losses.lostEvents) = (values[0], values[1])
      for (place, count) in zip(PendingPlace.allCases, values[2...]) { losses.late[place] = count }
      guard let count = Int(exactly: values[head - 1]), count >= 0, count <= rest.count,
        let givenUp = [Measure: Int64](stored: rest.prefix(count).map(\.self))
      else { return nil }
      losses.givenUp = givenUp
      rest = rest.dropFirst(count)
      append(losses)
    }
  }
}

/// Lines of text, each a name and whole numbers: what records of runs are stored as.
package enum StoredLines {
  package struct Writer {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Free text; line feeds in it become spaces.
    package mutating func text(_ name: String, _ text: String) {
      bytes.append(contentsOf: name.utf8)
      bytes.append(space)
      bytes.append(contentsOf: text.utf8.map { $0 == lineFeed ? space : $0 })
      bytes.append(lineFeed)
    }

    package mutating func line(_ name: String, _ values: some Sequence<Int64>) {
      bytes.append(contentsOf: name.utf8)
      var iterator = values.makeIterator()
      var next = iterator.next()
      while let value = next {
        var times: Int64 = 0
        repeat {
          times += 1
          next = iterator.next()
        } while next == value
        append(value, times)
      }
      bytes.append(lineFeed)
    }

    private mutating func append(_ value: Int64, _ times: Int64) {
      bytes.append(space)
      DecimalText.append(value, to: &bytes)
      guard times > 1 else { return }
      bytes.append(star)
      DecimalText.append(times, to: &bytes)
    }
  }

  package struct Reader {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    package mutating func text(_ name: String) throws(StoredRecord.Problem) -> String {
      String(decoding: try line(name).dropFirst(), as: UTF8.self)
    }

    package mutating func value(_ name: String) throws(StoredRecord.Problem) -> Int64 {
      try values(name, count: 1)[0]
    }

    package mutating func count(_ name: String, atMost limit: Int64) throws(StoredRecord.Problem) -> Int {
      let value = try value(name)
      guard (0...limit).contains(value) else {
        throw problem("'\(name)' is \(value); 0 to \(limit) is expected")
      }
      return Int(value)
    }

    package mutating func values(_ name: String, count: Int) throws(StoredRecord.Problem) -> [Int64] {
      let values = try values(name, atMost: count)
      guard values.count == count else {
        throw problem("'\(name)' has \(values.count) values instead of \(count)")
      }
      return values
    }

    package func end() throws(StoredRecord.Problem) {
      if !rest.isEmpty { throw problem("there is something behind the last line") }
    }

    /// Returns the text behind the name on the next line, which must be that of `name`.
    private mutating func line(_ name: String) throws(StoredRecord.Problem) -> ArraySlice<UInt8> {
      guard let end = rest.firstIndex(of: lineFeed) else { throw problem("'\(name)' is missing") }
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      let values = line.dropFirst(name.utf8.count)
      guard line.starts(with: name.utf8), values.isEmpty || values.first == space else {
        let found = String(decoding: line.prefix { $0 != space }.prefix(40), as: UTF8.self)
        throw problem("'\(name)' is expected, '\(found)' is there")
      }
      return values
    }

    package mutating func values(_ name: String, atMost limit: Int) throws(StoredRecord.Problem) -> [Int64] {
      var values: [Int64] = []
      var text = try line(name)
      while text.popFirst() != nil {
        let value = try integer(&text, name)
        var times: Int64 = 1
        if text.first == star {
          text.removeFirst()
          times = try integer(&text, name)
        }
        guard text.first ?? space == space, times > 0, times <= limit - values.count else {
          throw problem("'\(name)' has more than \(limit) values, or one that is no whole number")
        }
        values.append(contentsOf: repeatElement(value, count: Int(times)))
      }
      return values
    }

    private func integer(_ text: inout ArraySlice<UInt8>, _ name: String) throws(StoredRecord.Problem)
      -> Int64
    {
      let end = text.firstIndex { $0 == space || $0 == star } ?? text.endIndex
      let digits = text[..<end]
      text = text[end...]
      let number = String(decoding: digits, as: UTF8.self)
      guard digits.first != UInt8(ascii: "+"), let value = Int64(number) else {
        throw problem("'\(name)' has a broken number")
      }
      return value
    }

    private func problem(_ text: String) -> StoredRecord.Problem { StoredRecord.Problem(description: text) }
  }

  private static let lineFeed = UInt8(ascii: "\n")
  private static let space = UInt8(ascii: " ")
  private static let star = UInt8(ascii: "*")
}

// MARK: Incidents

extension StoredLines {
  private static let count = "incidents"
  private static let span = "incident"
}

extension StoredLines.Writer {
  package mutating func spans(_ incidents: [IncidentSpan], actions: [IncidentSpan]) {
    line(StoredLines.count, CollectionOfOne(Int64(incidents.count + actions.count)))
    for (spans, isAction) in [(incidents, false), (actions, true)] {
      for span in spans {
        text(StoredLines.span, span.label)
        line(StoredLines.span, [isAction ? 2 : span.isOutage ? 1 : 0, span.start, span.end])
      }
    }
  }
}

extension StoredLines.Reader {
  package mutating func spans() throws(StoredRecord.Problem) -> (
    incidents: [IncidentSpan], actions: [IncidentSpan]
  ) {
    var (incidents, actions): ([IncidentSpan], [IncidentSpan]) = ([], [])
    for _ in 0..<(try count(StoredLines.count, atMost: 1_000_000)) {
      let label = try text(StoredLines.span)
      let values = try values(StoredLines.span, count: 3)
      let span = IncidentSpan(label: label, isOutage: values[0] == 1, start: values[1], end: values[2])
      if values[0] == 2 { actions.append(span) } else { incidents.append(span) }
    }
    return (incidents, actions)
  }
}

extension DeviceFigure {
  /// The numbers that `StoredSummary` keeps.
  static var storedOfSummary: [(name: String, path: any WritableKeyPath<RunSummary, Double> & Sendable)] {
    allCases.map { ("cost.\($0)", \.cost.mean[$0]) }
      + allCases.filter { !$0.isShare }.map { ("cost.\($0)P99", \.cost.percentile99[$0]) }
  }
}
