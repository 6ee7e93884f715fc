import FleetExperiments
import FleetReports
import FleetSimulation
import ScenarioFormat
import ScenarioModel
import ShippedClients
import UploadRetry

/// `fleetsim tune`: better Settings for several scenarios at once.
struct TuneCommand {
  var request: TuneRequest
  var invocation: SearchInvocation

  func execute() throws {
    let loaded = try request.inputs.map { input in
      var loaded = try LoadedScenario(input)
      loaded.allowsUnread = true
      return loaded
    }
    let bases = try loaded.map { try $0.decode() }
    let warnings = zip(loaded, bases).flatMap { printWarnings([$1], $0.path) }
    let clients = TuneClients(bases.flatMap(\.scenario.fleet), asked: request.client)
    if !request.allowsAllKeys { try clients.check(request.space) }
    let config = try todaysConfig(bases)
    try checkValues(loaded[0])
    var study = TuneStudy(
      space: request.space,
      todaysValues: request.space.parameters.map { SearchableSettings.value(of: $0.path, in: config) },
      objectives: request.objectives, constraints: request.constraints, scenarios: Self.names(loaded),
      intervals: bases.map(\.scenario.interval.microseconds), seeds: request.seeds)
    study.allowedLoss = request.allowedLoss
    study.across = request.across
    study.seed = request.seed
    study.raceScale = try raceScale(bases, loaded)
    if !request.uncertainty.isEmpty {
      try checkUncertainty(loaded)
      study.draws = request.uncertainty.draws(
        [TuneStudy.exploring, request.seeds, request.seeds], seed: request.seed)
    }
    let workers = try invocation.workers(bases.map(\.scenario), loaded[0].path)
    let output = try invocation.outputPath.map { try OutputDirectory($0) }
    let journal = try request.journalPath.map { try JournalDirectory($0) }
    try Interruption.check()
    if invocation.isTalkative { try Console.print(heading(loaded, bases, study)) }

    let (result, wall) = try invocation.run(workers: workers, remains: JournalDirectory.remains(journal)) {
      [study] runner in
      try search(study, maker(loaded, draws: study.draws, runner: runner, journal: journal), journal)
    }

    let settings = (loaded[0].settingsDocument ?? clients.defaults ?? SettingsDocument(config))
      .setting(request.inputs[0].overrides + request.space.overrides(result.winner.candidate))
    let files = TuneFiles(
      result: result, settings: settings, clients: clients, arguments: invocation.arguments,
      scenarios: bases.map(\.normalisedJSON),
      facts: facts(bases, result), title: study.scenarios.joined(separator: ", "), seed: request.seed)
    let printed = Result {
      guard invocation.isJSON else { return try Console.print(files.text(isQuiet: invocation.isQuiet)) }
      let findings = TuneFindings(
        paths: loaded.map(\.path), warnings: warnings, result: result,
        settings: files.recommends ? (settings.cdnJSON, settings.documentJSON) : nil,
        output: invocation.outputPath)
      try Console.printData(TuneFindings.document.text("tune", findings))
    }
    if let output { try output.write(files.all(wall: wall)) }
    try printed.get()
    if invocation.isTalkative {
      try Console.print(files.closing(output?.path, journal: journal?.path, result))
    }
  }

  private func maker(
    _ loaded: [LoadedScenario], draws: [UncertainDraw], runner: SummaryRunner, journal: JournalDirectory?
  ) -> TrialMaker {
    let space = request.space
    return TrialMaker(
      journal: journal?.trials,
      of: { trial in
        let drawn = draws.isEmpty ? [] : draws[trial.seed].overrides
        return try loaded[trial.scenario].decode(
          VariantChoice(name: "", overrides: drawn + space.overrides(trial.candidate))
        ).scenario
      }, run: { try runner.summaries(of: $0, finished: $1) })
  }

  // MARK: Budget

  private static let budgetEntry = "budget"

  private func search(_ study: TuneStudy, _ maker: TrialMaker, _ journal: JournalDirectory?) throws
    -> TuneResult
  {
    var study = study
    switch request.budget {
    case .standard: break
    case .runs(let runs):
      study.candidates = try candidates(study, budget: runs, FigureText.count(runs, "run"))
    case .seconds(let seconds):
      let key = "\(Self.budgetEntry) \(seconds)\n"
      let kept = try journal?.read(Self.budgetEntry).flatMap {
        $0.hasPrefix(key) ? Int($0.dropFirst(key.count)) : nil
      }
      if let kept {
        study.candidates = kept
      } else {
        let run = try measured(study, maker, .whole)
        let small = study.raceScale == .whole ? run : try measured(study, maker, study.raceScale)
        study.candidates = try candidates(
          study, budget: Int(max(1, min(seconds / run, 1e7))), small: small / run,
          "\(FigureText.span(Int64(seconds * 1e6)))")
        try journal?.write(Self.budgetEntry, key + "\(study.candidates)")
      }
    }
    var tuner = Tuner(study, maker: maker)
    return try tuner.run()
  }

  /// Seconds that a run takes, judging by a first one of each scenario with its twin.
  private func measured(_ study: TuneStudy, _ maker: TrialMaker, _ scale: Scaling) throws -> Double {
    let started = invocation.environment.monotonicSeconds()
    _ = try maker.trials(
      study.scenarios.indices.map {
        TrialMaker.Request(candidate: study.space.today, scenario: $0, seed: 0, scale: scale)
      })
    return max((invocation.environment.monotonicSeconds() - started) / Double(study.scenarios.count), 1e-6)
  }

