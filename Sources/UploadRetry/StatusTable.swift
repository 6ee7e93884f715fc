/// The meaning of a status for a batch.
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

/// The actions that Settings can name for a status.
public enum StatusAction: String, Sendable, Hashable {
  case retry, drop
}

/// The statuses that are retried: the tables of S5, S6 and S8, changed by Settings (S13).
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
    var table = StatusTable(everything: .drop)
    for status in 500...599 where status != 501 && status != 505 { table.set(.retry, for: status) }
    for status in namedRetries { table.set(.retry, for: status) }
    table.set(.drop, for: 511)
    table.write(true, at: policyBit)
    return table
  }()

  /// Every status treated alike but for 2xx and 429, 511 and what is outside 100…599 included: a table that owes nothing to the
  /// document's.
  public init(everything action: StatusAction) {
    words = .zero
    for status in 100...599 { set(action, for: status) }
    outsideAction = action
  }

  /// Returns the class of `status`; any integer is allowed.
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

  /// The action for codes outside 100…599 (S8).
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

/// The fault of a request, in one form for all causes (O1).
public struct RequestFailure: Sendable, Hashable {
  /// The transport's errors where there is no status.
  public enum TransportError: Sendable, Hashable, CaseIterable {
    case offline, nameNotResolved, refused, reset, tls, connectTimeout, requestTimeout
  }
  /// The fault of the device itself.
  public enum LocalCause: Sendable, Hashable, CaseIterable {
    case databaseLocked, diskFull, keyUnavailable
  }

  public var transport: TransportError?
  public var local: LocalCause?
  public var status: Int?
  /// The server's own word for it, if the body has one: `token_expired`, `already_archived`.
  public var serverCode: String?
  /// Whether the request had been sent when it failed; nil: not known.
  public var reachedServer: Bool?

  public init(
    transport: TransportError? = nil, local: LocalCause? = nil, status: Int? = nil, serverCode: String? = nil,
    reachedServer: Bool? = nil
  ) {
    self.transport = transport
    self.local = local
    self.status = status
    self.serverCode = serverCode
    self.reachedServer = reachedServer
  }
}

/// The kind of work that an operation does: it decides how long waits are (O2).
@frozen
public enum OperationKind: UInt8, Sendable, Hashable, CaseIterable {
  /// The user waits for it.
  case interactive
  /// Nobody does.
  case background
}

/// The meaning of a failure for an operation (O1).
public struct FailureClass: Sendable, Hashable {
  /// The rows of the chapter's taxonomy.
  @frozen
  public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    case none, network, timeout, server, rateLimit, authentication, permanent, conflict, localResource
  }

  public var kind: Kind
  public var isRetryable: Bool
  /// Bounds of the wait before the next try, microseconds; 0 where there is none.
  public var minDelay: Int64
  public var maxDelay: Int64
  /// Refresh credentials, then try once more (O9).
  public var requiresAuthRefresh: Bool
  /// Somebody has to do something before it can succeed.
  public var userActionRequired: Bool
  /// Nobody knows whether the server has applied it (O4).
  public var isAmbiguous: Bool

  /// Base and longest wait of a kind of operation (O2): 1 s and 300 s, or 5 s and 1800 s.
  public static func delays(of operation: OperationKind) -> (base: Int64, longest: Int64) {
    switch operation {
    case .interactive: (1_000_000, 300_000_000)
    case .background: (5_000_000, 1_800_000_000)
    }
  }

  /// Classifies a failure (O1); a pure function. A failure that names neither transport, local cause nor status is taken as a
  /// network failure. A status counts before the others.
  public static func classify(_ failure: RequestFailure, of operation: OperationKind) -> FailureClass {
    if let status = failure.status {
      return classify(status: status, serverCode: failure.serverCode, operation)
    }
    if let local = failure.local {
      // A lock passes by itself; a full disk or a locked key does not.
      return FailureClass(
        .localResource, retryable: local == .databaseLocked, needsUser: local != .databaseLocked, operation)
    }
    let transport = failure.transport
    let isTimeout = transport == .requestTimeout || transport == .connectTimeout
    let mayHaveReached = transport == .requestTimeout || transport == .reset
    return FailureClass(
      isTimeout ? .timeout : .network, retryable: true, ambiguous: failure.reachedServer ?? mayHaveReached,
      operation)
  }

  private static func classify(
    status: Int, serverCode: String?, _ operation: OperationKind
  ) -> FailureClass {
    switch status {
    case 401: return FailureClass(.authentication, needsUser: true, refresh: true, operation)
    case 403:
      let expired = serverCode == "token_expired"
      return FailureClass(.authentication, needsUser: true, refresh: expired, operation)
    case 408: return FailureClass(.timeout, retryable: true, operation)
    case 409: return FailureClass(.conflict, needsUser: true, operation)
    case 429: return FailureClass(.rateLimit, retryable: true, operation)
    case 500, 502, 503, 504: return FailureClass(.server, retryable: true, operation)
    default: return FailureClass(.permanent, needsUser: true, operation)
    }
  }

  private init(
    _ kind: Kind, retryable: Bool = false, needsUser: Bool = false, refresh: Bool = false,
    ambiguous: Bool = false, _ operation: OperationKind
  ) {
    self.kind = kind
    isRetryable = retryable
    let delays = Self.delays(of: operation)
    minDelay = retryable ? delays.base : 0
    maxDelay = retryable ? delays.longest : 0
    requiresAuthRefresh = refresh
    userActionRequired = needsUser
    isAmbiguous = ambiguous
  }
}
