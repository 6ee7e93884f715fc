import FleetExperiments
import FleetMetrics

extension Rescue {
  /// The smallest action that ends an ill state, and what was tried.
  package func answer(facts: String) -> Answer {
    var answer = Answer(verdict: RescueVerdict(self).sentence, facts: facts)
    let shown = TextTable(table)
    answer.terminal = [.table(shown), .verdict]
    answer.page = [
      .table(shown, title: "What was tried"),
      .terms([
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
      ]),
    ]
    answer.data = [OutputFile(OutputFile.rescue, table.csv)]
    answer.listing = [OutputFile.report, OutputFile.rescue, OutputFile.manifest]
    answer.offer = "the table and a report"
    return answer
  }
}

extension AdversaryResult {
  /// The incident that hurts most, and the shortest that breaks the limit.
  package func answer(facts: String) -> Answer {
    let verdict = AdversaryVerdict(self)
    var answer = Answer(
      verdict: verdict.lines.joined(separator: "\n"), brief: verdict.lines[0], facts: facts)
    let shown = TextTable(verdict.table)
    answer.terminal = shown.rows.isEmpty ? [.verdict] : [.verdict, .table(shown)]
    answer.page = [
      .table(shown, title: "The incidents"),
      .terms([
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
      ]),
    ]
    func scenario(_ name: String, _ found: ConfirmedIncident?, _ line: String?) -> [OutputFile] {
      guard let found, let line else { return [] }
      let scenario = study.space.scenario(found.standing.candidate)
      return [OutputFile(name, text: "// \(line)\n\(scenario.normalisedJSON)")]
    }
    answer.data =
      [OutputFile(OutputFile.adversary, CSVFile.bytes(AdversaryRow.columns, AdversaryRow.rows(self)))]
      + scenario(OutputFile.boundary, boundary, verdict.lines.first)
      + scenario(OutputFile.worst, worst, verdict.lines.last)
    answer.offer = "the incidents as scenarios, the table and a report"
    return answer
  }
}

extension LiveComparison {
  /// Whether a real server did as predicted, and both runs in one picture.
  /// - Parameters:
  ///   - verdict: that of a run that was stopped is another than the comparison's.
  ///   - results: the measured run, then the predicted one.
  ///   - folder: where the files of the prediction go.
  package func answer(
    verdict: String, facts: String, results: [VariantResult], predictedIn folder: String
  ) -> Answer {
    var answer = Answer(verdict: verdict, facts: facts)
    let summary = results[0].summary
    func count(_ events: Int64) -> String { FigureText.grouped(events) }
    let events =
      "Events: \(count(summary[.createdEvents])) created, of which \(count(summary[.deliveredEvents])) delivered, "
      + "\(count(summary.lostEvents)) lost, \(count(summary.openEvents)) on devices or on their way.\n"
    let shown = TextTable(table)
    answer.terminal = (figures.isEmpty ? [] : [.table(shown)]) + [.verdict, .text(events)]
    answer.page = [
      .table(shown, title: "Measured and predicted"),
      .html(Compared.whole(results).overlays),
      .terms([
        (
          "Measured",
          "The scenario's clients against a real server, by the requests that they made and the answers that came."
        ),
        (
          "Predicted",
          "The same scenario and seed in the simulator, where the server is what the scenario says of it."
        ),
        (
          "Of all seeds",
          "From the least to the most over \(FigureText.count(seeds, "seed")) of the simulator, "
            + "this one first: what chance alone does. A run with a "
            + "seed of its own would be outside the range of 40 with a chance of 2 in 41, for each figure by itself."
        ),
        ("As predicted", "Within 5 % of the prediction, or within the range of all seeds."),
      ]),
    ]
    answer.listing = [
      OutputFile.report, OutputFile.live, OutputFile.summary, OutputFile.timeSeries, OutputFile.deliveries,
      "\(OutputFile.manifest); the prediction in \(folder)",
    ]
    return answer
  }
}
