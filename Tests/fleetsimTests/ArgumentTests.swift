import CommandLineInterface
import SimulationKernel
import Testing

@Suite("Arguments")
struct ArgumentTests {
  static let command: CommandSpecification = {
    var command = CommandSpecification(name: "try", abstract: "Tries.")
    command.arguments = [
      ParameterSpecification(argument: "file", help: "A file."),
      ParameterSpecification(argument: "other", help: "Another.", isOptional: true),
    ]
    command.options = [
      ParameterSpecification("seed", value: "n", help: "A number."),
      ParameterSpecification("set", value: "path=value", isRepeatable: true, help: "A setting."),
      ParameterSpecification("quiet", short: "q", help: "A flag."),
    ]
    return command
  }()

  func parse(_ line: String) throws -> ParsedArguments {
    try Self.command.parse(line.split(separator: " ").map(String.init))
  }

  @Test(
    "options take their value from the next argument or behind an equals sign; help and version win over mistakes",
    arguments: [
      (
        "a --seed 3 --set x=1 -q --set=y=2 b",
        ["file": ["a"], "other": ["b"], "seed": ["3"], "set": ["x=1", "y=2"], "quiet": [""]]
      ),
      // Behind -- everything is an argument; a lone dash is one anyway.
      ("-- --seed -q", ["file": ["--seed"], "other": ["-q"]]), ("-", ["file": ["-"]]),
      ("-- --help", ["file": ["--help"]]),
      // A negative number is a value; a flag twice is once.
      ("a --seed -3", ["file": ["a"], "seed": ["-3"]]), ("a -q --quiet", ["file": ["a"], "quiet": [""]]),
      ("--bogus x y z --help", ["help": [""]]), ("--version", ["version": [""]]),
    ] as [(String, [String: [String]])])
  func values(line: String, parsed: [String: [String]]) throws { #expect(try parse(line) == parsed) }

  @Test(
    "what is wrong is named",
    arguments: [
      ("a --seed --quiet", "Missing value for '--seed <n>'"), ("a --seed", "Missing value for '--seed <n>'"),
      ("a --seed=", "Missing value for '--seed <n>'"),
      ("a --sead 3", "Unknown option '--sead'. Did you mean '--seed'?"),
      ("a --qiuet", "Unknown option '--qiuet'. Did you mean '--quiet'?"),
      ("a -x", "Unknown option '-x'."),
      ("a --seed 1 --seed 2", "The option '--seed' can be given only once."),
      ("a --quiet=yes", "The option '--quiet' does not take any value, but 'yes' was specified."),
      ("a b c d", "2 unexpected arguments: 'c', 'd'"),
    ])
  func errors(line: String, message: String) {
    #expect(throws: UsageError(message)) { try parse(line) }
  }

  @Test("the usage line says what is optional and what repeats")
  func usage() {
    let usage = HelpScreen.usage(Self.command, hanging: 0)
    #expect(usage == "fleetsim try <file> [<other>] [--seed <n>] [--set <path=value>] ... [--quiet]")
  }

  /// A command as commands are written.
  private struct Greeting: Command {
    static let help = CommandSpecification(name: "greet", abstract: "Greets.")
    struct Manner: ParameterGroup {
      @Flag("loudly", short: "l", help: "In capitals.") var isLoud: Bool
    }
    @Argument("name", help: "Who.") var name: String
    @Option("times", "n", .count(1...9), help: "How often.") var times = 2
    @Option("language", "code", .text, help: "Which.") var language: String
    @Option("with", "word", each: .text, help: "More words.") var words: [String]
    @Option("after", "span", .span, help: "When.") var delay: Span?
    var manner = Manner()
    func execute(_ environment: CommandEnvironment) {}

    init() {}
    init(_ line: String) throws {
      let parsed = try Self.specification.parse(line.split(separator: " ").map(String.init))
      for parameter in parameters { try parameter.take(parsed, Files()) }
    }
  }

  @Test("a command's properties are its options: help, values, defaults and errors come of one declaration")
  func declared() throws {
    let greeting = try Greeting("you --language en --with a --with b -l")
    #expect(greeting.name == "you" && greeting.times == 2 && greeting.language == "en")
    #expect(greeting.words == ["a", "b"] && greeting.delay == nil && greeting.manner.isLoud)
    #expect(try Greeting("you --language en --after 90s").delay == .seconds(90))
    let help = Greeting.specification.options.map { "\($0.synopsis): \($0.help)" }
    #expect(
      help == [
        "--times <n>: How often. (default: 2)", "--language <code>: Which. (required)",
        "--with <word>: More words.", "--after <span>: When.", "--loudly: In capitals.",
      ])
    #expect(throws: UsageError("Missing expected option '--language <code>'")) { try Greeting("you") }
    let range = "The value '10' is invalid for '--times <n>': a whole number from 1 to 9."
    #expect(throws: UsageError(range)) { try Greeting("you --language en --times 10") }
  }
}
