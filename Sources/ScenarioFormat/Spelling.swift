import UploadRetry

/// "Did you mean": the candidate nearest to what was written.
enum Spelling {
  /// `; did you mean "x"?`, or nothing.
  static func hint(for word: String, among candidates: [String]) -> String {
    nearest(to: word, among: candidates).map { "; did you mean \(quoted($0))?" } ?? "."
  }
}
