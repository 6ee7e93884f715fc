import FleetReports
import ScenarioModel

extension ClientPreset {
  static func named(_ name: String) throws(UsageError) -> ClientPreset {
    if let preset = builtIn(name) { return preset }
    throw UsageError(no: "client", name, among: names)
  }

  /// A client that fleetsim has, or that of a client file.
  /// - Throws: as `named`; `CommandFailure` and `ScenarioProblems` about the file.
  static func namedOrFile(_ name: String, _ files: Files) throws -> ClientPreset {
    isFileName(name) ? try ClientPreset(file: files.text(name), name: name) : try named(name)
  }

  /// How many switches are not as the document has them.
  fileprivate var differences: Int { Self.switches.count { $0.isChanged(in: self) } }

  fileprivate static let document = CommandDocument<[ClientPreset]>(
    meaning: "the switches of each client.",
    shape: JSONShape([
      .list(
        "presets", "All of them, or those that were named.",
        JSONShape<ClientPreset>([
          .init("name", "As a cohort's `client`.") { $0.name },
          .init("meaning", "What it is.") { $0.meaning },
          .init("version", "The version that it is of; null: none is named.") { $0.version?.number },
          .init("published", "When that was published, as 2026-11-24; null: not known.") {
            $0.version?.date?.description
          },
          .init("run", "When its own code was run; null: it was not.") { $0.version?.run?.description },
          .init("notes", "What it does that no switch says.") { $0.notes },
          .list(
            "switches", "In what clients differ.",
            JSONShape<(entry: ClientPreset.Switch, preset: ClientPreset)>([
              .init("path", "Its path in a cohort.") { $0.entry.path },
              .init("value", "As this preset has it.") { $0.entry.value($0.preset) },
              .init("document", "As the document has it.") { $0.entry.value(.tapiDocument) },
              .init("differs", "Whether the two differ.") { $0.entry.isChanged(in: $0.preset) },
              .init("requirement", "The requirement that it belongs to.") { $0.entry.requirement },
              .init("meaning", "What it decides.") { $0.entry.meaning },
              .init("allowed", "Its values; a capital letter stands for a number.") { $0.entry.values },
              .init("source", "The place in the SDK's source; null: none is named.") {
                $0.preset.source(of: $0.entry.path)
              },
            ])
          ) { preset in ClientPreset.switches.map { ($0, preset) } },
        ])
      ) { $0 }
    ]))
}

/// `fleetsim presets`: all clients, some of them side by side, or one in words.
struct PresetsCommand: Command {
  static let documents = [ClientPreset.document.kind]
  static let help = CommandSpecification(
    name: "presets", abstract: "Show the client presets and where they differ.",
    discussion: [
      "Prints in how many switches each client differs from the document, and of which clients the publisher's own code "
        + "was run, in which version and when. With several names it prints the switches in which these differ, side by side, "
        + "with the requirement that each belongs to; with one name what each switch means, may be and is taken from. "
        + "Client files are taken as well. "
        + "A scenario takes a preset by client: in a cohort and changes single switches by policy:."
    ],
    examples: [
      .init("fleetsim presets segment-swift,segment-kotlin", "Two, side by side:"),
      .init("fleetsim presets segment-swift", "One, explained:"),
    ])

  @Argument(
    "a,b,c", .several(of: ClientPreset.names),
    help: ClientPreset.names.joined(separator: ", ") + ", or client files. (default: all)")
  private var names: String?
  @Flag(.json) private var isJSON: Bool

  /// - Throws: `UsageError` for a preset that does not exist; `CommandFailure` and `ScenarioProblems` for a client file.
  func execute(_ environment: CommandEnvironment) throws {
    let console = environment.console
    let presets = try names.map {
      try ValueReader.clientsOrFiles.value($0, of: "<a,b,c>", environment.files)
    }
    if isJSON {
      return try console.printData(ClientPreset.document.text("presets", presets ?? ClientPreset.all))
    }
    if let presets, presets.count == 1 { return try console.print(Self.description(presets[0])) }
    let width = console.columns
    try console.print((presets.map { Self.table(of: $0, width: width) } ?? Self.list).terminal(width: width))
  }

  /// Stands before a value that is not the document's.
  private static let mark = "≠ "
  private static let document = ClientPreset.tapiDocument

  // MARK: Several

