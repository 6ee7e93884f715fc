import ScenarioModel

/// How old is what clients were taken from: `fleetsim presets --check`.
struct PresetAges {
  /// The versions that were published, or run, more than a year before; a line each.
  private var old: [String] = []
  /// Clients whose files name no date.
  private var undated: [String] = []
  private let today: CalendarDate

  init(_ clients: [ClientPreset], on today: CalendarDate) {
    self.today = today
    for client in clients {
      guard let version = client.version, version.date != nil || version.run != nil else {
        undated.append(client.name)
        continue
      }
      var parts: [String] = []
      if let date = version.date, date.isOlderThanAYear(on: today) { parts.append("published \(date)") }
      if let run = version.run, run.isOlderThanAYear(on: today) { parts.append("run \(run)") }
      if !parts.isEmpty { old.append("\(client.name): \(version.number), \(parts.joined(separator: ", "))") }
    }
  }

  var text: String {
    var text =
      old.isEmpty
      ? "On \(today) no client that names a date is of a version, or of a run, more than a year old.\n"
      : "On \(today) more than a year old:\n" + old.map { "  \($0)\n" }.joined()
        + "Look for a newer version, run it, and put its number and dates into the client's file.\n"
    if !undated.isEmpty {
      text += "Without a date:\n" + undated.map { "  \($0)\n" }.joined()
    }
    return text
  }
}

extension ClientPreset.Version {
  /// On one line, for people.
  var sentence: String {
    let published = date.map { " of \($0)" } ?? ""
    return "Version \(number)\(published), "
      + (run.map { "whose own code was run on \($0)." } ?? "read, not run.")
  }
}
