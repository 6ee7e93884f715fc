import FleetExperiments

extension CommandSpecification {
  package static let live: CommandSpecification = {
    var command = CommandSpecification(
      name: "live", abstract: "Run the scenario's clients against a real server on this machine.")
    command.discussion = [
      "The same client modules, the same scenario and the same draws as in a simulated run, but each upload is an HTTP request, and "
        + "the server's answers are what they are. First the simulator predicts the run, for this seed and for others; then the "
        + "run is made on the wall clock, and the result says where the server did as predicted and where not. What the scenario says "
        + "of the server is the prediction's alone: an outage has to be made at the server, by the command of --on-incident.",
      "Uploads go to addresses of this machine only (127.0.0.0/8 and ::1), each once and on a connection of its own: POST with "
        + "Authorization, X-Retry-Count and a JSON batch. Status, Retry-After, silence and refused connections are the clients' to "
        + "handle. With --speed 20 a virtual second is a twentieth of a second: the server's limits have to be 20 times as high, "
        + "and a Retry-After in seconds means virtual ones.",
      "With --out it writes what run writes, of the measured run, and live.csv; the prediction is in the folder predicted. Ctrl-C ends the run: "
        + "what has been measured by then is told and written. The exit code is \(ExitCode.unavailable.rawValue) if no upload was answered.",
    ]
    command.arguments = [scenario]
    command.options = [
      OptionSpecification(
        "server", value: "url", help: "Where uploads go, as http://127.0.0.1:8080/v1/batch. (required)"),
      OptionSpecification(
        "speed", value: "x", help: "Virtual seconds in one of the wall, 0.1 to 1000. (default: 1)"),
      OptionSpecification(
        "on-incident", value: "command",
        help:
          "Run by sh when an incident of the scenario begins or ends, with FLEETSIM_INCIDENT (its place, from 0), FLEETSIM_KIND "
          + "and FLEETSIM_MOMENT (begin or end)."),
      OptionSpecification(
        "predictions", value: "n",
        help: "Seeds to predict, from 1. (default: \(LiveComparison.defaultPredictions))"),
      seed, settings, set, scale, out, jobs, json, quiet,
    ]
    command.examples = [
      Example(
        "fleetsim live s.json5 --server http://127.0.0.1:8080 --speed 20 --on-incident ./outage.sh",
        "Twenty times as fast, with an outage that a script makes:")
    ]
    return command
  }()
}
