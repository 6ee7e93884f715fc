import FleetExperiments

extension CommandSpecification {
  /// What every search has beside options of its own.
  static let searchOptions = [seed, settings, set, scale, out, jobs, memoryLimit, json, quiet]

  package static let tune: CommandSpecification = {
    var command = CommandSpecification(
      name: "tune", abstract: "Search for better Settings that hold in several scenarios at once.")
    command.discussion = [
      "Races candidates against today's Settings (the scenarios' own, or --settings) under the same seeds: some are spread "
        + "over the search space, others lie round the best so far; the worse ones stop early, a few finalists get all "
        + "seeds, and the whole of a large fleet. The score is the geometric mean of the objectives divided by today's. Recommended is the best "
        + "finalist that keeps every constraint in every run, that in each scenario recovers more often than today's, or as often "
        + "with a score at most 5 % worse, and that in none delivers less or is worse than today's by compare's verdict. "
        + "Then each changed key is put back to see what it buys; one that makes no difference stays as it is. "
        + "The verdict's figures are from as many fresh seeds; what these do not confirm is not recommended.",
      "With --uncertain each seed is a draw of what is not known, the same for all candidates. "
        + "The best \(TuneStudy.racing) race, more draws going where a wrong choice is most probable, until "
        + "the choice is 95 % sure. The verdict says how sure it is, in how many fresh draws the recommended Settings are "
        + "the best or within 5 % of it, which unknown decides, and what they cost in the worst tenth of the draws.",
      "With --out it writes, if there is something to recommend, settings.json (as the CDN serves it), "
        + "settings-document.json (the document's shape), "
        + "pareto.csv, pareto.svg, with --uncertain draws.csv and draws.svg, report.html and run.json. "
        + "Every run is kept in the journal: a search that was killed "
        + "goes on where it stood and gives the same answer. A budget in runs gives the same answer everywhere; a budget in "
        + "time depends on the machine, but not once its journal has begun.",
    ]
    command.arguments = [
      ArgumentSpecification("scenario", help: "Scenario files (JSON5).", isRepeatable: true)
    ]
    command.options =
      [
        OptionSpecification(
          "search", value: "path=values", isRepeatable: true,
          help:
            "A key of Settings and its values: lo..hi:step, lo..hi:log (\(SearchParameter.defaultSteps + 1) values in "
            + "even ratios), lo..hi (the same, even) or a,b,c."),
        OptionSpecification(
          "space", value: "file",
          help:
            "Search space as JSON5: { search: { path: \"lo..hi:log\" or [a, b] }, objectives: [...], constraints: [...], "
            + "uncertain: { path: \"lo..hi\" } }."
        ),
        OptionSpecification(
          "objective", value: "metric", .one(of: MetricCatalogue.all.map(\.name)), isRepeatable: true,
          help:
            "A column of summary.csv to improve, with :weight behind it if it counts more or less. (default: "
            + "\(TuneObjective.standard.map(\.metric.name).joined(separator: ", ")))"),
        OptionSpecification(
          "constraint", value: "metric<=value", isRepeatable: true,
          help: "What every run must keep, as lost_events<=0 or recovery_s<=20m; to recover is always one."),
        OptionSpecification(
          "allow-loss", value: "share",
          help:
            "Share of the events created that may be undelivered beyond today's, in each scenario, as 0.1%. (default: none)"
        ),
        OptionSpecification(
          "across", value: "how", .one(of: TuneStudy.Across.allCases.map(\.rawValue)),
          help: "The score over several scenarios: their mean, or that of the worst. (default: mean)"),
        OptionSpecification(
          "client", value: "preset",
          help:
            "Search only keys that this client reads. (default: those that a client of the scenarios reads)"
        ),
        OptionSpecification(
          "uncertain", value: "what", isRepeatable: true,
          help:
            "A key of the scenarios that is not known: path=lo..hi (even; :log behind it: in ratios), path=lo..mode..hi "
            + "(triangular), or a CSV file with a column for each path and a row for each joint draw, as calibrate writes."
        ),
        OptionSpecification("all-keys", help: "Search keys, too, that no such client reads."),
        OptionSpecification(
          "seeds", value: "n",
          help:
            "Seeds of the finalists, from each scenario's own on; with --uncertain draws at most. (default: "
            + "\(TuneStudy.defaultSeeds), with --uncertain \(TuneStudy.defaultDraws))"),
        OptionSpecification(
          "race-scale", value: "1:k",
          help:
            "Candidates race on this part of the fleets; finalists, and all that is said of them, have the whole. (default: the "
            + "smallest of at least \(TuneStudy.raceDevices) devices that keeps its answer, as with --scale)"),
        OptionSpecification(
          "budget", value: "budget",
          help: "Runs at most, as 2000, not counting twins; or about so much time, as 20m. (default: "
            + "\(TuneStudy.defaultCandidates) candidates)"),
        journal,
      ] + searchOptions
    command.examples = [
      Example(
        "fleetsim tune short.json5 long.json5 --settings cdn.json --space space.json5 --out out/tuned",
        "What should the CDN serve?"),
      Example(
        "fleetsim tune s.json5 --space space.json5 --uncertain tapi.bucket.capacity=1000/s..1600/s",
        "And if the capacity is not known?"),
    ]
    return command
  }()

