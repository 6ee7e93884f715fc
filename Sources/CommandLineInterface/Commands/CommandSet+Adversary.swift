import FleetExperiments
import ScenarioFormat

extension CommandSpecification {
  package static let adversary: CommandSpecification = {
    var command = CommandSpecification(
      name: "adversary",
      abstract: "Find the incident that hurts most, and the shortest that the fleet does not stand.")
    let kinds = AdversaryKind.all
    command.discussion = [
      "Looks within bounds for two incidents. The worst, by an objective. And the boundary: the shortest that breaks a limit in most "
        + "seeds, by default the shortest that the fleet does not come back from. Longer and deeper trivially hurts more; what a "
        + "short incident breaks, it does not explain. One incident is put in the place of the scenario's own, or with --join "
        + "beside them.",
      "Kinds: " + kinds.map { "\($0.name) (\($0.meaning))" }.joined(separator: ", ") + ".",
      "First each kind at its longest and deepest and incidents all over the bounds run with one seed, then neighbours of the worst; "
        + "the worst few get all seeds. What breaks the limit is made shorter, by doubled steps and halves, and then others are "
        + "tried at a length one step (4 %) shorter, where one seed dismisses most. What breaks the limit is taken to do so, too, "
        + "if it lasts longer. Both answers get as many fresh seeds, on which no choice was based. Every incident is watched equally "
        + "long; a fleet that is not back by then is never back, and those are ordered by the events that they leave "
        + "undelivered.",
      "With --out it writes worst.json5 and boundary.json5 (scenarios to run), adversary.csv, report.html and run.json. Every run is "
        + "kept in the journal: a search that was killed goes on where it stood and gives the same answer.",
    ]
    command.arguments = [scenario]
    command.options =
      [
        OptionSpecification(
          "start", value: "lo..hi",
          help: "When it starts, or one time. (default: the second sixth of the run)"),
        OptionSpecification(
          "length", value: "lo..hi",
          help: "How long it lasts. (default: up to a sixth of the run, from a fortieth of that on)"),
        OptionSpecification(
          "kind", value: "a,b,c", .several(of: kinds.map(\.name)),
          help: "What it is. (default: \(AdversaryKind.standard.map(\.name).joined(separator: ",")))"),
        OptionSpecification(
          "depth", value: "lo..hi",
          help: "The share that it takes, where the kind has one. (default: 10%..90%)"),
        OptionSpecification(
          "retry-after", value: "waits",
          help:
            "Retry-After of its answers: none, a span or a range, or with a comma both. (default: none,10s..2m)"
        ),
        OptionSpecification(
          "objective", value: "metric", .one(of: MetricCatalogue.all.map(\.name)),
          help: "The column of summary.csv that the worst is the worst by. (default: "
            + "\(AdversaryStudy.standardObjective), from the incident's end on)"),
        OptionSpecification(
          "limit", value: "metric<=value",
          help:
            "What a run has to keep, as lost_events<=0 or recovery_s<=10m. (default: to be back within the time that every incident "
            + "within the bounds leaves)"),
        OptionSpecification("join", help: "Keep the scenario's own incidents."),
        OptionSpecification(
          "seeds", value: "n",
          help:
            "Seeds that decide on an incident, from the scenario's own on. (default: \(AdversaryStudy.defaultSeeds))"
        ),
        OptionSpecification(
          "runs", value: "n",
          help:
            "Runs at most, not counting twins; at least \(AdversaryStudy.leastRunsPerSeed) a seed. (default: "
            + "\(AdversaryStudy.defaultRuns))"),
        journal,
      ] + searchOptions
    command.examples = [
      Example("fleetsim adversary s.json5 --out out/adversary", "What does this fleet not stand?"),
      Example(
        "fleetsim adversary s.json5 --kind outage --length 1m..30m --limit 'lost_events<=0'",
        "The shortest outage that loses events:"),
    ]
    return command
  }()
}
