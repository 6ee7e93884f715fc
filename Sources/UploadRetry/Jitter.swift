/// How a backoff is spread (requirements J, S10, O2).
///
/// Everything is whole microseconds and integer arithmetic, so a wait is the same on every platform.
public struct Jitter: Sendable, Hashable, BitwiseCopyable {
  /// What `rule` says of each.
  private enum Strategy: UInt8, CaseIterable {
    case none, additive, additiveTime, additiveAtMost, symmetric, full, equal, decorrelated, between
  }

  private var strategy: Strategy
  private var percent = 0.0
  /// Microseconds; a strategy of one time has it in both.
  private var (shortest, longest): (Int64, Int64) = (0, 0)

  private init(_ strategy: Strategy) { self.strategy = strategy }

  private init(_ strategy: Strategy, percent: Double, from shortest: Int64 = 0, to longest: Int64 = 0) {
    self.strategy = strategy
    self.percent = percent
    self.longest = max(longest, 0)
    self.shortest = min(max(shortest, 0), self.longest)
  }

  /// The backoff itself.
  public static let none = Jitter(.none)
  /// The backoff plus uniform 0 … `percent` of it (S10). `percent` is 0 … 10^6, and in Settings as the document reads them at
  /// most 100; what is outside counts as the nearer end.
  public static func additive(percent: Double) -> Jitter { Jitter(.additive, percent: percent) }
  /// The backoff plus uniform 0 … so many microseconds.
  public static func additive(upTo time: Int64) -> Jitter {
    Jitter(.additiveTime, percent: 0, from: time, to: time)
  }
  /// As `additive(percent:)`, of which no more than so many microseconds count.
  public static func additive(percent: Double, atMost time: Int64) -> Jitter {
    Jitter(.additiveAtMost, percent: percent, from: time, to: time)
  }
  /// Uniform between `percent` below the backoff and as much above it, which may be beyond the cap. `percent` is 0 … 100; what is
  /// outside counts as the nearer end.
  public static func symmetric(percent: Double) -> Jitter { Jitter(.symmetric, percent: percent) }
  /// Uniform 0 … backoff.
  public static let full = Jitter(.full)
  /// Half the backoff plus uniform 0 … the other half.
  public static let equal = Jitter(.equal)
  /// min(cap, uniform base … 3 · previous wait), the previous wait being `base` at first (O2).
  public static let decorrelated = Jitter(.decorrelated)
  /// Uniform between two times, microseconds, whatever the backoff.
  public static func between(_ shortest: Int64, _ longest: Int64) -> Jitter {
    Jitter(.between, percent: 0, from: shortest, to: longest)
  }
}

// MARK: - The strategies

extension Jitter {
  /// A strategy: a wait is drawn uniformly from `low … high`.
  private struct Rule {
    /// `P` stands for a percentage, `T` for a time.
    let name: StaticString
    let low: Int64
    let high: Int64
    /// Whether a wait may be longer than the cap, unless it is clamped again.
    var exceedsCap = false
    /// Whether no wait is shorter than the backoff.
    var lengthens = false

    @inline(__always)
    init(_ name: StaticString, _ low: Int64, _ high: Int64, exceedsCap: Bool = false) {
      (self.name, self.low, self.high, self.exceedsCap) = (name, low, high, exceedsCap)
    }

    /// What is added to a backoff.
    @inline(__always)
    init(_ name: StaticString, to backoff: Int64, adds added: Int64) {
      (self.name, low, high) = (name, backoff, saturatingSum(backoff, added))
      (exceedsCap, lengthens) = (true, true)
    }
  }