  private func candidates(_ study: TuneStudy, budget: Int, small: Double = 1, _ text: String) throws -> Int {
    if let count = study.candidates(budget: budget, small: small) { return count }
    let least = study.runs(first: min(study.finalists, study.space.size))
    throw UsageError(
      "A budget of \(text) is too small: the finalists alone, with \(FigureText.count(study.seeds, "seed")) each, "
        + "take \(FigureText.count(least, "run")). Give "
        + "more, or fewer --seeds.")
  }

  // MARK: Checks

  private func raceScale(_ bases: [ScenarioFile.Decoded], _ loaded: [LoadedScenario]) throws -> Scaling {
    guard let asked = request.raceScale else {
      return .smallest(of: bases.map(\.scenario), leaving: TuneStudy.raceDevices)
    }
    for (base, loaded) in zip(bases, loaded) {
      if let refusal = asked.refusal(of: base.scenario) {
        throw UsageError(
          "The value '\(asked.text)' is invalid for '--race-scale <1:k>': \(loaded.path): \(refusal).")
      }
    }
    return asked
  }

  /// The Settings that all cohorts of all scenarios have, as the first reads them.
  ///
  /// Clients that read one file in different ways make different values of it; those of the keys that are searched have to agree
  /// where both read them.
  private func todaysConfig(_ bases: [ScenarioFile.Decoded]) throws -> HTTPConfig {
    let cohorts = bases.flatMap(\.scenario.fleet)
    let first = cohorts.first { $0.settingsDialect == .document } ?? cohorts[0]
    let areAlike = cohorts.allSatisfy { cohort in
      if let alike = cohorts.first(where: { $0.settingsDialect == cohort.settingsDialect }),
        alike.settings != cohort.settings || alike.settingsSource != cohort.settingsSource
      {
        return false
      }
      return request.space.parameters.allSatisfy { parameter in
        !TuneClients.reads(cohort.settingsDialect, parameter)
          || !TuneClients.reads(first.settingsDialect, parameter)
          || SearchableSettings.value(of: parameter.path, in: cohort.settings)
            == SearchableSettings.value(of: parameter.path, in: first.settings)
      }
    }
    guard areAlike else {
      throw UsageError(
        "The scenarios or their cohorts have different Settings, so there are none to compare with; give --settings FILE."
      )
    }
    return first.settings
  }

  /// Every value of every parameter on its own.
  private func checkValues(_ loaded: LoadedScenario) throws {
    let choices = request.space.parameters.flatMap { parameter in
      parameter.values.map { Override.choosing(parameter.path, $0) }
    }
    try check(choices, of: "--search", loaded)
  }

  /// The ends of what is not known, in every scenario.
  private func checkUncertainty(_ loaded: [LoadedScenario]) throws {
    for scenario in loaded { try check(request.uncertainty.extremes, of: "--uncertain", scenario) }
  }

  private func check(_ choices: [[Override]], of option: String, _ loaded: LoadedScenario) throws {
    do {
      _ = try loaded.decodeAll(choices.map { VariantChoice(name: "", overrides: $0) })
    } catch var problems as ScenarioProblems {
      for i in problems.diagnostics.indices where problems.diagnostics[i].file == "--vary" {
        problems.diagnostics[i].file = option
      }
      throw problems
    }
  }

  /// Names of the scenarios, numbered where two would be one.
  private static func names(_ loaded: [LoadedScenario]) -> [String] {
    var seen: Set<String> = []
    return loaded.map { one in
      var name = one.name
      var number = 2
      while !seen.insert(name).inserted {
        name = "\(one.name)-\(number)"
        number += 1
      }
      return name
    }
  }

  // MARK: Words

  private func heading(
    _ loaded: [LoadedScenario], _ bases: [ScenarioFile.Decoded], _ study: TuneStudy
  ) -> String {
    let lines = zip(loaded, bases).map { loaded, base in
      "\(loaded.path): seed \(base.scenario.seed), \(FigureText.count(Self.devices(base), "device")), "
        + "\(FigureText.span(base.scenario.duration.microseconds))\n"
    }
    let (keys, size) = (request.space.parameters.count, request.space.size)
    return lines.joined()
      + "\(keys) \(FigureText.noun("key", keys)), \(size == .max ? "very many" : FigureText.grouped(Int64(size))) "
      + "combinations"
      + (study.raceScale == .whole
        ? "" : "; candidates race on \(study.raceScale.text) of the devices, finalists have all") + "\n\n"
  }

  private static func devices(_ base: ScenarioFile.Decoded) -> Int64 {
    base.scenario.fleet.reduce(Int64(0)) { $0 + Int64($1.devices) }
  }

  private func facts(_ bases: [ScenarioFile.Decoded], _ result: TuneResult) -> String {
    let devices = bases.map(Self.devices)
    let (least, most) = (devices.min() ?? 0, devices.max() ?? 0)
    let fleet =
      least == most
      ? FigureText.count(least, "device")
      : "\(FigureText.grouped(least)) to \(FigureText.count(most, "device"))"
    return
      [(result.standings.count, "candidate"), (bases.count, "scenario")]
      .map { "\($0) \(FigureText.noun($1, $0))" }.joined(separator: " · ")
      + " of \(fleet)"
      + (result.study.raceScale == .whole ? "" : " (\(result.study.raceScale.text) of them in the race)")
      + " · finalists with \(result.study.isRobust ? "up to " : "")\(result.study.seeds) "
      + FigureText.noun(result.study.repetition, result.study.seeds)
  }
}
