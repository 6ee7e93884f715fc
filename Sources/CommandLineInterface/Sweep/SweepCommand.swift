import FleetExperiments
import FleetSimulation
import ScenarioFormat
import ScenarioModel

/// `fleetsim sweep`: the runs of a grid that are not there yet.
struct SweepCommand {
  var request: SweepRequest
  var environment: CommandEnvironment

  func execute() throws {
    let loaded = try LoadedScenario(request.run.input)
    let base = try loaded.decode()
    let choices = try choices(base, loaded)
    let decoded = try loaded.decodeAll(choices)
    printWarnings(decoded, loaded.path)
    let plan = SweepPlan(
      results: CommandLineTool.resultsVersion,
      variants: zip(choices, decoded).map { (choice: $0, scenario: $1.scenario) },
      seeds: SeedRange(first: base.scenario.seed, count: request.seeds))
    let scenarios = decoded.map(\.scenario)
    let workers = try workers(scenarios, loaded.path)
    let path = request.run.outputPath ?? ""
    let file = SweepPlanFile(
      title: loaded.name, question: base.scenario.question, arguments: request.arguments,
      scenario: base.normalisedJSON, plan: plan)
    let directory = try SweepDirectory.prepared(path, for: file)
    try Interruption.check()
    if !request.run.isQuiet { try Console.print(heading(loaded, plan)) }
    let outcome = try run(plan, scenarios, workers, directory)
    try Console.print(closing(outcome, path))
  }

  private func choices(_ base: ScenarioFile.Decoded, _ loaded: LoadedScenario) throws -> [VariantChoice] {
    let axes = request.run.axes.isEmpty ? base.axes.map(VariantChoice.axis) : request.run.axes
    guard !axes.isEmpty else { return [VariantChoice(name: loaded.name, overrides: [])] }
    let choices = try LoadedScenario.choices(axes, limit: SweepRequest.mostRuns / request.seeds)
    if choices.contains(where: { $0.overrides.contains { $0.path == "seed" } }) {
      throw UsageError(
        "A sweep cannot vary 'seed' as a variant: '--seeds <n>' runs every variant under n seeds.")
    }
    return choices
  }

  private func workers(_ scenarios: [Scenario], _ path: String) throws -> Int {
    let asked = request.run.jobs ?? onlineProcessors()
    let memory = ComparisonMemory(leaving: scenarios, seeds: 2 * request.seeds)
    return try request.run.memory.workers(memory, atMost: asked, path)
  }

  private func run(
    _ plan: SweepPlan, _ scenarios: [Scenario], _ workers: Int, _ directory: SweepDirectory
  ) throws -> Sweep.Outcome {
    let control = ComparisonControl()
    var options = RunOptions()
    options.checks = request.run.checks
    options.threads = request.run.threads ?? (workers == 1 ? nil : 1)
    let work = BackgroundWork(
      work: { [options, shard = request.shard] in
        try Sweep.run(
          plan, scenarios: scenarios, shard: shard, options: options, workers: workers, store: directory,
          control: control)
      }, cancel: control.cancel, progress: { control.progress }, environment: environment,
      remains: Self.remains)
    return try work.run(showsProgress: !request.run.isQuiet)
  }

  private static let remains = "what was complete is kept, and the same command makes the rest"

  private func heading(_ loaded: LoadedScenario, _ plan: SweepPlan) -> String {
    let variants = plan.variants.count
    var text =
      "\(loaded.path): \(FigureText.count(variants * plan.seeds.count, "run")), \(FigureText.count(variants, "variant")) under "
      + "\(FigureText.count(plan.seeds.count, "seed")) from \(plan.seeds.first)"
    if request.shard.count > 1 {
      text += "; shard \(request.shard.text)" + (request.shardSource.map { " by \($0)" } ?? "")
    }
    return text + "\n"
  }

  private func closing(_ outcome: Sweep.Outcome, _ path: String) -> String {
    let shard = request.shard
    let made = outcome.planned - outcome.foundComplete
    var text = "\(path): \(FigureText.count(outcome.planned, "run"))"
    if shard.count > 1 { text += " of shard \(shard.text)" }
    text += " with their twins complete, \(FigureText.grouped(Int64(made))) of them made now.\n"
    if !request.run.isQuiet {
      text +=
        shard.count > 1
        ? "When all shards are: fleetsim merge \(path)\n"
        : "Their summary and report: fleetsim merge \(path)\n"
    }
    return text
  }
}
