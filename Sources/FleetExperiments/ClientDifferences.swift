import ScenarioFormat
import ScenarioModel

/// In what a scenario's cohorts differ from the client presets that they name, over all of its variants.
///
/// A scenario that says `retries: "timer"` keeps saying it when only its `client` is changed. The cohort is then no longer
/// the client of that name, and a reader of a result should see it.
public struct ClientDifferences: Sendable, Hashable {
  /// One key of one cohort.
  public struct Line: Sendable, Hashable {
    /// From the scenario's root: `fleet.phones.retries`.
    public var path: String
    public var cohort: String
    public var client: String
    public var difference: PresetDifference
    /// Those of which it holds, in order.
    public var variants: [String] = []
    /// The variants that it is about; empty where it is about all.
    public fileprivate(set) var scope = ""

    /// `fleet.phones.retries: timer; segment-swift has gate`
    fileprivate var short: String {
      (scope.isEmpty ? "" : "with \(scope) ")
        + "\(path): \(difference.value); \(client) has \(difference.preset)"
    }
  }

  /// Each difference once.
  public private(set) var lines: [Line] = []
  /// Every client that a cohort has in some variant, in order.
  public private(set) var clients: [String] = []

  public init(_ variants: [Variant]) {
    // Thousands of cohorts may be of a few kinds.
    var known: [Cohort: [PresetDifference]] = [:]
    var places: [Line: Int] = [:]
    for variant in variants {
      for cohort in variant.scenario.fleet {
        if !clients.contains(cohort.client) { clients.append(cohort.client) }
        var kind = cohort
        (kind.name, kind.devices, kind.writeKey) = ("", 1, nil)
        let differences = known[kind] ?? cohort.differencesFromPreset
        known[kind] = differences
        for difference in differences {
          let line = Line(
            path: "fleet.\(cohort.name).\(difference.path)", cohort: cohort.name, client: cohort.client,
            difference: difference)
          let place = places[line] ?? lines.count
          if place == lines.count { lines.append(line) }
          places[line] = place
          lines[place].variants.append(variant.name)
        }
      }
    }
    for place in lines.indices where lines[place].variants.count < variants.count {
      lines[place].scope = lines[place].variants.joined(separator: ", ")
    }
  }

  /// The line above a result; nil where every cohort is as its preset.
  public var headline: String? {
    guard !lines.isEmpty else { return nil }
    let most = 3
    let shown = lines.prefix(most).map(\.short).joined(separator: ", ")
    return "Not as the preset: " + shown
      + (lines.count > most ? ", and \(lines.count - most) more keys that 'fleetsim validate' names" : "")
  }

  /// One line a difference, for `validate`; says so where there is none.
  public var text: [String] {
    guard !lines.isEmpty else {
      return ["\(clients.joined(separator: ", ")) as the preset\(clients.count == 1 ? " has" : "s have") it"]
    }
    let most = 100
    let text = lines.prefix(most).map { "\($0.short) (\($0.difference.meaning))" }
    return text + (lines.count > most ? ["and \(lines.count - most) more"] : [])
  }
}
