import FleetExperiments

/// `report.html` of a search for the incident that hurts most: verdict and table.
package enum AdversaryReport {
  package static func page(
    _ result: AdversaryResult, title: String, question: String?, facts: String, command: String,
    version: String
  ) -> String {
    let verdict = AdversaryVerdict(result)
    let sections =
      HTMLPage.table("The incidents", header: verdict.header, rows: verdict.rows)
      + HTMLPage.terms([
        (
          "Boundary",
          "The shortest incident found that breaks the limit in more than half of its seeds; below: the same, a step of at most "
            + "4 % shorter. It was chosen by half of the seeds; the others are there to confirm it."
        ),
        (
          "Worst",
          "By the objective, in the mean over the seeds. A time from the end of the incident on is watched equally long of all "
            + "incidents; those that are never back are ordered by the events that they leave undelivered."
        ),
        (
          "Undelivered",
          "Events lost, blocked, or pending at the end beyond those of the twin, the same run without incidents; mean over the seeds."
        ),
      ])
    return HTMLPage(
      title: title, question: question, verdict: verdict.lines.joined(separator: "\n"), facts: facts,
      sections: sections, command: command, version: version
    ).text
  }
}
