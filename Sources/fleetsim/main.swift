import CommandLineInterface

let environment = CommandEnvironment.process(monotonicSeconds: monotonicSeconds, unixSeconds: unixSeconds)
exit(CommandLineTool.main(arguments: Array(CommandLine.arguments.dropFirst()), environment: environment))