  /// All that there is to say of each strategy.
  @inline(__always)
  private func rule(_ backoff: Int64, base: Int64, previous: Int64) -> Rule {
    switch strategy {
    case .none: return Rule("none", backoff, backoff)
    case .additive: return Rule("additive:P", to: backoff, adds: share(of: backoff))
    case .additiveTime: return Rule("additive:T", to: backoff, adds: longest)
    case .additiveAtMost: return Rule("additive:P:T", to: backoff, adds: min(share(of: backoff), longest))
    case .symmetric:
      let share = min(share(of: backoff), backoff)
      return Rule("symmetric:P", backoff - share, saturatingSum(backoff, share), exceedsCap: true)
    case .full: return Rule("full", 0, backoff)
    case .equal: return Rule("equal", backoff / 2, backoff)
    case .decorrelated:
      return Rule("decorrelated", base, max(base, saturatingProduct(previous, 3)))
    case .between: return Rule("between:T:T", shortest, longest, exceedsCap: true)
    }
  }

  /// What is said of it without a backoff.
  private var rule: Rule { rule(0, base: 0, previous: 0) }

  /// No spread at all.
  var isNone: Bool { strategy == .none }
  /// Whether no wait is shorter than what it is drawn from, and every one may be longer.
  package var lengthens: Bool { rule.lengthens }
  /// The percentage of a wait that is added to it, without another limit; nil: it is no such jitter.
  package var additivePercent: Double? { strategy == .additive ? percent : nil }
  /// Whether a wait may be longer than the cap.
  package var exceedsCap: Bool { rule.exceedsCap }
}

// MARK: - The wait

extension Jitter {
  /// Returns min(base · 2^retryCount, cap), without overflow (S10).
  ///
  /// - Parameters:
  ///   - retryCount: 0 at the first failure, so that the first wait is `base`; a negative count is taken as
  ///     0.
  ///   - base: microseconds; negative is taken as 0.
  ///   - cap: microseconds; negative is taken as 0.
  @inline(__always)
  public static func backoff(retryCount: Int, base: Int64, cap: Int64) -> Int64 {
    let base = max(0, base)
    let cap = max(0, cap)
    let shift = max(0, retryCount)
    if shift >= 63 { return base == 0 ? 0 : cap }
    return base <= cap >> Int64(shift) ? base << Int64(shift) : cap
  }

  /// The wait before the next try, in microseconds, never negative (S10, J).
  ///
  /// Whatever the strategy, `none` included, one word decides: strategies compared over one stream stay in step.
  ///
  /// - `retryCount`: failures before this one (S10): 0 at the first.
  /// - `base`: the first backoff, microseconds.
  /// - `cap`: the largest backoff, microseconds.
  /// - `previousDelay`: the wait drawn last, microseconds, 0 if there was none; only `decorrelated` reads it.
  /// - `clampAfterJitter`: whether a wait that may exceed `cap` is clamped to it again (S10, shipped).
  /// - `word`: 64 uniform bits.
  public func delay(
    retryCount: Int, base: Int64, cap: Int64, previousDelay: Int64, clampAfterJitter: Bool, word: UInt64
  ) -> Int64 {
    delay(
      of: Self.backoff(retryCount: retryCount, base: base, cap: cap), base: max(0, base), cap: max(0, cap),
      previousDelay: previousDelay, clampAfterJitter: clampAfterJitter, word: word)
  }

  /// The same for a backoff that is known; `base` and `cap` are not negative.
  func delay(
    of backoff: Int64, base: Int64, cap: Int64, previousDelay: Int64, clampAfterJitter: Bool, word: UInt64
  ) -> Int64 {
    let rule = rule(backoff, base: base, previous: previousDelay > 0 ? previousDelay : base)
    let wait = uniform(rule.low, rule.high, word)
    return rule.exceedsCap && !clampAfterJitter ? wait : min(wait, cap)
  }

  /// The same for a wait of its own, with no wait before it and `longest` as its cap, microseconds.
  public func delay(of wait: Int64, longest: Int64, word: UInt64) -> Int64 {
    let wait = max(wait, 0)
    return delay(
      of: wait, base: wait, cap: max(wait, longest), previousDelay: 0, clampAfterJitter: false, word: word)
  }

