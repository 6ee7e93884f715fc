/// `path=value` from the command line or from `compare:`.
public struct Override: Sendable, Hashable {
  /// Dotted keys of the normalised scenario: `tapi.bucket.capacity`, `fleet.phones.flush.interval`, `settings.…`.
  public var path: String
  /// JSON5 if it parses as such, else a plain string.
  public var value: String
  public init(path: String, value: String) {
    self.path = path
    self.value = value
  }

  /// The value as a tree that has no place in a file.
  var tree: PositionedValue {
    let parsed = try? JSON5Parser.parse(value)
    return (parsed ?? PositionedValue(.string(value), at: .commandLine)).moved(to: .commandLine)
  }
}

extension Override {
  /// The path of the jitter strategy, for every cohort.
  public static let jitterPath = "settings.backoffConfig.jitterStrategy"
  /// Whether backoff plus jitter is clamped to the cap again, as shipped SDKs do (S10).
  public static let clampPath = "policy.clampAfterJitter"
  /// Behind the name of a strategy it sets `clampPath` too: `additive:10+clamp`.
  public static let clampSuffix = "+clamp"

  /// What choosing a value to compare sets: one path, or for a strategy with `+clamp` two.
  public static func choosing(_ path: String, _ value: String) -> [Override] {
    guard path == jitterPath, value.hasSuffix(clampSuffix) else {
      return [Override(path: path, value: value)]
    }
    return [
      Override(path: path, value: String(value.dropLast(clampSuffix.count))),
      Override(path: clampPath, value: "true"),
    ]
  }
}
