import Conformance
import Foundation
import ScenarioFormat
import ScenarioModel
import Synchronization

/// The files under `Recordings`: what the shipped SDKs' own code did.
enum Recordings {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Recordings")
  /// The folder of each preset.
  static let folders = [
    "segment-swift": "swift", "segment-kotlin": "kotlin", "segment-kotlin-main": "kotlin-1311377",
    "segment-react-native": "react-native",
  ]
  static let clients = folders.keys.sorted()
  /// Those whose SDKs were run against each vector.
  static let withVectors = clients.filter { $0 != "segment-kotlin-main" }

  /// Those whose clients are pages of a browser, with the folder and the file of each.
  static let pages = [
    "segment-browser": "histories-given.json", "segment-browser-batching": "batching-given.json",
  ]

  /// The folder of each client of the catalogue whose scripts are there, one file a client.
  static let scripts = Dictionary(
    uniqueKeysWithValues: ["javascript", "python"].flatMap { name in
      let files = try? FileManager.default.contentsOfDirectory(
        atPath: folder.appendingPathComponent(name).path)
      return (files ?? []).filter { $0.hasSuffix(".json") }.map { (String($0.dropLast(5)), name) }
    })

  /// The folder of random histories of clients of the catalogue that keep all in memory, one file a client.
  static let catalogueHistories = "javascript-histories"

  static func text(_ file: String, of client: String) throws -> String {
    let name = pages[client] == nil ? folders[client] ?? scripts[client] ?? client : "analytics-next"
    let url = folder.appendingPathComponent(name).appendingPathComponent(file)
    return try String(contentsOf: url, encoding: .utf8)
  }

  /// Histories as vectors; decoded once, as several tests run the same ones.
  static func histories(_ file: String = "histories-given.json", of client: String) throws -> VectorFile {
    let name = client + "/" + file
    if let histories = decoded.withLock({ $0[name] }) { return histories }
    let histories = try VectorFile(text: text(file, of: client), name: file)
    decoded.withLock { $0[name] = histories }
    return histories
  }
  private static let decoded = Mutex<[String: VectorFile]>([:])

  /// What the SDK did with each vector, by id.
  static func observed(by client: String) throws -> [String: PositionedValue] {
    let root = try JSON5Parser.parse(text("vectors-observed.json", of: client))
    if case .array(let entries) = root.content {
      return Dictionary(uniqueKeysWithValues: entries.map { ($0["id"]?.string ?? "", $0) })
    }
    return Dictionary(uniqueKeysWithValues: (root.members ?? []).map { ($0.key, $0.value) })
  }
}

/// JSON that is read, changed and written without touching its numbers.
extension PositionedValue {
  var string: String? { if case .string(let text) = content { text } else { nil } }
  var bool: Bool? { if case .bool(let value) = content { value } else { nil } }
  var number: Double? { if case .number(let text) = content { Double(text) } else { nil } }
  var elements: [PositionedValue] { if case .array(let elements) = content { elements } else { [] } }

  func keeping(_ isKept: (_ key: String, _ value: PositionedValue) -> Bool) -> PositionedValue {
    var copy = self
    copy.content = .object((members ?? []).filter { isKept($0.key, $0.value) })
    return copy
  }

  /// An object with another member; an empty one stays empty.
  func setting(_ key: String, _ value: PositionedValue.Content) -> PositionedValue {
    var members = members ?? []
    let value = PositionedValue(value, at: position)
    if let index = members.firstIndex(where: { $0.key == key }) {
      members[index].value = value
    } else if var member = members.last {
      (member.key, member.value) = (key, value)
      members.append(member)
    }
    return PositionedValue(.object(members), at: position)
  }

  /// As JSON on one line.
  var json: String {
    switch content {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let text): text
    case .string(let text): Self.quoted(text)
    case .array(let elements): "[" + elements.map(\.json).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.key) + ":" + $0.value.json }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      scalar == "\"" || scalar == "\\" || scalar.value < 0x20
        ? "\\u" + String(String(scalar.value + 0x10000, radix: 16).suffix(4)) : String(scalar)
    }
    return "\"" + escaped.joined() + "\""
  }
}
