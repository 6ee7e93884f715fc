import TAPIModel

/// How an incident is called.
extension Incident.Kind {
  /// In a chart: `outage 503`.
  package var label: String { wording.label }
  /// In a sentence, before the times: `outage answered with 503`.
  package var phrase: String { wording.phrase }

  /// Whether nothing is admitted meanwhile: it is shaded darker.
  package var isOutage: Bool { if case .outage = self { true } else { false } }

  private var wording: (label: String, phrase: String) {
    switch self {
    case .outage(let status?, _, _): return ("outage \(status)", "outage answered with \(status)")
    case .outage(nil, _, _): return ("outage without answer", "outage without any answer")
    case .cdnOutage: return ("settings CDN down", "settings CDN down")
    case .brownout(let factor):
      let tenths = (factor + 500) / 1_000
      return (
        "brownout to \(tenths / 10).\(tenths % 10) %", "brownout to \(percent(factor)) of the capacity"
      )
    case .errors(let status, let share, _, _):
      return (
        "\(status) for \(Units.text(partsPerMillion: share))",
        "\(percent(share)) of requests answered with \(status)"
      )
    case .lostAnswers(let share):
      return (
        "\(Units.text(partsPerMillion: share)) of answers lost", "\(percent(share)) of the answers lost"
      )
    case .latency: return ("slow answers", "answers under way for longer")
    case .tokenExpiry: return ("tokens expired", "every device's token expired, 401,")
    }
  }

  /// In whole percent.
  private func percent(_ partsPerMillion: Int64) -> String {
    "\(Int64((Double(partsPerMillion) / 1e6 * 100).rounded())) %"
  }
}
