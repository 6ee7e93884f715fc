import UploadGating
import UploadRetry

/// O3: `ClientGates.retryBudget`.
extension UploadClientHost where Self: ~Copyable {
  @inlinable
  func budgetState(of client: ClientIndex) -> UnsafeMutablePointer<RetryBudget.State> {
    part(options.pointee.gateLayout.budget, client, as: RetryBudget.State.self)
  }

  @inlinable
  func budgetStartsRun(_ client: ClientIndex) {
    options.pointee.gates.retryBudget?.startRun(&budgetState(of: client).pointee)
  }

  @inlinable
  mutating func budgetStopsRetry(_ client: ClientIndex, at now: Int64) -> GateVerdict? {
    guard let rule = options.pointee.gates.retryBudget,
      !rule.decidesAtFailures || options.pointee.actsAtFlushEnd
    else { return nil }
    switch rule.permission(budgetState(of: client).pointee, now: now) {
    case .allowed: return nil
    case .refusedForThisRun where rule.refusesWhenSpent, .refused where rule.refusesWhenSpent:
      return .refused
    case .refusedForThisRun, .refused(until: nil):
      return skip(until: .max, client, at: now)
    case .refused(let until?):
      return skip(until: max(until, now + 1), client, at: now)
    }
  }

  @inlinable
  func budgetTakes(_ client: ClientIndex, at now: Int64, isRetry: Bool) {
    guard let rule = options.pointee.gates.retryBudget else { return }
    let state = budgetState(of: client)
    if isRetry {
      rule.take(&state.pointee, now: now)
    } else {
      rule.recordRequest(&state.pointee, now: now)
    }
  }

  @inlinable
  func budgetHears(_ answer: GateAnswer, of batch: BatchIndex, _ client: ClientIndex, at now: Int64) {
    guard let rule = options.pointee.gates.retryBudget else { return }
    let state = budgetState(of: client)
    if answer.isSuccess {
      rule.recordSuccess(&state.pointee, isRetry: self.batch(batch).attempts > 1, now: now)
    } else if answer.isFailure {
      rule.recordFailure(&state.pointee, hasAnswer: answer.status != 0, now: now)
    }
  }

  /// Whether the budget gives a failed batch up, which the machine would try again.
  @inlinable
  @inline(never)
  func gatesRefuseRetry(_ outcome: RetryOutcome, _ client: ClientIndex, at now: Int64) -> Bool {
    guard let rule = options.pointee.gates.retryBudget, rule.decidesAtFailures, outcome.isRetry else {
      return false
    }
    return rule.permission(budgetState(of: client).pointee, now: now) != .allowed
  }
}
