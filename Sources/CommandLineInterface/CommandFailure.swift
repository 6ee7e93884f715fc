import FleetSimulation
import ScenarioFormat

/// Ends a command with a message and an exit code.
package struct CommandFailure: Error, Sendable, CustomStringConvertible {
  package var code: ExitCode
  /// Lines for standard error, without the last line's end.
  package var description: String

  package init(_ code: ExitCode, _ description: String) {
    self.code = code
    self.description = description
  }

  /// A wrong command line: what is wrong, how it should be, where to read more.
  init(usage message: String, of command: CommandSpecification, parent: String?) {
    let name = (parent.map { $0 + " " } ?? "") + command.name
    let usage = HelpScreen().usage(command, parent: parent, hanging: "Usage: ".count)
    self.init(
      .usage, "Error: \(message)\nUsage: \(usage)\n  See '\(name) --help' for more information.")
  }

  /// Whatever a command threw, as the user is to see it.
  init(describing error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let problems as ScenarioProblems:
      // What came from the command line alone is a wrong command line.
      let errors = problems.diagnostics.filter { $0.severity == .error }
      let isUsage = !errors.isEmpty && errors.allSatisfy { $0.file.hasPrefix("--") }
      self.init(isUsage ? .usage : .data, problems.description)
    case is CancellationError: self = Interruption.failure(Interruption.pending ?? 0)
    case let failure as CheckFailure:
      self.init(
        .internalError,
        "A checker found fleetsim inconsistent with itself; please report it with the scenario and the seed:\n"
          + failure.description)
    default: self.init(.internalError, "Internal error: \(error)")
    }
  }
}
