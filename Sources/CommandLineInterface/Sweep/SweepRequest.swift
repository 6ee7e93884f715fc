import FleetExperiments

/// What `sweep` was asked to do.
struct SweepRequest: Sendable {
  /// What `compare` would take too.
  var run: RunRequest
  /// Seeds from the scenario's on.
  var seeds: Int
  var shard: Shard
  /// The variable of the job scheduler that said which shard; nil: the command line.
  var shardSource: String?
  /// The command line without what does not change the results, in a fixed order.
  var arguments: [String]

  /// Runs of a sweep: more are a mistake rather than a question.
  static let mostRuns = 1_000_000

  /// - Parameter environment: variables that a job scheduler may have set.
  /// - Throws: `UsageError`.
  init(_ parsed: ParsedArguments, environment: [String: String] = Self.schedulerVariables()) throws {
    run = try RunRequest(parsed, compares: false)
    guard run.outputPath != nil else {
      throw UsageError("Missing expected option '--out <dir>': a sweep keeps its runs there.")
    }
    seeds = try RunRequest.count(parsed, "seeds", "n", through: Self.mostRuns) ?? 1
    let shards = try RunRequest.count(parsed, "shards", "n", through: Shard.maximumCount)
    do throws(ShardChoice.Problem) {
      if let text = parsed.value("shard") {
        shard = try ShardChoice.parse(text)
        if let shards, shards != shard.count {
          throw ShardChoice.Problem(
            description: "'--shard \(text)' and '--shards \(shards)' do not agree: '--shard' alone says both."
          )
        }
      } else {
        let found = try ShardChoice.from(environment: environment, count: shards)
        shard = found?.shard ?? .whole
        shardSource = found?.source
      }
    } catch {
      throw UsageError(error.description)
    }
    arguments = ["sweep", run.input.scenarioPath]
    for option in ["jitter", "vary", "seeds", "seed", "settings", "set"] {
      for value in parsed.values(option) { arguments += ["--\(option)", value] }
    }
  }

  private static func schedulerVariables() -> [String: String] {
    var found: [String: String] = [:]
    for name in ShardChoice.variables {
      if let value = getenv(name) { found[name] = String(cString: value) }
    }
    return found
  }
}
