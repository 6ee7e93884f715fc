import CommandLineInterface

let environment = CommandEnvironment(monotonicSeconds: monotonicSeconds)
exit(CommandLineTool.main(arguments: Array(CommandLine.arguments.dropFirst()), environment: environment))
