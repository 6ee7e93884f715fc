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

    /// What stands behind the name on the next line, which must be that of `name`.
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
      var value: Int64 = 0
      let isNegative = digits.first == minus
      let magnitude = isNegative ? digits.dropFirst() : digits
      var overflow = magnitude.isEmpty
      for digit in magnitude {
        guard (48...57).contains(digit), !overflow else { throw problem("'\(name)' has a broken number") }
        let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
        let step = Int64(digit - 48)
        let (sum, beyond) = product.addingReportingOverflow(isNegative ? -step : step)
        value = sum
        overflow = tooLarge || beyond
      }
      if overflow { throw problem("'\(name)' has a broken number") }
      return value
    }

    private func problem(_ text: String) -> StoredRecord.Problem { StoredRecord.Problem(description: text) }
  }

  private static let lineFeed = UInt8(ascii: "\n")
  private static let space = UInt8(ascii: " ")
  private static let star = UInt8(ascii: "*")
  private static let minus = UInt8(ascii: "-")
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
