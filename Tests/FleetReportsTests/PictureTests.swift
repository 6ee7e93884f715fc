import FleetExperiments
import FleetMetrics
import FleetReports
import Foundation
import Testing

@Suite("Pictures that stand alone")
struct PictureTests {
  private struct Text {
    var words: String
    var size: Double
    var base: Double
    /// Where it begins and ends by a wide font's letters.
    var from: Double
    var to: Double

    func meets(_ other: Text) -> Bool {
      abs(base - other.base) < 10 && from < other.to - 1 && other.from < to - 1
    }
  }

  private static func texts(in svg: some StringProtocol) -> [Text] {
    String(svg).matches(
      of:
        /<text x="([-0-9.]+)" y="([-0-9.]+)" font-size="([0-9.]+)"(?: text-anchor="([a-z]+)")?([^>]*)>([^<]*)</
    ).compactMap { match -> Text? in
      guard let x = Double(match.1), let y = Double(match.2), let size = Double(match.3) else { return nil }
      let words = String(match.6).replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      let width = Lettering.width(of: words, size: size, isBold: match.5.contains("font-weight"))
      let from = match.4 == "end" ? x - width : match.4 == "middle" ? x - width / 2 : x
      return Text(words: words, size: size, base: y, from: from, to: from + width)
    }
  }

  /// All its text is legible, within it, and covers no other.
  private static func checkTexts(_ svg: some StringProtocol, width: Double) {
    let texts = texts(in: svg)
    for (place, text) in texts.enumerated() {
      #expect(text.size >= Lettering.small, "\(text)")
      #expect(text.from >= -4 && text.to <= width + 4, "\(text)")
      for other in texts[..<place] where text.meets(other) {
        Issue.record("'\(text.words)' covers '\(other.words)'")
      }
    }
  }

  /// A picture as a file.
  static func check(_ svg: String) {
    #expect(HTMLReportTests.problem(in: svg) == nil)
    #expect(!svg.contains("var(") && !svg.contains("<script") && !svg.contains("nan"))
    #expect(svg.contains("@media (prefers-color-scheme:dark)") && svg.contains("<title id=\"t\">"))
    #expect(svg.contains("width=\"830\""))
    checkTexts(svg, width: 830)
  }

  /// A picture as a file, and on a page for wide and narrow screens.
  static func check(_ chart: Chart) {
    check(chart.svg)
    let page = chart.html.components(separatedBy: "<svg").dropFirst()
    #expect(page.count == 2)
    for (svg, width) in zip(page, [830.0, 360]) {
      #expect(svg.contains("viewBox=\"0 0 \(Int(width)) "))
      checkTexts(svg, width: width)
    }
  }

  /// Of so many variants.
  private static func several(_ count: Int, _ change: (inout VariantResult, Int) -> Void = { _, _ in })
    -> TrialReport
  {
    let base = SyntheticFleet.result("v", wave: 0.4, rows: 2_400)
    let results = (0..<count).map { number in
      var result = base
      result.name = "settings.backoffConfig.maxBackoffInterval=\(number)"
      // What is the same to the last byte has no verdict.
      result.record.cost.total[.attempts] += Int64(number)
      result.summary.recoveryTime = Int64(number + 1) * 20_000_000
      change(&result, number)
      return result
    }
    return TrialReport(Trial(results))
  }

