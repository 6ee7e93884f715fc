import Foundation

/// √n times the largest distance between the empirical and a given distribution function (Kolmogorov–Smirnov).
///
/// Above 1.95 once in a thousand samples that do follow the distribution; the tests' seeds are fixed, so one that
/// passes keeps passing.
func kolmogorovSmirnov(_ samples: [Double], cdf: (Double) -> Double) -> Double {
  let sorted = samples.sorted()
  let n = Double(sorted.count)
  var distance = 0.0
  for (i, x) in sorted.enumerated() {
    let expected = cdf(x)
    distance = max(distance, abs(Double(i + 1) / n - expected), abs(expected - Double(i) / n))
  }
  return n.squareRoot() * distance
}

let kolmogorovLimit = 1.95

/// The chi-square statistic as a standard normal number (Wilson–Hilferty): above 3.7 once in ten thousand.
func chiSquareScore(observed: [Int], expected: [Double]) -> Double {
  var statistic = 0.0
  for (o, e) in zip(observed, expected) { statistic += (Double(o) - e) * (Double(o) - e) / e }
  let freedom = Double(observed.count - 1)
  let spread = 2 / (9 * freedom)
  return (cbrt(statistic / freedom) - (1 - spread)) / spread.squareRoot()
}

let chiSquareLimit = 3.7

func normalCDF(_ z: Double) -> Double { 0.5 * erfc(-z / 2.0.squareRoot()) }

func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

/// Pearson's correlation, times √n: a standard normal number when the two are independent.
func correlationScore(_ a: [Double], _ b: [Double]) -> Double {
  let meanA = mean(a)
  let meanB = mean(b)
  var ab = 0.0
  var aa = 0.0
  var bb = 0.0
  for (x, y) in zip(a, b) {
    ab += (x - meanA) * (y - meanB)
    aa += (x - meanA) * (x - meanA)
    bb += (y - meanB) * (y - meanB)
  }
  return ab / (aa * bb).squareRoot() * Double(a.count).squareRoot()
}
