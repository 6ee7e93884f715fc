import FleetExperiments
import Testing

@Suite("Figures in sentences")
struct FigureTextTests {
  @Test(
    "one of a thing is said in the singular, none and more in the plural, with a comma between thousands",
    arguments: [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (20_000, "20,000 runs")])
  func count(number: Int, text: String) { #expect(FigureText.count(number, "run") == text) }

  @Test("a noun that ends in s has the plural es")
  func sibilants() {
    #expect([1, 2].map { FigureText.count($0, "process") } == ["1 process", "2 processes"])
  }
}
