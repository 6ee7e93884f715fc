import ScenarioFormat

/// How one variant differs from the scenario it is made from.
public struct VariantChoice: Sendable, Hashable {
  /// Names it in tables, files and folders: the value chosen, or of several keys `retryAfter=30s · full`.
  public var name: String
  public var overrides: [Override]

  public init(name: String, overrides: [Override]) {
    self.name = name
    self.overrides = overrides
  }

  /// One choice of a jitter strategy: `full`, `additive:10`, `additive:10+clamp`.
  public static func jitter(_ name: String) -> VariantChoice {
    VariantChoice(name: name, overrides: Override.choosing(Override.jitterPath, name))
  }

  /// The choices along one axis.
  public static func axis(_ axis: ScenarioFile.Axis) -> [VariantChoice] {
    axis.values.map { VariantChoice(name: $0, overrides: Override.choosing(axis.path, $0)) }
  }

  /// Every combination of one choice from each axis, the last axis turning fastest; none for no axes.
  ///
  /// Of several axes each value is named with its key, `retryAfter=30s · full`: strategies need none.
  public static func combinations(_ axes: [[VariantChoice]]) -> [VariantChoice] {
    guard axes.count > 1 else { return axes.first ?? [] }
    let labels = labels(of: axes.map { $0.first?.overrides.first?.path ?? "" })
    let named = zip(axes, labels).map { axis, label in
      let prefix = label.map { $0 + "=" } ?? ""
      return axis.map { VariantChoice(name: prefix + $0.name, overrides: $0.overrides) }
    }
    return named.dropFirst().reduce(named[0]) { combined, axis in
      combined.flatMap { left in
        axis.map { right in
          VariantChoice(
            name: left.name + " · " + right.name, overrides: left.overrides + right.overrides)
        }
      }
    }
  }

  /// As much of the end of each path as tells it from the others; nil of the jitter strategy's and of the client's.
  private static func labels(of paths: [String]) -> [String?] {
    paths.map { path in
      if [Override.jitterPath, Override.clientPath].contains(path) { return nil }
      let keys = path.split(separator: ".").map(String.init)
      for count in 1...max(keys.count, 1) {
        let label = keys.suffix(count).joined(separator: ".")
        if !paths.contains(where: { $0 != path && ($0 == label || $0.hasSuffix("." + label)) }) {
          return label
        }
      }
      return path
    }
  }

  /// How many combinations there would be, nil if more than `limit`.
  public static func count(of axes: [[VariantChoice]], limit: Int) -> Int? {
    var count = axes.isEmpty ? 0 : 1
    for axis in axes {
      let (product, overflow) = count.multipliedReportingOverflow(by: axis.count)
      guard !overflow, product <= limit else { return nil }
      count = product
    }
    return count
  }
}

extension VariantChoice {
  /// Splits `a,b,c` at the commas that stand outside quotes and brackets, so that JSON5 values keep theirs;
  /// trims spaces.
  public static func splitList(_ text: String) -> [String] {
    var items: [String] = []
    var current = ""
    var depth = 0
    var quote: Character?
    var isEscaped = false
    for character in text {
      if let open = quote {
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == open {
          quote = nil
        }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if "[{(".contains(character) {
        depth += 1
      } else if "]})".contains(character) {
        depth -= 1
      } else if character == ",", depth <= 0 {
        items.append(trimmed(current))
        current = ""
        continue
      }
      current.append(character)
    }
    items.append(trimmed(current))
    return items
  }

  private static func trimmed(_ text: String) -> String {
    var slice = Substring(text)
    while slice.first?.isWhitespace == true { slice.removeFirst() }
    while slice.last?.isWhitespace == true { slice.removeLast() }
    return String(slice)
  }
}