  /// `percent` of a length, rounded down.
  private func share(of length: Int64) -> Int64 {
    let product = length.magnitude.multipliedFullWidth(by: UInt64(Self.millionths(ofPercent: percent)))
    let hundredPercent: UInt64 = 100_000_000
    if product.high == 0 { return Int64(clamping: product.low / hundredPercent) }
    if product.high >= hundredPercent { return .max }
    return Int64(clamping: hundredPercent.dividingFullWidth(product).quotient)
  }

  /// A percentage as whole millionths of a percent.
  private static func millionths(ofPercent percent: Double) -> Int64 {
    guard percent > 0 else { return 0 }  // NaN too
    return Int64((min(percent, 1_000_000) * 1_000_000).rounded())
  }
}

/// Uniform over low … high, both included; `low` <= `high`. The high half of width × word: no rejection, so
/// always one word; the bias is below width / 2^64.
private func uniform(_ low: Int64, _ high: Int64, _ word: UInt64) -> Int64 {
  let width = UInt64(high - low) + 1
  return low + Int64(width.multipliedFullWidth(by: word).high)
}

/// a + b, or the end of the range that it is beyond.
@usableFromInline
package func saturatingSum(_ a: Int64, _ b: Int64) -> Int64 {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? (b < 0 ? .min : .max) : sum
}

/// a · b, or the end of the range that it is beyond; `b` is not negative.
package func saturatingProduct(_ a: Int64, _ b: Int64) -> Int64 {
  let (product, overflow) = a.multipliedReportingOverflow(by: b)
  return overflow ? (a < 0 ? .min : .max) : product
}

// MARK: - Names

extension Jitter: CustomStringConvertible {
  private static let patterns = Strategy.allCases.map { Pattern("\(Jitter($0).rule.name)") }

  /// A name whose first part is a word, and each of the others a number.
  private struct Pattern {
    let name: String
    let parts: [Substring]
    init(_ name: String) {
      self.name = name
      parts = name.split(separator: ":")
    }

    /// The name with numbers in the places of its letters.
    func filled(percent: String, times: [String]) -> String {
      var times = times[...]
      return parts.map { $0 == "P" ? percent : $0 == "T" ? times.popFirst() ?? "" : String($0) }
        .joined(separator: ":")
    }
  }

  /// The names that `init(name:)` takes, as patterns: `P` stands for a percentage, `T` for a time.
  public static let names = patterns.map { $0.name }

  /// Those of jitter that only lengthens a wait.
  package static let lengtheningNames = Strategy.allCases.map { Jitter($0).rule }
    .filter { $0.lengthens }.map { "\($0.name)" }

  /// Those of some of `names` that have numbers, with numbers.
  package static func examples(of names: [String]) -> [String] {
    zip(patterns, examples).filter { $0.0.parts.count > 1 && names.contains($0.0.name) }.map { $0.1 }
  }

  /// The same with numbers in place of the letters: names that can be used.
  public static let examples = patterns.map { $0.filled(percent: "10", times: ["2s", "10s"]) }

  /// The allowed names in words, for messages.
  public static let allowedNames = allowed(names)

  /// Some of `names` in words.
  package static func allowed(_ names: [String]) -> String {
    names.joined(separator: ", ")
      + " (P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, the shorter first)"
  }

  /// The strategies that `name` may mean though its numbers are wrong, in words: `additive:P, … (P from 0 to 100, …)`.
  public static func allowedForm(of name: String) -> String? {
    let word = name.prefix { $0 != ":" }
    let meant = patterns.filter { $0.parts[0] == word && $0.parts.count > 1 }
    return meant.isEmpty ? nil : allowed(meant.map { $0.name })
  }

