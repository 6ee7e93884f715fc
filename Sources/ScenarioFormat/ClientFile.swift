import ClientFiles
import ScenarioModel
import SimulationKernel
import Synchronization
import UploadRetry

/// A client as a JSON5 file has it: a name, and the switches in which it differs from the client that it is based on. The file
/// also says where their values are from. The clients that ship with the tool are such files.
package struct ClientFile: Sendable, Equatable {
  var preset = ClientPreset()
  var base = ClientPreset.documentName
  /// A cohort of clients that are as the base but for the switches.
  var cohort = Cohort.standIn

  static let keys = ObjectKeys(
    ClientFile(), keepsRest: true,
    [
      Field(
        "name", \.preset.name, .clientName, "What scenarios and tables call it.", example: "\"my-client\"",
        isSettable: false),
      Field("meaning", \.preset.meaning, .text, "What it is, on one line.", isSettable: false),
      Field(
        "origin", \.preset.origin, .text, "What it was taken from: a repository with its commit, a document.",
        isSettable: false),
      Field(
        "version", \.preset.version, Kind.object(VersionKeys.keys).orNothing,
        "Which version it is of, and when its own code was run.", isLater: true, isSettable: false),
      Field(
        "basedOn", \.base, .word(ClientPreset.names.map { ($0, $0) }),
        "The client that it is but for its switches.", isSettable: false),
      .check { decoder, node, _, file in
        // A client that ships is based on the document's client, which a fresh file is.
        if !decoder.readsShippedClient, let base = ClientPreset.builtIn(file.base) {
          (file.preset.flush, file.preset.timeout) = (base.flush, base.timeout)
          file.cohort.take(base)
          decoder.clientDefaults = base.settingsDefaults
        }
        return true
      },
      Field(
        "switches", \.cohort, keys: Cohort.clientKeys,
        "What it is, in the keys of a cohort; settings are those that it has where published ones leave a value out."
      ),
      Field("sources", \.preset.sources, .sources, "Where switches have their values from, by their paths."),
      Field(
        "notes", \.preset.notes, Kind<String>.text.list(0...100, of: " of sentences", named: "notes"),
        "What it does that no switch says, a sentence each.", isLater: true, isSettable: false),
      .check { _, node, _, file in
        file.preset.behaviour = file.cohort.behaviour
        // Where they are as in any scenario, a scenario's own stay.
        if node["switches"]?["flush"] != nil { file.preset.flush = file.cohort.flush }
        if node["switches"]?["timeout"] != nil { file.preset.timeout = file.cohort.timeout }
        return true
      },
    ])

  fileprivate static let switchPaths: [String] = {
    func paths(_ keys: [ScenarioSchema.Key], _ prefix: String) -> [String] {
      keys.flatMap { [prefix + $0.name] + paths($0.shape.keys, prefix + $0.name + ".") }
    }
    return paths(Cohort.clientKeys.keys, "") + HTTPConfig.knownKeyPaths.map { "settings." + $0 }
  }()

  init() { (preset.name, preset.meaning, preset.origin) = ("", "", "") }

  /// The file of a client, based on the document's.
  init(_ preset: ClientPreset) {
    self.preset = preset
    cohort.take(preset)
    cohort.preset = ClientPreset()
  }

  /// The client written out: every switch that is not the document's, and what it says of flushes and time-outs.
  package static func written(_ preset: ClientPreset) -> PositionedValue {
    let said = [("flush", preset.flush != nil), ("timeout", preset.timeout != nil)].filter(\.1).map(\.0)
    let defaultValue = Cohort.clientKeys.write(Cohort.standIn, defaultValue: nil).taking(
      Set(said), from: .null)
    let own = Cohort.clientKeys.write(ClientFile(preset).cohort, defaultValue: nil)
    var file = keys.write(ClientFile(preset))
    file.setMember("switches", to: own.without(defaultValue, at: ""))
    return file
  }
}

