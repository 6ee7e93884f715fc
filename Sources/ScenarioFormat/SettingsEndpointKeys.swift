import ScenarioModel
import SimulationKernel
import TAPIModel

/// `tapi.settingsEndpoint`: where clients fetch their Settings.
extension SettingsEndpoint {
  static let keys = ObjectKeys(
    SettingsEndpoint(),
    [
      Field(
        "capacity", \.capacityMilliRequestsPerSecond, Kind<Int64>.rate.orNull,
        "Fetches, by a token bucket of its own.",
        defaultValue: .said("the server's, as for uploads")),
      Field("burst", \.burst, .burst, "Fetches at once.", isLater: true),
      Field(
        "status", \.status, .count(400...599),
        "The answer to others, and to all in a cdnOutage."),
      .refusal("burst") { node, endpoint in
        node["burst"] != nil && endpoint.capacityMilliRequestsPerSecond == nil
          ? "there is no bucket of that size: give capacity, too, or leave burst out" : nil
      },
    ])
}

extension ScenarioDecoder {
  /// Says what nobody reads, and an endpoint that the fleet's normal fetches are too much for.
  mutating func warnOfSettingsFetches(_ scenario: Scenario, _ root: PositionedValue) {
    let nodes = root["fleet"]?.elements ?? []
    guard let endpoint = scenario.tapi.settings else {
      for (index, node) in nodes.enumerated() {
        guard let fetch = node["settingsFetch"], fetch.text != "never" else { continue }
        warn(
          "nothing reads it: without tapi.settingsEndpoint a fetch of Settings is no request",
          at: fetch.position, join(ScenarioPaths.cohort(index, of: nodes), "settingsFetch"))
      }
      return
    }
    guard let node = root["tapi"]?["settingsEndpoint"] else { return }
    if !scenario.fleet.contains(where: \.hasFetches) {
      warn(
        "nobody fetches anything: apps fetch Settings at launch, and none is launched during the run; give a cohort "
          + "lifecycle: { restarts: \"2/day\" }, or sessions and settingsFetch: \"foreground\"",
        at: node.position, "tapi.settingsEndpoint")
    }
    guard let capacity = endpoint.capacityMilliRequestsPerSecond else { return }
    warn(
      of: scenario.normalFetchesPerSecond, above: capacity, ofThe: "endpoint",
      at: node["capacity"]?.position ?? node.position, "tapi.settingsEndpoint.capacity")
  }
}

extension Cohort {
  /// Whether any of its apps asks for Settings during the run.
  var hasFetches: Bool {
    if behaviour.settingsFetch == .never { return false }
    return hasRestarts || sessions != nil && (behaviour.page != nil || behaviour.settingsFetch == .foreground)
      || rollout?.fetch != nil
  }
}
