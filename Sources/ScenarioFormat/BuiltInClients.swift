import ClientFiles
import ScenarioModel
import Synchronization

/// The clients that ship with the tool: the files under `Sources/ClientFiles/clients`, which the C compiler puts into the binary.
extension ClientPreset {
  /// What the design document's own client is called.
  static let documentName = "tapi-document"

  /// The design document's own client, as its file has it.
  public static let tapiDocument = shipped(documentName)
  public static let segmentSwift = shipped("segment-swift")
  public static let segmentKotlin = shipped("segment-kotlin")
  public static let segmentReactNative = shipped("segment-react-native")
  public static let keenExisting = shipped("keen-existing")
  public static let keenProposed = shipped("keen-proposed")
  public static let offlineFirst = shipped("offline-first")
  public static let toggl = shipped("toggl")
  public static let togglPush = shipped("toggl-push")
  public static let datafly = shipped("datafly")

  /// The names of all of them, in the order of their tables.
  public static let names = files.map(\.name)

  /// All of them, in that order.
  public static let all = names.map(shipped)

  /// Those of the source documents and of the SDKs that were recorded.
  public static let documented = documentedNames.map(shipped)
  public static let documentedNames = files.filter(\.isDocumented).map(\.name)

  /// Those that are taken from what others publish about their SDKs.
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

  /// Those that have been asked for: a run needs one or two, and reading all takes longer than a small run.
  private static let read = Mutex<[String: ClientPreset]>([:])

  /// Reads a client file.
  ///
  /// - `text`: JSON5; `name`: of the file, for messages.
  /// - Throws: `ScenarioProblems` with everything that is wrong with it.
  public init(file text: String, name: String) throws {
    try self.init(file: text, name: name, isShipped: false)
  }

  private init(file text: String, name: String, isShipped: Bool) throws {
    let tree = try JSON5Parser.parse(text, file: name)
    var decoder = ScenarioDecoder(sources: [name])
    decoder.readsShippedClient = isShipped
    var file = ClientFile()
    _ = ClientFile.record.read(&decoder, tree, "", into: &file)
    if decoder.hasErrors { throw ScenarioProblems(diagnostics: decoder.all) }
    self = file.preset
  }
}