extension PositionedValue {
  /// Returns the parts of an object that are not the same in another one; a value that is no object of keys stays whole.
  fileprivate func without(_ other: PositionedValue, at path: String) -> PositionedValue {
    guard let members else { return self }
    let kept = members.compactMap { member -> PositionedValue.Member? in
      guard let same = other[member.key] else { return member }
      if JSONText.compact(same) == JSONText.compact(member.value) { return nil }
      var member = member
      let prefix = path + member.key + "."
      if same.members != nil, ClientFile.switchPaths.contains(where: { $0.hasPrefix(prefix) }) {
        member.value = member.value.without(same, at: prefix)
      }
      return member
    }
    return PositionedValue(.object(kept), at: position)
  }
}

// MARK: Kinds

extension Kind where Value == ClientPreset {
  /// A client by its name, by the name of its file, or its file's contents.
  static let client = Kind(
    schema: .oneOf([.words(ClientPreset.names), .pattern("\\.json5?$"), .reference("client")]),
    read: { $0.client($1, $2) },
    write: { $0.isBuiltIn ? .text($0.name) : ClientFile.written($0) })
}

extension Kind where Value == String {
  fileprivate static let clientName = name.refusing { decoder, _, name in
    !decoder.readsShippedClient && ClientPreset.names.contains(name)
      ? "\(quoted(name)) is the name of a client that ships with fleetsim; give yours another" : nil
  }
}

extension Kind where Value == HTTPConfig {
  /// Settings of the document's form, in which nothing needs a repair.
  static let settingsDefaults = Kind(
    schema: .type("object"),
    read: { decoder, node, path in
      let (config, repairs) = HTTPConfig.decode(
        SettingsTree.settingsValue(node), overrides429: decoder.overrides429,
        isBounded: decoder.fetchesSettings, defaults: decoder.clientDefaults)
      for repair in repairs {
        let parts = PathText.parse(repair.path) ?? []
        decoder.report(
          SettingsTree.isNone(parts, in: node)
            ? SettingsTree.noneIsBounded : SettingsResolution.withoutRemedy(repair.problem),
          at: node.deepest(parts).position,
          repair.path.isEmpty ? path : path + "." + repair.path)
      }
      return repairs.isEmpty ? config : nil
    }, write: { PositionedValue($0.encoded()) })
}

extension Kind where Value == [String: ClientPreset.Source] {
  fileprivate static let sources = Kind(
    schema: .members([
      ("type", .text("object")),
      ("additionalProperties", SourceKeys.source.schema),
    ]),
    read: { decoder, node, path in
      guard let members = node.members else {
        decoder.unexpected(node, "an object", path)
        return nil
      }
      let paths = ClientFile.switchPaths
      var sources: [String: ClientPreset.Source] = [:]
      for member in members {
        let place = decoder.join(path, member.key)
        guard paths.contains(member.key) else {
          decoder.report(
            "is no switch\(Spelling.hint(for: member.key, among: paths)) fleetsim presets lists them",
            at: member.keyPosition, place)
          continue
        }
        sources[member.key] = SourceKeys.source.read(&decoder, member.value, place)
      }
      return sources
    }, write: { .members($0.sorted { $0.key < $1.key }.map { ($0, SourceKeys.source.write($1)) }) })
}

private enum SourceKeys {
  static let source = Kind.object(keys).or(
    Kind<String>.text, { ClientPreset.Source(place: $0) },
    part: { $0 == ClientPreset.Source(place: $0.place) ? $0.place : nil })

  private static let keys = ObjectKeys(
    ClientPreset.Source(place: ""), keepsRest: true,
    [
      Field(
        "place", \.place, .text, "A file and its lines, a requirement, an address, or \"observed\".",
        example: "\"RetryHandler.kt:12\""),
      Field("why", \.why, .text, "What the value alone does not say.", isLater: true),
      Field(
        "by", \.evidence, Kind<ClientPreset.Evidence>.choice.orNothing,
        "How it is known: seen in a run of the client's own code, or only read in its source.",
        isLater: true),
    ])
}

private enum VersionKeys {
  static let keys = ObjectKeys(
    ClientPreset.Version(number: ""), keepsRest: true,
    [
      Field(
        "number", \.number, .text, "What its publisher calls it, or a commit.", example: "\"4.2.0\""),
      Field(
        "date", \.date, Kind<CalendarDate>.date.orNothing, "When it was published.", isLater: true),
      Field(
        "run", \.run, Kind<CalendarDate>.date.orNothing, "When its own code was run.", isLater: true
      ),
    ])
}

