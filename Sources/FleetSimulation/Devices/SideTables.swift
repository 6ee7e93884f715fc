import SimulationKernel
import UploadPipeline

/// The tables beside a shard's records: plain memory, a row a device, each for the cohorts that need it.
///
/// A table is a case, the bytes of its row (`CohortPlan.bytes(of:)`) and a typed property of `DeviceShard`. Making, copying and
/// releasing it, its part of a digest, and the forecast of its memory, follow.
struct SideTables {
  enum Table: Int, CaseIterable {
    case pending, triggers, restarts, worlds, systems, fetches, periods, savedStates, gates
  }

  private var tables = InlineArray<9, UnsafeMutableRawPointer?>(repeating: nil)
  private var rowBytes = InlineArray<9, Int>(repeating: 0)

  /// Zeroed tables: no byte of a row, between its fields either, is ever anything but what a run has put there.
  init(_ plan: CohortPlan, devices: Int) {
    for table in Table.allCases where plan.bytes(of: table) > 0 {
      rowBytes[table.rawValue] = plan.bytes(of: table)
      tables[table.rawValue] = PlainMemory.zeroed(byteCount: max(devices, 1) * plan.bytes(of: table))
    }
  }

  init(copying other: SideTables, devices: Int) {
    rowBytes = other.rowBytes
    for table in tables.indices {
      tables[table] = other.tables[table].map {
        PlainMemory.copy(of: $0, byteCount: devices * other.rowBytes[table])
      }
    }
  }

  /// Adds a device's rows, but for `periods`: where a draw begins tells nothing of what it gives.
  func addState(of device: DeviceIndex, to digest: inout StateDigest) {
    for table in tables.indices where table != Table.periods.rawValue {
      guard let rows = tables[table] else { continue }
      let row = rows + device.place * rowBytes[table]
      for place in stride(from: 0, to: rowBytes[table], by: 4) {
        digest.add(row.loadUnaligned(fromByteOffset: place, as: UInt32.self))
      }
    }
  }

  func release() {
    for table in tables.indices { if let rows = tables[table] { PlainMemory.release(rows) } }
  }

  @inline(__always)
  subscript<Row>(table: Table) -> UnsafeMutablePointer<Row>? {
    tables[table.rawValue]?.assumingMemoryBound(to: Row.self)
  }
}

extension CohortPlan {
  /// Returns the bytes of a device's row; 0: the cohort does without the table.
  func bytes(of table: SideTables.Table) -> Int {
    func row<Row>(_: Row.Type, if isNeeded: Bool) -> Int { isNeeded ? MemoryLayout<Row>.stride : 0 }
    return switch table {
    case .pending: row(PendingEvents.self, if: !events.isRegular)
    case .triggers: row(TriggerPlan.self, if: tables.triggers)
    case .restarts: row(RestartPlan.self, if: tables.restarts)
    case .worlds: row(WorldPlan.self, if: tables.worlds)
    case .systems: row(SystemPlan.self, if: world.windows != nil)
    case .fetches: row(FetchPlan.self, if: fetchesAtForeground != nil)
    case .periods: 2 * row(SessionPlan.Period.self, if: events.schedule?.sessions != nil)
    case .savedStates: row(SavedState.self, if: tables.savedStates)
    case .gates: client.keepsGates ? client.gateLayout.stride : 0
    }
  }
}
