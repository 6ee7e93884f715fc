import ScenarioModel
import TAPIModel

/// The cohort and the devices of it that a shard holds. A shard never mixes cohorts, so its plan is one
/// constant.
package struct ShardLayout: Sendable {
  package var cohort: Int
  /// The number of the cohort's first device in the fleet.
  package var firstOfCohort: Int
  /// Within the cohort.
  package var first: Int
  package var count: Int

  /// Cuts each cohort into `perCohort` pieces of nearly equal size (never an empty one).
  package static func cut(_ fleet: [Cohort], perCohort: Int) -> [ShardLayout] {
    var shards: [ShardLayout] = []
    var firstOfCohort = 0
    for (index, cohort) in fleet.enumerated() {
      let pieces = max(1, min(perCohort, cohort.devices))
      for piece in 0..<pieces {
        let first = cohort.devices * piece / pieces
        let next = cohort.devices * (piece + 1) / pieces
        shards.append(
          ShardLayout(cohort: index, firstOfCohort: firstOfCohort, first: first, count: next - first))
      }
      firstOfCohort += cohort.devices
    }
    return shards
  }
}

extension Scenario {
  /// Returns the server's knowledge of the senders, by shard.
  func uploadSources(of shards: [ShardLayout]) -> [UploadSource] {
    shards.map { shard in
      let cohort = fleet[shard.cohort]
      let firstOfCohort = UInt32(truncatingIfNeeded: shard.firstOfCohort)
      var source = UploadSource(writeKey: cohort.effectiveWriteKey, firstDevice: firstOfCohort)
      (source.eventBytes, source.requestBytes) = (cohort.eventBytes, cohort.requestBytes)
      source.connection = cohort.connection
      source.latency = cohort.latency
      let firstDevice = firstOfCohort &+ UInt32(truncatingIfNeeded: shard.first)
      source.devices = firstDevice..<firstDevice + UInt32(truncatingIfNeeded: shard.count)
      if tapi.connections != nil { source.pace = NormalLoad.pace(of: cohort, over: duration) }
      (source.timeout, source.connectTimeout) = (cohort.timeout, cohort.connectTimeout)
      return source
    }
  }
}

extension TAPIConfiguration.Server {
  /// Whether a request costs tokens for each of its events.
  var costsByEvent: Bool { if case .bucket(let bucket) = self { bucket.costPerEvent > 0 } else { false } }
}
