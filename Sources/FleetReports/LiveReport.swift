import FleetExperiments

/// `report.html` of a live run: whether the server did as predicted, the figures, and both runs in one picture.
package enum LiveReport {
  /// - `results`: the measured run, then the predicted one.
  package static func page(
    _ comparison: LiveComparison, results: [VariantResult], title: String, question: String?, verdict: String,
    facts: String, scenarioJSON: String, command: String, version: String
  ) -> String {
    let sections =
      HTMLPage.table("Measured and predicted", header: LiveComparison.header, rows: comparison.rows)
      + HTMLReport.overlays(results)
      + HTMLPage.terms([
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
          "From the least to the most over \(FigureText.count(comparison.seeds, "seed")) of the simulator, "
            + "this one first: what chance alone does. A run with a "
            + "seed of its own would be outside the range of 40 with a chance of 2 in 41, for each figure by itself."
        ),
        ("As predicted", "Within 5 % of the prediction, or within the range of all seeds."),
      ])
    return HTMLPage(
      title: title, question: question, verdict: verdict, facts: facts, sections: sections, command: command,
      scenarioJSON: scenarioJSON, version: version
    ).text
  }
}
