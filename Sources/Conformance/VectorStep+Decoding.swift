import ScenarioFormat
import UploadRetry

extension VectorReader {
  /// The steps of a case, in the order of their times; `batches` are the ones there are at time 0.
  mutating func steps(_ node: PositionedValue, _ path: String, batches: [String]) -> [VectorStep] {
    var known = Set(batches)
    var steps: [VectorStep] = []
    for (index, element) in list(node, path).enumerated() {
      let path = "\(path)[\(index)]"
      guard let step = step(element, path, batches: &known) else { continue }
      if let last = steps.last, last.at > step.at {
        report("is before the step on line \(last.line)", at: element.position, path + ".at")
      }
      steps.append(step)
    }
    return steps
  }

  private mutating func step(
    _ node: PositionedValue, _ path: String, batches: inout Set<String>
  ) -> VectorStep? {
    let kinds = ["trigger", "events", "answer", "restart"]
    let node = object(node, path, known: ["at"] + kinds + ["seals", "settings", "expect"])
    let actions = kinds.filter { node[$0] != nil }
    guard actions.count == 1, let value = node[actions[0]] else {
      if node.members != nil {
        report("a step has one of \(kinds.joined(separator: ", "))", at: node.position, path)
      }
      return nil
    }
    guard let time = node["at"] else {
      report("missing", at: node.position, path + ".at")
      return nil
    }
    guard let action = action(actions[0], value, of: node, path, batches: &batches) else { return nil }
    let line = Int(node.position.line)
    var expect = VectorExpectation(sends: .init(value: [], line: line), drops: .init(value: [], line: line))
    if let value = node["expect"] { expectation(value, path + ".expect", batches, into: &expect) }
    return VectorStep(at: seconds(time, path + ".at"), line: line, action: action, expect: expect)
  }

  private mutating func action(
    _ kind: String, _ value: PositionedValue, of node: PositionedValue, _ path: String,
    batches: inout Set<String>
  ) -> VectorStep.Action? {
    switch kind {
    case "trigger":
      return word(value, path + ".trigger", as: VectorStep.TriggerKind.self).map { .trigger($0) }
    case "restart":
      let settings = node["settings"].map(Self.settings)
      return word(value, path + ".restart", as: VectorStep.SavedState.self).map {
        .restart($0, settings: settings)
      }
    case "events":
      let count = whole(value, path + ".events", in: 1...100_000)
      guard let name = node["seals"] else {
        report(
          "missing: the name of the batch that these events will be in", at: node.position, path + ".seals")
        return nil
      }
      let batch = text(name, path + ".seals")
      batches.insert(batch)
      return .events(count, batch: batch)
    default:
      let answer = object(
        value, path + ".answer", known: ["batch", "status", "retryAfter", "rateLimitReset"])
      guard let batch = answer["batch"], let status = answer["status"] else {
        if answer.members != nil { report("needs batch and status", at: answer.position, path + ".answer") }
        return nil
      }
      var code: Int?
      if case .string("none") = status.content {
      } else {
        code = whole(status, path + ".answer.status", in: -1_000_000...1_000_000)
      }
      let path = path + ".answer"
      return .answer(
        batch: name(batch, path + ".batch", batches), status: code,
        retryAfter: header("retryAfter", of: answer, path),
        rateLimitReset: header("rateLimitReset", of: answer, path))
    }
  }

  /// The text of a header that an answer may have.
  private mutating func header(_ key: String, of answer: PositionedValue, _ path: String) -> String? {
    guard let value = answer[key] else { return nil }
    if case .string(let text) = value.content { return text }
    report("expected the header's text, found \(value.kind)", at: value.position, path + "." + key)
    return nil
  }

  /// The name of a batch that there is.
  private mutating func name(_ node: PositionedValue, _ path: String, _ batches: Set<String>) -> String {
    let name = text(node, path)
    // An upload of several is named "a+b".
    if !name.isEmpty, !name.split(separator: "+").allSatisfy({ batches.contains(String($0)) }) {
      report("there is no batch \(quoted(name))", at: node.position, path)
    }
    return name
  }

  // MARK: What is expected