extension Kind where Value == CalendarDate {
  fileprivate static let date = Kind.parsed(
    schema: .pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
    { $0.text.flatMap { CalendarDate($0) } },
    or: { "\($0) is no date; write one as \"2026-11-24\"" }, write: { .text($0.description) })
}

// MARK: Reading

extension ScenarioDecoder {
  /// The client that a value means; one that could not be read has been reported.
  fileprivate mutating func client(_ node: PositionedValue, _ path: String) -> ClientPreset? {
    guard let name = node.text else {
      guard node.members != nil else {
        unexpected(node, "the name of a client, a file such as \"mine.json5\" or a client", path)
        return nil
      }
      return clientFile(node, path)
    }
    if let preset = ClientPreset.builtIn(name) { return preset }
    guard ClientPreset.isFileName(name) else {
      let names = ClientPreset.names
      report(
        "\(quoted(name)) is not known\(Spelling.hint(for: name, among: names)) Allowed: \(list(names)), "
          + "or a client file such as \"mine.json5\"", at: node.position, path)
      return nil
    }
    guard let tree = clientFiles[name] else {
      // A file that the scenario names has been read, or has been reported.
      if !hasErrors { report("cannot read \(quoted(name))", at: node.position, path) }
      return nil
    }
    if let known = clients[name] { return known }
    let preset = clientFile(tree, "")
    clients[name] = .some(preset)
    return preset
  }

  private mutating func clientFile(_ node: PositionedValue, _ path: String) -> ClientPreset? {
    let outer = cohort
    cohort = nil
    defer { (cohort, clientDefaults) = (outer, HTTPConfig()) }
    var file = ClientFile()
    return ClientFile.keys.read(&self, node, path, into: &file) ? file.preset : nil
  }
}

/// The clients that ship with the tool: the files under `Sources/ClientFiles/clients`, which the C compiler puts into the binary.
extension ClientPreset {
  /// The name of the design document's own client.
  static let documentName = "tapi-document"

  /// The design document's own client, as its file has it.
  public static let tapiDocument = shipped(documentName)

  /// The names of all of them, in the order of their tables.
  public static let names = files.map(\.name)

  /// All of them, in that order.
  public static let all = names.map(shipped)

  /// The clients of the source documents and of the SDKs that were recorded.
  public static let documented = documentedNames.map(shipped)
  public static let documentedNames = files.filter(\.isDocumented).map(\.name)

  /// The clients that are taken from what others publish about their SDKs.
  public static let catalogue = files.filter { !$0.isDocumented }.map { shipped($0.name) }

  /// Whether it is one of them as it is.
  public var isBuiltIn: Bool { Self.builtIn(name) == self }

  /// Whether a name is that of a file.
  public static func isFileName(_ name: String) -> Bool {
    name.hasSuffix(".json5") || name.hasSuffix(".json")
  }

  /// The one of that name; nil: there is none.
  ///
  /// A file that can't be read is a mistake in this program, and stops it.
  public static func builtIn(_ name: String) -> ClientPreset? {
    if let client = read.withLock({ $0[name] }) { return client }
    guard let index = files.firstIndex(where: { $0.name == name }) else { return nil }
    do {
      let text = String(cString: fleetsim_client(index).text)
      let client = try ClientPreset(file: text, name: name + ".json5", isShipped: true)
      read.withLock { $0[name] = client }
      return client
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The one of that name, which is that of a file.
  package static func shipped(_ name: String) -> ClientPreset { builtIn(name)! }

  private static let files: [(name: String, isDocumented: Bool)] =
    (0..<fleetsim_client_count()).map { index in
      let file = fleetsim_client(index)
      return (String(cString: file.name), file.is_documented)
    }

  /// The clients that have been asked for: a run needs one or two, and reading all takes longer than a small run.
  private static let read = Mutex<[String: ClientPreset]>([:])

  /// Reads a client file.
  ///
  /// - `text`: JSON5; `name`: of the file, for messages; `isShipped`: whether it ships with the tool.
  /// - Throws: `ScenarioProblems` with everything that is wrong with it.
  public init(file text: String, name: String, isShipped: Bool = false) throws {
    self = try ClientFile.keys.read(text: text, name: name, isShippedClient: isShipped).preset
  }
}
