/// "Did you mean": the candidate nearest to what was written.
package enum Spelling {
  /// The nearest candidate by edit distance (insert, delete, replace, swap of neighbours), upper and lower
  /// case alike; nil if none is near: at most one edit for each three letters, and one for short words.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let letters = Array(word.lowercased().utf8.prefix(65))
    guard letters.count <= 64 else { return nil }
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let other = Array(candidate.lowercased().utf8)
      let allowed = max(1, min(letters.count, other.count) / 3)
      guard abs(letters.count - other.count) <= allowed else { continue }
      let distance = distance(letters, other)
      if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.candidate
  }

  /// Optimal string alignment. O(a · b).
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }

  /// `; did you mean "x"?`, or nothing.
  static func hint(for word: String, among candidates: [String]) -> String {
    nearest(to: word, among: candidates).map { "; did you mean \(quoted($0))?" } ?? "."
  }
}
