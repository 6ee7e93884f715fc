extension CommandSpecification {
  package static let sweep: CommandSpecification = {
    var command = CommandSpecification(
      name: "sweep", abstract: "Run a grid of variants and seeds, on as many machines as there are.")
    command.discussion = [
      "Every combination of the values of --jitter and --vary (or of the scenario's compare section) runs under every "
        + "seed. Each run is kept in --out under a name made from all it depends on: scenario, overrides, seed and version. A "
        + "run that is there is not made again, so the same command continues what was interrupted or killed; with more "
        + "seeds or values it adds to what is there.",
      "With --shard only a part is made, such that the parts together are the whole and share nothing: they may run at once, "
        + "on several machines with a common directory or in directories copied together afterwards. Without it the part "
        + "comes from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX (Kubernetes), AWS_BATCH_JOB_ARRAY_INDEX, or with "
        + "--shards from PARALLEL_SEQ (GNU parallel). 'fleetsim merge' makes tables and report.",
    ]
    command.arguments = [scenario]
    command.options = [
      jitter, vary,
      OptionSpecification(
        "seeds", value: "n", help: "Seeds of each variant, from the scenario's or --seed on. (default: 1)"),
      OptionSpecification(
        "out", value: "dir", help: "Keep plan and runs in this directory; made if need be. (required)"),
      OptionSpecification("shard", value: "i/N", help: "Make part i of N, as 2/4. (default: all)"),
      OptionSpecification(
        "shards", value: "n", help: "How many parts there are, where the job scheduler does not say."),
      seed, settings, set, scale, jobs, threads, memoryLimit, check,
      OptionSpecification("quiet", short: "q", help: "Print the last line alone: no heading or progress."),
    ]
    command.examples = [
      Example(
        "fleetsim sweep scenario.json5 --jitter none,full --seeds 20 --out out/sweep",
        "Forty runs; once more after Ctrl-C, and they go on:"),
      Example(
        "fleetsim sweep scenario.json5 --vary duration=1h,2h --out out/grid --shard 1/4",
        "A quarter of a grid:"),
      Example(
        "seq 4 | parallel fleetsim sweep scenario.json5 --seeds 20 --out out/sweep --shard {}/4",
        "Four processes:"),
    ]
    return command
  }()

  package static let merge: CommandSpecification = {
    var command = CommandSpecification(
      name: "merge", abstract: "Make tables and report of a sweep, or say what is missing.")
    command.discussion = [
      "Writes what compare would have written: the same bytes whatever the parts that the sweep was made in. If runs are "
        + "missing or damaged it names them, writes nothing, and the exit code is 1."
    ]
    command.arguments = [ArgumentSpecification("dir", help: "The directory of the sweep.")]
    command.options = [
      OptionSpecification(
        "partial",
        help: "Leave out the seeds that lack a run, and merge the others; what is missing is still named."),
      OptionSpecification(
        "out", value: "dir", help: "Write the files into this directory. (default: merged, in the sweep's)"),
      OptionSpecification("quiet", short: "q", help: "Print the verdict alone."),
    ]
    command.examples = [Example("fleetsim merge out/sweep", "Files in out/sweep/merged:")]
    return command
  }()
}