  /// Every client: how far it is from the document, and whether its own code was run.
  private static var list: TextTable {
    TextTable(
      columns: [
        .init(title: "client", isNumber: false), .init(title: "differs"),
        .init(title: "version", isNumber: false),
        .init(title: "published", isNumber: false), .init(title: "run", isNumber: false),
      ],
      rows: ClientPreset.all.map { client in
        [
          client.name, "\(client.differences)", client.version?.number ?? "",
          client.version?.date?.description ?? "", client.version?.run?.description ?? "",
        ]
      })
  }

  /// The switches in which clients are not alike, side by side; long values go on in the next row.
  private static func table(of presets: [ClientPreset], width: Int) -> TextTable {
    let room = max(width / presets.count - 14, 16)
    return TextTable(
      header: ["switch", "req"] + presets.map(\.name),
      rows: ClientPreset.switches.flatMap { entry -> [[String]] in
        let values = presets.map(entry.value)
        if Set(values).count == 1 { return [] }
        let cells = [[entry.name], [entry.requirement]] + values.map { wrapped($0, to: room) }
        return (0..<(cells.map(\.count).max() ?? 0)).map { line in
          cells.map { $0.indices.contains(line) ? $0[line] : "" }
        }
      }, words: presets.count + 2)
  }

  /// Cuts a value before capitals and behind blanks and hyphens into lines of at most `width`.
  private static func wrapped(_ value: String, to width: Int) -> [String] {
    var words: [String] = []
    for character in value {
      let isCut = words.last.map { $0.hasSuffix(" ") || $0.hasSuffix("-") } ?? true
      if isCut || character.isUppercase { words.append("") }
      words[words.count - 1].append(character)
    }
    return words.reduce(into: [""]) { lines, word in
      if lines[lines.count - 1].count + word.count > width, lines != [""] { lines.append("") }
      lines[lines.count - 1] += word
    }
  }

  // MARK: One

  /// Lines of at most 100 columns, cut at blanks; those behind the first are indented by four more.
  private static func folded(_ text: String, indent: Int = 0) -> String {
    text.split(separator: " ").map(String.init)
      .filled { $0.count + ($1 == 0 ? indent : indent + 4) <= 100 }.enumerated()
      .map { "".padded(to: $0 == 0 ? indent : indent + 4) + $1 }.joined(separator: "\n")
  }

  private static func description(_ preset: ClientPreset) -> String {
    var lines = [
      folded((preset.meaning.isEmpty ? preset.name : "\(preset.name): \(preset.meaning)") + ".")
    ]
    if preset != document {
      let count = ClientPreset.switches.count
      lines.append("It differs from the document in \(preset.differences) of \(count) switches.")
    }
    if let version = preset.version {
      let published = version.date.map { " of \($0)" } ?? ""
      let run = version.run.map { "whose own code was run on \($0)." } ?? "read, not run."
      lines.append(folded("Version \(version.number)\(published), \(run)"))
    }
    if !preset.notes.isEmpty { lines.append("What no switch says:") }
    lines += preset.notes.map { folded("- " + $0, indent: 2) }
    for entry in ClientPreset.switches {
      let value = "\(entry.path): \(entry.value(preset))"
      let note = entry.isChanged(in: preset) ? "(\(mark)\(entry.value(document)) of the document)" : ""
      let isShort = value.count + note.count + 2 <= 100
      lines += ["", isShort ? value + (note.isEmpty ? "" : "  " + note) : folded(value)]
      let more = [
        isShort || note.isEmpty ? nil : note, "\(entry.requirement): \(entry.meaning)",
        "allowed: \(entry.values.joined(separator: ", "))",
        preset.source(of: entry.path).map { "source: \($0)" },
      ]
      lines += more.compactMap { $0.map { folded($0, indent: 2) } }
    }
    return lines.joined(separator: "\n") + """


      \(folded("In a scenario: fleet: [{ client: \"\(preset.name)\", policy: { noStatus: \"backoff\" }, … }]"))
      What the scenario says goes before the preset, and --set fleet.NAME.policy.noStatus=untouched
      before both.

      """
  }
}

extension ClientPreset.Switch {
  /// Whether it is not as the document has it.
  fileprivate func isChanged(in preset: ClientPreset) -> Bool { value(preset) != value(.tapiDocument) }
}
