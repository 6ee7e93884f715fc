import FleetExperiments
import ScenarioModel
import SimulationKernel

/// What `calibrate` was asked to do.
struct CalibrateRequest: Sendable {
  var input: InputRequest
  var observedPath: String
  var mappingPath: String?
  var keys: [QuantityRange]
  /// As asked; later ones win.
  var weights: [(column: ObservedColumn, weight: Double)]
  var holdOut = CalibrationStudy.defaultHoldOut
  var budget: Int?
  var journalPath: String?

  /// Of the run, not of the fleet or the server.
  private static let fixed = ["seed", "duration", "interval", "scale"]

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments) throws {
    input = try InputRequest(parsed)
    guard let observed = parsed.value("observed") else {
      throw UsageError("Missing expected option '--observed <file>'")
    }
    observedPath = observed
    mappingPath = parsed.value("mapping")
    keys = try parsed.values("fit").map { text in
      do throws(RangeProblem) {
        return try QuantityRange(text)
      } catch {
        throw UsageError("The value '\(text)' is invalid for '--fit <path=lo..hi>': \(error.description)")
      }
    }
    guard !keys.isEmpty else { throw UsageError("Missing expected option '--fit <path=lo..hi>'") }
    guard keys.count <= CalibrationStudy.mostKeys else {
      throw UsageError(
        "\(keys.count) keys are too many to tell apart: at most \(CalibrationStudy.mostKeys) can be fitted.")
    }
    var seen: Set<String> = []
    for key in keys {
      guard seen.insert(key.path).inserted else { throw UsageError("'\(key.path)' is to be fitted twice.") }
      guard !Self.fixed.contains(key.path) else {
        throw UsageError("'\(key.path)' is of the run, not of the fleet or the server, and can't be fitted.")
      }
    }
    weights = try parsed.values("weight").map { text in
      let (name, value) = try InputRequest.assignment(text, option: "--weight <column=w>", example: "429=2")
      let names = ObservedColumn.allCases.map(\.rawValue)
      guard let column = ObservedColumn(rawValue: name) else {
        throw UsageError(
          "There is no column '\(name)' for '--weight <column=w>'; allowed: \(names.joined(separator: ", "))."
        )
      }
      guard let weight = Quantity(value), weight.unit == .number, (0...1e6).contains(weight.value) else {
        throw UsageError(
          "The value '\(value)' is invalid for '--weight <column=w>': a number from 0 to 1000000.")
      }
      return (column, weight.value)
    }
    if let text = parsed.value("hold-out") {
      guard let share = try? Units.partsPerMillion(text), (0...800_000).contains(share) else {
        throw UsageError("The value '\(text)' is invalid for '--hold-out <share>': a share from 0% to 80%.")
      }
      holdOut = Double(share) / 1e6
    }
    budget = try RunRequest.count(parsed, "budget", "runs", through: 1_000_000)
    if let budget, budget < CalibrationStudy.leastBudget {
      throw UsageError(
        "A budget of \(FigureText.count(budget, "run")) is too small: at least \(CalibrationStudy.leastBudget)."
      )
    }
    journalPath = JournalDirectory.path(parsed)
  }
}
