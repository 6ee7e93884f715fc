import TAPIModel

/// How an operator's action is called.
extension ServerAction.Kind {
  /// In a chart: `half shed`.
  package var label: String { wording.label }
  /// In a sentence, before the times.
  package var phrase: String { wording.phrase }

  private var wording: (label: String, phrase: String) {
    switch self {
    case .retryAfter(.none): return ("no Retry-After", "no Retry-After")
    case .retryAfter(.fixed(let span)):
      let text = "Retry-After \(Units.text(span))"
      return (text, text)
    case .retryAfter(.spread(let from, let to)):
      let text = "Retry-After \(Units.text(from)) to \(Units.text(to))"
      return (text, text)
    case .retryAfter(.backlog): return ("Retry-After by backlog", "Retry-After by the backlog")
    case .shed(let shedding):
      return (
        "\(Units.text(partsPerMillion: shedding.share)) shed\(shedding.keyText)",
        "\(Units.text(partsPerMillion: shedding.share)) of \(shedding.subject) refused at the door"
      )
    case .readmit(let shedding):
      return (
        "readmission\(shedding.keyText)", "\(shedding.subject) let in again little by little"
      )
    case .capacity(let factor):
      let text = "capacity at \(Units.text(partsPerMillion: factor))"
      return (text, text)
    case .restart: return ("restart", "restart with an empty queue")
    }
  }
}

extension Shedding {
  fileprivate var keyText: String { key.map { " of \($0)" } ?? "" }
  fileprivate var subject: String { (isByDevice ? "devices" : "requests") + keyText }
}

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
