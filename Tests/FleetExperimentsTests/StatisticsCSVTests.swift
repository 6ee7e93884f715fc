import FleetExperiments
import FleetMetrics
import Testing

@Suite("statistics.csv and differences.csv")
struct StatisticsCSVTests {
  /// - Parameter failing: the run that never recovers.
  func standings(failing: Int? = 2) -> Standings {
    let rows = (0..<2).map { variant in
      [10.0, 20, 30].enumerated().map { i, value in
        var run = RunSummary.planted(
          "v", seed: UInt64(i), recovery: i == failing ? nil : 40, within: 100)
        run.cost.mean[.attempts] = value - (variant == 1 ? 2 + Double(i) : 0)
        return run
      }
    }
    return Standings(["additive:10", "full"], rows: rows, interval: 0)
  }

  func row(_ bytes: [UInt8], _ variant: String, _ metric: String) throws -> [String: String] {
    try #require(records(bytes).first { $0["variant"] == variant && $0["metric"] == metric })
  }

  @Test("a row has the mean, its interval by hand, the extremes and the rank")
  func statistics() throws {
    let bytes = StatisticsCSV.bytes(of: standings(failing: nil))
    let attempts = try row(bytes, "additive:10", "attempts_mean_per_device_day")
    // 12 % to 20 % behind under each of three seeds: on average, not decided.
    // 20 ± t(0.975, 2) · 10 / √3 = 4.302653 · 5.773503.
    #expect(attempts["mean"] == "20.000000" && attempts["half_width_95"] == "24.841377")
    #expect(attempts["minimum"] == "10.000000" && attempts["maximum"] == "30.000000")
    #expect(attempts["replications"] == "3" && attempts["rank"] == "1" && attempts["made_it_ratio"] == "")
    #expect(attempts["interval"] == "student")
  }

  @Test("of a part of a fleet counts are the whole fleet's, and shares and times as they are")
  func scaled() throws {
    let rows = (0..<2).map { variant in
      [3.0, 4, 5].map { value in
        var run = RunSummary(run: "v", seed: UInt64(value))
        (run.scale, run[.droppedByAge]) = (1_000, Int64(value) * Int64(1 + variant))
        run.cost.mean[.attempts] = value
        return run
      }
    }
    let standings = Standings(["today", "new"], rows: rows, interval: 0)
    let lost = try row(StatisticsCSV.bytes(of: standings), "today", "lost_events")
    // 4 ± 4.302653 / √3, a thousand times.
    #expect(lost["mean"] == "4000.000000" && lost["half_width_95"] == "2484.137712")
    #expect(lost["standard_deviation"] == "1000.000000" && lost["maximum"] == "5000.000000")
    let attempts = try row(StatisticsCSV.bytes(of: standings), "today", "attempts_mean_per_device_day")
    #expect(attempts["mean"] == "4.000000")
    let difference = try row(DifferencesCSV.bytes(of: standings), "new", "lost_events")
    #expect(difference["difference"] == "4000.000000")
    #expect(difference["relative_difference_ratio"] == "1.000000")
  }

  @Test("where a run or two never recover, no mean has an interval")
  func twoKinds() throws {
    let bytes = StatisticsCSV.bytes(of: standings())
    let recovery = try row(bytes, "full", "recovery_s")
    #expect(recovery["mean"] == "60.000000" && recovery["made_it_ratio"] == "0.666667")
    #expect(recovery["rank"] == "1")
    for metric in ["recovery_s", "attempts_mean_per_device_day"] {
      let row = try row(bytes, "full", metric)
      #expect(row["half_width_95"] == "" && row["interval"] == "too rare")
    }
  }

  @Test("a difference has its own interval, the p value, the standing and the factor of the common seeds")
  func differences() throws {
    let row = try row(DifferencesCSV.bytes(of: standings()), "full", "attempts_mean_per_device_day")
    // −3 ± 4.302653 · 1 / √3; t = −5.196 with two degrees of freedom: p = 1 − 5.196/√29.
    #expect(row["difference"] == "-3.000000" && row["half_width_95"] == "2.484138")
    #expect(row["relative_difference_ratio"] == "-0.150000")
    // Three seeds are decided by 20 % under each, and the first has 12 %.
    #expect(row["p_value"] == "0.035098719" && row["standing"] == "not decided")
    // √((100 + 81) / 1).
    #expect(row["crn_factor_ratio"] == "13.454")
  }
}
