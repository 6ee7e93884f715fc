import FleetExperiments

extension CommandSpecification {
  package static let rescue: CommandSpecification = {
    var command = CommandSpecification(
      name: "rescue", abstract: "Find the smallest action that ends an ill state, and what it costs.")
    let kinds = RescueAction.Kind.allCases
    command.discussion = [
      "Looks for "
        + kinds.map { "\($0.quantity) (\($0.rawValue))" }.joined(separator: ", ")
        + " that brings back a fleet which does not recover by itself, to a thirty-second of the range, by bisection.",
      "First the seeds are run without the action; those whose fleet holds without incidents and does not recover with them are "
        + "ill. A value ends the ill state if the fleet recovers in every ill seed, after the action is over. Too much can be as bad as "
        + "too little, so where the largest value does not end it, the middle is tried, then the quarters, and so on; what lies between "
        + "two values that end it is taken to end it too. --every tries all 33 values instead. The cost is in delivered events: lost, "
        + "blocked, or late beyond those of a fleet that was never ill.",
      "With --out it writes rescue.csv, report.html and run.json.",
    ]
    command.arguments = [scenario]
    command.options =
      [
        OptionSpecification(
          "action", value: "kind", .one(of: kinds.map(\.rawValue)),
          help: "What is done: \(kinds.map(\.rawValue).joined(separator: ", ")). (required)"),
        OptionSpecification(
          "range", value: "lo..hi",
          help: "Values to look at. (default: "
            + kinds.map { "\($0.rawValue) \($0.range)" }.joined(separator: ", ")
            + ", where there is room for it)"),
        OptionSpecification(
          "at", value: "span",
          help: "When. (default: 10m after the last incident, or a quarter of what is left then)"),
        OptionSpecification(
          "for", value: "span",
          help:
            "How long a share is shed, or the capacity there. (default: 10m, or a quarter of what is left)"),
        OptionSpecification(
          "key", value: "writeKey", help: "Shed or readmit the requests with this write key alone."),
        OptionSpecification(
          "by", value: "what", .one(of: ["request", "device"]),
          help: "Whether a share is one of requests, or of devices, always the same. (default: request)"),
        OptionSpecification(
          "seeds", value: "n",
          help: "Seeds, from the scenario's own on. (default: \(RescueCommand.defaultSeeds))"),
        OptionSpecification("every", help: "Try every value in place of bisection."),
      ] + searchOptions
    command.examples = [
      Example(
        "fleetsim rescue s.json5 --action shed --at 25m",
        "Which share of the requests has to be turned away for ten minutes?")
    ]
    return command
  }()
}
