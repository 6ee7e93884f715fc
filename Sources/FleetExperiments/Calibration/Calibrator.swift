import FleetStatistics

/// Fits keys of a scenario to a measured series.
///
/// First it runs a race, as `Tuner` does: candidates spread over the ranges get one run each. More runs go to where the best lie,
/// in ever smaller boxes. Then it lays a surface through the runs of a box round the best (`SeriesSurface`), every run with a
/// seed of its own. It reads the keys off where the surface comes nearest to the series. The runs themselves tell the error of
/// such a reading. Each is taken for a measured series in turn, and fitted by the surface through the others. The box is made to
/// fit that error.
///
/// Sources: readings off a regression on simulated series are indirect inference (Gouriéroux, Monfort and Renault, J. Appl.
/// Econometrics 8, 1993); the errors of runs left out as an interval, conformal prediction (Vovk, Gammerman and Shafer,
/// "Algorithmic Learning in a Random World", 2005).
package struct Calibrator {
  /// One run: values of the keys, and which seed behind the scenario's own.
  package struct Request: Sendable, Hashable {
    package var values: [String]
    package var seed: Int
  }
  /// A function that returns the counts of runs, in their order.
  package typealias Run = ([Request]) throws -> [CalibrationStudy.Counts]

  private struct Member {
    var point: CalibrationStudy.Point
    var features: [Double]
    /// Squares of the differences to the observed series.
    var distance: Double
  }

  private let study: CalibrationStudy
  private let counts: Run
  private let observed: [Double]
  private var members: [Member] = []
  private var round = 0

  package init(_ study: CalibrationStudy, run: @escaping Run) {
    self.study = study
    counts = run
    observed = study.features(study.observed.columns.map { column in column.values.map { $0 ?? 0 } })
  }

  /// Runs the whole search.
  /// - Throws: what its runs throw; `CancellationError` where they were stopped.
  package mutating func run() throws -> CalibrationResult {
    var box = try race()
    var isSettled = false
    var reading: Reading
    repeat {
      try fill(box, upTo: enough, least: 8)
      reading = read(in: box)
      let next = reading.next(in: study)
      isSettled = next == nil
      box = next ?? box
    } while !isSettled && study.budget - members.count >= last
    if !isSettled { try fill(box, upTo: enough) }
    try fill(box, upTo: members.count { box.contains($0.point) } + max(0, study.budget - members.count))
    reading = read(in: box)
    return try result(reading, isSettled: isSettled && reading.isInside)
  }

  // MARK: Race

  private static let elites = 4
  private static let rounds = 5

  private mutating func race() throws -> CalibrationBox {
    func halves(_ half: Double) -> [Double] { Array(repeating: half, count: study.keys.count) }
    try add(study.budget * 3 / 10, in: [CalibrationBox(centre: halves(0.5), half: halves(0.5))])
    var radius = 0.2
    for _ in 0..<Self.rounds {
      let boxes = best(apart: radius / 2).map { CalibrationBox(centre: $0, half: halves(radius)) }
      try add(study.budget * 6 / 100, in: boxes)
      radius *= 0.65
    }
    return study.box(centre: best(apart: 0)[0], half: halves(radius * 2))
  }

  /// The best so far that are not all the same.
  private func best(apart distance: Double) -> [CalibrationStudy.Point] {
    var found: [CalibrationStudy.Point] = []
    for member in members.sorted(by: { $0.distance < $1.distance }) where found.count < Self.elites {
      let isNew = found.allSatisfy { other in
        zip(other, member.point).contains { abs($0 - $1) > distance }
      }
      if isNew { found.append(member.point) }
    }
    return found
  }

  /// Runs so many candidates, spread over each of the boxes in turn.
  private mutating func add(_ count: Int, in boxes: [CalibrationBox]) throws {
    round += 1
    let points = (0..<max(count, 0)).map { index in
      study.rounded(
        study.spread(
          index / boxes.count, in: boxes[index % boxes.count], round: round * 16 + index % boxes.count))
    }
    if points.isEmpty { return }
    let first = members.count
    let found = try counts(
      points.enumerated().map { Request(values: study.values($1), seed: first + $0 + 1) })
    for (point, counts) in zip(points, found) {
      let features = study.features(counts)
      let distance = zip(features, observed).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
      members.append(Member(point: point, features: features, distance: distance))
    }
  }

  // MARK: Surface

  /// Runs that a surface of second order is laid through while the box is looked for.
  private var enough: Int {
    max(24, SeriesSurface.terms(keys: study.keys.count) * 5 / 2)
  }

  /// Runs kept back for the box in which the search ends.
  private var last: Int { max(2 * enough, study.budget / 5) }

  /// - Parameter least: so many runs are made in any case, so that a search that does not come to rest ends with its budget.
  private mutating func fill(_ box: CalibrationBox, upTo count: Int, least: Int = 0) throws {
    let there = members.count { box.contains($0.point) }
    try add(max(count - there, least), in: [box])
  }

  /// A reading of the surface in a box.
  private struct Reading {
    var box: CalibrationBox
    /// The reading of the observed series, -1 … 1 within the box.
    var place: [Double]
    /// By how much the readings of the runs are off, for each of them.
    var errors: [[Double]]
    /// Of the features.
    var weights: [Double]

    var isInside: Bool { place.allSatisfy { abs($0) <= 1.2 } }

    func spread(_ key: Int) -> Double { SampleStatistics(errors.map { $0[key] }).standardDeviation ?? 1 }

    /// The box of three standard errors to each side; nil where this one is that already.
    func next(in study: CalibrationStudy) -> CalibrationBox? {
      let half = box.half
      let wanted = half.indices.map {
        min(0.5, max(half[$0] * min(max(3 * spread($0), 0.35), 2), study.leastHalf($0)))
      }
      let isRight = half.indices.allSatisfy { key in
        let ratio = wanted[key] / half[key]
        let isWhole = half[key] >= 0.499
        return ratio > 0.7 && (ratio < 1.4 || isWhole) && (abs(place[key]) < 0.5 || isWhole)
      }
      if isRight { return nil }
      return study.box(centre: box.outside(place.map { min(max($0, -1), 1) }), half: wanted)
    }
  }

  private static let folds = 10
  /// A surface says nothing far from the runs that it was laid through; 1 is the edge of their box.
  private static let farthest = 1.5

  private func read(in box: CalibrationBox) -> Reading {
    let pool = members.filter { box.contains($0.point) }
    let places = pool.map { box.inside($0.point) }
    // Without the series a value lies in its range, as likely here as there: a normal distribution
    // with the variance of that, 1/12 of the range's square.
    let prior = zip(box.centre, box.half).map { ((0.5 - $0) / $1, 12 * $1 * $1) }
    func surface(_ members: [Int]) -> SeriesSurface {
      SeriesSurface(
        places: members.map { places[$0] }, features: members.map { pool[$0].features }, prior: prior)
    }
    var errors = Array(repeating: [Double](), count: pool.count)
    for fold in 0..<min(Self.folds, pool.count) {
      let others = surface(pool.indices.filter { $0 % Self.folds != fold })
      for index in pool.indices where index % Self.folds == fold {
        let place = others.place(pool[index].features, limit: Self.farthest)
        errors[index] = zip(place, places[index]).map { $0 - $1 }
      }
    }
    let all = surface(Array(pool.indices))
    return Reading(
      box: box, place: all.place(observed, limit: Self.farthest), errors: errors, weights: all.weights)
  }

  // MARK: Result

  /// Runs of the fitted scenario that tell what it expects, and how far one run is from that.
  static let finalRuns = 20

  private func result(_ reading: Reading, isSettled: Bool) throws -> CalibrationResult {
    let keys = study.keys.indices
    let centre = keys.map { key in
      reading.place[key] - SampleStatistics(reading.errors.map { $0[key] }).mean
    }
    let point = study.rounded(reading.box.outside(centre).map { min(max($0, 0), 1) })
    let found = try counts(
      (1...Self.finalRuns).map { Request(values: study.values(point), seed: members.count + $0) })
    let scatter = CalibrationScatter(
      study, found, observed: observed, weights: reading.weights)
    // A scenario that does not explain the series is not known as well as its own runs have it.
    let factor = scatter.isExplained ? 1 : max(1, scatter.ratio).squareRoot()
    let draws = reading.errors.map { error in
      reading.box.outside(
        keys.map { key in
          centre[key] - (error[key] - (reading.place[key] - centre[key])) * factor
        }
      ).map { min(max($0, 0), 1) }
    }
    return CalibrationResult(
      study: study, point: point, draws: draws, scatter: scatter, expected: CalibrationStudy.mean(found),
      runs: members.count + found.count, isSettled: isSettled)
  }
}
