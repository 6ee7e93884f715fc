import Conformance
import ScenarioModel
import UploadRetry

/// The commands of fleetsim and their help.
extension CommandSpecification {
  package static let fleetsim: CommandSpecification = {
    var command = CommandSpecification(
      name: "fleetsim",
      abstract: "Simulates a fleet of analytics clients that retry against an overloaded tracking endpoint.")
    command.discussion = [
      "A scenario file says who the clients are, what the server can take and what goes wrong; fleetsim runs it on a "
        + "virtual clock. The same scenario and seed give the same bytes in every CSV file."
    ]
    command.subcommands = commands + [help]
    command.examples = [
      Example(
        "fleetsim validate scenario.json5", "Check a scenario and see its normal load against the capacity:"),
      Example(
        "fleetsim compare scenario.json5 --jitter additive:10,full,equal --out out/jitter",
        "Which jitter brings the fleet back best?"),
    ]
    return command
  }()

  private static let commands = [
    initialise, run, compare, explore, sweep, merge, checkBaseline, tune, calibrate, stability, rescue,
    adversary, live, validate, schema, trace, presets, conformance, bench, completions, manual,
  ]

  package static let initialise: CommandSpecification = {
    var command = CommandSpecification(
      name: "init", abstract: "Write a scenario of your own fleet to begin with.")
    command.discussion = [
      "Writes a commented scenario with an evening's peak, an outage, a rate limit and something to compare, and Settings beside "
        + "it, and says what to do next. What is not given is asked for on a terminal. Files that are there stay as they are."
    ]
    command.arguments = [
      ArgumentSpecification(
        "scenario", help: "The file to write. (default: \(InitCommand.defaultPath))", isOptional: true)
    ]
    command.options = InitCommand.Option.allCases.map(\.specification)
    command.examples = [
      Example(
        "fleetsim init --client segment-swift --devices 3M --events 30/h --capacity 60000/s",
        "Three million phones with analytics-swift:")
    ]
    return command
  }()

  package static let run: CommandSpecification = {
    var command = CommandSpecification(name: "run", abstract: "Run one scenario and say how its fleet fared.")
    command.discussion = [
      "Runs the scenario and, beside it, its twin without incidents: recovery is measured against the twin. Prints a "
        + "table and a verdict. Files are written only with --out: timeseries.csv, summary.csv, "
        + "delivery_histogram.csv, report.html and run.json."
    ]
    command.arguments = [scenario]
    command.options = [
      seed, settings, set, scale, out, twinSeries, openMetrics, jobs, threads, memoryLimit, check, json,
      quiet,
    ]
    command.examples = [
      Example("fleetsim run scenario.json5", "Print how the fleet fares:"),
      Example(
        "fleetsim run scenario.json5 --set tapi.bucket.capacity=2000/s --seed 7 --out out/half",
        "Half the capacity, another seed, and files to look into:"),
    ]
    return command
  }()

  package static let compare: CommandSpecification = {
    var command = CommandSpecification(
      name: "compare", abstract: "Run variants of a scenario side by side and say which is best.")
    command.discussion = [
      "What varies comes from --client, --jitter and --vary (every combination of their values), or without them from the "
        + "scenario's compare section. All variants see the same events at the same times. With --out there is a "
        + "folder for each variant (timeseries.csv, delivery_histogram.csv) beside summary.csv, report.html, "
        + "comparison.svg and run.json.",
      "With --seeds or --precision every variant runs with several seeds, the same ones for all (the scenario's seed, "
        + "the next one and so on), and the result says how sure it is: means with 95 % intervals, paired differences "
        + "to the first variant, ranks with ties. With --out it writes statistics.csv, differences.csv, "
        + "replications.csv (a row of summary.csv for each run), curves.csv (mean curves), report.html, comparison.svg and run.json.",
    ]
    command.arguments = [scenario]
    command.options = [
      client, jitter, vary,
      OptionSpecification("seeds", value: "n", help: "Run every variant with n seeds, from 2."),
      OptionSpecification(
        "precision", value: "p", isRepeatable: true,
        help:
          "Run seeds, at least 10, until the means are this precise with 95 % confidence: 2% asks it of recovery_s, "
          + "affected_delivery_p99_s and attempts_mean_per_device_day; recovery_s=10 or lost_events=5% of one column "
          + "of summary.csv, in its unit or as a share."),
      OptionSpecification(
        "risk", value: "share",
        help:
          "With --precision: go on until it is known within this share how many of the runs never recover; 5% takes 73 "
          + "seeds where all recover, 100% asks nothing. (default: 5%)"),
      OptionSpecification(
        "max-seeds", value: "n",
        help: "The most seeds for --precision. (default: \(ReplicationRequest.defaultMaximum))"),
      seed, settings, set, scale, out, twinSeries, openMetrics, jobs, threads, memoryLimit, check, json,
      quiet,
    ]
    command.examples = [
      Example("fleetsim compare scenario.json5", "What the scenario's compare section says:"),
      Example(
        "fleetsim compare scenario.json5 --jitter none,full,full+clamp --settings cdn.json",
        "Three strategies on the Settings file that the CDN serves:"),
      Example(
        "fleetsim compare scenario.json5 --jitter none,full --vary fleet.phones.retries=gate,timer",
        "Every combination, four variants:"),
      Example(
        "fleetsim compare scenario.json5 --jitter additive:10,full --precision 2%",
        "How much better, and how sure is it?"),
    ]
    return command
  }()

