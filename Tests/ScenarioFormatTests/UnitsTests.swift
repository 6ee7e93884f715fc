import ScenarioModel
import SimulationKernel
import Testing
import UploadRetry

@Suite("Values with units")
struct UnitsTests {
  static let spans: [(String, Int64)] = [
    ("30s", 30_000_000), ("5m", 300_000_000), ("2h", 7_200_000_000), ("250ms", 250_000), ("80us", 80),
    ("80µs", 80),
    ("1d", 86_400_000_000), ("1h30m", 5_400_000_000), ("1d2h3m4s5ms6us", 93_784_005_006), ("0.5s", 500_000),
    ("1.5h", 5_400_000_000), (".25ms", 250), ("0s", 0), ("-0s", 0), ("366d", 31_622_400_000_000),
    ("0.000001s", 1), ("1.000000000000000000000s", 1_000_000),
  ]

  @Test("spans are read exactly", arguments: spans)
  func span(_ text: String, _ microseconds: Int64) throws {
    #expect(try Units.span(text).microseconds == microseconds)
  }

  static let badSpans: [(String, String)] = [
    ("30", "missing unit: write \"30s\""), ("1h30", "missing unit: write \"1h30s\""),
    ("30x", "\"30x\": unknown unit \"x\". The units of a span are us, ms, s, m, h, d"),
    (
      "30sec",
      "\"30sec\": unknown unit \"sec\"; did you mean \"s\"? The units of a span are us, ms, s, m, h, d"
    ),
    ("30 s", "\"30 s\": unknown unit \" s\". The units of a span are us, ms, s, m, h, d"),
    ("", "\"\" is not a span; write a number and a unit, like \"30s\" or \"1h30m\""),
    ("soon", "\"soon\" is not a span; write a number and a unit, like \"30s\" or \"1h30m\""),
    ("1h-3m", "\"1h-3m\" is not a span; write a number and a unit, like \"30s\" or \"1h30m\""),
    ("30m1h", "\"30m1h\": units go from the largest to the smallest, each once, like \"1h30m\""),
    ("1m1m", "\"1m1m\": units go from the largest to the smallest, each once, like \"1h30m\""),
    ("-1s", "\"-1s\" is negative"),
    ("0.5us", "\"0.5us\" is finer than a microsecond, the smallest step of time"),
    ("367d", "\"367d\" is longer than 366d, the longest span"),
    ("366d1us", "\"366d1us\" is longer than 366d, the longest span"),
    ("9999999999999999999d", "\"9999999999999999999d\" is longer than 366d, the longest span"),
    ("1d9999999999999999999us", "\"1d9999999999999999999us\" is longer than 366d, the longest span"),
  ]

  @Test("a bad span is refused with what would be right", arguments: badSpans)
  func badSpan(_ text: String, _ message: String) {
    #expect(throws: Units.Problem(message: message)) { try Units.span(text) }
  }

  @Test("the text of a span reads back as the same span")
  func spanText() throws {
    for microseconds: Int64 in [
      0, 1, 999, 1_000, 1_500, 1_500_000, 60_000_000, 5_400_000_000, 31_622_400_000_000,
    ] {
      let span = Span(microseconds: microseconds)
      #expect(try Units.span(Units.text(span)) == span)
    }
    #expect(Units.text(.minutes(90)) == "90m")
    #expect(Units.text(.zero) == "0s")
    #expect(Units.text(.milliseconds(1_500)) == "1500ms")
  }

  @Test("rates of a server are thousandths per second, to the nearest")
  func capacities() throws {
    #expect(try Units.milliPerSecond("4000/s") == 4_000_000)
    #expect(try Units.milliPerSecond("0.5/s") == 500)
    #expect(try Units.milliPerSecond("100/min") == 1_667)
    #expect(try Units.milliPerSecond("1/day") == 0)
    #expect(try Units.milliPerSecond("3600/h") == 1_000)
    #expect(try Units.milliPerSecond("0/s") == 0)
    // As a script computes them: many decimals are rounded, not refused.
    #expect(try Units.milliPerSecond("25.319999999999997/s") == 25_320)
    #expect(try Units.milliPerSecond("0.3333333333333333333/min") == 6)
    #expect(try Units.milliPerSecond("1.000499999999999999/s") == 1_000)
    #expect(try Units.milliPerSecond("1.0005000000000000000/s") == 1_001)
    #expect(try Units.milliPerSecond("1e-400/s") == 0)
    #expect(try Units.milliPerSecond("9999999999999999999/s") == .max)
    #expect(Units.text(milliPerSecond: 66_667) == "66.667/s")
    #expect(Units.text(milliPerSecond: 1_500) == "1.5/s")
    #expect(Units.text(milliPerSecond: 4_000_000) == "4000/s")
  }

