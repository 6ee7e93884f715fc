extension CommandSpecification {
  package static let checkBaseline: CommandSpecification = {
    var command = CommandSpecification(
      name: "check", abstract: "Check scenarios against a recorded baseline: a regression test for CI.")
    command.discussion = [
      "Runs each scenario (without its compare section) under the seeds of its baseline and compares every metric of "
        + "summary.csv, seed by seed, with what was recorded. Prints what moved and by how much; the exit code is 1 if a "
        + "metric is worse than its tolerance allows.",
      "A tolerance stands beside each metric in the baseline, to be edited and kept by --record: \"notSignificantlyWorse\" "
        + "(worse by more than 1 % of the recorded mean, and beyond chance: a paired t test over the seeds, with Holm's "
        + "adjustment, the verdict's metrics first), { \"relative\": 0.05 } or { \"absolute\": 10 } for the mean, or "
        + "\"informational\" (told, never judged), which metrics without a better direction have.",
    ]
    command.arguments = [
      ArgumentSpecification("scenario", help: "Scenario files (JSON5).", isRepeatable: true)
    ]
    command.options = [
      OptionSpecification(
        "baseline", value: "file", help: "The baseline. (default: baseline.json beside each scenario)"),
      OptionSpecification("record", help: "Write what the scenarios give into the baseline."),
      OptionSpecification(
        "seeds", value: "n", help: "Seeds to record, from the scenario's on. (default: as before, or 10)"),
      OptionSpecification(
        "set", value: "path=value", isRepeatable: true,
        help:
          "Set a key of the scenario. With --record it becomes part of the baseline, as --scale does."
      ),
      scale,
      OptionSpecification(
        "format", value: "format", .one(of: CheckRequest.Format.allCases.map(\.rawValue)),
        help: "text, github (annotations of GitHub Actions), junit (XML) or json, as --json. (default: text)"),
      jobs, memoryLimit, check, json,
      OptionSpecification("quiet", short: "q", help: "Print what became worse, and one line a scenario."),
    ]
    command.examples = [
      Example(
        "fleetsim check my.json5 --record --scale 1:20",
        "Record a small version of a scenario that gives the same answer:"),
      Example("fleetsim check scenario.json5", "Is it still as good?"),
      Example(
        "fleetsim check scenario.json5 --set settings.backoffConfig.jitterStrategy=none",
        "What would these Settings change?"),
    ]
    return command
  }()
}
