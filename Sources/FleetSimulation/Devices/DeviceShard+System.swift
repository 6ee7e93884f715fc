import ScenarioModel
import SimulationKernel
import UploadPipeline

/// What a device knows of its operating system (`Cohort.os`).
struct SystemPlan: BitwiseCopyable {
  /// When the next window opens or, if one is open, closes. `.max`: the app is in the foreground.
  fileprivate(set) var next: Int64
  /// From the close of a window to the time of the next.
  fileprivate(set) var gap: Int64
  /// When the app left the foreground.
  fileprivate(set) var since: Int64
  /// Windows so far: each draws its time by its number.
  fileprivate(set) var count: UInt32
  fileprivate(set) var isOpen: Bool

  /// The app is in the background, and no window is open.
  var holds: Bool { next != .max && !isOpen }
}

/// The operating system of a device, for cohorts with `CohortPlan.World.windows`. In the background it lets the app use the network
/// in windows alone.
extension DeviceShard {
  private func system(_ device: DeviceIndex) -> UnsafeMutablePointer<SystemPlan> {
    systems.unsafelyUnwrapped + device.place
  }

  /// Whether the system lets nothing leave.
  func systemHolds(_ device: DeviceIndex) -> Bool { systems.map { $0[device.place].holds } ?? false }

  /// At the start of the run.
  ///
  /// - Parameter age: how long the app has been in the background; nil: it is in the foreground.
  mutating func startSystem(_ device: DeviceIndex, age: Int64?, _ sink: Sink) {
    guard let windows = plan.pointee.world.windows else { return }
    system(device).initialize(
      to: SystemPlan(next: .max, gap: 0, since: 0, count: 0, isOpen: false))
    guard let age else { return }
    beginToHold(device, windows, since: -age)
    // Windows that are over have had no effect that the run would know of.
    while system(device).pointee.next &+ windows.length.microseconds <= 0 {
      planWindow(device, windows, after: system(device).pointee.next &+ windows.length.microseconds)
    }
    system(device).pointee.next = max(system(device).pointee.next, 0)
    schedule(device, at: system(device).pointee.next, sink)
  }

  /// The app has gone to the background.
  mutating func holdInBackground(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    guard let windows = plan.pointee.world.windows else { return }
    beginToHold(device, windows, since: now)
    schedule(device, at: system(device).pointee.next, sink)
  }

  private mutating func beginToHold(_ device: DeviceIndex, _ windows: BackgroundWindows, since: Int64) {
    let system = system(device)
    system.pointee.since = since
    system.pointee.gap = windows.first.microseconds
    system.pointee.isOpen = false
    planWindow(device, windows, after: since)
    self[device].pointee.flags.insert(.offline)
  }

  /// The app has come to the foreground.
  mutating func releaseInForeground(_ device: DeviceIndex) {
    if systems == nil { return }
    system(device).pointee.next = .max
    system(device).pointee.isOpen = false
    release(device)
  }

  /// A window opens or closes.
  mutating func changeWindow(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    guard let windows = plan.pointee.world.windows else { return }
    let system = system(device)
    if system.pointee.isOpen {
      system.pointee.isOpen = false
      system.pointee.gap = windows.gap(after: system.pointee.gap)
      planWindow(device, windows, after: now)
      schedule(device, at: system.pointee.next, sink)
      trace(.windowClosed, device, at: now)
      self[device].pointee.flags.insert(.offline)
      setSuspended(true, device, at: now)
      return
    }
    system.pointee.isOpen = true
    system.pointee.next = now &+ windows.length.microseconds
    schedule(device, at: system.pointee.next, sink)
    release(device)
    setSuspended(false, device, at: now)
    trace(.windowOpened, device, at: now)
    handleUnplannedTrigger(device, .window, at: now, sink)
  }

  /// Draws when the window behind a time opens: that of the app's leaving, or the close of the window before.
  private mutating func planWindow(_ device: DeviceIndex, _ windows: BackgroundWindows, after time: Int64) {
    let system = system(device)
    let draws = key(of: device).child(RandomPurpose.system)
    var opening = time &+ system.pointee.gap
    let step = windows.first.microseconds
    let origin: Int64? =
      switch windows.alignment {
      case .none: nil
      case .launch: system.pointee.since
      case .device: draws.child(0).uniform(0, through: step &- 1)
      case .clock: 0
      }
    if let origin {
      let past = ((opening &- origin) % step &+ step) % step
      opening = opening &- past > time ? opening &- past : opening &- past &+ step
    }
    let flexibility = draws.child(1).child(UInt64(system.pointee.count))
      .uniform(0, through: windows.flexibility.microseconds)
    system.pointee.count &+= 1
    system.pointee.next = opening &+ flexibility
  }

  private mutating func release(_ device: DeviceIndex) {
    if !isWithoutNetwork(device) { self[device].pointee.flags.remove(.offline) }
  }
}
