import ScenarioFormat
import ScenarioModel
import SimulationKernel

/// One key that a search may change, and the values that it may take.
package struct SearchParameter: Sendable, Hashable {
  package var path: String
  /// As an override writes them; the smallest first if they are numbers.
  package var values: [String]
  /// Whether neighbouring values are equal: numbers are, names are not.
  package var isOrdered: Bool

  /// Values of a range without a step or of `:log`.
  package static let defaultSteps = 20
  static let mostValues = 10_000

  /// Reads `path=lo..hi`, `path=lo..hi:step`, `path=lo..hi:log` or `path=a,b,c`.
  package init(_ text: String) throws(OptionProblem) {
    guard let (path, range) = QuantityRange.assignment(text), !range.isEmpty else {
      throw OptionProblem(
        "'\(text)' is no search range: it is written as path=lo..hi, path=lo..hi:step, path=lo..hi:log or path=a,b,c."
      )
    }
    if QuantityRange.bounds(range).count == 2 {
      try self.init(path: path, range: range)
    } else {
      try self.init(path: path, values: VariantChoice.splitList(range))
    }
  }

  package init(path: String, values: [String]) throws(OptionProblem) {
    guard values.count > 1, !values.contains("") else {
      throw OptionProblem("'\(path)' has nothing to choose from: give at least two values, as \(path)=a,b.")
    }
    if let value = values.firstRepeated { throw OptionProblem("'\(path)' has the value '\(value)' twice.") }
    self.path = path
    let quantities = values.compactMap { Quantity($0) }
    isOrdered = quantities.count == values.count && Set(quantities.map(\.unit)).count == 1
    self.values =
      isOrdered ? zip(values, quantities).sorted { $0.1.value < $1.1.value }.map(\.0) : values
  }

  /// - Parameter range: `lo..hi`, `lo..hi:step` or `lo..hi:log`.
  package init(path: String, range text: String) throws(OptionProblem) {
    (self.path, isOrdered) = (path, true)
    let colon = text.hasSuffix(":log") ? nil : text.lastIndex(of: ":")
    let range = try QuantityRange(path: path, range: String(text[..<(colon ?? text.endIndex)]))
    guard let colon else {
      let steps = min(Self.defaultSteps, range.mostSteps)
      // Round values are easier to agree on, and the ends stay as they are.
      values =
        (0...steps).map { step in
          let quantity = range.quantity(at: Double(step) / Double(steps))
          return (step == 0 || step == steps ? quantity : quantity.rounded(digits: 2)).text()
        }.uniqued
      return
    }
    let stepText = String(text[text.index(after: colon)...])
    guard let step = Quantity(stepText)?.converted(to: range.low.unit), step.value > 0 else {
      throw OptionProblem(
        "'\(stepText)' in '\(path)=\(text)' is no step: write a number above 0 in the unit of the range, or log."
      )
    }
    let count = (range.high.value - range.low.value) / step.value
    guard count <= Double(Self.mostValues) else {
      throw OptionProblem("'\(path)=\(text)' has more than \(Self.mostValues) values: take a larger step.")
    }
    values = (0...Int(count + 1e-9)).map { i in
      var quantity = range.low
      quantity.isWhole = range.low.isWhole && step.isWhole
      quantity.value += Double(i) * step.value
      return quantity.text()
    }
  }
}

/// A choice of one value for each parameter; nil leaves today's.
package struct SearchCandidate: Sendable, Hashable {
  package var choices: [Int?]
  package init(choices: [Int?]) { self.choices = choices }

  /// The parameters that are not as today.
  package var changed: [Int] { choices.indices.filter { choices[$0] != nil } }

  /// Returns the candidate with some parameters as today.
  func without(_ parameters: [Int]) -> SearchCandidate {
    var candidate = self
    for parameter in parameters { candidate.choices[parameter] = nil }
    return candidate
  }
}

