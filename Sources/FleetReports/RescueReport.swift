import FleetExperiments

/// `report.html` of a search for what ends an ill state: verdict and table.
package enum RescueReport {
  package static func page(
    _ rescue: Rescue, title: String, question: String?, facts: String, command: String, version: String
  ) -> String {
    let verdict = RescueVerdict(rescue)
    let sections =
      HTMLPage.table("What was tried", header: RescueVerdict.header, rows: verdict.rows)
      + HTMLPage.terms([
        (
          "Ill",
          "The fleet holds its load without incidents, and does not come back from them within the run."
        ),
        (
          "Back in",
          "In how many of the seeds that are ill without the action the backlog came back to within 10 % of the twin's, the same "
            + "run without incidents and actions, after the action was over. A value ends the ill state if in all of them."
        ),
        (
          "Undelivered",
          "Events lost, blocked, or pending at the end beyond those of the twin, mean over these seeds: what the ill state and its "
            + "end cost."
        ),
      ])
    return HTMLPage(
      title: title, question: question, verdict: verdict.sentence, facts: facts, sections: sections,
      command: command, version: version
    ).text
  }
}
