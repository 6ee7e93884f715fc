/// What went wrong with a request, in one form (O1).
public struct RequestFailure: Sendable, Hashable {
  /// What the transport reports when there is no status.
  public enum TransportError: Sendable, Hashable, CaseIterable {
    case offline, nameNotResolved, refused, reset, tls, connectTimeout, requestTimeout
  }
  /// What the device itself lacks.
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

/// What kind of work an operation is: it decides how long waits are (O2).
@frozen
public enum OperationKind: UInt8, Sendable, Hashable, CaseIterable {
  /// The user waits for it.
  case interactive
  /// Nobody does.
  case background
}

/// What a failure means for an operation (O1).
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

  /// O1: a pure function. What names neither transport, local cause nor status is taken as a network failure; a
  /// status counts before the others.
  public static func classify(_ failure: RequestFailure, of operation: OperationKind) -> FailureClass {
    if let status = failure.status {
      return classify(status: status, serverCode: failure.serverCode, operation)
    }
    if let local = failure.local {
      // A lock passes by itself; a full disk or a locked key does not.
      return FailureClass(
        .localResource, retryable: local == .databaseLocked, needsUser: local != .databaseLocked, operation)
    }
    switch failure.transport {
    case .requestTimeout:
      return FailureClass(.timeout, retryable: true, ambiguous: failure.reachedServer ?? true, operation)
    case .connectTimeout:
      return FailureClass(.timeout, retryable: true, ambiguous: failure.reachedServer ?? false, operation)
    case .reset:
      return FailureClass(.network, retryable: true, ambiguous: failure.reachedServer ?? true, operation)
    case .offline, .nameNotResolved, .refused, .tls, nil:
      return FailureClass(.network, retryable: true, ambiguous: failure.reachedServer ?? false, operation)
    }
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

extension StatusTable {
  /// What `FailureClass.classify` says of each status: 408 500 502 503 504 are retried, the rest is given up.
  public static let offlineFirst: StatusTable = {
    var table = StatusTable.document
    for status in 100...599 {
      let failure = RequestFailure(status: status)
      let isRetried = FailureClass.classify(failure, of: .background).isRetryable
      table.set(isRetried ? .retry : .drop, for: status)
    }
    table.outsideAction = .drop
    return table
  }()
}

extension HTTPConfig {
  /// The offline-first chapter's limits and delays (O2, O3): full jitter, ten attempts, 24 hours.
  public static func offlineFirst(_ operation: OperationKind) -> HTTPConfig {
    var config = HTTPConfig()
    let delays = FailureClass.delays(of: operation)
    config.backoff.baseBackoffInterval = delays.base
    config.backoff.maxBackoffInterval = delays.longest
    config.backoff.maxRetryCount = 9
    config.backoff.maxTotalBackoffDuration = 86_400_000_000
    config.backoff.jitter = .full
    config.backoff.statuses = .offlineFirst
    return config
  }
}
