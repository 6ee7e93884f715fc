/// What the page asks, as its link says it: `phones=1000&jitter=full`. What a link leaves out is as experiment 001 has it, 1:20.
struct Parameters {
  enum Jitter: String, CaseIterable { case none, additive, full, equal, decorrelated }
  enum Kind: String, CaseIterable {
    case silence
    case refused = "status503"
    case limited = "status429"
    case slow
  }
  enum Retries: String, CaseIterable { case gate, timer }
  enum Server: String, CaseIterable { case bucket, workers }
  enum Crowd: String, CaseIterable { case no, yes }

  var phones = 1_000
  var seed = 1
  var jitter = Jitter.additive
  /// Of additive jitter.
  var percent = 10
  /// The first backoff, milliseconds, and the longest, seconds.
  var base = 500
  var cap = 300
  var limit = 100
  /// Retry-After of a 429, seconds; 0: none. `until`: drawn from a range that ends so.
  var after = 0
  var until = 0
  /// Seconds between flushes.
  var flush = 30
  var retries = Retries.timer
  /// Percent of the load without incidents.
  var capacity = 200
  var kind = Kind.silence
  /// Minutes.
  var outage = 10
  var server = Server.bucket
  /// Minutes that are watched after the outage.
  var watch = 90
  /// Whether all phones open the app as the outage ends.
  var crowd = Crowd.no

  struct Problem: Error {
    let text: String
  }

  private typealias Number = (name: String, range: ClosedRange<Int>, set: (inout Parameters, Int) -> Void)
  private typealias Word = (name: String, words: [String], set: (inout Parameters, String) -> Void)

  private static var numbers: [Number] {
    [
      ("phones", 10...100_000, { $0.phones = $1 }), ("seed", 0...2_000_000_000, { $0.seed = $1 }),
      ("percent", 0...100, { $0.percent = $1 }), ("base", 100...60_000, { $0.base = $1 }),
      ("cap", 1...3_600, { $0.cap = $1 }), ("limit", 0...1_000, { $0.limit = $1 }),
      ("after", 0...300, { $0.after = $1 }), ("until", 0...300, { $0.until = $1 }),
      ("flush", 5...600, { $0.flush = $1 }), ("capacity", 50...1_000, { $0.capacity = $1 }),
      ("outage", 1...60, { $0.outage = $1 }),
      ("watch", 10...43_200, { $0.watch = $1 }),
    ]
  }

  private static var words: [Word] {
    [
      ("jitter", Jitter.allCases.map { $0.rawValue }, { $0.jitter = Jitter(rawValue: $1) ?? .none }),
      ("kind", Kind.allCases.map { $0.rawValue }, { $0.kind = Kind(rawValue: $1) ?? .silence }),
      ("retries", Retries.allCases.map { $0.rawValue }, { $0.retries = Retries(rawValue: $1) ?? .timer }),
      ("server", Server.allCases.map { $0.rawValue }, { $0.server = Server(rawValue: $1) ?? .bucket }),
      ("crowd", Crowd.allCases.map { $0.rawValue }, { $0.crowd = Crowd(rawValue: $1) ?? .no }),
    ]
  }

  init(_ text: String) throws(Problem) {
    for part in text.split(separator: "&") {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(sides[0])
      let value = sides.count == 2 ? String(sides[1]) : ""
      if let number = Self.numbers.first(where: { $0.name == name }) {
        guard let n = Int(value), number.range.contains(n) else {
          throw Problem(
            text: "\(name) is \"\(value)\": it has to be a whole number from \(number.range.lowerBound) to "
              + "\(number.range.upperBound)")
        }
        number.set(&self, n)
      } else if let word = Self.words.first(where: { $0.name == name }) {
        guard word.words.contains(value) else {
          throw Problem(
            text: "\(name) is \"\(value)\": it has to be one of \(word.words.joined(separator: ", "))")
        }
        word.set(&self, value)
      } else {
        throw Problem(
          text: "this version knows no \"\(name)\": the link was cut off, or another version made it")
      }
    }
    if until > 0, until < after || after == 0 {
      throw Problem(text: "until is \(until), below after, \(after): a range of Retry-After begins at after")
    }
    if cap * 1_000 < base { throw Problem(text: "cap is \(cap) s, below base, \(base) ms") }
  }
}
