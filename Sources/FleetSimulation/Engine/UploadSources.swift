import ScenarioModel
import TAPIModel

extension Scenario {
  /// What the server knows of the senders, by shard.
  func uploadSources(of shards: [ShardLayout]) -> [UploadSource] {
    var first: [UInt32] = []
    var total = 0
    for cohort in fleet {
      first.append(UInt32(truncatingIfNeeded: total))
      total += cohort.devices
    }
    return shards.map { shard in
      let cohort = fleet[shard.cohort]
      return UploadSource(
        writeKey: cohort.effectiveWriteKey, firstDevice: first[shard.cohort],
        eventBytes: cohort.eventBytes, requestBytes: cohort.requestBytes)
    }
  }
}

extension TAPIConfiguration.Server {
  /// Whether a request costs tokens for each of its events.
  var costsByEvent: Bool { if case .bucket(let bucket) = self { bucket.costPerEvent > 0 } else { false } }
}
