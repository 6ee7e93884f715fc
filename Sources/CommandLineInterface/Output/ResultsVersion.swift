import Dispatch
import FleetMetrics

/// Results of builds that may differ are not mixed.
enum ResultsVersion {
  /// Refuses what another results version made. 0 is what was written before they were numbered.
  /// - `subject`: what was made, up to the number: `sweep/plan.json: the sweep was made with`.
  /// - `remedy`: what to do.
  /// - Throws: `CommandFailure` 65.
  static func check(_ results: Int, of subject: String, _ remedy: String) throws(CommandFailure) {
    guard results != CommandLineTool.resultsVersion else { return }
    throw CommandFailure(
      .data,
      "\(subject) \(results > 0 ? "results version \(results)" : "a fleetsim that did not number its results yet"), this "
        + "build has results version \(CommandLineTool.resultsVersion): the two may differ for the same scenario and seed; "
        + remedy)
  }

  /// Of this program, for `run.json`: `debug` or `release`, and of a release build the SHA-256 of the running executable. Nothing
  /// tells a plain SwiftPM build which commit it is made of.
  static var build: [(String, JSONValue)] {
    #if DEBUG
      // Its digest would take seconds.
      return [("kind", .string("debug"))]
    #else
      return [("kind", .string("release"))] + (digest.map { [("executableSHA256", .string($0))] } ?? [])
    #endif
  }

  private static let digest = (try? InputFile.bytes(ChildProcess.executable, limit: .max))
    .map(SHA256.hexadecimal)

  /// Begins to read the executable for `build`, which takes longer than a small run.
  static func prepareBuild() {
    #if !DEBUG
      DispatchQueue.global().async { _ = digest }
    #endif
  }
}
