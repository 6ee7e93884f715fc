import Conformance
import Foundation
import Testing

@Suite("Built-in vectors")
struct BuiltInVectorTests {
  static let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Vectors")

  /// Every vector file, by name.
  static func files() throws -> [(name: String, text: String)] {
    try FileManager.default.contentsOfDirectory(atPath: vectors.path).filter { $0.hasSuffix(".json") }
      .map { ($0, try String(contentsOf: vectors.appendingPathComponent($0), encoding: .utf8)) }
      .sorted { $0.name < $1.name }
  }

  @Test("the binary carries every vector file as it is")
  func embedded() throws {
    let builtIn = try VectorFile.builtIn()
    #expect(builtIn.map(\.name) == (try Self.files().map(\.name)))
    for (embedded, file) in zip(builtIn, try Self.files()) {
      let decoded = try VectorFile(text: file.text, name: file.name)
      #expect(embedded.title == decoded.title && embedded.count == decoded.count, "\(file.name)")
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
