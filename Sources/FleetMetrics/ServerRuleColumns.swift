/// The columns of what a server does beyond admission; they stand behind the others.
extension SummaryCSV {
  static let serverRules: [CSVColumn<RunSummary>] = [
    .init("key_limited_requests", "requests", "Of the 429s: refused by a limit of the tenant or device.") {
      .integer($0.keyLimited)
    },
    .init("shed_requests", "requests", "Refused after they had waited in the server's queue for too long.") {
      .integer($0.shed)
    },
    .init("unheard_answers", "answers", "Answers that came after the client had given the upload up.") {
      .integer($0.unheardAnswers)
    },
    .init("lost_answers", "answers", "Of the 2xx: answers that an incident lost.") {
      .integer($0.lostAnswers)
    },
    .init("deduplicated_events", "events", "Of the duplicate events: recognised and not stored again.") {
      .integer($0.deduplicatedEvents)
    },
  ]
}

extension TimeSeriesCSV {
  static let serverRules: [CSVColumn<Interval>] = [
    .init("key_limited_requests", "requests", "Of the 429s: refused by a limit of the tenant or device.") {
      .integer($0.row.keyLimited)
    },
    .init("shed_requests", "requests", "Refused after they had waited in the server's queue for too long.") {
      .integer($0.row.shed)
    },
    .init(
      "unheard_answers", "answers", "Answers that came after the client had given the upload up: wasted work."
    ) {
      .integer($0.row.unheardAnswers)
    },
    .init(
      "lost_answers", "answers", "Of the 2xx: answers that an incident lost, so that the client cannot know."
    ) {
      .integer($0.row.lostAnswers)
    },
    .init(
      "deduplicated_events", "events",
      "Of the duplicate events: recognised by the server and not stored again."
    ) {
      .integer($0.row.deduplicatedEvents)
    },
  ]
}
