// Words for messages. They are here because this module imports nothing, and all others may import it.
//
// What reads Settings and writes messages is called in many places and never in a hurry. Inlined into all of them, or specialised
// for each type, it took the optimiser a third of the time that it spent on this module and on `ShippedClients`; hence their
// `@inline(never)` and "specialize.generic.never".

/// A value in a few words, on one line.
@inline(never)
package func described(_ value: SettingsValue) -> String {
  switch value {
  case .null: "null"
  case .bool(let bool): bool ? "true" : "false"
  case .number(let number): shown(number)
  case .string(let string): quoted(string)
  case .array: "an array"
  case .object: "an object"
  }
}

/// A number as a person writes it: no `.0`.
@inline(never)
package func shown(_ number: Double) -> String {
  if number.magnitude < 1e15, let whole = Int64(exactly: number) { return String(whole) }
  return String(describing: number)
}

private let unprintable: Set<Unicode.GeneralCategory> = [
  .control, .format, .lineSeparator, .paragraphSeparator,
]

/// In quotes, on one line, and not too long.
@inline(never)
package func quoted(_ text: String) -> String {
  var result = "\""
  for (index, scalar) in text.unicodeScalars.enumerated() {
    if index == 60 {
      result += "…"
      break
    }
    switch scalar {
    case "\"", "\\": result += "\\" + String(scalar)
    case _ where unprintable.contains(scalar.properties.generalCategory):
      result += "\\u{" + String(scalar.value, radix: 16) + "}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}

/// The candidate that `word` is most likely a slip of: the same but for case, or at most a third of its
/// letters away.
@inline(never)
package func nearest(to word: String, among candidates: [String]) -> String? {
  let letters = Array(word.lowercased().utf8.prefix(64))
  let scored = candidates.map {
    (candidate: $0, distance: editDistance(letters, Array($0.lowercased().utf8)))
  }
  guard let best = scored.min(by: { $0.distance < $1.distance }),
    best.distance <= max(1, best.candidate.utf8.count / 3)
  else { return nil }
  return best.candidate
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in 0..<a.count {
    var row = [i + 1]
    for j in 0..<b.count {
      var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
      row.append(best)
    }
    beforeLast = last
    last = row
  }
  return last[b.count]
}