  @Test("rates of a device become gaps, to the nearest microsecond")
  func gaps() throws {
    #expect(try Units.gap("6/min") == .seconds(10))
    #expect(try Units.gap("2/h") == .minutes(30))
    #expect(try Units.gap("1/day") == .hours(24))
    #expect(try Units.gap("7/min")?.microseconds == 8_571_429)
    #expect(try Units.gap("0.5/s") == .seconds(2))
    #expect(try Units.gap("3000000/s")?.microseconds == 0)
    #expect(try Units.gap("0/s") == nil)
    #expect(try Units.gap("0.00000000000000000001/day") == nil)
    #expect(Units.rateText(gap: .seconds(10)) == "6/min")
    #expect(Units.rateText(gap: Span(microseconds: 8_571_429)) == nil)
    #expect(Units.rateText(gap: .hours(24)) == "1/day")
  }

  @Test("a bad rate is refused with what would be right")
  func badRates() {
    for (text, message) in [
      ("4000", "missing unit: write \"4000/s\""), ("4000/", "missing unit: write \"4000/s\""),
      (
        "6/m",
        "\"6/m\": unknown unit \"/m\"; did you mean \"/min\"? The units of a rate are /s, /min, /h, /day"
      ),
      ("-6/s", "\"-6/s\" is negative"),
      ("many/s", "\"many/s\" is not a rate; write a number, \"/\" and s, min, h or day, like \"4000/s\""),
    ] {
      #expect(throws: Units.Problem(message: message)) { try Units.milliPerSecond(text) }
    }
  }

  @Test("sizes count bytes in powers of 1000")
  func sizes() throws {
    #expect(try Units.bytes("500KB") == 500_000)
    #expect(try Units.bytes("1MB") == 1_000_000)
    #expect(try Units.bytes("200B") == 200)
    #expect(try Units.bytes("0.5KB") == 500)
    #expect(Units.text(bytes: 1_000) == "1KB")
    #expect(Units.text(bytes: 1_500) == "1500B")
    #expect(Units.text(bytes: 0) == "0B")
    for (text, message) in [
      ("500", "missing unit: write \"500B\""), ("0.5B", "\"0.5B\" is not a whole number of bytes"),
      ("1kb", "\"1kb\": unknown unit \"kb\"; did you mean \"KB\"? The units of a size are B, KB, MB, GB"),
      ("1KB1B", "\"1KB1B\" is not a size; write a number and B, KB, MB or GB, like \"500KB\""),
    ] {
      #expect(throws: Units.Problem(message: message)) { try Units.bytes(text) }
    }
  }

  @Test("percentages are parts per million")
  func percentages() throws {
    #expect(try Units.partsPerMillion("50%") == 500_000)
    #expect(try Units.partsPerMillion("12.5%") == 125_000)
    #expect(try Units.partsPerMillion("0.0001%") == 1)
    #expect(Units.text(partsPerMillion: 125_000) == "12.5%")
    #expect(Units.text(partsPerMillion: 1) == "0.0001%")
    #expect(throws: Units.Problem(message: "\"0.00001%\" is finer than a millionth")) {
      try Units.partsPerMillion("0.00001%")
    }
    #expect(throws: Units.Problem(message: "missing unit: write \"50%\", or the number 0.5 for a half")) {
      try Units.partsPerMillion("50")
    }
  }

  @Test("decimals scale exactly, or say why not")
  func decimals() {
    #expect(ExactDecimal("1e3")?.times(1) == .exact(1_000))
    #expect(ExactDecimal("-12.50")?.times(100) == .exact(-1_250))
    #expect(ExactDecimal("0x1F")?.times(1) == .exact(31))
    #expect(ExactDecimal("1e308")?.times(1) == .tooLarge)
    #expect(ExactDecimal("1e-308")?.times(1_000_000) == .fraction)
    #expect(ExactDecimal("1e99999999999999999999")?.times(1) == .tooLarge)
    #expect(ExactDecimal("0e99999999999999999999")?.times(1) == .exact(0))
    #expect(ExactDecimal("9223372036854775807")?.times(1) == .exact(.max))
    #expect(ExactDecimal("9223372036854775808")?.times(1) == .tooLarge)
    #expect(ExactDecimal("18446744073709551615")?.unsigned == .max)
    #expect(ExactDecimal("18446744073709551616") == nil)
    #expect(ExactDecimal("1000000000000000000000000000000")?.times(1) == .tooLarge)
    #expect(ExactDecimal("0.0000000000000000000000000000001")?.times(1) == .fraction)
    for text in ["", "-", ".", "e3", "1e", "1e+", "0x", "1_000", "Infinity", "NaN", "1 ", "1.2.3"] {
      #expect(ExactDecimal(text) == nil, "\(text)")
    }
  }

  @Test("the nearest word is found, and none when nothing is near")
  func spelling() {
    let words = ["bucket", "workers", "overload", "incidents"]
    #expect(nearest(to: "bukcet", among: words) == "bucket")
    #expect(nearest(to: "Workers", among: words) == "workers")
    #expect(nearest(to: "incident", among: words) == "incidents")
    #expect(nearest(to: "server", among: words) == nil)
    #expect(nearest(to: "", among: words) == nil)
    #expect(nearest(to: String(repeating: "x", count: 100_000), among: words) == nil)
  }
}
