import ScenarioModel
import SimulationKernel
import UploadGating
import UploadPipeline

/// `gates`: parts that stand between a cohort's upload loop and the network, on top of its client's.
extension ScenarioDecoder {
  private static let shortest = Span(microseconds: 1_000)

  /// - Parameter preset: what the cohort's client has; a part that is given takes the place of its part, and null takes
  ///   it away.
  mutating func gates(_ node: PositionedValue, _ path: String, default preset: ClientGates) -> ClientGates {
    if node.isNull { return ClientGates() }
    guard object(node, path, ScenarioSchema.gates.keys) != nil else { return preset }
    var gates = preset
    if let node = node["rateWindows"] {
      gates.rateGate = node.isNull ? nil : rateWindows(node, join(path, "rateWindows")) ?? gates.rateGate
    }
    if let node = node["wholeRun"] {
      gates.reservesWholeRun = bool(node, join(path, "wholeRun")) ?? gates.reservesWholeRun
    }
    if let node = node["restartRun"] {
      gates.restartsRun = bool(node, join(path, "restartRun")) ?? gates.restartsRun
    }
    if let node = node["breaker"] { gates.breaker = breaker(node, join(path, "breaker")) }
    if let node = node["failureWindow"] { failureWindow(node, join(path, "failureWindow"), &gates) }
    if let node = node["projectDelay"] {
      gates.projectDelay = part(node, join(path, "projectDelay"), ScenarioSchema.projectDelay) {
        decoder, node, path in
        let base = decoder.time("base", of: node, path, default: .seconds(30), from: .zero)
        let longest = decoder.time("longest", of: node, path, default: .minutes(10), from: .zero)
        return ProjectDelay(base: base.microseconds, longest: longest.microseconds)
      }
    }
    if let node = node["retryBudget"] { gates.retryBudget = retryBudget(node, join(path, "retryBudget")) }
    if let node = node["adaptiveThrottling"] { throttle(node, join(path, "adaptiveThrottling"), &gates) }
    if let node = node["controller"] { gates.controller = controller(node, join(path, "controller")) }
    if let node = node["reconcile"] {
      gates.reconciles = bool(node, join(path, "reconcile")) ?? gates.reconciles
    }
    return gates
  }

  /// A part that may be null.
  private mutating func part<Part>(
    _ node: PositionedValue, _ path: String, _ shape: ScenarioSchema.Shape,
    _ read: (inout ScenarioDecoder, PositionedValue, String) -> Part
  ) -> Part? {
    if node.isNull { return nil }
    guard object(node, path, shape.keys) != nil else { return nil }
    return read(&self, node, path)
  }

  private mutating func time(
    _ key: String, of node: PositionedValue, _ path: String, default standard: Span,
    from least: Span = shortest
  ) -> Span {
    node[key].flatMap { span($0, join(path, key), in: least...Units.longestSpan) } ?? standard
  }

  private mutating func number(
    _ key: String, of node: PositionedValue, _ path: String, default standard: Int, in range: ClosedRange<Int>
  ) -> Int {
    node[key].flatMap { count($0, join(path, key), in: range) } ?? standard
  }

  // MARK: Parts

  private mutating func rateWindows(_ node: PositionedValue, _ path: String) -> RateGate? {
    guard case .array(let elements) = node.content else {
      report("expected a list of windows, found \(describe(node))", at: node.position, path)
      return nil
    }
    guard (1...2).contains(elements.count) else {
      report("\(elements.count) windows; one or two in series are allowed", at: node.position, path)
      return nil
    }
    let windows = elements.enumerated().compactMap { index, node -> RateWindow? in
      let path = join(path, "\(index)")
      guard object(node, path, ScenarioSchema.rateWindowKeys) != nil else { return nil }
      let slots = node["slots"].flatMap { count($0, join(path, "slots"), in: 1...65_535) }
      let span = node["span"].flatMap {
        self.span($0, join(path, "span"), in: Self.shortest...Units.longestSpan)
      }
      guard let slots, let span else { return nil }
      return RateWindow(slots: slots, span: span.microseconds)
    }
    guard windows.count == elements.count else { return nil }
    return RateGate(windows[0], windows.count > 1 ? windows[1] : nil)
  }

  private mutating func breaker(_ node: PositionedValue, _ path: String) -> CircuitBreaker? {
    part(node, path, ScenarioSchema.breaker) { decoder, node, path in
      let standard = CircuitBreaker()
      let threshold = node["threshold"].flatMap {
        decoder.share($0, decoder.join(path, "threshold"), in: 0...990_000, allowed: "0% to 99%")
      }
      let openTime = decoder.time("openTime", of: node, path, default: .seconds(30))
      let longest = decoder.time("longestOpenTime", of: node, path, default: .minutes(2))
      if longest < openTime {
        decoder.report(
          "\(Units.text(longest)) is shorter than openTime, \(Units.text(openTime))",
          at: (node["longestOpenTime"] ?? node["openTime"] ?? node).position,
          decoder.join(path, "longestOpenTime"))
      }
      return CircuitBreaker(
        requests: decoder.number("requests", of: node, path, default: standard.requests, in: 1...64),
        window: decoder.time("window", of: node, path, default: .minutes(2)).microseconds,
        thresholdPercent: threshold.map { Int($0 / 10_000) } ?? standard.thresholdPercent,
        minimumFailures: decoder.number(
          "minimumFailures", of: node, path, default: standard.minimumFailures, in: 1...64),
        openTime: openTime.microseconds, longestOpenTime: longest.microseconds,
        probes: decoder.number("probes", of: node, path, default: standard.probes, in: 1...3))
    }
  }

