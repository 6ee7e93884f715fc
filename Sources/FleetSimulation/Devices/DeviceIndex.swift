import UploadPipeline

/// A device's place in its shard: the client's place among those of the host.
package typealias DeviceIndex = ClientIndex

extension DeviceIndex {
  /// No device of any shard.
  static var noDevice: DeviceIndex { DeviceIndex(rawValue: .max) }
}
