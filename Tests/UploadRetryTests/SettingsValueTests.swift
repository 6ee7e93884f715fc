import Testing
import UploadRetry

@Suite("Settings trees")
struct SettingsValueTests {
  private let values: [SettingsValue] = [
    .null, .bool(false), .bool(true), .number(0), .number(-0.0), .number(1), .number(.nan), .string(""),
    .string("1"), .array([]), .array([.null]), .array([.null, .null]), .object([]),
    .object([("a", .null)]), .object([("b", .null)]), .object([("a", .number(1))]),
    .object([("a", .null), ("b", .null)]), .object([("b", .null), ("a", .null)]),
  ]

  @Test("Trees are equal if they are the same in everything, the order of members included")
  func equality() {
    for (i, a) in values.enumerated() {
      for (j, b) in values.enumerated() { #expect((a == b) == (i == j), "\(a) \(b)") }
    }
  }

  @Test("Equal trees hash alike: a set keeps each once")
  func hashing() {
    #expect(Set(values + values).count == values.count)
  }
}
