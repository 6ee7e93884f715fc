import FleetExperiments
import FleetMetrics

/// The verdict's metrics of the best variant in large figures, each better or worse than another variant's.
struct Headline {
  struct Tile {
    var title: String
    var value: String
    /// The other variant's value and the change against it.
    var note: String
    var standing = MetricRule.Standing.equal
  }

  /// Whose figures these are, and against whom; nil of a single variant.
  var caption: String?
  var tiles: [Tile] = []

  /// The best variant against the first one, which is as a rule today's; if that is the best, against the second best.
  init(_ standings: Standings) {
    let metrics = standings.metrics
    guard let best = standings.firstChoice else { return }
    let reference = best != 0 ? 0 : standings.order.first { $0 != best }
    caption = reference.map {
      (standings.leaders.count == 1
        ? "" : standings.favourite == nil ? "Best on average: " : "First choice: ")
        + "\(standings.variants[best]), against '\(standings.variants[$0])', "
        + (best != 0 ? "the first variant" : "the next best")
    }
    for index in metrics.ranked where metrics.sample(index, variant: best).count > 0 {
      let metric = metrics.metrics[index]
      var tile = Tile(
        title: metric.title + (metric.name.hasSuffix("_per_device") ? " a device" : ""),
        value: MetricText.mean(metrics, index, best, isPlain: true), note: "")
      if let reference {
        tile.standing = standings.standing(of: best, to: reference, on: .metric(index))
        let other = metrics.sample(index, variant: reference)
        tile.note =
          "'\(standings.variants[reference])': \(MetricText.mean(metrics, index, reference, isPlain: true))"
          + Self.change(metrics.sample(index, variant: best).mean, from: other.count > 0 ? other.mean : 0)
      } else if metric.isCensored, let share = metrics.share(index, variant: best), share.count > 1 {
        tile.note = "\(share.successes) of \(share.count) runs made it"
      }
      tiles.append(tile)
    }
  }

  /// ` (−84 %)`, ` (× 3.2)`, or nothing where that says nothing.
  private static func change(_ value: Double, from other: Double) -> String {
    guard other > 0, value != other else { return "" }
    let ratio = value / other
    if ratio >= 2 { return " (×\u{A0}\(MetricText.plain(ratio)))" }
    let percent = MetricText.plain(abs(ratio - 1) * 100)
    return percent == "0" ? "" : " (\(ratio < 1 ? "−" : "+")\(percent)\u{A0}%)"
  }

  var html: String {
    guard !tiles.isEmpty else { return "" }
    var html = "<section class=\"headline\" aria-label=\"Figures\">\n"
    if let caption { html += "<p class=\"choice\">\(Markup.escape(caption))</p>\n" }
    html += "<div class=\"tiles\">\n"
    for tile in tiles {
      let tone =
        switch tile.standing {
        case .better: " better"
        case .worse: " worse"
        default: ""
        }
      html += "<div class=\"tile\(tone)\"><span>\(Markup.escape(tile.title))</span>"
      html += "<strong>\(Markup.escape(tile.value))</strong>"
      html += "<small>\(Markup.escape(tile.note))</small></div>\n"
    }
    return html + "</div>\n</section>\n"
  }
}
