/// How wide a picture that stands alone is, how large its text, and how much room that takes.
package enum Lettering {
  /// As wide as a page of GitHub shows pictures.
  static let pictureWidth = 830.0
  /// As wide as a phone shows a page.
  static let narrowWidth = 360.0
  /// Room at the edges of a picture.
  static let margin = 16.0
  package static let title = 18.0
  /// From one line of it to the next.
  static let titleLine = 23.0
  package static let label = 16.0
  /// The size of axis labels and of side notes: the smallest.
  package static let small = 14.0

  /// About how wide a text is, in a wide font.
  package static func width(of text: String, size: Double = small, isBold: Bool = false) -> Double {
    let units = text.reduce(0.0) { sum, letter in
      switch letter {
      case "i", "j", "l", "I", "'", "|", ".", ",", ":", ";", " ", "!": sum + 0.32
      case "f", "t", "r", "(", ")", "[", "]", "-", "/": sum + 0.41
      case "m", "w", "M", "W", "%", "—", "…", "@": sum + 0.96
      case _ where letter.isUppercase: sum + 0.7
      default: sum + 0.62
      }
    }
    return units * size * (isBold ? 1.12 : 1)
  }

  /// The text broken between words into at most so many lines; what does not fit is left out behind a `…`.
  package static func lines(
    _ text: String, width: Double, size: Double, isBold: Bool = false, most: Int = 3
  ) -> [String] {
    var lines = whole(text).split(separator: " ").map(String.init).filled { line, _ in
      Self.width(of: line, size: size, isBold: isBold) <= width
    }
    if lines.count > most, most > 0 { lines[most - 1] += " " + lines[most] }
    return lines.prefix(most > 0 ? most : .max).map { fitting($0, width: width, size: size, isBold: isBold) }
  }

  private static let units: Set<Substring> = ["ms", "s", "min", "h", "d", "%", "·"]

  /// With a number and its unit kept on one line.
  private static func whole(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).reduce("") { text, word in
      let unit = word.prefix { !",;:).".contains($0) }
      let isOne = units.contains(unit) && !text.isEmpty && (unit == "·" || text.last?.isNumber == true)
      return text + (text.isEmpty ? "" : isOne ? "\u{A0}" : " ") + word
    }
  }

  /// The text, or as much of its beginning as fits.
  package static func fitting(
    _ text: String, width: Double, size: Double = small, isBold: Bool = false
  ) -> String {
    if Self.width(of: text, size: size, isBold: isBold) <= width { return text }
    var text = text
    while text.count > 1, Self.width(of: text + "…", size: size, isBold: isBold) > width { text.removeLast() }
    return text + "…"
  }
}
