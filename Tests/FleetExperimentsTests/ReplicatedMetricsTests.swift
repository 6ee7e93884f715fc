import FleetExperiments
import FleetMetrics
import FleetStatistics
import Testing

@Suite("Replicated metrics")
struct ReplicatedMetricsTests {
  static let second: Int64 = 1_000_000

  func run(
    seed: UInt64 = 1, lost: Int64 = 0, recovery: Int64? = 300, horizon: Int64? = 3_600, attempts: Double = 100
  ) -> RunSummary {
    var run = RunSummary.planted(
      "v", seed: seed, recovery: recovery.map(Double.init), within: horizon.map(Double.init), lost: lost)
    run.cost.mean[.attempts] = attempts
    return run
  }

  func index(_ name: String) throws -> Int {
    try #require(MetricCatalogue.all.firstIndex { $0.name == name })
  }

  @Test("the catalogue has every numeric column of summary.csv, the verdict's first, in its order")
  func catalogue() {
    #expect(
      MetricCatalogue.all.prefix(7).map(\.name) == [
        "lost_or_blocked_events", "healthy_s", "recovery_s", "late_events", "affected_delivery_judged_s",
        "attempts_above_twin_per_device", "attempts_mean_per_device_day",
      ])
    // Not name, seed, devices, length, the two flags, the two horizons and the scale.
    #expect(MetricCatalogue.all.count == SummaryCSV.columns.count - 9)
    #expect(MetricCatalogue.metric(named: "recovery_s")?.isCensored == true)
    #expect(MetricCatalogue.metric(named: "delivered_events")?.direction == .higherIsBetter)
    #expect(MetricCatalogue.metric(named: "peak_offered_ratio")?.direction == .neither)
    #expect(MetricCatalogue.metric(named: "seed") == nil)
  }

  @Test("delivery is judged by one percentile in all runs: the highest that every ideal run reaches")
  func onePercentile() throws {
    func row(_ seed: UInt64, reaches99: Bool) -> RunSummary {
      var run = run(seed: seed)
      (run.affectedEvents, run.affectedHorizon) = (100, 7_200 * Self.second)
      (run.affectedDeliveryP50, run.affectedDeliveryP90) = (Int64(seed) * Self.second, 600 * Self.second)
      run.idealDeliveryP50 = Self.second
      if reaches99 { (run.idealDeliveryP90, run.idealDeliveryP99) = (2 * Self.second, 3 * Self.second) }
      return run
    }
    let judged = try index(MetricCatalogue.affectedDelivery)
    var rows = [[row(10, reaches99: true)], [row(20, reaches99: true)]]
    var metrics = ReplicatedMetrics(variants: ["a", "b"], rows: rows)
    #expect(metrics.values(of: judged, variant: 0) == [.censored(horizon: 7_200)])
    rows[0].append(row(30, reaches99: false))
    rows[1].append(row(40, reaches99: true))
    metrics = ReplicatedMetrics(variants: ["a", "b"], rows: rows)
    #expect(metrics.judgedPercent == 50)
    #expect(metrics.sample(judged, variant: 0).mean == 20 && metrics.sample(judged, variant: 1).mean == 30)
  }

  @Test("what no event is affected by has no time to delivery, rather than one beyond the run")
  func nothingAffected() throws {
    var run = run(seed: 1)
    (run.affectedEvents, run.affectedHorizon) = (0, 7_200 * Self.second)
    let judged = try index(MetricCatalogue.affectedDelivery)
    #expect(
      ReplicatedMetrics(variants: ["a"], rows: [[run]]).values(of: judged, variant: 0) == [.none])
  }

  @Test("a metric read back from the text of summary.csv is the same as of the run itself")
  func readBack() throws {
    let summary = run(recovery: 1_234, attempts: 5_359.412_9)
    let row = records(SummaryCSV.bytes(of: [summary]))[0]
    for metric in MetricCatalogue.all {
      #expect(metric.value { row[$0].flatMap(Double.init) } == metric.value(of: summary), "\(metric.name)")
    }
  }

  @Test("a run that never recovers counts with its horizon, and one without an incident not at all")
  func censored() throws {
    let without = run(recovery: nil, horizon: nil)
    let metrics = ReplicatedMetrics(
      variants: ["a", "b"],
      rows: [[600, nil, 1_200].map { run(recovery: $0) }, [without, without, without]])
    let recovery = try index("recovery_s")
    #expect(metrics.sample(recovery, variant: 0).mean == 1_800)
    #expect(metrics.share(recovery, variant: 0)?.successes == 2)
    #expect(metrics.share(recovery, variant: 0)?.count == 3)
    #expect(metrics.share(recovery, variant: 1) == nil)
    #expect(metrics.estimate(recovery, variant: 1).halfWidth == nil)
    #expect(metrics.share(try index("lost_events"), variant: 0) == nil)
  }

  @Test("times are compared up to the shorter horizon of the two")
  func horizons() throws {
    let (short, long) = (run(recovery: nil, horizon: 1_000), run(recovery: 3_000, horizon: 3_600))
    let metrics = ReplicatedMetrics(variants: ["short", "long"], rows: [[short, short], [long, long]])
    let recovery = try index("recovery_s")
    #expect(metrics.sample(recovery, variant: 1).mean == 3_000)
    #expect(metrics.difference(recovery, of: 1, to: 0).mean == 0)
    #expect(metrics.commonRandomNumbersFactor(recovery, of: 1, to: 0) == nil, "nothing varies")
  }

  @Test("a pair counts the replications that both variants have")
  func unequal() throws {
    let rows = [[1.0, 2, 3, 4], [2, 3.5]].map { $0.map { run(attempts: $0) } }
    let metrics = ReplicatedMetrics(variants: ["a", "b"], rows: rows)
    let attempts = try index("attempts_mean_per_device_day")
    #expect((0..<2).map { metrics.values(of: attempts, variant: $0).count } == [4, 2])
    #expect(metrics.difference(attempts, of: 1, to: 0).sample.count == 2)
    #expect(metrics.difference(attempts, of: 1, to: 0).mean == 1.25)
  }

  @Test("an interval uneven about its mean is written with both ends, an even one with ±")
  func unevenIntervals() throws {
    func text(_ metric: Metric, _ estimate: MeanEstimate) -> String {
      Figure(value: .mean(estimate.mean), metric: metric) { estimate }.withInterval()
    }
    let metric = try #require(MetricCatalogue.metric(named: "amplification_ratio"))
    // One long tail: the bootstrap's interval reaches further up than down.
    let skewed = MeanEstimate([1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2, 3, 5])
    let (low, high) = (try #require(skewed.low), try #require(skewed.high))
    try #require(skewed.method == .bootstrap && high - skewed.mean > 1.25 * (skewed.mean - low))
    #expect(
      text(metric, skewed) == "1.92 (\(MetricText.plain(low)) to \(MetricText.plain(high)))")
    // 3 ± t(0.975, 4) · √2.5 / √5 = 2.776 · 0.707.
    #expect(text(metric, MeanEstimate([1, 2, 3, 4, 5])) == "3 ± 1.96")
    #expect(text(metric, MeanEstimate([2, 2])) == "2")
    // Nothing is lost less than not at all.
    // 605 ± t(0.975, 3) · 404.1 / √4 = 3.182 · 202.0 = 643: of four values no bootstrap's interval.
    let wide = MeanEstimate([20, 660, 820, 920])
    let lost = try #require(MetricCatalogue.metric(named: "lost_or_blocked_events"))
    #expect(wide.method == .student && text(lost, wide) == "605 (0 to 1,249)")
    // Too narrow for its ends to be told from the mean.
    let narrow = MeanEstimate([1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2, 3, 5].map { 1_000_000 + $0 / 10 })
    #expect(narrow.method == .bootstrap && text(metric, narrow).hasPrefix("1,000,000 ± 0."))
  }
}
