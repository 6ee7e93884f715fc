/// Base and longest wait of a backoff, microseconds: the first is `base`, none is longer than `longest` before additive jitter.
public struct DelayBounds: Sendable, Hashable, BitwiseCopyable {
  public var base: Int64
  public var longest: Int64

  public init(base: Int64, longest: Int64) {
    self.base = base
    self.longest = longest
  }
}

/// Backoffs by the class of the failure (O2); nil: `backoffConfig`'s.
public struct ClassDelays: Sendable, Hashable, BitwiseCopyable {
  /// 429, where no wait that the server asked for decides.
  public var rateLimit: DelayBounds?
  /// No answer, and 408: nobody knows how far the request came, or the server was too slow.
  public var timeout: DelayBounds?
  /// Every other status that is retried.
  public var server: DelayBounds?

  /// None.
  public init() {}

  /// The classes by the names that a scenario gives them.
  public static var names: [(name: String, path: any WritableKeyPath<ClassDelays, DelayBounds?> & Sendable)] {
    [("rateLimit", \.rateLimit), ("timeout", \.timeout), ("server", \.server)]
  }

  /// The bounds after an answer.
  public subscript(response: UploadResponse) -> DelayBounds? {
    switch response {
    case .noStatus, .status(408, _): timeout
    case .status(429, _): rateLimit
    case .status: server
    }
  }
}
