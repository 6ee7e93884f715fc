import ConformanceVectors
import ScenarioFormat

extension VectorFile {
  /// The vectors that ship with the tool, in a fixed order.
  ///
  /// They are the files under `Tests/ConformanceTests/Vectors`, which the C compiler puts into the binary, so that it needs nothing
  /// beside it.
  /// - Throws: `ScenarioProblems`: only if the vectors themselves are broken.
  public static func builtIn() throws(ScenarioProblems) -> [VectorFile] {
    var files: [VectorFile] = []
    for index in 0..<fleetsim_vector_count() {
      let file = fleetsim_vector(index)
      files.append(try VectorFile(text: String(cString: file.text), name: String(cString: file.name)))
    }
    return files
  }
}
