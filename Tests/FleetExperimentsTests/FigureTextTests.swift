import FleetExperiments
import Testing

@Suite("Figures in sentences")
struct FigureTextTests {
  @Test(
    "one of a thing is said in the singular, none and more in the plural, with a comma between thousands",
    arguments: [
      (0, "run", "0 runs"), (1, "run", "1 run"), (2, "run", "2 runs"), (20_000, "run", "20,000 runs"),
      (1, "process", "1 process"), (2, "process", "2 processes"),
    ])
  func count(number: Int, noun: String, text: String) { #expect(FigureText.count(number, noun) == text) }

  @Test(
    "Durations read as people say them",
    arguments: [
      (0, "0 s"), (450_000, "450 ms"), (999_499, "999 ms"), (999_500, "1 s"), (3_249_000, "3.2 s"),
      (9_960_000, "10 s"), (45_000_000, "45 s"), (59_500_000, "1 min"), (750_000_000, "12 min 30 s"),
      (605_000_000, "10 min 05 s"), (3_599_600_000, "1 h"), (7_500_000_000, "2 h 05 min"),
      (86_400_000_000, "1 d"), (273_600_000_000, "3 d 4 h"), (-1_500_000, "−1.5 s"),
    ] as [(Int64, String)])
  func durations(microseconds: Int64, text: String) {
    #expect(FigureText.duration(microseconds) == text)
  }

  @Test("Counts are grouped, rates are short, shares are honest at both ends")
  func numbers() {
    #expect(FigureText.grouped(0) == "0" && FigureText.grouped(1_234_567) == "1,234,567")
    #expect(
      FigureText.grouped(-1_000) == "-1,000" && FigureText.grouped(.min) == "-9,223,372,036,854,775,808")
    #expect(
      FigureText.compact(0) == "0" && FigureText.compact(0.25) == "0.25" && FigureText.compact(12.5) == "12.5"
    )
    #expect(
      FigureText.compact(999.4) == "999" && FigureText.compact(999.6) == "1k"
        && FigureText.compact(3.4e6) == "3.4M")
    #expect(FigureText.compact(.infinity) == "–" && FigureText.compact(1e300) == "–")
    #expect(
      FigureText.decimal(-0.5) == "-0.5" && FigureText.decimal(1234.56) == "1,234.6"
        && FigureText.decimal(0.055, decimals: 2) == "0.06")
    #expect(FigureText.share(0, of: 10) == "0 %" && FigureText.share(10, of: 10) == "100 %")
    #expect(
      FigureText.share(1, of: 1_000_000) == "< 0.01 %"
        && FigureText.share(999_999, of: 1_000_000) == "> 99.99 %")
    #expect(FigureText.share(1, of: 3) == "33.3 %" && FigureText.share(1, of: 0) == "–")
  }
}
