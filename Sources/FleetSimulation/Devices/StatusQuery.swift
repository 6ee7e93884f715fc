import SimulationKernel

/// The number of an attempt that asks whether an upload of unknown outcome was applied (O4): those of cohorts that
/// reconcile have 15 bits, and the sixteenth says that it is a question.
enum StatusQuery {
  private static var bit: UInt16 { 0x8000 }

  /// - Parameter next: the number that would come next.
  @inline(__always)
  static func attempt(_ next: UInt16, asQuery: Bool) -> UInt16 {
    (next >= bit ? 2 : next) | (asQuery ? bit : 0)
  }

  /// Without the bit.
  @inline(__always)
  static func number(_ attempt: UInt16) -> UInt16 { attempt & ~bit }

  @inline(__always)
  static func isQuery(_ attempt: UInt16) -> Bool { attempt & bit != 0 }
}

extension DeviceShard {
  /// Whether an item belongs to a question instead of an upload.
  @inline(__always)
  func isQuery(_ delivery: Delivery) -> Bool {
    options.pointee.gates.reconciles && StatusQuery.isQuery(delivery.attempt)
  }
}