  package static let explore: CommandSpecification = {
    var command = CommandSpecification(
      name: "explore", abstract: "Make a page in which controls choose between the runs of a grid.")
    command.discussion = [
      "Runs every combination of what varies, as compare does, and writes explore.html: one self-contained page with a slider or "
        + "a choice for each key, charts that follow, and two runs pinned side by side. Its address holds the choice. At most "
        + "\(ExploreCommand.mostRuns) runs; summary.csv and run.json are beside it."
    ]
    command.arguments = [scenario]
    command.options = [
      client, jitter, vary,
      OptionSpecification("seeds", value: "n", help: "Show means over n seeds, from 2. (default: one seed)"),
      seed, settings, set, scale, out, jobs, threads, memoryLimit, check, quiet,
    ]
    command.examples = [
      Example(
        "fleetsim explore scenario.json5 --vary tapi.bucket.capacity=800/s,1000/s,1200/s --jitter none,full --out out/explore",
        "What do capacity and jitter do together?")
    ]
    return command
  }()

  package static let validate: CommandSpecification = {
    var command = CommandSpecification(
      name: "validate", abstract: "Check a scenario without running it, or Settings for a client.")
    command.discussion = [
      "Reports every problem at once, one a line, as file:line: path: what is wrong and what is allowed. Of a valid "
        + "scenario it shows the fleet, its normal load against the server's capacity, the memory that a run takes, and every "
        + "key in which a cohort differs from its client preset.",
      "With --client and --settings, and without a scenario, it says what that client makes of the Settings: which values "
        + "end the app's process, lose data, make the client ignore or reset the others, mean something else than in the "
        + "document or are not read, and where in the SDK's source that is to be seen. The exit code is 1 if it is one of "
        + "the first four.",
    ]
    command.arguments = [
      ArgumentSpecification(
        "scenario", help: "The scenario file (JSON5). (none with --client)", isOptional: true)
    ]
    command.options = [
      OptionSpecification(
        "client", value: "preset",
        help:
          "Check the Settings file as this client reads it: \(ClientPreset.names.joined(separator: ", "))."
      ),
      settings, set, scale, json,
      OptionSpecification(
        "quiet", short: "q",
        help: "Print nothing about a valid scenario but warnings, and of a client nothing but findings."),
    ]
    command.examples = [
      Example("fleetsim validate scenario.json5 --settings cdn.json", "With another Settings file:"),
      Example(
        "fleetsim validate --settings cdn.json --client segment-swift",
        "What does a shipped client make of the file that the CDN serves?"),
    ]
    return command
  }()

  package static let schema: CommandSpecification = {
    var command = CommandSpecification(
      name: "schema", abstract: "Print the JSON Schema of a scenario, for editors, or of what --json prints.")
    command.discussion = [
      "Of a scenario: every key with what it means, what is allowed and what it is by default, as JSON Schema (draft 2020-12): an editor that "
        + "is given it completes a scenario and checks it. 'fleetsim help scenario' has the same for readers."
    ]
    command.arguments = [
      ArgumentSpecification(
        "what",
        help:
          "scenario, or json: the documents that commands print with --json ('fleetsim help json' has them for readers). "
          + "(default: scenario)",
        isOptional: true)
    ]
    command.examples = [
      Example("fleetsim schema > scenario.schema.json", "Into a file, to be named in the editor's settings:"),
      Example("fleetsim schema json > fleetsim.schema.json", "What a program may expect of --json:"),
    ]
    return command
  }()

