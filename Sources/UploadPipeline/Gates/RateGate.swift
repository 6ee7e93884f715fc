import UploadGating

/// T1, T2, T3: `ClientGates.rateGate`.
extension UploadClientHost where Self: ~Copyable {
  @inlinable
  func rateLog(of client: ClientIndex) -> UnsafeMutablePointer<UInt32> {
    part(options.pointee.gateLayout.rateLog, client, as: UInt32.self)
  }

  /// When a run may start that reserves the slots of its batches (T2); nil: now.
  @inlinable
  mutating func rateGateHoldsRun(_ client: ClientIndex, byTrigger: Bool, at now: Int64) -> Int64? {
    guard options.pointee.gates.reservesWholeRun, let gate = options.pointee.gates.rateGate else {
      return nil
    }
    let due = min(countDue(client, byTrigger: byTrigger, at: now), gate.first.slots)
    guard due > 0, let time = gate.earliest(for: due, in: .first, log: rateLog(of: client), now: now)
    else { return nil }
    return time > now ? time : nil
  }

  @inlinable
  func rateGateSays(_ client: ClientIndex, at now: Int64, _ look: inout GateHold) {
    guard let gate = options.pointee.gates.rateGate else { return }
    let log = rateLog(of: client)
    guard let end = gate.earliest(log: log, now: now), end > now else { return }
    look.until = max(look.until, end)
    look.flags.insert(.wakes)
    if options.pointee.gates.restartsRun, let slot = gate.earliest(in: .first, log: log, now: now), slot > now
    {
      look.until = slot
      look.flags.insert(.fromStart)
    }
  }

  @inlinable
  func rateGateTakes(_ client: ClientIndex, at now: Int64) {
    options.pointee.gates.rateGate?.take(log: rateLog(of: client), now: now)
  }
}
