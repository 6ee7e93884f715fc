import ScenarioModel
import SimulationKernel

/// Cohorts whose `share` says how many devices they have: of all that the fleet's cohorts name together.
enum FleetShares {
  private static let whole: Int64 = 1_000_000

  /// The cohorts with the devices that their shares make; as they were where a number is wrong, which reading them says.
  static func divided(
    _ cohorts: [PositionedValue], _ path: String, _ decoder: inout ScenarioDecoder
  ) -> [PositionedValue] {
    guard cohorts.contains(where: { $0["share"] != nil }) else { return cohorts }
    var silent = ScenarioDecoder(sources: [])
    let shares = cohorts.map { cohort in
      cohort["share"].flatMap { Kind<Int64>.share(1...whole).read(&silent, $0, "") }
    }
    let devices = cohorts.compactMap { cohort in
      cohort["devices"].flatMap { Kind<Int>.count(1...ScenarioDecoder.maximumDevices).read(&silent, $0, "") }
    }
    guard devices.count == cohorts.count,
      zip(cohorts, shares).allSatisfy({ ($0["share"] == nil) == ($1 == nil) })
    else { return cohorts }
    let total = devices.reduce(0, +)
    let taken = shares.reduce(0) { $0 + ($1 ?? 0) }
    let others = zip(devices, shares).reduce(0) { $0 + ($1.1 == nil ? $1.0 : 0) }
    guard others > 0 ? taken < whole : taken == whole else {
      let last = shares.lastIndex { $0 != nil } ?? 0
      let rest =
        others > 0
        ? "leave something for the cohorts without a share" : "make 100% where every cohort has one"
      decoder.report(
        "the shares of all cohorts make \(Units.text(partsPerMillion: taken)); they have to \(rest)",
        at: (cohorts[last]["share"] ?? cohorts[last]).position,
        decoder.join(ScenarioPaths.cohort(last, of: cohorts), "share"))
      return cohorts
    }
    return cohorts.indices.map { index in
      let share =
        shares[index].map { Double($0) / Double(whole) }
        ?? Double(whole - taken) / Double(whole) * Double(devices[index]) / Double(others)
      var cohort = cohorts[index]
      let count = max(1, Int((Double(total) * share).rounded()))
      cohort.setMember("devices", to: PositionedValue(.number("\(count)"), at: cohort["devices"]!.position))
      return cohort
    }
  }
}
