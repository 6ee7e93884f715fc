/// What a status means for a batch.
public enum StatusClass: Sendable, Hashable {
  /// 2xx: delivered.
  case success
  /// 429: the pipeline waits (S4).
  case rateLimited
  /// Transient: this batch waits (S5, S6).
  case retry
  /// 511 where the Settings leave it to the tables: retried by clients that support OAuth, else dropped (S6).
  case authenticate
  /// The batch is lost (S5, S6, S8).
  case drop
}

/// What Settings can say about a status.
public enum StatusAction: String, Sendable, Hashable {
  case retry, drop
}

/// Which statuses are retried: the tables of S5, S6 and S8, changed by Settings (S13).
///
/// Sixty-four bytes without references: it is copied into hot loops. Two statuses are not subject to it: a
/// 2xx is always a success, and a 429 follows `rateLimitConfig` alone.
public struct StatusTable: Sendable, Hashable, BitwiseCopyable {
  /// One bit a status, 100 first, set where it is retried; then `outsideBit` and `policyBit`.
  private var words: SIMD8<UInt64>

  private static let outsideBit = 500
  private static let rateLimitedBit = 510
  private static let policyBit = 511

  /// The retryable statuses that S5 and S6 name; a `retryableStatusCodes` that leaves one out drops it (S13).
  static let namedRetries = [408, 410, 460, 500, 502, 503, 504, 508]

  /// The tables themselves: S5, S6, S8.
  public static let document: StatusTable = {
    var table = StatusTable(words: .zero)
    for status in 500...599 where status != 501 && status != 505 { table.set(.retry, for: status) }
    for status in namedRetries { table.set(.retry, for: status) }
    table.set(.drop, for: 511)
    table.write(true, at: policyBit)
    return table
  }()

  private init(words: SIMD8<UInt64>) { self.words = words }

  /// Every status treated alike but for 2xx and 429, 511 and what is outside 100…599 included: a table that owes nothing to the
  /// document's.
  public init(everything action: StatusAction) {
    words = .zero
    for status in 100...599 { set(action, for: status) }
    outsideAction = action
  }

  /// What `status` means; any integer is allowed.
  public func classify(_ status: Int) -> StatusClass {
    if status >= 200 && status <= 299 { return .success }
    if status == 429 { return .rateLimited }
    if read(Self.bit(of: status)) { return .retry }
    return status == 511 && isAuthenticationLeftToPolicy ? .authenticate : .drop
  }

  /// Decides a status; a 2xx, a 429 and what is not in 100…599 stay as they are.
  public mutating func set(_ action: StatusAction, for status: Int) {
    guard (100...599).contains(status), status != 429, !(200...299).contains(status) else { return }
    write(action == .retry, at: status - 100)
    if status == 511 { write(false, at: Self.policyBit) }
  }

  /// What happens to codes outside 100…599 (S8).
  public var outsideAction: StatusAction {
    get { read(Self.outsideBit) ? .retry : .drop }
    set { write(newValue == .retry, at: Self.outsideBit) }
  }

  /// Whether Settings say that a 429 is dropped; only clients with `RetryPolicy.overridden429` hear of it.
  public var dropsRateLimited: Bool {
    get { read(Self.rateLimitedBit) }
    set { write(newValue, at: Self.rateLimitedBit) }
  }

  /// Whether no setting has decided about 511.
  var isAuthenticationLeftToPolicy: Bool { read(Self.policyBit) }

  /// Whether a status is retried by its own bit, 511 aside.
  func action(for status: Int) -> StatusAction { read(Self.bit(of: status)) ? .retry : .drop }

  private static func bit(of status: Int) -> Int {
    (100...599).contains(status) ? status - 100 : outsideBit
  }

  private func read(_ bit: Int) -> Bool { words[bit >> 6] >> UInt64(bit & 63) & 1 == 1 }

  private mutating func write(_ value: Bool, at bit: Int) {
    let mask: UInt64 = 1 << UInt64(bit & 63)
    words[bit >> 6] = value ? words[bit >> 6] | mask : words[bit >> 6] & ~mask
  }
}
