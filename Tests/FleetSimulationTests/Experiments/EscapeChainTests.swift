import FleetMetrics
import FleetSimulation
import FleetStatistics
import TestSupport
import Testing

/// Experiment 034: a small server with clients that try twice, beside the Markov chain of the same case.
@Suite("Escape by chance and by a Markov chain")
struct EscapeChainTests {
  /// The expected time from a full queue to an empty one, with nothing left to be tried again.
  ///
  /// The state is how many requests the server has, and how many wait for their second try. Form of the chain: Alvaro, Isaacs and
  /// others, arXiv 2510.03551; here a retry is a last one, and whether a request is served in time is decided when it arrives.
  private struct Chain {
    var arrivals = 1.2
    var service = 2.0
    var timeout = 10.0
    var places = 50
    /// From an attempt to its retry, in the mean.
    var delay = 30.4
    var mostRetries = 90

    /// The chance that a request behind so many others waits for longer than the time-out: fewer than those and itself are served.
    private func isLate(behind others: Int) -> Double {
      // e to the minus: by its series, not by a library.
      var (power, sum) = (1.0, 1.0)
      for k in 1...200 {
        power *= service * timeout / Double(k)
        sum += power
      }
      var (probability, total) = (1 / sum, 0.0)
      for k in 0...others {
        total += probability
        probability *= service * timeout / Double(k + 1)
      }
      return total
    }

    /// Seconds, from a full queue with so many to be tried again.
    func time(from retries: Int) -> Double {
      let width = places + 1
      let count = width * (mostRetries + 1)
      // The equations rate · time − Σ rate of a way · time behind it = 1, of a state at a time. A state reaches `width` others on
      // either side at most.
      let (middle, rowWidth) = (width + 1, 2 * width + 3)
      var right = [Double](repeating: 1, count: count)
      var rows = [Double](repeating: 0, count: count * rowWidth)
      for waiting in 0...mostRetries {
        for present in 0...places {
          let state = waiting * width + present
          if state == 0 {
            (rows[middle], right[0]) = (1, 0)
            continue
          }
          func way(_ to: (present: Int, waiting: Int), _ rate: Double) {
            let other = min(to.waiting, mostRetries) * width + to.present
            guard other != state, rate > 0 else { return }
            let diagonal = state * rowWidth + middle
            rows[diagonal] += rate
            rows[diagonal + other - state] -= rate
          }
          let late = isLate(behind: present)
          if present < places {
            way((present + 1, waiting), arrivals * (1 - late))
            way((present + 1, waiting + 1), arrivals * late)
            if waiting > 0 { way((present + 1, waiting - 1), Double(waiting) / delay) }
          } else {
            way((present, waiting + 1), arrivals)
            if waiting > 0 { way((present, waiting - 1), Double(waiting) / delay) }
          }
          if present > 0 { way((present - 1, waiting), service) }
        }
      }
      // By pointers: there are millions of steps, and tests are not optimised.
      rows.withUnsafeMutableBufferPointer { rows in
        for pivot in 0..<count {
          // From the diagonal on.
          let pivotRow = rows.baseAddress! + (pivot * rowWidth + middle)
          let reach = min(count - pivot, width + 2)
          for state in pivot + 1..<pivot + reach {
            let row = rows.baseAddress! + (state * rowWidth + middle + pivot - state)
            if row[0] == 0 { continue }
            let factor = row[0] / pivotRow[0]
            var column = 0
            while column < reach {
              row[column] -= factor * pivotRow[column]
              column += 1
            }
            right[state] -= factor * right[pivot]
          }
        }
      }
      for state in (0..<count).reversed() {
        let diagonal = state * rowWidth + middle
        for other in state + 1..<max(state + 1, min(count, state + width + 2)) {
          right[state] -= rows[diagonal + other - state] * right[other]
        }
        right[state] /= rows[diagonal]
      }
      return right[(retries * width) + places]
    }
  }

  @Test("the chain of one place and one client that never tries again is known: 1/μ and the way back")
  func smallChain() {
    // One place, nobody late for a long time-out: from full it takes 1/μ to empty.
    let chain = Chain(arrivals: 0.000_001, service: 2, timeout: 20, places: 1, delay: 1, mostRetries: 2)
    #expect(abs(chain.time(from: 0) - 0.5) < 1e-4)
    // One waits for its retry, 3 s in the mean. It comes before the server is empty in one case of seven, and is refused. Else it
    // is served for another 0.5 s.
    let one = Chain(arrivals: 0.000_001, service: 2, timeout: 20, places: 1, delay: 3, mostRetries: 2)
    let refused = (1.0 / 3) / (1.0 / 3 + 2)
    #expect(abs(one.time(from: 1) - (3.0 / 7 + refused * 0.5 + (1 - refused) * 3.5)) < 1e-4)
  }

  @Test("the chain's expectation lies within the interval of the seeds, some of which are censored")
  func agrees() throws {
    let chain = Chain()
    // As many wait for a retry as arrive in its delay.
    let expected = chain.time(from: Int(chain.arrivals * chain.delay))
    let base = try ExperimentFiles.decode("034-escape-times/scenario.json5", ["duration": "70m"]).scenario
    // The mean of a chance that is always the same: the time that all runs together waited, over how many came back.
    var (waited, cameBack) = (0.0, 0)
    let seeds = TestDepth.cases(24, exhaustively: 60)
    for seed in 1...seeds {
      var scenario = base
      scenario.seed = UInt64(seed)
      let record = try Simulation.run(scenario)
      let twin = try Simulation.run(scenario.withoutIncidents)
      let summary = RunAnalysis.summary(of: record, ReferenceRuns(twin: twin), name: "", seed: scenario.seed)
      waited += Double(try #require(summary.recoveryTime ?? summary.recoveryHorizon)) / 1e6
      if summary.recoveryTime != nil { cameBack += 1 }
    }
    #expect(cameBack < seeds)
    let low = waited / ExactPoisson.upperBound(of: cameBack, confidence: 0.975)
    let high = waited / ExactPoisson.lowerBound(of: cameBack, confidence: 0.975)
    #expect(
      low < expected && expected < high,
      "\(expected) s by the chain, \(low) to \(high) s by \(cameBack) of \(seeds) seeds")
  }
}
