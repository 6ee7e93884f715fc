import CMemory
import SimulationKernel
import UploadPipeline

/// The devices of a shard, each with the batch record that is its own behind it: what is handled together lies together, in two
/// cache lines and nearly always one page.
///
/// Batch records are numbered from 1 on, so row 0 stands for "no batch" and belongs to no device.
struct DeviceRows {
  private let base: UnsafeMutableRawPointer
  let count: Int

  private static var deviceBytes: Int { MemoryLayout<DeviceRecord>.stride }
  static var rowBytes: Int { deviceBytes + MemoryLayout<BatchRecord>.stride }

  init(count: Int) {
    self.count = count
    base = PlainMemory.zeroed(byteCount: (count + 1) * Self.rowBytes)
  }

  init(copying other: DeviceRows) {
    count = other.count
    base = PlainMemory.copy(of: other.base, byteCount: (count + 1) * Self.rowBytes)
  }

  func release() { PlainMemory.release(base) }

  var indices: Range<DeviceIndex> { DeviceIndex(0)..<DeviceIndex(count) }

  @inline(__always)
  private func row(_ n: Int) -> UnsafeMutableRawPointer { base + n &* Self.rowBytes }

  @inline(__always)
  subscript(device: DeviceIndex) -> UnsafeMutablePointer<DeviceRecord> {
    row(device.place &+ 1).assumingMemoryBound(to: DeviceRecord.self)
  }

  @inline(__always)
  func client(_ device: DeviceIndex) -> UnsafeMutablePointer<ClientState> {
    row(device.place &+ 1).assumingMemoryBound(to: ClientState.self)
  }

  /// The record of batch `index`, at most `count`: it belongs to device `index` − 1.
  @inline(__always)
  func batch(_ index: BatchIndex) -> UnsafeMutablePointer<BatchRecord> {
    (row(index.place) + Self.deviceBytes).assumingMemoryBound(to: BatchRecord.self)
  }

  /// Asks for a device and its batch ahead of the time when they are handled; a number behind the last is harmless.
  @inline(__always)
  func prefetch(_ device: DeviceIndex) {
    let row = row(device.place &+ 1)
    fleetsim_prefetch(row)
    fleetsim_prefetch(row + Self.deviceBytes)
  }
}
