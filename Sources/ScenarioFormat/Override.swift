import ScenarioModel

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
  /// The path of the client, for every cohort.
  public static let clientPath = "client"
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

extension Override {
  /// The client file that it names; nil: none.
  public var clientFile: String? {
    guard path.hasSuffix(Self.clientPath), let name = tree.text,
      ClientPreset.isFileName(name)
    else { return nil }
    return name
  }

  /// The value that a normalised scenario has at a path, as it is written there without quotes; nil where there is none, or where
  /// the cohorts that the path means have different ones.
  public static func value(at path: String, in normalisedJSON: String) -> String? {
    guard let scenario = try? JSON5Parser.parse(normalisedJSON) else { return nil }
    var keys = path.split(separator: ".").map(String.init)
    var places = [scenario]
    if ["settings", "policy", "client"].contains(keys.first) {
      // Those of every cohort.
      guard let cohorts = scenario.member("fleet")?.elements else { return nil }
      places = cohorts
    }
    while !keys.isEmpty, !places.isEmpty {
      let key = keys.removeFirst()
      places = places.compactMap { $0.member(key) }
    }
    let texts = Set(places.map(\.scalar))
    return texts.count == 1 ? texts.first ?? nil : nil
  }
}

extension PositionedValue {
  /// What has that key, that number in a list, or that name.
  fileprivate func member(_ key: String) -> PositionedValue? {
    switch content {
    case .object(let members): members.first { $0.key == key }?.value
    case .array(let elements):
      Int(key).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        ?? elements.first { $0.member("name")?.scalar == key }
    default: nil
    }
  }

  fileprivate var scalar: String? {
    switch content {
    case .number(let text), .string(let text): text
    default: nil
    }
  }
}