  package static let presets: CommandSpecification = {
    var command = CommandSpecification(
      name: "presets", abstract: "Show the client presets and where they differ.")
    command.discussion = [
      "Prints every switch in which clients differ, side by side as a Markdown table, with the requirement that it "
        + "belongs to. A value that is not the document's is marked. With a name it prints that preset alone, with "
        + "what each switch means, may be and is taken from; so it does of a client file. "
        + "A scenario takes a preset by client: in a cohort and changes single switches by policy:."
    ]
    command.arguments = [
      ArgumentSpecification(
        "name", .one(of: ClientPreset.names),
        help: ClientPreset.names.joined(separator: ", ") + ", or a client file. (default: all)",
        isOptional: true)
    ]
    command.options = [json]
    command.examples = [
      Example("fleetsim presets", "All clients side by side:"),
      Example("fleetsim presets segment-swift", "One, explained:"),
    ]
    return command
  }()

  package static let trace: CommandSpecification = {
    var command = CommandSpecification(
      name: "trace", abstract: "Follow one device of a scenario step by step.")
    command.discussion = [
      "Runs the whole fleet, because the other devices decide how the server fares, and tells of one device: flushes "
        + "and what they seal, sends with their X-Retry-Count, answers and time-outs, the backoffs drawn, the "
        + "pipeline's READY and WAITING, drops, and how many events it holds. The same command gives the same "
        + "bytes."
    ]
    command.arguments = [scenario]
    command.options = [
      OptionSpecification(
        "device", value: "n", help: "Its number, from 0, over all cohorts in their order. (required)"),
      OptionSpecification(
        "format", value: "format", .one(of: TraceCommand.Format.allCases.map(\.rawValue)),
        help: "text, or perfetto: Chrome trace event JSON for a trace viewer. (default: text)"),
      OptionSpecification(
        "from", value: "time", help: "Text only: show what happens from here on, as 20m or 0:20:00."),
      OptionSpecification("to", value: "time", help: "Text only: show what happens before this time."),
      seed, settings, set, memoryLimit,
      OptionSpecification(
        "out", value: "file",
        help: "Write into this file; a trace that fleetsim wrote before is replaced. (default: print)"),
    ]
    command.examples = [
      Example(
        "fleetsim trace scenario.json5 --device 7 --from 20m --to 30m", "Ten minutes of the eighth device:"),
      Example(
        "fleetsim trace scenario.json5 --device 7 --format perfetto --out device.json",
        "The same device in a trace viewer, as ui.perfetto.dev:"),
    ]
    return command
  }()

  package static let conformance: CommandSpecification = {
    var command = CommandSpecification(
      name: "conformance", abstract: "Run conformance vectors: does a client behave as the document says?")
    command.discussion = [
      "A vector gives Settings, a state and what happens step by step, and says what a client must do: what it sends "
        + "in which order, how long it waits, what it drops. Any SDK can run them; here they run against fleetsim's "
        + "own client. Without files the built-in vectors run. Prints passed, failed and deviating cases for each "
        + "requirement, and the reason for each deviation that a vector expects of the client. The exit code is 1 "
        + "if a case fails."
    ]
    command.arguments = [
      ArgumentSpecification(
        "file", help: "Vector files (JSON). (default: the built-in vectors)", isOptional: true,
        isRepeatable: true)
    ]
    command.options = [
      OptionSpecification(
        "client", value: "preset",
        help:
          "The client to test: \(ConformanceClient.allNames.joined(separator: ", ")). (default: the one that each file names, or "
          + "tapi-document)"),
      json,
    ]
    command.examples = [
      Example("fleetsim conformance", "Every built-in vector against the document's own client:"),
      Example("fleetsim conformance --client segment-swift", "Where a shipped client differs, and why:"),
      Example("fleetsim conformance my-vectors.json", "Vectors of your own:"),
    ]
    return command
  }()

