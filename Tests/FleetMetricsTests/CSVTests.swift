import FleetMetrics
import Testing

@Suite("CSV files")
struct CSVTests {
  @Test("timeseries.csv of a small record, byte for byte")
  func timeSeries() {
    var series = TimeSeries(interval: 1_500_000, duration: 2_500_000, rows: 2)
    series[0, .capacityMilliRequests] = 150_000
    series[0, .firstAttempts] = 10
    series[0, .retries] = 1
    series[0, .answers2xx] = 9
    series[0, .answers503] = 2
    series[0, .acceptedBatches] = 8
    series[0, .duplicateBatches] = 1
    series[0, .busyMicroseconds] = 2_000_000
    series[0, .availableMicroseconds] = 3_000_000
    series[0, .createdEvents] = 12
    series[0, .deliveredEvents] = 7
    series[0, .backlogEvents] = 5
    series[0, .timeToDeliverySum] = 10_500_006
    series[0, .timeToDeliveryP50] = 1_234_567
    series[0, .timeToDeliveryP95] = 59_000_001
    series[0, .timeToDeliveryP99] = 61_000_000
    series[0, .answers401] = 4
    series[0, .retriesAfter429] = 1
    series[0, .backoffMicroseconds] = 2_500_000
    series[0, .blockedByAge] = 6
    series[1, .retries] = 3
    series[1, .droppedByAge] = 4
    let text = String(decoding: TimeSeriesCSV.bytes(of: series), as: UTF8.self)
    // Row 1 is a second long, so three retries are 3 a second; 10 in 1.5 s are 6.667.
    #expect(
      text == """
        time_s,capacity_rps,offered_rps,first_attempts_rps,retries_rps,goodput_rps,duplicate_batches,answers_2xx,\
        answers_429,answers_503,answers_4xx_other,answers_5xx_other,unanswered_requests,timed_out_requests,\
        utilisation_ratio,server_queue_requests,created_events,delivered_events,duplicate_events,\
        accepted_after_drop_events,dropped_by_status_events,dropped_by_retry_limit_events,\
        dropped_by_rate_limit_retry_limit_events,dropped_by_age_events,dropped_by_overflow_events,settled_old_events,\
        backlog_events,backlog_batches,waiting_devices,in_flight_requests,time_to_delivery_mean_s,\
        time_to_delivery_p50_s,time_to_delivery_p99_s,refused_by_gate_events,blocked_events,held_loops,throttled_requests,\
        breaker_openings,key_limited_requests,shed_requests,unheard_answers,lost_answers,deduplicated_events,\
        offline_devices,network_lost_requests,network_lost_answers,unknown_outcomes,\
        time_to_delivery_p95_s,answers_401,retries_after_429,retries_after_5xx,retries_after_no_answer,\
        retries_after_other,backoff_wait_s,blocked_by_status_events,blocked_by_retry_limit_events,\
        blocked_by_rate_limit_retry_limit_events,blocked_by_age_events
        0.000000,100.000,7.333,6.667,0.667,5.333,1,9,0,2,0,0,0,0,0.667,0,12,7,0,0,0,0,0,0,0,0,5,0,0,0,1.500000,1.234567,61.000000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,59.000001,4,1,0,0,0,2.500000,0,0,0,6
        1.500000,0.000,3.000,0.000,3.000,0.000,0,0,0,0,0,0,0,0,,0,0,0,0,0,0,0,0,4,0,0,0,0,0,0,,,,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,0,0,0,0,0,0.000000,0,0,0,0

        """)
  }

  @Test("delivery_histogram.csv has the buckets that hold something")
  func histogram() {
    var histogram = Histogram()
    histogram.record(5, count: 2)
    histogram.record(1_000_000)
    let text = String(decoding: HistogramCSV.bytes(of: histogram), as: UTF8.self)
    // 10^6 is in [2^19, 2^20), cut into buckets of 2^12 = 4,096: 244 · 4,096 = 999,424.
    #expect(
      text == """
        lower_s,upper_s,events,cumulative_share_ratio
        0.000005,0.000006,2,0.666666
        0.999424,1.003520,1,1.000000

        """)
    #expect(
      String(decoding: HistogramCSV.bytes(of: Histogram()), as: UTF8.self)
        == "lower_s,upper_s,events,cumulative_share_ratio\n")
  }

  @Test("summary.csv: a name with commas and quotes is quoted, what is not there is empty")
  func summary() throws {
    var summary = RunSummary(run: "additive:10, \"clamped\"", seed: .max)
    summary.amplification = 1.0005
    summary.cost.mean[.attempts] = 1e15
    summary.timeToDeliveryMean = 1_500_000.5
    summary.recoveryTime = 750_000_000
    summary.cost.mean[.bytes] = 1e300
    summary.cost.mean[.radioWakeUps] = .nan
    let lines = String(decoding: SummaryCSV.bytes(of: [summary]), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[1].hasPrefix("\"additive:10, \"\"clamped\"\"\",18446744073709551615,0,0.000000,"))
    let names = lines[0].split(separator: ",").map(String.init)
    #expect(names == SummaryCSV.columns.map(\.name))
    // The name holds one comma.
    let fields = Array(
      lines[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init).dropFirst())
    func field(_ name: String) throws -> String { fields[try #require(names.firstIndex(of: name))] }
    #expect(fields.count == names.count)
    #expect(try field("amplification_ratio") == "1.001")
    #expect(try field("attempts_mean_per_device_day") == "1000000000000000.000")
    #expect(try field("time_to_delivery_mean_s") == "1.500001")
    #expect(try field("recovery_s") == "750.000000")
    #expect(try field("drained_s") == "")
    #expect(try field("herd_factor_ratio") == "")
    #expect(try field("has_incidents") == "false")
    #expect(try field("sent_mean_bytes_per_device_day") == "")
    #expect(try field("radio_wakeups_mean_per_device_day") == "")
  }

  @Test("p95 of a run and of a cohort: of 1 … 100 µs, 95 do not exceed it")
  func percentile95() {
    var run = record(backlogs: [0])
    for time in 1...100 { run.deliveries.record(Int64(time)) }
    let summary = RunAnalysis.summary(of: run, ReferenceRuns(twin: run), name: "", seed: 0)
    var cohort = CohortRecord(name: "", devices: 1)
    cohort.setTimesToDelivery(run.deliveries)
    func value<Source>(_ columns: [CSVColumn<Source>], _ source: Source) -> CSVValue? {
      columns.first { $0.name == "time_to_delivery_p95_s" }?.value(source)
    }
    #expect(value(SummaryCSV.columns, summary) == .seconds(95))
    #expect(value(CohortCSV.columns, cohort) == .seconds(95))
  }

  @Test("Decimals are exact at the ends of the number range")
  func decimals() {
    func text(_ value: Int64, _ decimals: Int) -> String {
      var bytes: [UInt8] = []
      DecimalText.append(value, decimals: decimals, to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(text(0, 0) == "0" && text(0, 3) == "0.000")
    #expect(text(-5, 3) == "-0.005" && text(1_000, 3) == "1.000")
    #expect(text(.min, 6) == "-9223372036854.775808" && text(.max, 0) == "9223372036854775807")
    #expect(DecimalText.rounded(.max, times: .max, over: .max) == .max)
    #expect(DecimalText.rounded(.max, times: 2, over: 1) == nil)
    #expect(DecimalText.rounded(1, times: 1, over: 2) == 1 && DecimalText.rounded(1, times: 1, over: 3) == 0)
    #expect(DecimalText.rounded(1, times: 1, over: 0) == nil)
  }

  @Test("Column names are unique snake_case, and each has a place in the reference")
  func columns() {
    let reference = ColumnReference.markdown
    for names in [
      TimeSeriesCSV.columns.map(\.name), SummaryCSV.columns.map(\.name), HistogramCSV.columns.map(\.name),
    ] {
      #expect(Set(names).count == names.count)
      for name in names {
        #expect(name.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") })
        #expect(reference.contains("`\(name)`"))
      }
    }
    #expect(
      reference.split(separator: "\n").filter { $0.hasPrefix("- ") }.allSatisfy {
        $0.contains(": ") && $0.hasSuffix(".")
      })
  }
}
