import FleetMetrics
import SimulationKernel

extension TAPIServer {
  /// What has been counted by the end of a run; nil: connections cost nothing.
  public func connectionCounts(before end: Instant) -> SideSeries<ConnectionCount>? {
    var table = connections
    table?.closeIdle(through: end - Span(microseconds: 1))
    return table?.counts
  }

  /// Opens the connections that the fleet has when a run begins; without it there are none.
  package mutating func beginConnections() { connections?.begin() }

  /// In an outage it is something in front that answers, or nobody: there is no handshake.
  @inline(never)
  mutating func arriveOverConnection(_ request: UploadRequest, retryCount: Int) -> Admission {
    if outage != nil { return decide(request, retryCount: retryCount) }
    switch connections!.arrive(request, retryCount: retryCount) {
    case .connecting:
      noteNextOwnTime()
      return .pending
    case .failed(let time, let isKnown, let isRefusal):
      noteNextOwnTime()
      return .unconnected(at: time, isKnown: isKnown, isRefusal: isRefusal)
    case .connected:
      let admission = decide(request, retryCount: retryCount)
      switch admission {
      case .answered(let answer):
        connections!.release(request, at: request.arrival, lastUse: answer.at)
      case .unconfirmed(let time): connections!.release(request, at: request.arrival, lastUse: time)
      case .lost, .unconnected:
        connections!.release(request, at: request.arrival, lastUse: request.arrival)
      case .pending: break
      }
      return admission
    }
  }

  /// A handshake is over, and its request comes to admission.
  @inline(never)
  mutating func admitConnected(at now: Instant) {
    guard let (request, retryCount) = connections!.takeConnected() else { return }
    switch decide(request, retryCount: retryCount) {
    case .answered(let answer):
      outcomes.append(Completion(request: request, at: now, outcome: .answered(answer)))
    case .unconfirmed(let time):
      outcomes.append(Completion(request: request, at: now, outcome: .unconfirmed(at: time)))
    case .lost, .unconnected: outcomes.append(Completion(request: request, at: now, outcome: .lost))
    case .pending: break
    }
  }

  /// A request is at the server no more.
  @inline(never)
  mutating func release(_ completion: Completion) {
    var lastUse = completion.at
    switch completion.outcome {
    case .answered(let answer): lastUse = max(lastUse, answer.at)
    case .unconfirmed(let time): lastUse = max(lastUse, time)
    case .lost: break
    }
    connections?.release(completion.request, at: completion.at, lastUse: lastUse)
  }
}
