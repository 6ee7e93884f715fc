import FleetReports
import ScenarioModel

/// `fleetsim report`: the answer in a directory, without a run.
struct ReportCommand: Command {
  static let help = CommandSpecification(
    name: "report", abstract: "Print the answer in a directory of --out again, without a run.",
    discussion: [
      "Prints what the command that wrote the directory printed, from its run.json: with --verbose all lines and tables. The page is "
        + "in its report.html."
    ],
    examples: [
      .init("fleetsim report out/decision", "What was decided?"),
      .init("fleetsim report out/decision --verbose", "And by which figures?"),
    ])

  @Argument("dir", help: "A directory that --out named.") private var path: String
  @Flag(.verbose) private var isVerbose: Bool
  @Flag("quiet", short: "q", help: "Print the verdict alone.") private var isQuiet: Bool

  func execute(_ environment: CommandEnvironment) throws {
    let (files, console) = (environment.files, environment.console)
    let form = try AnswerForm(isQuiet: isQuiet, isVerbose: isVerbose)
    let place = "\(path)/\(FileName.manifest)"
    guard files.isThere(place) else {
      throw CommandFailure(.noInput, "\(place): is not there; name a directory that --out named")
    }
    let text = String(decoding: try files.ownBytes(place), as: UTF8.self)
    guard text.hasPrefix(RunManifest.opening), let manifest = try? JSON5Parser.parse(text),
      let answer = Answer(kept: manifest)
    else {
      throw CommandFailure(
        .data, "\(place): keeps no answer; the command in its 'arguments' writes one that does")
    }
    try console.print(answer, form)
  }
}
