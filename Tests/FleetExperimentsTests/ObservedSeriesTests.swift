import FleetExperiments
import FleetMetrics
import ScenarioFormat
import Testing

/// Measured series as files have them.
@Suite("Observed series")
struct ObservedSeriesTests {
  private static let header = "time,requests,2xx"
  private static func table(_ rows: [String], header: String = header) -> String {
    ([header] + rows).joined(separator: "\n") + "\n"
  }
  private static let digits = String(repeating: "1", count: 1_000)
  private static let tenRows = (0..<10).map { "\($0 * 5),\(100 + $0),\(90 + $0)" }

  private func message(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? ScenarioProblems)?.diagnostics.first.map { "\($0.line ?? 0): \($0.message)" }
        ?? "\(error)"
    }
  }

  @Test("a plain table is counts by interval, with gaps where a value or a row is missing")
  func plain() throws {
    var rows = Self.tenRows
    rows[3] = "15,,93"
    rows.remove(at: 5)
    let series = try ObservedSeries(text: Self.table(rows), name: "m.csv")
    #expect(series.interval == 5_000_000)
    #expect(series.rows == [0, 1, 2, 3, 4, 6, 7, 8, 9])
    #expect(series[.requests] == [100, 101, 102, nil, 104, 106, 107, 108, 109])
    #expect(series[.answers2xx]?.first == 90)
    #expect(series[.answers429] == nil)
  }

  @Test("our own series is read back: the rate of requests as counts, both kinds of 5xx together")
  func own() throws {
    var own = TimeSeries(interval: 2_000_000, duration: 20_000_000, rows: 10)
    for row in 0..<10 {
      own[row, .firstAttempts] = Int64(7 + row)
      own[row, .retries] = 4
      own[row, .answers503] = 2
      own[row, .answers5xxOther] = 1
    }
    let text = String(decoding: TimeSeriesCSV.bytes(of: own), as: UTF8.self)
    let series = try ObservedSeries(text: text, name: "timeseries.csv")
    #expect(series.interval == 2_000_000)
    #expect(series[.requests] == (0..<10).map { 11 + Double($0) })
    #expect(series[.answers5xx] == Array(repeating: 3, count: 10))
  }

  @Test("series of a Prometheus answer are added up by their codes, and a code not seen yet is 0")
  func prometheus() throws {
    func series(_ code: String, _ values: [(Int, String)]) -> String {
      let pairs = values.map { "[\($0.0),\"\($0.1)\"]" }.joined(separator: ",")
      return "{\"metric\":{\"__name__\":\"http\",\"code\":\"\(code)\"},\"values\":[\(pairs)]}"
    }
    let all = (0..<9).map { (1_700_000_000 + $0 * 15, "\($0)") }
    let text =
      "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
      + [
        series("200", all), series("204", all), series("429", [(1_700_000_030, "7")]), series("304", all),
        series("404", all), series("503", all),
      ].joined(separator: ",") + "]}}"
    let observed = try ObservedSeries(text: text, name: "prom.json")
    #expect(observed.interval == 15_000_000 && observed.rows == Array(0..<9))
    #expect(observed[.answers2xx] == [0, 2, 4, 6, 8, 10, 12, 14, 16])
    #expect(observed[.answers429] == [0, 0, 7, 0, 0, 0, 0, 0, 0])
    #expect(observed[.answers5xx]?[2] == 2 && observed[.requests]?[2] == 17)
  }

  @Test("lines end at LF, CR or CR LF, and quotes, blanks and a mark of byte order are taken away")
  func lines() throws {
    for end in ["\n", "\r", "\r\n"] {
      let quoted = Self.tenRows.map { row in
        row.split(separator: ",").map { "\t\"\($0)\" " }.joined(separator: ",")
      }
      let text = "\u{FEFF}" + ([Self.header] + quoted + ["  ", ""]).joined(separator: end)
      let series = try ObservedSeries(text: text, name: "m.csv")
      #expect(series.rows == Array(0..<10) && series[.requests]?.last == 109.0)
      let wrong = message { _ = try ObservedSeries(text: text + "x,1,1", name: "m.csv") }
      #expect(wrong == "13: 'x' is no time: a number is expected in the column 'time'")
    }
  }

  @Test(
    "what is wrong with a table or a Prometheus answer is said with its line, shortened where it is long",
    arguments: [
      (digits, "1: found the columns \(digits.prefix(40))…; expected"),
      ("\(header)\n\(digits),1,1\n", "2: '\(digits.prefix(40))…' is no time"),
      (
        "{\"status\":\"error\",\n\"errorType\":\"bad_data\",\"error\":\"end before start\",\"data\":{\"result\":[]}}",
        "1: Prometheus answered with an error (bad_data): end before start;"
      ),
      ("{\"status\":\"error\",\"data\":{\"result\":[]}}", "1: Prometheus answered with an error; the answer"),
      ("{\n\"status\":3}", "2: Prometheus answered with an error; the answer"),
      (
        "{\"data\":{\"result\":[{\"metric\":{\"code\":\"200\"},\"values\":[[15,\"1\"],\n[30,\"2\"],\n[15,\"3\"]]}]}}",
        "3: a second sample of the time 15 in one series"
      ),
      (
        "{\"data\":{\"result\":[\n{\"metric\":{\"status\":\"200\"},\"values\":[[15,\"1\"]]}]}}",
        "2: a series without the label code; the answer to sum by (code) "
      ),
      ("", "1: the file is empty"), ("time,hits\n0,1\n", "1: found the columns time, hits"),
      (table(Array(tenRows.prefix(3))), "4: 3 rows are too few"),
      (table(tenRows + ["50,1"]), "12: 2 values where the header has 3 columns"),
      (table(tenRows + ["noon,1,1"]), "12: 'noon' is no time"),
      (table(tenRows + ["50,-1,1"]), "12: '-1' is no count"),
      (table(tenRows + ["45,1,1"]), "12: the time does not come after"),
      (table(tenRows + ["1e300,1,1"]), "12: "),
      // Half a row makes rows of half the width: then it is a grid after all.
      (table(tenRows + ["52.5,1,1"] + ["55,1,1"]), "nothing"),
    ])
  func wrong(text: String, expected: String) {
    let name = text.hasPrefix("{") ? "prom.json" : "m.csv"
    let found = message { _ = try ObservedSeries(text: text, name: name) } ?? "nothing"
    #expect(found.hasPrefix(expected), "\(found)")
  }
}

extension ObservedSeries {
  fileprivate subscript(kind: ObservedColumn) -> [Double?]? { columns.first { $0.kind == kind }?.values }
}
