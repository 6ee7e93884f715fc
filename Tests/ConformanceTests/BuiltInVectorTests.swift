import Conformance
import Foundation
import Testing

/// The files under `Vectors` are the one source; the texts in the code are a recording of them. After a change
/// of a vector record them with `FLEETSIM_RECORD_VECTORS=1 swift test --filter BuiltInVectorTests`.
@Suite("Built-in vectors")
struct BuiltInVectorTests {
  static let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Vectors")
  static let sources = vectors.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appendingPathComponent("Sources/Conformance/BuiltIn")
  static let isRecording = ProcessInfo.processInfo.environment["FLEETSIM_RECORD_VECTORS"] == "1"

  /// Every vector file, by name.
  static func files() throws -> [(name: String, text: String)] {
    try FileManager.default.contentsOfDirectory(atPath: vectors.path).filter { $0.hasSuffix(".json") }
      .map { file in
        let text = try String(contentsOf: vectors.appendingPathComponent(file), encoding: .utf8)
        return (String(file.dropLast(".json".count)), text)
      }
      .sorted { $0.name < $1.name }
  }

  /// The Swift files that carry them, by name.
  static func recording(of files: [(name: String, text: String)]) -> [String: String] {
    let mark = "// Recorded from Tests/ConformanceTests/Vectors; see BuiltInVectorTests. Do not edit.\n\n"
    let rows = files.map { "    (\"\($0.name)\", \(identifier($0.name))),\n" }.joined()
    var sources = [
      "BuiltInVectors.swift":
        mark + "enum BuiltInVectors {\n  static let all: [(name: String, text: String)] = [\n\(rows)  ]\n}\n"
    ]
    for (name, text) in files {
      let identifier = identifier(name)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let body = lines.map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined()
      let title = identifier.prefix(1).uppercased() + identifier.dropFirst()
      sources["BuiltInVectors+\(title).swift"] =
        mark + "extension BuiltInVectors {\n  static let \(identifier) = ##\"\"\"\n\(body)    \"\"\"##\n}\n"
    }
    return sources
  }

  private static func identifier(_ name: String) -> String {
    let words = name.split(separator: "-")
    return words[0].lowercased()
      + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  @Test("the binary carries the vector files as they are")
  func recorded() throws {
    let expected = Self.recording(of: try Self.files())
    if Self.isRecording {
      for file in try FileManager.default.contentsOfDirectory(atPath: Self.sources.path) {
        try FileManager.default.removeItem(at: Self.sources.appendingPathComponent(file))
      }
      for (file, text) in expected {
        try Data(text.utf8).write(to: Self.sources.appendingPathComponent(file))
      }
    }
    let there = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
    #expect(Set(there) == Set(expected.keys))
    for (file, text) in expected {
      let recorded = try String(contentsOf: Self.sources.appendingPathComponent(file), encoding: .utf8)
      #expect(recorded == text, "\(file) is not as its vectors; record it")
    }
  }

  @Test("the files are plain JSON, which every SDK can read")
  func plainJSON() throws {
    for (name, text) in try Self.files() {
      #expect(throws: Never.self, "\(name)") { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
      for line in text.split(separator: "\n") { #expect(line.count <= 110, "\(name): \(line)") }
    }
  }
}
