/// How a backoff is spread (requirements J, S10, O2).
///
/// Everything is whole microseconds and integer arithmetic, so a wait is the same on every platform.
public enum Jitter: Sendable, Hashable, BitwiseCopyable {
  /// The backoff itself.
  case none
  /// The backoff plus uniform 0 … `percent` of it (S10). `percent` is 0 … 10^6, and in Settings as the document reads them at
  /// most 100; what is outside counts as the nearer end.
  case additive(percent: Double)
  /// Uniform between `percent` below the backoff and as much above it, which may be beyond the cap. `percent` is 0 … 100; what is
  /// outside counts as the nearer end.
  case symmetric(percent: Double)
  /// Uniform 0 … backoff.
  case full
  /// Half the backoff plus uniform 0 … the other half.
  case equal
  /// min(cap, uniform base … 3 · previous wait), the previous wait being `base` at first (O2).
  case decorrelated
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
  /// Takes exactly one word from `random` whatever the strategy, `none` included, so that strategies compared
  /// over one stream stay in step.
  ///
  /// - `retryCount`: failures before this one (S10): 0 at the first.
  /// - `base`: the first backoff, microseconds.
  /// - `cap`: the largest backoff, microseconds.
  /// - `previousDelay`: the wait drawn last, microseconds, 0 if there was none; only `decorrelated` reads it.
  /// - `clampAfterJitter`: whether `additive` and `symmetric` are clamped to `cap` again (S10, shipped); the others
  ///   never exceed `cap`.
  @inlinable
  public func delay(
    retryCount: Int, base: Int64, cap: Int64, previousDelay: Int64, clampAfterJitter: Bool,
    random: inout some RandomNumberGenerator
  ) -> Int64 {
    delay(
      retryCount: retryCount, base: base, cap: cap, previousDelay: previousDelay,
      clampAfterJitter: clampAfterJitter, word: random.next())
  }

  /// The same with the random word given: 64 uniform bits.
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
    switch self {
    case .none:
      return backoff
    case .additive(let percent):
      let wait = saturatingSum(backoff, uniform(0, Self.share(of: backoff, percent: percent), word))
      return clampAfterJitter ? min(wait, cap) : wait
    case .symmetric(let percent):
      let share = Self.share(of: backoff, percent: min(percent, 100))
      let wait = uniform(backoff - share, saturatingSum(backoff, share), word)
      return clampAfterJitter ? min(wait, cap) : wait
    case .full:
      return uniform(0, backoff, word)
    case .equal:
      let half = backoff / 2
      return half + uniform(0, backoff - half, word)
    case .decorrelated:
      let previous = previousDelay > 0 ? previousDelay : base
      let (triple, overflow) = previous.multipliedReportingOverflow(by: 3)
      return min(cap, uniform(base, max(base, overflow ? .max : triple), word))
    }
  }

  /// `percent` of a length, rounded down.
  private static func share(of length: Int64, percent: Double) -> Int64 {
    let product = length.magnitude.multipliedFullWidth(by: UInt64(millionths(ofPercent: percent)))
    let hundredPercent: UInt64 = 100_000_000
    if product.high == 0 { return Int64(clamping: product.low / hundredPercent) }
    if product.high >= hundredPercent { return .max }
    return Int64(clamping: hundredPercent.dividingFullWidth(product).quotient)
  }

  /// A percentage as whole millionths of a percent.
  fileprivate static func millionths(ofPercent percent: Double) -> Int64 {
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

// MARK: - Names

extension Jitter: CustomStringConvertible {
  /// Every strategy by its name; `P` stands for a percentage. Names, messages, help and the random Settings of
  /// the tests are made of this list.
  private static let strategies: [(name: String, jitter: Jitter)] = [
    ("none", .none), ("additive:P", .additive(percent: 0)), ("symmetric:P", .symmetric(percent: 0)),
    ("full", .full), ("equal", .equal), ("decorrelated", .decorrelated),
  ]

  /// The names that `init(name:)` takes, as patterns: `P` stands for a percentage.
  public static let names = strategies.map(\.name)

  /// The same with a percentage, the document's: names that can be used.
  public static let examples = names.map { $0.hasSuffix(":P") ? $0.dropLast() + "10" : $0 }

  /// The allowed names in words, for messages.
  public static let allowedNames = strategies.map { allowed($0.name) }.joined(separator: ", ")

  /// One of `names` in words.
  private static func allowed(_ name: String) -> String {
    name.hasSuffix(":P") ? name + " (P from 0 to 100, at most 6 decimals)" : name
  }

  /// The strategy that `name` means though its percentage is wrong, in words: `additive:P (P from 0 to 100, …)`.
  public static func allowedForm(of name: String) -> String? {
    names.first { $0.hasSuffix(":P") && name.hasPrefix($0.dropLast()) }.map(allowed)
  }

  /// Reads a name, with a percentage from 0 to 100 (at most 6 decimals) for `P`.
  ///
  /// Returns nil for anything else.
  public init?(name: String) {
    if let strategy = Self.strategies.first(where: { $0.name == name && !name.hasSuffix(":P") }) {
      self = strategy.jitter
      return
    }
    guard
      let strategy = Self.strategies.first(where: {
        $0.name.hasSuffix(":P") && name.hasPrefix($0.name.dropLast())
      }),
      let percent = Self.percent(name.utf8.dropFirst(strategy.name.utf8.count - 1))
    else { return nil }
    switch strategy.jitter {
    case .additive: self = .additive(percent: percent)
    case .symmetric: self = .symmetric(percent: percent)
    case .none, .full, .equal, .decorrelated: return nil
    }
  }

  /// The name that `init(name:)` reads. A percentage is given to 6 decimals.
  public var description: String {
    switch self {
    case .additive(let percent): "additive:" + Self.text(percent: percent)
    case .symmetric(let percent): "symmetric:" + Self.text(percent: percent)
    case .none, .full, .equal, .decorrelated: Self.strategies.first { $0.jitter == self }?.name ?? ""
    }
  }

  private static func text(percent: Double) -> String {
    let millionths = millionths(ofPercent: percent)
    let whole = "\(millionths / 1_000_000)"
    var decimals = String(String(millionths % 1_000_000 + 1_000_000).dropFirst())
    while decimals.last == "0" { decimals.removeLast() }
    return decimals.isEmpty ? whole : whole + "." + decimals
  }

  /// Digits, or digits "." digits, from 0 to 100.
  private static func percent(_ text: Substring.UTF8View) -> Double? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = wholeNumber(parts[0], digits: 3) else { return nil }
    var millionths = whole * 1_000_000
    if parts.count == 2 {
      guard var fraction = wholeNumber(parts[1], digits: 6) else { return nil }
      for _ in parts[1].count..<6 { fraction *= 10 }
      millionths += fraction
    }
    guard millionths <= 100_000_000 else { return nil }
    return Double(millionths) / 1_000_000
  }
}