  @Test("The title states the finding; the best has the accent, others are grey, each with name and figure")
  func finding() {
    let compared = Self.several(3) { result, number in
      result.name = ["today", "full", "none"][number]
      result.summary.recoveryTime = [240, 60, 480][number] * 1_000_000
    }
    let svg = ComparisonPicture(compared).svg
    Self.check(svg)
    let title = compared.standings.story.finding
    #expect(title == "Use full")
    #expect(compared.story[.reason] == ["caught up after 1 min; 4 min with today, 8 min with none"])
    #expect(svg.contains(">\(title)</title>"))
    let accent = Theme.fixed.colour(.accent)
    #expect(
      svg.contains("fill=\"\(accent)\">full: 1 min<"),
      "\(svg.matches(of: />full[^<]*</).map { String($0.0) })")
    #expect(svg.contains("fill=\"\(accent)\">full<"))
    for (name, time) in [("today", "4 min"), ("none", "8 min")] {
      // Where there is little room the figure is on a line of its own.
      let isBeside = svg.contains(">\(name): \(time)<") || svg.contains(">\(time)<")
      #expect(svg.contains(">\(name)<") && isBeside)
      #expect(!svg.contains("fill=\"\(accent)\">\(name)"))
    }
    #expect(svg.contains(">outage without answer<") && svg.contains(">capacity<"))
    #expect(svg.contains(">caught up after 1 min, nothing lost<"))
  }

  @Test("A verdict that is not decided says so in the title, and nobody has the accent or a tick")
  func undecided() {
    let compared = Self.several(2) { result, number in
      result.summary.recoveryTime = Int64(101 - number) * 1_000_000
    }
    let title = compared.standings.story.finding
    #expect(compared.standings.leaders.count == 2 && compared.standings.firstChoice == 1)
    #expect(title.hasPrefix("Not decided between "))
    #expect(!ComparisonPicture(compared).svg.contains(">\(Theme.fixed.colour(.accent))"))
    #expect(compared.table.tickedRows.allSatisfy { !$0[0].hasPrefix("✓") })
    Self.check(ComparisonPicture(compared).svg)
  }

  @Test("One to forty variants fit, and how many are left out is said", arguments: [1, 2, 8, 9, 40])
  func many(count: Int) {
    let picture = ComparisonPicture(Self.several(count))
    let svg = picture.svg
    Self.check(picture.chart)
    let left = count - ComparisonPicture.most
    #expect(svg.contains("Left out: ") == (left > 0))
    if left > 0 { #expect(svg.contains(">Left out: \(left) variant")) }
    let height = svg.firstMatch(of: /height="([0-9.]+)"/).flatMap { Double($0.1) } ?? .infinity
    #expect(height <= 900, "\(height)")
  }

  @Test("Of many variants the best, the first and the worst are shown, in their order")
  func choice() {
    let order = [3, 1, 2, 4, 5, 0, 6, 7, 8, 9, 10, 11]
    #expect(ComparisonPicture.choice(order) == [3, 1, 2, 4, 0, 9, 10, 11])
    #expect(ComparisonPicture.choice([0, 1]) == [0, 1])
    #expect(ComparisonPicture.choice(Array(0..<9)) == [0, 1, 2, 3, 5, 6, 7, 8])
  }

  @Test("Variants that never recover, without capacity, without a row or an incident have a picture too")
  func unusual() {
    func check(_ change: (inout VariantResult, Int) -> Void) {
      Self.check(ComparisonPicture(Self.several(3, change)).chart)
    }
    check { result, _ in result.summary.recoveryTime = nil }
    check { result, _ in result.record.nominalCapacityMilli = 0 }
    check { result, number in if number == 0 { result.record.incidents = [] } }
    check { result, _ in
      result.record.series = TimeSeries(interval: 1_000_000, duration: 0, rows: 0)
      result.references.twin.series = result.record.series
    }
    #expect(ComparisonPicture(TrialReport(Trial([]))).svg.contains("Nothing was run"))
  }

  @Test(
    "Keys in words",
    arguments: [
      ("tapi.incidents.0.for", "length of the first incident"),
      ("tapi.workers.queueLimit", "queue limit of the workers"), ("duration", "duration"), ("", ""),
      ("settings.backoffConfig.maxBackoffInterval", "max backoff interval"),
      ("tapi.incidents.9.share", "share of the number 9 incident"),
      ("fleet.phones.timeout", "timeout of the phones"),
    ])
  func words(path: String, words: String) { #expect(KeyWords.words(path) == words) }

  @Test("Text is broken between words, and shortened where it has to be")
  func lettering() {
    #expect(Lettering.lines("a b c", width: 1_000, size: 16) == ["a b c"])
    #expect(Lettering.lines("aaaa bbbb cccc", width: 60, size: 16, most: 2).count == 2)
    #expect(Lettering.lines("aaaa bbbb cccc", width: 60, size: 16, most: 2).last?.hasSuffix("…") == true)
    #expect(Lettering.fitting("abcdefghijkl", width: 40, size: 16).hasSuffix("…"))
    #expect(Lettering.fitting("", width: 0, size: 16).isEmpty)
  }
}

/// Colours as people see them.
private struct Colour {
  /// Linear light, red, green, blue.
  var linear: [Double]

  init(_ hex: String) {
    let value = Int(hex.dropFirst(), radix: 16) ?? 0
    linear = [value >> 16, value >> 8 & 255, value & 255].map {
      let share = Double($0) / 255
      return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
  }

  private init(linear: [Double]) { self.linear = linear }

  private static func times(_ matrix: [[Double]], _ vector: [Double]) -> [Double] {
    matrix.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } }
  }

  /// As seen with a deficiency.
  func seen(with matrix: [[Double]]) -> Colour {
    Colour(linear: Self.times(matrix, linear).map { min(max($0, 0), 1) })
  }

  /// So much of it over another one, mixed as browsers do.
  func over(_ other: Colour, opacity: Double) -> Colour {
    func encoded(_ value: Double) -> Double {
      value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1 / 2.4) - 0.055
    }
    let mixed = zip(linear, other.linear).map { opacity * encoded($0) + (1 - opacity) * encoded($1) }
    return Colour(linear: mixed.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) })
  }

  /// L*, a* and b* by daylight.
  private var lab: [Double] {
    let toXYZ = [
      [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
      [0.0193339, 0.1191920, 0.9503041],
    ]
    let f = zip(Self.times(toXYZ, linear), [0.95047, 1, 1.08883]).map { value, white in
      let share = value / white
      return share > 216.0 / 24_389 ? cbrt(share) : (24_389.0 / 27 * share + 16) / 116
    }
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
  }

  /// ΔE*ab of 1976.
  func difference(to other: Colour) -> Double {
    zip(lab, other.lab).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
  }

  /// By WCAG 2.
  func contrast(to other: Colour) -> Double {
    func luminance(_ colour: Colour) -> Double {
      0.2126 * colour.linear[0] + 0.7152 * colour.linear[1] + 0.0722 * colour.linear[2]
    }
    let both = [luminance(self), luminance(other)].sorted()
    return (both[1] + 0.05) / (both[0] + 0.05)
  }
}

