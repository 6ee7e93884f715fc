import ScenarioModel
import UploadPipeline

extension Cohort {
  static let uploadLoopKeys = Record(
    standIn, keepsRest: true,
    [
      .ofClient(
        "actsAtFlushEnd", \.actsAtFlushEnd, .bool, "queue and state stay until a flush is answered", "S17",
        isLater: true),
      .ofClient(
        "rateLimitEndsLoop", \.rateLimitEndsLoop, .bool, "a 429 ends the loop even if it asks for no wait",
        "S3", isLater: true),
      .ofClient(
        "failureEndsLoop", \.failureEndsLoop, .bool,
        "any failure ends the loop until the next trigger or the end of a wait", "S3", isLater: true),
      .ofClient("saving", \.saving, .choice, "when retry state is saved", "S18", isLater: true),
      .ofClient(
        "triggers", \.triggers, .triggers(orAll: true), "what makes the client flush", "S17", isLater: true,
        form: "[TRIGGER …]"),
      .ofClient(
        "triggersThatSkipWaits", \.triggersThatSkipWaits, .triggers(), "triggers that cut a wait short", "D7",
        isLater: true, form: "[TRIGGER …]"),
      .ofClient(
        "countOfAnEvent", \.countOfAnEvent, .count(1...2), "how much an event counts for flush.count", "S17",
        isLater: true),
      .ofClient(
        "countsAllEvents", \.countsAllEvents, .bool, "the count goes on over other flushes", "S17",
        isLater: true),
      .ofClient(
        "countsHeldEvents", \.countsHeldEvents, .bool,
        "the count is that of all events held, at each new one", "S17", isLater: true),
      .ofClient(
        "countFlushWhileFailing", \.countFlushWhileFailing, .bool,
        "the count makes flushes while uploads fail", "S17", isLater: true),
    ])
}

extension Kind where Value == ClientTriggers {
  fileprivate static func triggers(orAll: Bool = false) -> Kind {
    let words = ClientTrigger.allCases.map { ($0.rawValue, $0) }
    let list = PositionedValue.members([
      ("type", .text("array")),
      ("items", .words(words.map(\.0))),
    ])
    return Kind(
      schema: orAll ? .oneOf([.const(.text("all")), list]) : list,
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
