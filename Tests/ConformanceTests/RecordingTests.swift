import Conformance
import ScenarioFormat
import ScenarioModel
import Testing

/// The presets of shipped clients do what the shipped code did.
@Suite("Recordings")
struct RecordingTests {
  private func failures(_ file: VectorFile, _ client: String) throws -> [String] {
    ConformanceRunner(client: try #require(ConformanceClient(name: client))).run([file]).failures
  }

  @Test("every given history holds", arguments: Recordings.clients)
  func given(client: String) throws {
    let file = try Recordings.histories(of: client)
    #expect(file.count == 300)
    #expect(try failures(file, client) == [])
  }

  @Test("every given history of a browser's pages holds", arguments: Recordings.pages.keys.sorted())
  func pages(client: String) throws {
    let file = try Recordings.histories(try #require(Recordings.pages[client]), of: client)
    #expect(file.count == (client == "segment-browser" ? 300 : 100))
    #expect(try failures(file, client) == [])
    // They are about nobody else.
    #expect(try failures(file, "segment-kotlin") == [])
    #expect(
      ConformanceRunner(client: try #require(ConformanceClient(name: "segment-kotlin"))).run([file]).results
        .isEmpty)
  }

  /// A wait that is not a number (`maxRetryInterval: "many"`) ends at once and never; the model has numbers only.
  static let notANumber = "h-0037"

  @Test("every history with uploads of several events holds, but the one whose wait is not a number")
  func rebatch() throws {
    let file = try Recordings.histories("histories-rebatch.json", of: "segment-react-native")
    #expect(file.count == 100)
    let failures = try failures(file, "segment-react-native")
    #expect(failures.filter { !$0.contains(" \(Self.notANumber): ") } == [])
    #expect(!failures.isEmpty, "\(Self.notANumber) holds: it is no exception any more")
  }

  // MARK: Vectors

  /// What JavaScript keeps as it is, and the model cannot: a text where a number should be (`"10"` multiplies as 10), and a
  /// limit of 2.5 retries.
  static let notInTheModel = ["segment-react-native": ["jitter-text", "retries-fraction"]]

  @Test("a vector is said to deviate exactly where the SDK does", arguments: Recordings.withVectors)
  func deviations(client: String) throws {
    let vectors = try VectorFile.builtIn().flatMap(\.cases)
    let observed = try Recordings.observed(by: client)
    var declared: Set<String> = []
    // A vector that came after the recordings was seen by nobody.
    for vector in vectors where observed[vector.id] != nil {
      guard let deviation = vector.deviations[client] else { continue }
      // It was not run; whether the preset holds is the only question, and `VectorTests` asks it.
      if observed[vector.id]?["notApplicable"] != nil {
        #expect(deviation.reason.hasPrefix("does not apply: "), "\(vector.id)")
      } else {
        declared.insert(vector.id)
      }
    }
    let seen = Set(vectors.map(\.id).filter { observed[$0]?["holds"]?.bool == false })
    #expect(declared == seen.subtracting(Self.notInTheModel[client] ?? []))
    #expect(Set(observed.keys).subtracting(vectors.map(\.id)).isEmpty)
  }

  @Test("the steps of a vector as the SDK went through them hold", arguments: Recordings.withVectors)
  func observedSteps(client: String) throws {
    let observed = try Recordings.observed(by: client)
    var count = 0
    for (name, text) in try BuiltInVectorTests.files() {
      let root = try JSON5Parser.parse(text)
      let cases = (root["cases"]?.elements ?? []).compactMap { vector -> PositionedValue? in
        guard let id = vector["id"]?.string, let steps = observed[id]?["observed"] else { return nil }
        return Self.vector(vector, with: steps)
      }
      if cases.isEmpty { continue }
      count += cases.count
      let changed = root.setting("cases", .array(cases)).json
      #expect(try failures(VectorFile(text: changed, name: name), client) == [])
    }
    #expect(count >= 50)
  }

  /// The vector with what the SDK did as its own expectations.
  ///
  /// What it says about Settings is left out: the steps show what became of them. So is its requirement, since a vector about bad
  /// Settings fails for values that end the SDK's process, and the recordings show what its code does beyond that point.
  private static func vector(_ vector: PositionedValue, with observed: PositionedValue) -> PositionedValue {
    let steps = observed.elements.filter { $0["expect"]?["impossible"] == nil }.map { step in
      let at = step["at"]?.number ?? 0
      var expect = (step["expect"] ?? step).keeping { key, _ in
        [
          "sends", "drops", "outcome", "state", "waitUntil", "globalRetryCount", "failures", "dueAt", "queue",
          "restored",
        ].contains(key)
      }
      // Of a time long over no exact value is kept.
      if let dueAt = expect["dueAt"] {
        let later = dueAt.keeping { _, time in max(at, 0) <= time.number ?? .infinity }
        expect = expect.setting("dueAt", later.content)
      }
      return step.keeping { key, _ in key != "differs" }.setting("expect", expect.content)
    }
    var result = vector.keeping { key, _ in !["deviates", "repairs", "effective"].contains(key) }
      .setting("requirement", .string("S13")).setting("steps", .array(steps))
    // They were run with the lowest draw where the vector does not say.
    if result["jitter"] == nil { result = result.setting("jitter", .string("lowest")) }
    return result
  }
}