@Suite("Colours", .serialized)
struct PaletteTests {
  /// Whole deficiencies: G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A physiologically-based model for simulation of color
  /// vision deficiency", IEEE Transactions on Visualization and Computer Graphics 15 (2009), severity 1.0, for linear light.
  private static let sights: [(name: String, matrix: [[Double]])] = [
    ("all cones", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    (
      "protanopia",
      [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
      ]
    ),
    (
      "deuteranopia",
      [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    (
      "tritanopia",
      [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
  ]
  /// A just noticeable difference is about 2.3; areas and lines of a chart are told apart at a glance from about ten.
  private static let leastDifference = 12.0
  private static let leastContrast = 4.5

  private static func colours(_ palette: [Ink: String]) throws -> (Ink) throws -> Colour {
    { ink in Colour(try #require(palette[ink])) }
  }

  @Test(
    "What means different things differs, also without one kind of cones",
    arguments: [Theme.light, Theme.dark])
  func deficiencies(palette: [Ink: String]) throws {
    let colour = try Self.colours(palette)
    let surface = try colour(.surface)
    let comparison: [(String, Colour)] = [
      ("the best", try colour(.accent)), ("the others", try colour(.other)), ("background", surface),
      ("incident", try colour(.incident).over(surface, opacity: Theme.shadeOpacity)),
    ]
    let map: [(String, Colour)] = [
      ("some fail", try colour(.never).over(surface, opacity: PairMap.opacity.lowerBound)),
      ("all fail", try colour(.never).over(surface, opacity: PairMap.opacity.upperBound)),
      ("fastest", try colour(.accent).over(surface, opacity: PairMap.opacity.lowerBound)),
      ("slowest", try colour(.accent).over(surface, opacity: PairMap.opacity.upperBound)),
      ("background", surface),
    ]
    for group in [comparison, map] {
      for (place, first) in group.enumerated() {
        for second in group.dropFirst(place + 1) {
          for sight in Self.sights {
            let difference = first.1.seen(with: sight.matrix).difference(
              to: second.1.seen(with: sight.matrix))
            #expect(
              difference >= Self.leastDifference, "\(sight.name): \(first.0) and \(second.0): \(difference)")
          }
        }
      }
    }
  }

  @Test("Text has the contrast that WCAG 2 asks for, in both schemes", arguments: [Theme.light, Theme.dark])
  func contrast(palette: [Ink: String]) throws {
    let colour = try Self.colours(palette)
    let surface = try colour(.surface)
    for ink in [Ink.text, .muted, .accent, .incident, .other] {
      let contrast = try colour(ink).contrast(to: surface)
      #expect(contrast >= Self.leastContrast, "\(ink): \(contrast)")
    }
    let shade = try colour(.incident).over(surface, opacity: Theme.shadeOpacity)
    #expect(try colour(.text).contrast(to: shade) >= Self.leastContrast)
    for ink in [Ink.accent, .never, .other] {
      let cell = try colour(ink).over(surface, opacity: PairMap.opacity.upperBound)
      #expect(try colour(.text).contrast(to: cell) >= Self.leastContrast, "\(ink)")
    }
  }

  @Test("A dark page gives each colour one other: no two inks of a light one part there")
  func schemes() {
    #expect(Set((0..<ComparisonPicture.most).map(Theme.dash)).count == ComparisonPicture.most)
    var dark: [String: String] = [:]
    for (ink, light) in Theme.light {
      #expect(Theme.dark[ink] != nil && (dark[light] ?? Theme.dark[ink]) == Theme.dark[ink], "\(ink)")
      dark[light] = Theme.dark[ink]
    }
    let style = Theme.style(of: "<path stroke=\"#0064a8\"/>")
    #expect(style.contains("[stroke=\"#0064a8\"]{stroke:#58b3ff}") && !style.contains("#c0392b"))
  }
}
