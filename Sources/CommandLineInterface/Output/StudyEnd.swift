import FleetReports

/// How much of an answer is printed.
enum AnswerForm {
  /// The finding, and whether what was required is kept.
  case brief
  case short
  /// All lines and tables.
  case whole

  init(isQuiet: Bool, isVerbose: Bool) throws(UsageError) {
    if isVerbose, isQuiet { throw UsageError("'--verbose' and '--quiet' exclude each other.") }
    self = isQuiet ? .brief : isVerbose ? .whole : .short
  }
}

extension Answer {
  func text(_ form: AnswerForm, width: Int) -> String {
    form == .brief ? brief : text(width: width, isWhole: form == .whole)
  }
}

extension Console {
  func print(_ answer: Answer, _ form: AnswerForm, heading: String = "") throws {
    try print(
      heading + answer.text(form, width: columns), headline: form == .brief ? "" : answer.story.finding)
  }
}

/// How the findings of a study leave the program: printed as text or as JSON, and written into a directory with a page and a
/// manifest.
struct StudyEnd {
  /// The page's title; `question` stands below it.
  var title: String
  var question: String?
  /// nil: nothing is written.
  var output: OutputDirectory?
  var form: AnswerForm
  var isJSON: Bool
  var console: Console
  /// Whether the page has the scenario as it was run.
  var showsScenario = false
  /// Everything but the files.
  var manifest: RunManifest
  var journal: RunDirectory?
  /// Returns the document of `--json`.
  /// - Parameter warnings: those that the runs gave.
  var document: (_ warnings: [String]) -> String
  /// The signal that ended the runs of a study that outlives it.
  var signal: Int32?

  /// - Parameters:
  ///   - text: what is printed in place of the answer's, and of all that follows it; nil: those.
  ///   - after: what is told behind where its files are.
  ///   - warnings: those that the runs gave.
  func write(_ answer: Answer, text: String? = nil, after: String = "", warnings: [String] = []) throws {
    // A terminal that is gone must not cost the files.
    let printed = Result {
      if isJSON { return try console.printData(document(warnings)) }
      if let text { return try console.printData(text) }
      try console.print(answer, form)
    }
    if let output { try output.write(files(answer)) }
    try printed.get()
    guard form != .brief, !isJSON, text == nil, let output else { return }
    try console.print("Written to \(output.path): open \(FileName.report)\(after)\n")
  }

  /// Prints what a command knows that was stopped, marked as such.
  func printUnfinished(_ answer: Answer) throws {
    if isJSON { return try console.printData(document([])) }
    try console.print(
      answer, form,
      heading: form == .brief ? "Unfinished: " : "Unfinished; what the finished runs say:\n")
  }

  private func files(_ answer: Answer) -> [OutputFile] {
    var manifest = manifest
    let page = answer.html(
      title: title, question: question, command: manifest.command,
      scenarioJSON: showsScenario ? manifest.scenario : nil, version: CommandLineTool.version)
    manifest.files = answer.data + answer.pictures + [OutputFile(.report, text: page)]
    manifest.answer = answer
    return manifest.files + [OutputFile(.manifest, text: manifest.text)]
  }
}
