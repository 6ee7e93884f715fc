import FleetReports

/// How a study's answer leaves the program: printed as text or as JSON, and written into a directory with a page and a manifest.
struct AnswerWriter {
  /// The page's title; `question` stands below it.
  var title: String
  var question: String?
  /// nil: nothing is written.
  var output: OutputDirectory?
  var isQuiet: Bool
  var isJSON: Bool
  var console: Console
  /// Whether the page has the scenario as it was run.
  var showsScenario = false

  /// - Parameters:
  ///   - manifest: everything but the files.
  ///   - text: what is printed in place of the answer's, and of all that follows it; nil: those.
  ///   - before: what is told between the answer and where its files are.
  ///   - after: what is told behind that.
  ///   - document: what `--json` prints.
  func write(
    _ answer: Answer, _ manifest: RunManifest, text: String? = nil, before: String = "\n", after: String = "",
    document: () -> String = { "" }
  ) throws {
    // A terminal that is gone must not cost the files.
    let printed = Result {
      if isJSON { return try console.printData(document()) }
      if let text { return try console.printData(text) }
      try console.print(
        isQuiet ? answer.brief + "\n" : answer.text(width: console.columns),
        headline: isQuiet ? "" : answer.finding)
    }
    if let output { try output.write(files(answer, manifest)) }
    try printed.get()
    guard !isQuiet, !isJSON, text == nil else { return }
    try console.print(
      before
        + (output.map { "Written to \($0.path)\(answer.listed)\n" + after }
          ?? "No files written; --out DIR writes \(answer.offer).\n"))
  }

  /// Prints what a command knows that was stopped, marked as such.
  func printUnfinished(_ answer: Answer, document: () -> String) throws {
    if isJSON { return try console.printData(document()) }
    try console.print(
      isQuiet
        ? "Unfinished: \(answer.brief)\n"
        : "Unfinished; what the finished runs say:\n\n"
          + answer.text(width: console.columns), headline: isQuiet ? "" : answer.finding)
  }

  private func files(_ answer: Answer, _ manifest: RunManifest) -> [OutputFile] {
    var manifest = manifest
    let page = answer.html(
      title: title, question: question, command: manifest.command,
      scenarioJSON: showsScenario ? manifest.scenario : nil, version: CommandLineTool.version)
    manifest.files = answer.data + answer.pictures + [OutputFile(.report, text: page)]
    return manifest.files + [OutputFile(.manifest, text: manifest.text)]
  }
}
