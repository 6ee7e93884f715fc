import FleetExperiments
import ScenarioFormat
import ScenarioModel
import SimulationKernel
import UploadRetry

// The scenario that the answers make.

extension InitCommand.Answers {
  /// The defaults of the first client that fetches Settings, one that reads them as an SDK does before others, to be replaced by
  /// those that its CDN serves.
  var settings: SettingsDocument {
    let fetching = clients.map(\.client).filter { $0.settingsFetch != .never }
    guard let first = fetching.first(where: { $0.settingsDialect != .document }) ?? fetching.first else {
      return SettingsDocument(HTTPConfig())
    }
    return first.settingsDialect == .document
      ? SettingsDocument(first.settingsDefaults)
      : SettingsDocument(first.settingsDefaults, readBy: first.settingsDialect)
  }

  /// A key that is worth comparing, its values, and why.
  struct Comparison {
    var path: String
    var values: String
    var reason: String
  }

  /// The comparisons in the order of their worth. The keys that all clients use come first, those that decide whether events are
  /// lost ahead of the rest. Retry-After comes last.
  var comparisons: [Comparison] {
    let limit = "How many 429s may a batch meet before its events are lost?"
    // Clients that fetch no Settings have limits of their own.
    let own = fetchesSettings ? [] : clients.map(\.client.settingsDefaults)
    let retries = Comparison(
      path: "settings.backoffConfig.maxRetryCount",
      values: "\(Set([3, 10, 100] + own.map(\.backoff.maxRetryCount)).sorted())",
      reason: "How often may a batch fail before its events are lost?")
    let failsFirst =
      !own.isEmpty && own.allSatisfy { $0.backoff.maxRetryCount <= $0.rateLimit.maxRetryCount }
    let all = [
      Comparison(
        path: "settings.rateLimitConfig.maxRetryCount", values: "[10, 100, 1000]", reason: limit),
      Comparison(path: "settings.rateLimitConfig.maxRetryCount", values: "[10, 30, 100]", reason: limit),
      retries,
      Comparison(
        path: "settings.backoffConfig.jitterStrategy",
        values: #"["additive:10", "full", "equal", "decorrelated"]"#,
        reason: "Which jitter brings the fleet back best?"),
      Comparison(
        path: "settings.backoffConfig.maxBackoffInterval", values: "[60, 120, 300, 900]",
        reason: "Which longest wait between retries brings the fleet back best?"),
    ]
    let reached = fetchesSettings ? clients.filter { $0.client.settingsFetch != .never } : clients
    let used = ((failsFirst ? [retries] : []) + all).filter { comparison in
      reached.allSatisfy { $0.client.uses(String(comparison.path.dropFirst("settings.".count))) }
    }
    return used + [
      Comparison(
        path: "tapi.overload.retryAfter", values: #"["none", "20s", "5m"]"#,
        reason: "Which Retry-After brings the fleet back best?")
    ]
  }

  /// The day's peak, an hour after the run begins; empty where the rate does not vary.
  private var curve: String {
    let share = use?.part ?? 0
    // Of how often apps open: those that are open already don't, so that it takes more for a part more of them to be open.
    func text(_ factor: Double) -> String {
      let opening = factor * (1 - share) / (1 - factor * share)
      return "\"\(Int((opening * 100).rounded()))%\""
    }
    let isLarge = share * peak > 0.1
    if peak <= 1 { return "" }
    if peak <= 2, !isLarge {
      return
        ", curve: { amplitude: \"\(MetricText.plain((peak - 1) * 100))%\", peak: \"1h\", period: \"24h\" }"
    }
    // A wave of eight hours on an even rest, with the mean of 1.
    let rest = (1 - peak / 6) * 6 / 5
    let points = (isLarge ? Array(0...5) + [21, 22, 23] : [0, 1, 5, 21]).map { hour in
      let away = abs(hour > 12 ? hour - 25 : hour - 1)
      let factor = rest + (peak - rest) * (1 - Double(away) / 4)
      return "{ at: \"\(hour == 0 ? "0s" : "\(hour)h")\", factor: \(text(factor)) }"
    }
    return ", curve: { points: [\(points.joined(separator: ", "))], period: \"24h\" }"
  }