  private mutating func expectation(
    _ node: PositionedValue, _ path: String, _ batches: Set<String>, into expect: inout VectorExpectation
  ) {
    let node = object(
      node, path,
      known: [
        "sends", "drops", "outcome", "state", "waitUntil", "globalRetryCount", "failures", "dueAt", "queue",
        "restored",
      ])
    if let value = node["sends"] {
      let sends = list(value, path + ".sends").map { send($0, path + ".sends", batches) }
      expect.sends = Located(value: sends, line: Int(value.position.line))
    }
    if let value = node["drops"] {
      let drops = members(value, path + ".drops").map { member in
        NamedDrop(
          batch: named(member, path + ".drops", batches), reason: reason(member.value, path + ".drops"))
      }
      expect.drops = Located(value: drops, line: Int(value.position.line))
    }
    if let value = node["outcome"], let outcome = outcome(value, path + ".outcome") {
      expect.outcome = Located(value: outcome, line: Int(value.position.line))
    }
    if let value = node["state"] {
      let state = word(value, path + ".state", as: PipelineStateName.self)
      expect.isReady = Located(value: state == .ready, line: Int(value.position.line))
    }
    if let value = node["waitUntil"] {
      expect.waitUntil = Located(
        value: secondsRange(value, path + ".waitUntil"), line: Int(value.position.line))
    }
    if let value = node["globalRetryCount"] {
      let count = whole(value, path + ".globalRetryCount", in: 0...65_535)
      expect.globalRetryCount = Located(value: count, line: Int(value.position.line))
    }
    if let value = node["failures"] {
      expect.failures = members(value, path + ".failures").map { member in
        let count = whole(member.value, path + ".failures", in: 0...65_535)
        return (
          named(member, path + ".failures", batches), Located(value: count, line: Int(value.position.line))
        )
      }
    }
    if let value = node["dueAt"] {
      expect.dueAt = members(value, path + ".dueAt").map { member in
        let range = secondsRange(member.value, path + ".dueAt")
        return (
          named(member, path + ".dueAt", batches), Located(value: range, line: Int(value.position.line))
        )
      }
    }
    if let value = node["queue"] {
      let names = list(value, path + ".queue").map { name($0, path + ".queue", batches) }
      expect.queue = Located(value: names, line: Int(value.position.line))
    }
    if let value = node["restored"],
      let restored = word(value, path + ".restored", as: VectorExpectation.Restored.self)
    {
      expect.restored = Located(value: restored, line: Int(value.position.line))
    }
  }

  private enum PipelineStateName: String, CaseIterable {
    case ready = "READY"
    case waiting = "WAITING"
  }

  private mutating func named(
    _ member: PositionedValue.Member, _ path: String, _ batches: Set<String>
  ) -> String {
    name(PositionedValue(.string(member.key), at: member.keyPosition), path, batches)
  }

  /// `"a"`, or `{"a": 0}` where the header matters; null: without the header.
  private mutating func send(_ node: PositionedValue, _ path: String, _ batches: Set<String>) -> ExpectedSend
  {
    guard let members = node.members else {
      return ExpectedSend(batch: name(node, path, batches), header: .any)
    }
    guard members.count == 1 else {
      report("expected one batch with its X-Retry-Count, found \(members.count)", at: node.position, path)
      return ExpectedSend(batch: "", header: .any)
    }
    let batch = named(members[0], path, batches)
    if case .null = members[0].value.content { return ExpectedSend(batch: batch, header: .absent) }
    return ExpectedSend(batch: batch, header: .count(whole(members[0].value, path, in: 0...65_535)))
  }

  private mutating func reason(_ node: PositionedValue, _ path: String) -> String {
    let reason = text(node, path)
    if !reason.isEmpty, !DropName.all.contains(reason) {
      unknown(reason, allowed: DropName.all, at: node.position, path)
    }
    return reason
  }

  private mutating func outcome(_ node: PositionedValue, _ path: String) -> ExpectedOutcome? {
    if case .string(let name) = node.content {
      switch name {
      case "delivered": return .delivered
      case "retryAtNextTrigger": return .retryAtNextTrigger
      case "refreshCredentials": return .refreshCredentials
      default: break
      }
    } else if let members = node.members, members.count == 1 {
      switch members[0].key {
      case "retry": return .retry(secondsRange(members[0].value, path + ".retry"))
      case "pause": return .pause(secondsRange(members[0].value, path + ".pause"))
      case "drop": return .drop(reason(members[0].value, path + ".drop"))
      case "block": return .block(reason(members[0].value, path + ".block"))
      default: break
      }
    }
    report(
      "expected \"delivered\", \"retryAtNextTrigger\", \"refreshCredentials\", {\"retry\": seconds}, "
        + "{\"pause\": seconds}, {\"drop\": reason} or {\"block\": reason}", at: node.position, path)
    return nil
  }
}
