import FleetExperiments

extension CommandSpecification {
  package static let bench: CommandSpecification = {
    var command = CommandSpecification(
      name: "bench", abstract: "Measure what one upload attempt costs, in time and memory.")
    command.discussion = [
      "Runs workloads one after another and prints for each the upload attempts that reached the server, "
        + "the wall time of the run alone by attempt, the most memory that its process had resident, how much of "
        + "that the run took for each device, and the beginning of the SHA-256 of its timeseries.csv, which is the "
        + "same on every machine. The server's capacity grows with the fleet.",
      "Workloads: "
        + BenchmarkWorkload.all.map { "\($0.name) (\($0.meaning))" }.joined(separator: "; ") + ".",
    ]
    command.options = [
      OptionSpecification(
        "devices", value: "n", help: "Devices in the fleet. (default: \(BenchCommand.defaultDevices))"),
      OptionSpecification(
        "only", value: "a,b,c", .several(of: BenchmarkWorkload.all.map(\.name)),
        help: "These workloads alone. (default: all)"),
      OptionSpecification(
        "duration", value: "span", help: "Virtual time of the run, as 2h. (default: each workload's own)"),
      OptionSpecification(
        "repeat", value: "r",
        help: "Run each so often and print medians; all must agree in results. (default: 1)"),
      memoryLimit,
      OptionSpecification(
        "threads", value: "t", help: "Threads that run the devices of a run. (default: 1)"),
      OptionSpecification(
        "timeseries", value: "file",
        help: "Write the time series of the one workload, as run does into timeseries.csv."),
      OptionSpecification(
        "json", help: "Print a JSON array with an object for each workload, digests in full."),
    ]
    command.examples = [
      Example(
        "fleetsim bench",
        "Every workload with \(FigureText.grouped(Int64(BenchCommand.defaultDevices))) devices:"),
      Example(
        "fleetsim bench --only herd-1-150 --devices 1000000 --repeat 5",
        "The reference workload, medians of five:"),
      Example(
        "fleetsim bench --only herd-1-150 --devices 10000000 --threads 2 --timeseries herd.csv",
        "Ten million devices on two threads (1.2 GB), with the time series:"),
    ]
    return command
  }()
}
