import FleetMetrics
import ScenarioModel
import SimulationKernel

/// Cost to the device, device by device: read off the shards' records, which are counted in place.
struct CostSamples {
  /// A shard's records; whoever owns them keeps them until `summary` has been asked for.
  private struct Source {
    var rows: DeviceRows
    var eventBytes: Int64
    var requestBytes: Int64

    @inline(__always)
    func bytes(_ record: UnsafePointer<DeviceRecord>) -> Int64 {
      let (events, overflow) = record.pointee.sentEvents.multipliedReportingOverflow(by: eventBytes)
      return overflow ? .max : events.adding(record.pointee.attempts &* requestBytes)
    }
  }

  private var sources: [Source] = []
  private var devices: Int64 = 0
  private var total = DeviceCost()
  private var largest = (attempts: Int64(0), bytes: Int64(0), radio: Int64(0))

  /// So far.
  var devicesThatLostEvents: Int64 { total.devicesThatLostEvents }

  /// O(devices).
  mutating func add(_ rows: DeviceRows, _ cohort: Cohort) {
    let source = Source(
      rows: rows, eventBytes: Int64(cohort.eventBytes), requestBytes: Int64(cohort.requestBytes))
    for device in rows.indices {
      let record = rows[device]
      let (attempts, bytes, radio) = (
        record.pointee.attempts, source.bytes(record), record.pointee.radioWakeUps
      )
      total.attempts += attempts
      total.bytes = total.bytes.adding(bytes)
      total.radioWakeUps += radio
      if record.pointee.flags.contains(.lostEvents) { total.devicesThatLostEvents += 1 }
      largest.attempts = max(largest.attempts, attempts)
      largest.bytes = max(largest.bytes, bytes)
      largest.radio = max(largest.radio, radio)
    }
    sources.append(source)
    devices += Int64(rows.count)
  }

  /// Two passes over the devices, more only for those that sent 4 GiB.
  var summary: DeviceCost {
    var summary = total
    if devices == 0 { return summary }
    let rank = (devices * 99 + 99) / 100
    var attempts = RankSearch(rank: rank, largest: largest.attempts)
    var bytes = RankSearch(rank: rank, largest: largest.bytes)
    var radio = RankSearch(rank: rank, largest: largest.radio)
    while attempts.result == nil || bytes.result == nil || radio.result == nil {
      for source in sources {
        for device in source.rows.indices {
          let record = source.rows[device]
          attempts.see(record.pointee.attempts)
          bytes.see(source.bytes(record))
          radio.see(record.pointee.radioWakeUps)
        }
      }
      attempts.endPass()
      bytes.endPass()
      radio.endPass()
    }
    summary.attemptsP99 = attempts.result ?? 0
    summary.bytesP99 = bytes.result ?? 0
    summary.radioWakeUpsP99 = radio.result ?? 0
    return summary
  }
}

extension Int64 {
  /// The sum, or the largest number where it is more.
  fileprivate func adding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
