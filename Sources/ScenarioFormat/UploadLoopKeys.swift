import ScenarioModel
import UploadPipeline

extension Cohort {
  static let uploadLoopKeys = Record(
    standIn, keepsRest: true,
    [
      Field(
        "actsAtFlushEnd", \.actsAtFlushEnd, .bool,
        "queue and state stay until a flush is answered", standard: .byClient, writing: .unlessStandard,
        requirement: "S17"),
      Field(
        "rateLimitEndsLoop", \.rateLimitEndsLoop, .bool,
        "a 429 ends the loop even if it asks for no wait", standard: .byClient, writing: .unlessStandard,
        requirement: "S3"),
      Field(
        "failureEndsLoop", \.failureEndsLoop, .bool,
        "any failure ends the loop until the next trigger or the end of a wait", standard: .byClient,
        writing: .unlessStandard, requirement: "S3"),
      Field(
        "saving", \.saving, .choice, "when retry state is saved", standard: .byClient,
        writing: .unlessStandard, requirement: "S18"),
      Field(
        "triggers", \.triggers, .triggers(orAll: true), "what makes the client flush", standard: .byClient,
        writing: .unlessStandard, requirement: "S17", form: "[TRIGGER …]"),
      Field(
        "triggersThatSkipWaits", \.triggersThatSkipWaits, .triggers(),
        "triggers that cut a wait short", standard: .byClient, writing: .unlessStandard, requirement: "D7",
        form: "[TRIGGER …]"),
      Field(
        "countOfAnEvent", \.countOfAnEvent, .count(1...2), "how much an event counts for flush.count",
        standard: .byClient, writing: .unlessStandard, requirement: "S17"),
      Field(
        "countsAllEvents", \.countsAllEvents, .bool,
        "the count goes on over other flushes", standard: .byClient, writing: .unlessStandard,
        requirement: "S17"),
      Field(
        "countsHeldEvents", \.countsHeldEvents, .bool,
        "the count is that of all events held, at each new one", standard: .byClient,
        writing: .unlessStandard, requirement: "S17"),
      Field(
        "countFlushWhileFailing", \.countFlushWhileFailing, .bool,
        "the count makes flushes while uploads fail", standard: .byClient, writing: .unlessStandard,
        requirement: "S17"),
    ])
}

extension Kind where Value == ClientTriggers {
  fileprivate static func triggers(orAll: Bool = false) -> Kind {
    let words = ClientTrigger.allCases.map { ($0.rawValue, $0) }
    let list = PositionedValue.members([
      ("type", .text("array")),
      ("items", .members([("enum", .list(words.map { .text($0.0) }))])),
    ])
    return Kind(
      schema: orAll ? .oneOf([.members([("const", .text("all"))]), list]) : list,
      read: { decoder, node, path in
        let elements: [PositionedValue]
        switch node.content {
        case .array(let list): elements = list
        // As `fleetsim presets` prints them.
        case .string("all"): return .all
        case .string(let text) where text.hasPrefix("[") && text.hasSuffix("]"):
          elements = text.dropFirst().dropLast().split { ", ".contains($0) }.map {
            PositionedValue(.string(String($0)), at: node.position)
          }
        default:
          decoder.report(
            "expected \"all\" or a list of triggers, found \(decoder.describe(node))", at: node.position, path
          )
          return nil
        }
        return ClientTriggers(elements.compactMap { decoder.word($0, path, words) })
      }, write: { .list($0.kinds.map { .text($0.rawValue) }) })
  }
}
