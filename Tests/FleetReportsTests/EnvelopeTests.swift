import FleetReports
import Testing

@Suite("Downsampling")
struct EnvelopeTests {
  @Test(
    "Each column keeps the extremes of exactly its rows",
    arguments: [(1, 600), (599, 600), (600, 600), (7_200, 600), (100_000, 7)])
  func extremes(rows: Int, columns: Int) {
    var state: UInt64 = 9
    let values = (0..<rows).map { _ -> Double? in
      state = state &* 6_364_136_223_846_793_005 &+ 1
      return state >> 60 == 0 ? nil : Double(state >> 40)
    }
    let envelope = Envelope(finite: values).cut(to: columns)
    #expect(envelope.count == min(rows, columns))
    var next = 0
    for (c, column) in envelope.enumerated() {
      let end = rows * (c + 1) / envelope.count
      let own = values[next..<end].compactMap { $0 }
      #expect(column?.low == own.min())
      #expect(column?.high == own.max())
      next = end
    }
    #expect(next == rows)
    #expect(envelope.maximum == values.compactMap { $0 }.max() ?? 0)
  }

  @Test("A spike of one row in 7,200 survives, a value that is no number does not")
  func spike() {
    var values = [Double?](repeating: 1, count: 7_200)
    values[4_321] = 1_000_000
    values[5] = .nan
    values[6] = .infinity
    let envelope = Envelope(finite: values).cut(to: 600)
    #expect(envelope.filter { $0?.high == 1_000_000 }.count == 1)
    #expect(envelope.maximum == 1_000_000)
    #expect(envelope.highQuantile(0.9) == 1)
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