  /// The scenario as a commented file. The fleet's peak is where the incident is.
  ///
  /// - Parameter client: how the scenario names a client's file.
  func scenario(
    scale: Int, capacity: String, settings: String, comparison: Comparison, client path: (String) -> String
  ) -> String {
    let length = restart ?? outage
    // An hour before, and time enough to drain a backlog at a third of the speed at which it grew, or to see twice the trouble.
    // A restart owes twice its silence more while it warms up.
    // In eight flushes a fleet shows whether it holds its load.
    let flush = clients.compactMap { $0.client.flush?.interval?.seconds }.max() ?? 0
    let seconds = max(
      7_200 + length.baseValue * (restart == nil ? 4 : 9), 3_600 + (trouble?.baseValue ?? 0) * 2.1,
      min(8 * flush, 86_400))
    let hours = Int64((seconds / 3_600).rounded(.up))
    let isPart = scale > 1
    let scaled = [
      isPart
        ? "A part that runs in seconds: figures of verdicts are those of the whole fleet; --scale 1:1 runs all of it."
        : "Small enough to be run as it is; of a larger fleet scale: \"1:20\" runs a part that gives the same answer.",
      "scale: \"1:\(scale)\",",
    ]
    let hasPeak = peak > 1
    let when = hasPeak ? "at the day's peak, " : ""
    let course =
      restart == nil
      ? "It is down \(when)from an hour into the run on. status: \"none\" is silence: clients wait for their time-out."
      : "It restarts \(when)an hour into the run: nobody is answered, and then capacity rises from nothing."
    let answer =
      restart.map { "status: \"none\", warmUp: \"\(Quantity(value: 2 * $0.value, unit: $0.unit).text())\"" }
      ?? "status: 503"
    let everyoneFetches = clients.allSatisfy { $0.client.settingsFetch != .never }
    func published(_ indent: String) -> String {
      fetchesSettings ? "\(indent)// As the CDN serves it today.\n\(indent)settings: \"\(settings)\",\n" : ""
    }
    func sessions(_ client: ClientPreset) -> [String] {
      guard let use else { return [] }
      let system = client.page == nil ? use.system : nil
      let closed =
        system == nil
        ? "closed ones send nothing" : "in the background the system lets them send in its windows alone"
      return [
        "// Apps are open for a while\(hasPeak ? ", more of them at the peak" : ""); \(closed).",
        "sessions: { share: \"\(Units.text(partsPerMillion: use.share))\", length: { exponential: \"\(use.session)\" }\(curve) },",
      ] + (system.map { ["os: \"\($0)\","] } ?? [])
    }
    let about =
      use != nil
      ? "The mean of a day: they come while the app is open."
      : hasPeak
        ? "The mean of a day whose peak is an hour after this run begins." : "All day long."
    let flushInterval = Span.seconds(30)
    func timeout(_ client: ClientPreset) -> [String] {
      let tie = TimeOutTie(
        cohort: client.name, timeout: client.timeout ?? Cohort.defaultTimeout,
        flush: client.flush.map(\.interval) ?? flushInterval, retries: client.retries)
      guard restart != nil, let tie else { return [] }
      return [
        "// A moment after a flush is due, as real clocks end.", "timeout: \"\(Units.text(tie.enough))\",",
      ]
    }
    var left = devices
    let cohorts = clients.enumerated().map { index, part in
      let isLast = index == clients.count - 1
      let own = isLast ? left : Int((Double(devices) * Double(part.share) / 1e6).rounded())
      left -= own
      let isFile = ClientPreset.builtIn(part.name) == nil
      let fetches = part.client.settingsFetch != .never
      let lines =
        [
          "name: \"\(clients.count == 1 ? "phones" : part.client.name)\",", "devices: \(max(1, own)),",
          "// How the client behaves; fleetsim presets \(part.name) shows every switch.",
          "client: \"\(isFile ? path(part.name) : part.name)\",",
        ] + (fetches ? [] : ["// It fetches no Settings: what it does is in the client."])
        + ["// \(about)", "events: { rate: \"\(rate.text())\"\(use == nil ? curve : "") },"]
        + sessions(part.client)
        + [
          part.client.flush == nil
            ? "flush: { count: 20, interval: \"\(Units.text(flushInterval))\" },"
            : "// It flushes as the client does."
        ] + timeout(part.client)
      return "    {\n" + (fetches && !everyoneFetches ? published("      ") : "")
        + lines.map { "      \($0)\n" }.joined() + "    },"
    }
    let isPartlyReached =
      fetchesSettings && !everyoneFetches && comparison.path.hasPrefix(SearchableSettings.prefix)
    let retryAfter = Span.seconds(20)
    let isBelowFlush = clients.allSatisfy { part in
      part.client.retries == .gate && part.client.page == nil
        && (part.client.flush.map { $0.interval ?? .zero } ?? flushInterval) > retryAfter
    }
    return """
      // Made by fleetsim init. Every key: fleetsim help scenario
      {
        format: 1,
        question: "\(restart == nil ? "An outage" : "A restart")\(hasPeak ? " at the day's peak" : ""): how does the fleet come back?",
        seed: 1,
        duration: "\(hours)h",
        interval: "5s",
        // \(scaled[0])
        \(scaled[1])
        tapi: {
          // \(self.capacity == nil ? "PROPOSED by load, not measured: put the endpoint's own limit here." : "What the endpoint can take.")
          // Above it, once what it holds for a burst is used up, it answers 429 with a Retry-After.
          bucket: { capacity: "\(capacity)" },
      \(isBelowFlush ? "    // Below the flush interval: clients retry at a flush, so what is due just after one waits for the next.\n" : "")\
          overload: { status: 429, retryAfter: "\(Units.text(retryAfter))" },
          // \(course)
          incidents: [{ kind: "outage", at: "1h", for: "\(length.text())", \(answer) }],
        },
        network: { latency: { median: "80ms", p99: "600ms", minimum: "10ms" } },
      \(everyoneFetches ? published("  ") : "")\
        fleet: [
      \(cohorts.joined(separator: "\n"))
        ],
        // \(comparison.reason)
      \(isPartlyReached ? "  // Only clients that fetch Settings have these.\n" : "")\
        compare: {
          "\(comparison.path)": \(comparison.values),
        },
      }

      """
  }
}

extension ClientPreset {
  /// Whether a key of Settings decides anything for this client.
  fileprivate func uses(_ key: String) -> Bool {
    guard self.settingsDialect == .document else { return self.settingsDialect.readKeyPaths.contains(key) }
    if key.hasPrefix("rateLimitConfig.") {
      return self.settingsDefaults.rateLimit.isEnabled && self.policy.rateLimited == .pausesPipeline
        && !self.gates.losesWhileRateLimited
    }
    let hasWaits = self.policy.waits != DelayLadder()
    let backoff = self.settingsDefaults.backoff
    return backoff.isEnabled
      && (key == "backoffConfig.maxRetryCount" || backoff.maxRetryCount > 0 && !hasWaits)
  }
}