  package static let completions: CommandSpecification = {
    var command = CommandSpecification(
      name: "completions", abstract: "Print what makes a shell complete commands, options and values.")
    command.arguments = [
      ArgumentSpecification(
        "shell", .one(of: CompletionScript.allCases.map(\.rawValue)),
        help: CompletionScript.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    ]
    command.examples = [
      Example("source <(fleetsim completions bash)", "In this shell, or from ~/.bashrc in each:"),
      Example("fleetsim completions zsh > ~/.zfunc/_fleetsim", "Into a folder of zsh's fpath:"),
      Example("fleetsim completions fish > ~/.config/fish/completions/fleetsim.fish", "For fish:"),
    ]
    return command
  }()

  package static let manual: CommandSpecification = {
    var command = CommandSpecification(
      name: "man", abstract: "Print the manual page, for man(1).")
    command.examples = [
      Example("fleetsim man > ~/.local/share/man/man1/fleetsim.1", "Where man finds it:"),
      Example("fleetsim man | man -l -", "To read it now, with man-db:"),
    ]
    return command
  }()

  /// Every topic of `fleetsim help`.
  static let helpTopics =
    commands.map(\.name) + [
      ExitCode.topic, CommandLineTool.columnsTopic, CommandLineTool.scenarioTopic, CommandLineTool.jsonTopic,
    ]

  package static let help: CommandSpecification = {
    var command = CommandSpecification(
      name: "help",
      abstract: "Show help for a command, for exit-codes, for columns, for scenario or for json.")
    command.arguments = [
      ArgumentSpecification(
        "topic", .one(of: helpTopics),
        help: "\(helpTopics.dropLast().joined(separator: ", ")) or \(helpTopics.last!).", isOptional: true)
    ]
    return command
  }()

  static let scenario = ArgumentSpecification("scenario", help: "The scenario file (JSON5).")

  static let client = OptionSpecification(
    "client", value: "a,b,c", .several(of: ClientPreset.names),
    help: "Clients to compare, for every cohort: names that fleetsim presets lists, or client files.")
  static let jitter = OptionSpecification(
    "jitter", value: "a,b,c", .several(of: Jitter.examples),
    help:
      "Jitter strategies to compare: \(Jitter.names.joined(separator: ", ")). With +clamp behind a name, "
      + "backoff plus jitter is clamped to the cap again, as shipped clients do.")
  static let vary = OptionSpecification(
    "vary", value: "path=a,b,c", isRepeatable: true,
    help: "Values to compare for a key of the scenario, as tapi.bucket.capacity=2000/s,4000/s.")
  static let seed = OptionSpecification(
    "seed", value: "n", help: "Seed of all randomness, 0 to 2^64-1, in place of the scenario's.")
  static let settings = OptionSpecification(
    "settings", value: "file", help: "Settings JSON for every cohort, in place of the scenario's.")
  static let set = OptionSpecification(
    "set", value: "path=value", isRepeatable: true,
    help: "Set a key of the scenario, as duration=1h or fleet.phones.timeout=30s. Later ones win.")
  static let scale = OptionSpecification(
    "scale", value: "1:n",
    help:
      "The scenario at a part of its size: devices, capacity and limits divided by n, the burst not below 20 tokens. Refused "
      + "where so few are left that chance decides.")
  static let out = OptionSpecification(
    "out", value: "dir",
    help: "Write the files into this directory, all or none; one that fleetsim wrote before is replaced. "
      + "(default: no files)")
  static let journal = OptionSpecification(
    "journal", value: "dir",
    help: "Where finished runs are kept. (default: beside --out, with .journal behind)")
  static let twinSeries = OptionSpecification(
    "twin-series",
    help: "With --out: write twin_timeseries.csv, the run without its incidents, beside timeseries.csv.")
  static let openMetrics = OptionSpecification(
    "openmetrics",
    help:
      "With --out: write timeseries.openmetrics, the series of every run as text that Prometheus can backfill."
  )
  static let jobs = OptionSpecification(
    "jobs", value: "n", help: "Runs at a time. (default: one per core)")
  static let threads = OptionSpecification(
    "threads", value: "t",
    help:
      "Threads that run the devices of each run; nothing in the results depends on it. (default: 1, or one per "
      + "core for a large fleet when --jobs is 1)")
  static let memoryLimit = OptionSpecification(
    "memory-limit", value: "size",
    help:
      "Refuse a run that is expected to need more, as 20GiB; none: whatever it needs. (default: what the machine has)"
  )
  static let check = OptionSpecification(
    "check", help: "Check the model against itself while it runs; slower.")
  static let json = OptionSpecification(
    "json",
    help:
      "Print one JSON document in place of tables and sentences, as 'fleetsim help json' describes it.")
  static let quiet = OptionSpecification(
    "quiet", short: "q", help: "Print the verdict alone: no heading, progress or table.")
}
