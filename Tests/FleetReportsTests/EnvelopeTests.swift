import FleetReports
import TestSupport
import Testing

@Suite("Downsampling")
struct EnvelopeTests {
  @Test(
    "Each column keeps the extremes of exactly its rows, and of none that is no number",
    arguments: [(1, 600), (599, 600), (600, 600), (7_200, 600), (100_000, 7)])
  func extremes(rows: Int, columns: Int) {
    var random = SeededGenerator(seed: 9)
    let values = (0..<rows).map { _ -> Double? in
      switch random.next() >> 59 {
      case 0: nil
      case 1: .nan
      case 2: .infinity
      default: Double(random.next() >> 40)
      }
    }
    let envelope = Envelope(finite: values).cut(to: columns)
    #expect(envelope.count == min(rows, columns))
    func finite(_ values: some Sequence<Double?>) -> [Double] { values.compactMap(\.self).filter(\.isFinite) }
    var next = 0
    for (c, column) in envelope.enumerated() {
      let end = rows * (c + 1) / envelope.count
      let own = finite(values[next..<end])
      #expect(column?.low == own.min())
      #expect(column?.high == own.max())
      next = end
    }
    #expect(next == rows)
    #expect(envelope.maximum == finite(values).max() ?? 0)
  }

  @Test("A spike of one row in 7,200 is not what is usual")
  func spike() {
    var values = [Double?](repeating: 1, count: 7_200)
    values[4_321] = 1_000_000
    #expect(Envelope(finite: values).cut(to: 600).highQuantile(0.9) == 1)
  }

  @Test("Nothing gives nothing")
  func empty() {
    #expect(Envelope(finite: []).cut(to: 600).isEmpty)
    #expect(Envelope(finite: []).cut(to: 600).highQuantile(0.9) == 0)
    #expect(Envelope(finite: [nil, nil]).cut(to: 1) == [nil])
  }

  @Test("Rates are cut at four times capacity, unless a tenth of the time is above it")
  func clipping() {
    #expect(ComparisonPicture.clipped(20_000, typical: 900, capacity: 1_000) == 4_000)
    #expect(ComparisonPicture.clipped(20_000, typical: 8_000, capacity: 1_000) == 10_000)
    // A capacity far above the load would flatten it; one near it is shown.
    #expect(ComparisonPicture.clipped(100, typical: 90, capacity: 1_000_000) == 103)
    #expect(ComparisonPicture.clipped(500, typical: 450, capacity: 1_000) == 1_120)
    #expect(ComparisonPicture.clipped(0, typical: 0, capacity: 0) == 1)
  }
}
