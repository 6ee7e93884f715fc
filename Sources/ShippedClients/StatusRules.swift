import UploadRetry

/// What Settings say of statuses in the shipped SDKs: overrides, and three behaviours for what they do not name.
struct StatusRules {
  /// What all three have built in.
  static let builtIn: [Int: StatusAction] = [
    408: .retry, 410: .retry, 429: .retry, 460: .retry, 501: .drop, 505: .drop,
  ]

  var overrides = builtIn
  var default4xx = StatusAction.drop
  var default5xx = StatusAction.retry
  /// Everything that is neither 2xx nor 4xx nor 5xx.
  var unknown = StatusAction.drop

  /// A status that is no 2xx. 511 is a 5xx like any other.
  func action(for status: Int) -> StatusAction {
    if let action = overrides[status] { return action }
    switch status {
    case 400...499: return default4xx
    case 500...599: return default5xx
    default: return unknown
    }
  }

  /// - Parameter heedsRateLimited: whether the client asks them about a 429 as well.
  func table(heedsRateLimited: Bool) -> StatusTable {
    var table = StatusTable(everything: unknown)
    for status in 100...599 { table.set(action(for: status), for: status) }
    table.dropsRateLimited = heedsRateLimited && action(for: 429) == .drop
    return table
  }

  /// The statuses built in, 429 aside, that given overrides leave out and thereby change: `408, 410, 460 are dropped and 501 is
  /// retried`; nil: none.
  var changedByReplacing: String? {
    var clauses: [String] = []
    for (action, verb) in [(StatusAction.drop, "dropped"), (.retry, "retried")] {
      let statuses = Self.builtIn.filter { status, standard in
        status != 429 && overrides[status] == nil && standard != action && self.action(for: status) == action
      }.keys.sorted()
      guard !statuses.isEmpty else { continue }
      let list = statuses.map(String.init).joined(separator: ", ")
      clauses.append("\(list) \(statuses.count == 1 ? "is" : "are") \(verb)")
    }
    return clauses.isEmpty ? nil : clauses.joined(separator: " and ")
  }
}
