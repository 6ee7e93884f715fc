import Foundation
import UploadRetry

/// Always the same word: `low` and `high` give the ends of every range.
public struct Constant: RandomNumberGenerator, Sendable {
  let word: UInt64
  public init(word: UInt64) { self.word = word }
  public func next() -> UInt64 { word }
  public static let low = Constant(word: 0)
  public static let high = Constant(word: .max)
}

/// In microseconds.
public func seconds(_ count: Double) -> Int64 { Int64((count * 1_000_000).rounded()) }

extension HTTPConfig {
  /// The defaults without any jitter, so that a schedule can be written down.
  public static var withoutJitter: HTTPConfig {
    var config = HTTPConfig()
    config.backoff.jitter = .none
    return config
  }
}

/// JSON text as Settings, by Foundation's decoder.
public func settings(_ json: String) throws -> SettingsValue {
  try JSONDecoder().decode(AnyJSON.self, from: Data(json.utf8)).value
}

private struct AnyJSON: Decodable {
  var value: SettingsValue

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      value = .object(
        try container.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
          ($0.stringValue, try container.decode(AnyJSON.self, forKey: $0).value)
        })
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [SettingsValue] = []
      while !container.isAtEnd { elements.append(try container.decode(AnyJSON.self).value) }
      value = .array(elements)
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        value = .null
      } else if let bool = try? container.decode(Bool.self) {
        value = .bool(bool)
      } else if let number = try? container.decode(Double.self) {
        value = .number(number)
      } else {
        value = .string(try container.decode(String.self))
      }
    }
  }
}
