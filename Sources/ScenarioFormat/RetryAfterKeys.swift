import ScenarioModel
import SimulationKernel
import TAPIModel

/// `{ from, to }`, or `{ backlog: { atLeast, atMost } }`.
struct RetryAfterBounds: Sendable, Equatable {
  var least = Span.zero
  var most = Span.zero

  fileprivate static let spread = Record(
    RetryAfterBounds(),
    [
      Field("from", \.least, .wholeSeconds, "Drawn from here …", example: "\"5s\""),
      Field("to", \.most, .wholeSeconds, "… to here, for each answer.", example: "\"15s\""),
      // Where it stands beside them: alone it is another form.
      Field(
        "backlog", \.self, .object(backlog),
        "When the capacity will have worked off what waits and what was refused before: each refused request has its place "
          + "behind the others."),
      order("from", "to"),
    ])

  fileprivate static let backlog = Record(
    RetryAfterBounds(least: .seconds(1), most: .seconds(300)),
    [
      Field("atLeast", \.least, .wholeSeconds, "The shortest."),
      Field("atMost", \.most, .wholeSeconds, "The longest."),
      order("atLeast", "atMost"),
    ])

  private static func order(_ least: String, _ most: String) -> Field<RetryAfterBounds> {
    .refusal { _, bounds in
      bounds.least > bounds.most
        ? "\(least) \(Units.text(bounds.least)) is above \(most), \(Units.text(bounds.most))" : nil
    }
  }
}

extension Kind where Value == Span {
  /// What Retry-After can say.
  fileprivate static let wholeSeconds: Kind = {
    let span = span(.zero...RetryAfterPolicy.longestWait)
    return Kind(
      schema: span.schema, range: "whole seconds, 0s to \(Units.text(RetryAfterPolicy.longestWait))",
      read: { decoder, node, path in
        guard let value = span.read(&decoder, node, path) else { return nil }
        guard value.microseconds % 1_000_000 == 0 else {
          decoder.report(
            "Retry-After is sent in whole seconds, and \(decoder.shown(node)) is none", at: node.position,
            path)
          return nil
        }
        return value
      }, write: span.write)
  }()
}

extension Kind where Value == RetryAfterPolicy {
  /// `"none"`, `"5s"`, `{ from, to }` or `{ backlog }`.
  static let retryAfter = retryAfterForms.named("retryAfter")
  static let retryAfterForms: Kind = {
    let fixed = Kind<Span>.wholeSeconds
    let keys = RetryAfterBounds.spread.keys
    let backlog = Kind<RetryAfterBounds>.object(RetryAfterBounds.backlog)
    return Kind(
      shape: .object(keys),
      schema: .oneOf([
        .const(.text("none")), fixed.schema,
        ScenarioSchema.object(keys.filter { $0.name != "backlog" }),
        ScenarioSchema.object(keys.filter { $0.name == "backlog" }),
      ]), range: fixed.range,
      read: { decoder, node, path in
        if case .string("none") = node.content { return RetryAfterPolicy.none }
        guard let members = node.members else {
          return fixed.read(&decoder, node, path).map(RetryAfterPolicy.fixed)
        }
        if let value = node["backlog"], value.members != nil {
          guard decoder.object(node, path, keys.map(\.optional)) != nil else { return nil }
          let path = decoder.join(path, "backlog")
          if let other = members.first(where: { $0.key != "backlog" }) {
            decoder.report(
              "\(other.key) and backlog exclude each other; keep one", at: other.keyPosition, path)
            return nil
          }
          return backlog.read(&decoder, value, path).map { .backlog(atLeast: $0.least, atMost: $0.most) }
        }
        var bounds = RetryAfterBounds()
        guard RetryAfterBounds.spread.read(&decoder, node, path, into: &bounds) else { return nil }
        return .spread(from: bounds.least, to: bounds.most)
      },
      write: { policy in
        switch policy {
        case .none: .text("none")
        case .fixed(let span): .span(span)
        case .spread(let from, let to): .members([("from", .span(from)), ("to", .span(to))])
        case .backlog(let atLeast, let atMost):
          .members([("backlog", backlog.write(RetryAfterBounds(least: atLeast, most: atMost)))])
        }
      }
    )
  }()
}
