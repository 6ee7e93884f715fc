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

  @Test("options take their value from the next argument or behind an equals sign")
  func values() throws {
    let parsed = try parse("a --seed 3 --set x=1 -q --set=y=2 b")
    #expect(
      parsed == ["file": ["a"], "other": ["b"], "seed": ["3"], "set": ["x=1", "y=2"], "quiet": [""]])
  }

  @Test("behind -- everything is an argument; a lone dash is one anyway")
  func terminator() throws {
    #expect(try parse("-- --seed -q") == ["file": ["--seed"], "other": ["-q"]])
    #expect(try parse("-") == ["file": ["-"]])
    #expect(try parse("-- --help") == ["file": ["--help"]])
  }

  @Test("a negative number is a value, another option is not")
  func negative() throws {
    #expect(try parse("a --seed -3")["seed"] == ["-3"])
    for line in ["a --seed --quiet", "a --seed", "a --seed="] {
      #expect(throws: UsageError("Missing value for '--seed <n>'")) { try parse(line) }
    }
  }

  @Test(
    "what is wrong is named",
    arguments: [
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

  @Test("a flag twice is once; help and version win over every mistake")
  func flags() throws {
    #expect(try parse("a -q --quiet")["quiet"] == [""])
    #expect(try parse("--bogus x y z --help") == ["help": [""]])
    #expect(try parse("--version") == ["version": [""]])
  }

  @Test("the usage line says what is optional and what repeats")
  func usage() {
    let usage = HelpScreen().usage(Self.command, parent: "tool", hanging: 7)
    #expect(usage == "tool try <file> [<other>] [--seed <n>] [--set <path=value>] ... [--quiet]")
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
    func execute(_ invocation: Invocation) {}

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
