import ScenarioFormat
import ScenarioModel
import ShippedClients

/// `fleetsim validate --client`: what a client makes of a Settings file.
struct ClientSettingsCheck {
  var client: ClientPreset
  /// As the user named it.
  var path: String
  var isQuiet: Bool
  var isJSON: Bool

  /// - Throws: `CommandFailure` 1 when a finding does harm, 65, 66; `ScenarioProblems`.
  func execute() throws {
    let check = try SettingsCheck(text: try InputFile.text(path), name: path, client: client)
    let lines = check.findings.map { line, finding in
      let source = finding.source.map { " (\($0))" } ?? ""
      return Diagnostic(file: path, line: line, path: finding.path, message: finding.message + source)
        .description + "\n"
    }
    let effects = check.findings.map(\.finding.effect)
    if isJSON {
      let findings = SettingsFindings(
        path: path, client: client.name, verdict: summary(effects), findings: check.findings)
      try Console.printData(SettingsFindings.document.text("validate", findings))
    } else {
      try Console.print(lines.joined() + (isQuiet ? "" : summary(effects) + "\n"))
    }
    let harmful = effects.count(where: \.isHarmful)
    if harmful > 0 {
      throw CommandFailure(
        .failed,
        "\(path): not for \(client.name): \(harmful) of \(Self.findings(effects.count)) "
          + (harmful == 1 ? "does harm" : "do harm"))
    }
  }

  /// How many findings there are, and of which kind; the worst first.
  private func summary(_ effects: [SettingsFinding.Effect]) -> String {
    if effects.isEmpty { return "\(path): no finding for \(client.name)" }
    let parts = SettingsFinding.Effect.allCases.reversed().compactMap { effect -> String? in
      let count = effects.count { $0 == effect }
      return count == 0 ? nil : "\(count) \(Self.words(effect, isOne: count == 1))"
    }
    return "\(path): \(Self.findings(effects.count)) for \(client.name): \(parts.joined(separator: ", "))"
  }

  private static func findings(_ count: Int) -> String { count == 1 ? "1 finding" : "\(count) findings" }

  private static func words(_ effect: SettingsFinding.Effect, isOne: Bool) -> String {
    switch effect {
    case .endsProcess: isOne ? "ends the process" : "end the process"
    case .losesData: isOne ? "loses data" : "lose data"
    case .legacy: isOne ? "makes it legacy" : "make it legacy"
    case .resetsValues: isOne ? "resets all values" : "reset all values"
    case .readDifferently: isOne ? "is read differently" : "are read differently"
    case .notRead: isOne ? "is not read" : "are not read"
    case .repaired: isOne ? "is repaired" : "are repaired"
    }
  }
}