  package static let stability: CommandSpecification = {
    var command = CommandSpecification(
      name: "stability", abstract: "Map over two parameters where the fleet recovers and where it never does."
    )
    command.discussion = [
      "Runs a coarse grid over the two ranges, each point with its twin without incidents, and refines it where "
        + "neighbouring points differ in whether most of their runs recover, at a fraction of the runs of a full grid. What is "
        + "smaller than a cell of the coarse grid and touches none of its corners stays unseen. Never recovers means: not within "
        + "the run; --after gives every point the same time.",
      "A point recovers if it does in more than 1 - risk of the seeds, with 95 % confidence (Wilson's interval); it never does if "
        + "in less than the risk; else it is undecided, and the cliff is named only where it is decided. Every point gets a few "
        + "seeds, which decide where it and its neighbours all agree; more are spent near the cliff. A risk of 20 % takes 4 seeds "
        + "everywhere and 16 to 32 near the cliff, 10 % takes 9 and 35 to 70, 5 % takes 19 and 73 to 146: about 1,000, 2,200 and "
        + "4,500 runs of an ordinary map.",
      "With --out it writes stability.csv, stability.svg, report.html and run.json.",
    ]
    command.arguments = [scenario]
    command.options =
      [
        OptionSpecification(
          "x", value: "path=lo..hi",
          help: "The first parameter, any key that holds a number, share, rate, span or size, as "
            + "tapi.bucket.capacity=500/s..2000/s; with :log behind it in even ratios. (required)"),
        OptionSpecification(
          "y", value: "path=lo..hi",
          help: "The second, as tapi.incidents.0.for=1m..30m. (required)"),
        OptionSpecification(
          "resolution", value: "n", help: "Cells along each axis where the cliff is. (default: 16)"),
        OptionSpecification("coarse", value: "n", help: "Cells along each axis to begin with. (default: 4)"),
        OptionSpecification(
          "seeds", value: "n",
          help:
            "Runs of a point at most, with as many seeds from the scenario's on. With fewer than the risk takes, points stay "
            + "undecided. (default: what the risk takes)"),
        OptionSpecification(
          "risk", value: "share",
          help:
            "The chance not to recover that is put up with, 1% to 50%; a quarter of it takes more than four times the runs. (default: 20%)"
        ),
        OptionSpecification(
          "after", value: "span",
          help: "End every run so long after its last incident. (default: the scenario's duration)"),
      ] + searchOptions
    command.examples = [
      Example(
        "fleetsim stability s.json5 --x tapi.bucket.capacity=500/s..900/s --y tapi.incidents.0.for=1m..9m",
        "How long an outage may be, by capacity:")
    ]
    return command
  }()
}
