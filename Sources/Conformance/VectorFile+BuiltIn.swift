import FleetSimulation

extension VectorFile {
  /// The vectors that ship with the tool, in a fixed order.
  ///
  /// Their texts are the files under `Tests/ConformanceTests/Vectors`, carried in the code so that a binary
  /// needs nothing beside it; a test compares the two.
  /// - Throws: `ScenarioProblems`: only if the vectors themselves are broken.
  public static func builtIn() throws(ScenarioProblems) -> [VectorFile] {
    var files: [VectorFile] = []
    for (name, text) in BuiltInVectors.all { files.append(try VectorFile(text: text, name: name + ".json")) }
    return files
  }
}
