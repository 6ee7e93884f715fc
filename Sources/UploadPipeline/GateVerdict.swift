/// What the gates say about any upload of a client.
@usableFromInline
enum GateVerdict {
  case allowed
  /// It goes back into the queue, and the loop sends nothing more for now.
  case held
  /// It goes back into the queue, and the loop goes on with others.
  case skipped
  /// It is lost.
  case refused
}

/// What the gates say about one batch that would be sent now.
@usableFromInline
enum LeaveVerdict {
  case leaves
  /// The loop goes on with others.
  case skipped
  /// The loop sends nothing more for now.
  case held
}