/// Every combination of the parameters' values.
package struct SearchSpace: Sendable, Hashable {
  package var parameters: [SearchParameter]

  /// - Throws: `OptionProblem` if a path is there twice or there is none.
  package init(_ parameters: [SearchParameter]) throws(OptionProblem) {
    guard !parameters.isEmpty else {
      throw OptionProblem(
        "There is nothing to search: give --search backoffConfig.baseBackoffInterval=0.5..30:log."
      )
    }
    if let path = parameters.map(\.path).firstRepeated {
      throw OptionProblem("'\(path)' is to be searched twice.")
    }
    self.parameters = parameters
  }

  /// Today's Settings.
  package var today: SearchCandidate { SearchCandidate(choices: parameters.map { _ in nil }) }

  /// Candidates in all; `Int.max` if that is not the half of it.
  package var size: Int {
    parameters.reduce(1) { product, parameter in
      let (size, overflow) = product.multipliedReportingOverflow(by: parameter.values.count)
      return overflow ? .max : size
    }
  }

  package func overrides(_ candidate: SearchCandidate) -> [Override] {
    zip(parameters, candidate.choices).flatMap { parameter, choice in
      choice.map { Override.choosing(parameter.path, parameter.values[$0]) } ?? []
    }
  }

  /// The `index`-th candidate of the whole space, the last parameter turning fastest.
  package func candidate(_ index: Int) -> SearchCandidate {
    var rest = index
    var candidate = today
    for (place, parameter) in parameters.enumerated().reversed() {
      (candidate.choices[place], rest) = (rest % parameter.values.count, rest / parameter.values.count)
    }
    return candidate
  }

  /// The `index`-th of a sequence of which few candidates cover the whole space evenly.
  package func spread(_ index: Int, seed: UInt64) -> SearchCandidate {
    let point = HaltonSequence.point(index, dimensions: parameters.count, key: RandomKey(seed: seed))
    return SearchCandidate(
      choices: zip(parameters, point).map { parameter, share in
        min(Int(share * Double(parameter.values.count)), parameter.values.count - 1)
      })
  }

  /// The candidates one parameter away: `stride` steps up or down, or any other name.
  package func neighbours(of candidate: SearchCandidate, stride: [Int]) -> [SearchCandidate] {
    parameters.enumerated().flatMap { i, parameter -> [SearchCandidate] in
      guard let choice = candidate.choices[i] else { return [] }
      let others =
        parameter.isOrdered
        ? [choice - stride[i], choice + stride[i]].filter(parameter.values.indices.contains)
        : parameter.values.indices.filter { $0 != choice }
      return others.map { other in
        var neighbour = candidate
        neighbour.choices[i] = other
        return neighbour
      }
    }
  }
}

/// Points of which few cover a cube evenly, shifted at random.
///
/// Source: Halton, "On the efficiency of certain quasi-random sequences", Numer. Math. 2 (1960); the random shift is
/// Cranley and Patterson's (1976).
enum HaltonSequence {
  /// The `index`-th point, 0 … 1 in each dimension.
  static func point(_ index: Int, dimensions: Int, key: RandomKey) -> [Double] {
    (0..<dimensions).map { dimension in
      let shift = key.child(UInt64(dimension)).unitOpen
      let point = radicalInverse(index + 1, base: prime(dimension)) + shift
      return point >= 1 ? point - 1 : point
    }
  }

  private static func radicalInverse(_ index: Int, base: Int) -> Double {
    var (rest, scale, result) = (index, 1 / Double(base), 0.0)
    while rest > 0 {
      result += Double(rest % base) * scale
      rest /= base
      scale /= Double(base)
    }
    return result
  }

  private static func prime(_ number: Int) -> Int {
    var found = -1
    var candidate = 1
    while found < number {
      candidate += 1
      if !(2..<candidate).contains(where: { $0 * $0 <= candidate && candidate % $0 == 0 }) { found += 1 }
    }
    return candidate
  }
}
