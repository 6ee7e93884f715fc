import ScenarioModel

/// Actions that publish Settings, put where cohorts have their rollouts: from there on they are read as these are.
struct PublishingActions {
  static let kind = "settings"

  /// The scenario with these rollouts.
  private(set) var root: PositionedValue
  /// The action that a cohort's rollout stands for, by the cohort's number.
  private(set) var actions: [Int: Int] = [:]
  private var paths: [(rollout: String, action: String)] = []

  init(_ root: PositionedValue) {
    self.root = root
    guard let nodes = root["actions"]?.elements, let fleet = root["fleet"],
      case .array(var cohorts) = fleet.content
    else { return }
    for (index, node) in nodes.enumerated() {
      guard Self.isWhole(node) else { continue }
      let members = ["at", "share", "fetch", "settings"].compactMap { key in
        node[key].map { (key, $0) }
      }
      for number in cohorts.indices where Self.concerns(node, cohorts[number]) {
        guard actions[number] == nil, cohorts[number]["rollout"]?.isNull ?? true else { continue }
        var rollout = PositionedValue(.object([]), at: node.position)
        for (key, value) in members { rollout.setMember(key, to: value) }
        cohorts[number].setMember("rollout", to: rollout)
        actions[number] = index
        paths.append((ScenarioPaths.cohort(number, of: cohorts) + ".rollout", "actions.\(index)"))
      }
    }
    if !actions.isEmpty {
      self.root.setMember("fleet", to: PositionedValue(.array(cohorts), at: fleet.position))
    }
  }

  /// Whether a value is an action that publishes Settings, and says which and when.
  static func isWhole(_ action: PositionedValue) -> Bool {
    guard case .string(kind)? = action["kind"]?.content else { return false }
    return action["at"] != nil && action["settings"] != nil
  }

  /// Whether an action is about a cohort.
  static func concerns(_ action: PositionedValue, _ cohort: PositionedValue) -> Bool {
    guard cohort.members != nil else { return false }
    guard let wanted = action["cohort"], !wanted.isNull else { return true }
    guard let text = wanted.text, let name = cohort["name"]?.text else {
      return false
    }
    return text == name
  }

  /// The path of an action for one in the rollout that stands for it; nil: it is none.
  func path(of path: String) -> String? {
    paths.lazy.compactMap { place in
      path == place.rollout || path.hasPrefix(place.rollout + ".")
        ? place.action + path.dropFirst(place.rollout.count) : nil
    }.first
  }

  /// Marks the rollouts that are actions.
  func mark(_ fleet: inout [Cohort]) {
    for number in actions.keys where fleet.indices.contains(number) { fleet[number].rollout?.isAction = true }
  }
}