  /// Reads a name, with a percentage from 0 to 100 (at most 6 decimals) for `P` and a time for `T`.
  ///
  /// Returns nil for anything else.
  public init?(name: String) {
    let parts = name.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    for (strategy, pattern) in zip(Strategy.allCases, Self.patterns) {
      guard parts.count == pattern.parts.count, parts[0].elementsEqual(pattern.parts[0].utf8) else {
        continue
      }
      var percent = 0.0
      var times: [Int64] = []
      for (letter, text) in zip(pattern.parts, parts).dropFirst() {
        if letter == "P", let value = Self.percent(text) { percent = value }
        if letter == "T", let time = Self.time(text) {
          times.append(time)
        } else if letter == "T" || Self.percent(text) == nil {
          percent = .nan
        }
      }
      guard !percent.isNaN, times == times.sorted() else { continue }
      self.init(strategy, percent: percent, from: times.first ?? 0, to: times.last ?? 0)
      return
    }
    return nil
  }

  /// Reads a name, or an object of its parts: `{ additive: "50%", atMost: "30s" }`, `{ between: ["2s", "10s"] }`.
  public init?(_ value: SettingsValue) {
    switch value {
    case .string(let name): self.init(name: name)
    case .object(let members):
      let limits = members.filter { $0.key == "atMost" }
      guard members.count - limits.count == 1, let first = members.first(where: { $0.key != "atMost" }) else {
        return nil
      }
      var texts = [first.key]
      for value in [first.value] + limits.map({ $0.value }) {
        switch value {
        case .string(let text): texts.append(text)
        case .array(let elements):
          for case .string(let text) in elements { texts.append(text) }
        default: return nil
        }
      }
      self.init(name: texts.joined(separator: ":"))
    default: return nil
    }
  }

  /// The name that `init(name:)` reads. A percentage is given to 6 decimals.
  public var description: String {
    Self.patterns[Int(strategy.rawValue)].filled(
      percent: decimal(millionths: Self.millionths(ofPercent: percent)),
      times: [shortest, longest].map(Self.text(microseconds:)))
  }

  /// From the largest on, in microseconds.
  private static let units: [(name: String, microseconds: Int64)] = [
    ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000),
  ]

  private static func text(microseconds: Int64) -> String {
    if microseconds == 0 { return "0s" }
    let unit = units.first { microseconds % $0.microseconds == 0 } ?? units[units.count - 1]
    let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: unit.microseconds)
    return decimal(millionths: whole &* 1_000_000 &+ rest * (1_000_000 / unit.microseconds)) + unit.name
  }

  /// Digits, or digits "." digits, from 0 to 100, with or without a percent sign.
  private static func percent(_ text: Substring.UTF8View) -> Double? {
    let number = text.last == UInt8(ascii: "%") ? text.dropLast() : text
    guard let millionths = millionths(number, digits: 3), millionths <= 100_000_000 else { return nil }
    return Double(millionths) / 1_000_000
  }

  /// A number and a unit, in microseconds.
  private static func time(_ text: Substring.UTF8View) -> Int64? {
    let number = text.prefix { digitValue($0) != nil || $0 == UInt8(ascii: ".") }
    let rest = text.dropFirst(number.count)
    guard let unit = units.first(where: { rest.elementsEqual($0.name.utf8) }),
      let millionths = millionths(number, digits: 8)
    else { return nil }
    let (whole, part) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
    let time = whole * unit.microseconds + part * unit.microseconds / 1_000_000
    return time <= 31_622_400_000_000 ? time : nil
  }

  /// Digits, or digits "." digits, in millionths.
  private static func millionths(_ text: Substring.UTF8View, digits: Int) -> Int64? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = wholeNumber(parts[0], digits: digits) else { return nil }
    var millionths = whole * 1_000_000
    if parts.count == 2 {
      guard var fraction = wholeNumber(parts[1], digits: 6) else { return nil }
      for _ in parts[1].count..<6 { fraction *= 10 }
      millionths += fraction
    }
    return millionths
  }
}