  private mutating func failureWindow(_ node: PositionedValue, _ path: String, _ gates: inout ClientGates) {
    gates.failureWindow = part(node, path, ScenarioSchema.failureWindow) { decoder, node, path in
      if let node = node["whenBlocked"] {
        let words = [("refuse", true), ("hold", false)]
        gates.refusesWhileBlocked =
          decoder.word(node, decoder.join(path, "whenBlocked"), words) ?? gates.refusesWhileBlocked
      }
      return FailureWindow(
        failures: decoder.number("failures", of: node, path, default: 10, in: 1...65_535),
        span: decoder.time("span", of: node, path, default: .hours(1)).microseconds,
        queries: decoder.number("queries", of: node, path, default: 1, in: 1...1_000),
        exemptPercent: node["exempt"].flatMap {
          decoder.share($0, decoder.join(path, "exempt"), in: 0...1_000_000, allowed: "0% to 100%")
        }.map { Int($0 / 10_000) } ?? 0)
    }
  }

  private mutating func retryBudget(_ node: PositionedValue, _ path: String) -> RetryBudget? {
    part(node, path, ScenarioSchema.retryBudget) { decoder, node, path in
      let perRun = node["perRun"].flatMap {
        $0.isNull ? nil : decoder.count($0, decoder.join(path, "perRun"), in: 0...65_535)
      }
      let capacity = node["capacity"].flatMap {
        $0.isNull ? nil : decoder.count($0, decoder.join(path, "capacity"), in: 1...60_000)
      }
      let share = node["perSuccess"].flatMap {
        decoder.share($0, decoder.join(path, "perSuccess"), in: 0...1_000_000, allowed: "0% to 100%")
      }
      let trickle = node["trickle"].flatMap {
        $0.isNull
          ? nil : decoder.span($0, decoder.join(path, "trickle"), in: Self.shortest...Units.longestSpan)
      }
      for key in ["perSuccess", "trickle"] {
        guard let part = node[key], !part.isNull, capacity == nil else { continue }
        decoder.report(
          "belongs to a bucket of tokens; give it a capacity, for example capacity: 10", at: part.position,
          decoder.join(path, key))
      }
      return RetryBudget(
        perRun: perRun,
        bucket: capacity.map {
          .init(
            capacity: $0, perSuccess: share.map { Int($0 / 1_000) } ?? 100, trickle: trickle?.microseconds)
        })
    }
  }

  private mutating func throttle(_ node: PositionedValue, _ path: String, _ gates: inout ClientGates) {
    gates.throttle = part(node, path, ScenarioSchema.throttle) { decoder, node, path in
      gates.throttlePause =
        decoder.time(
          "pause", of: node, path, default: Span(microseconds: gates.throttlePause)
        ).microseconds
      return AdaptiveThrottle(
        factor: node["k"].flatMap { decoder.factor($0, decoder.join(path, "k")) } ?? 2_000,
        window: decoder.time("window", of: node, path, default: .minutes(2)).microseconds)
    }
  }

  /// A number from 1 to 1000 with at most three decimals, in thousandths.
  private mutating func factor(_ node: PositionedValue, _ path: String) -> Int? {
    if case .number(let text) = node.content, let number = ExactDecimal(text),
      case .exact(let value) = number.times(1_000), let thousandths = Int(exactly: value),
      (1_000...1_000_000).contains(thousandths)
    {
      return thousandths
    }
    report(
      "\(describe(node)) is not allowed; allowed: numbers from 1 to 1000, at most 3 decimals",
      at: node.position, path)
    return nil
  }

  private mutating func controller(_ node: PositionedValue, _ path: String) -> BackpressureController? {
    part(node, path, ScenarioSchema.controller) { decoder, node, path in
      let standard = BackpressureController()
      let decrease = node["decrease"].flatMap {
        decoder.share($0, decoder.join(path, "decrease"), in: 10_000...990_000, allowed: "1% to 99%")
      }
      let target = node["targetLatency"].flatMap { node in
        node.isNull
          ? nil
          : decoder.span(node, decoder.join(path, "targetLatency"), in: Self.shortest...Units.longestSpan)
      }
      let longestGap = node["longestGap"].flatMap { node in
        node.isNull
          ? nil : decoder.span(node, decoder.join(path, "longestGap"), in: Self.shortest...Span.hours(1))
      }
      let shortestGap = node["shortestGap"].flatMap {
        decoder.span($0, decoder.join(path, "shortestGap"), in: Self.shortest...Span.hours(1))
      }
      if let shortestGap, let node = node["shortestGap"], shortestGap > longestGap ?? .zero {
        decoder.report(
          longestGap == nil
            ? "without longestGap uploads are not paced"
            : "\(Units.text(shortestGap)) is longer than longestGap, \(Units.text(longestGap ?? .zero))",
          at: node.position, decoder.join(path, "shortestGap"))
      }
      return BackpressureController(
        longestConcurrency: decoder.number(
          "uploads", of: node, path, default: standard.longestConcurrency, in: 1...1_000),
        smallestBatch: decoder.number(
          "smallestBatch", of: node, path, default: standard.smallestBatch, in: 1...65_535),
        largestBatch: decoder.number(
          "largestBatch", of: node, path, default: standard.largestBatch, in: 1...65_535),
        batchStep: decoder.number("batchStep", of: node, path, default: standard.batchStep, in: 0...65_535),
        decreasePercent: decrease.map { Int($0 / 10_000) } ?? standard.decreasePercent,
        targetLatency: target?.microseconds,
        shortestGap: shortestGap?.microseconds ?? BackpressureController.standardGap,
        longestGap: longestGap?.microseconds ?? 0)
    }
  }
}
