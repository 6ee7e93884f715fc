import FleetMetrics
import Foundation
import Testing

@Suite struct ReadmeTests {
  @Test("The README's column tables are what the code says; `fleetsim help columns` prints them anew")
  func columns() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.contains(ColumnReference.markdown))
  }
}
