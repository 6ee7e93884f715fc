import FleetMetrics
import SimulationKernel
import TAPIModel
import UploadPipeline
import UploadRetry

/// A device's fetches of Settings, where they are requests.
struct FetchPlan: BitwiseCopyable {
  /// Fetches so far; the number of the latest tells its answer.
  fileprivate(set) var count: UInt16
  /// The latest is under way, and the process that began it lives.
  fileprivate(set) var isAwaited: Bool
}

/// The Settings that an app runs on (S19), and the requests that fetch them.
extension DeviceShard {
  /// The app is launched, and asks for its Settings.
  mutating func fetchAtLaunch(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    run(device, on: fetches == nil ? settingsAtLaunch(device, at: now) : .builtIn, at: now)
    if fetches != nil { sendFetch(device, at: now, sink) }
  }

  /// The app comes back to the foreground.
  mutating func fetchInForeground(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    if plan.pointee.fetchesAtForeground ?? false { sendFetch(device, at: now, sink) }
  }

  /// What the CDN serves at a launch; if it is down, what is built in. Who fetches nothing has its Settings from elsewhere.
  mutating func settingsAtLaunch(_ device: DeviceIndex, at now: Int64) -> DeviceRecord.SettingsVersion {
    let restarts = plan.pointee.restarts
    guard restarts.fetchesSettings else { return settingsServed(to: device, at: now) }
    let isOffline =
      systemHolds(device) ? isWithoutNetwork(device) : self[device].pointee.flags.contains(.offline)
    if isOffline || restarts.cdnOutages.contains(where: { $0.contains(now) }) { return .builtIn }
    return settingsServed(to: device, at: now)
  }

  private func settingsServed(to device: DeviceIndex, at now: Int64) -> DeviceRecord.SettingsVersion {
    now >= plan.pointee.rollout.time && isInRollout(device) ? .rollout : .base
  }

  private func isInRollout(_ device: DeviceIndex) -> Bool {
    let draw = key(of: device).child(RandomPurpose.rollout).uniform(below: 1_000_000)
    return Int64(draw) < plan.pointee.rollout.share
  }

  // MARK: Fetches of a running app

  /// The first fetch after a time that may find the new Settings; `.max`: none does. A device fetches at times of its own.
  func nextFetch(_ device: DeviceIndex, after past: Int64) -> Int64 {
    let rollout = plan.pointee.rollout
    guard rollout.fetch != .max, isInRollout(device) else { return .max }
    let phase = key(of: device).child(RandomPurpose.rollout).child(0).uniform(0, through: rollout.fetch - 1)
    let first = rollout.time + phase
    return first > past ? first : first + ((past - first) / rollout.fetch + 1) * rollout.fetch
  }

  /// An app that is open and online finds what launches find, if the CDN is up.
  mutating func fetchWhileRunning(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let record = self[device]
    guard record.pointee.settings != .rollout, !record.pointee.flags.contains(.suspended) else { return }
    if fetches != nil {
      sendFetch(device, at: now, sink)
    } else if settingsAtLaunch(device, at: now) == .rollout {
      run(device, on: .rollout, at: now)
      trace(.fetchedSettings, device, at: now)
    }
  }

  // MARK: Requests

  /// From now on the app runs on these. Devices without Settings are counted where fetches are requests.
  mutating func run(_ device: DeviceIndex, on settings: DeviceRecord.SettingsVersion, at now: Int64) {
    let record = self[device]
    let wasWithout = record.pointee.settings == .builtIn
    record.pointee.settings = settings
    if fetches != nil, wasWithout != (settings == .builtIn) {
      ledger.count(wasWithout ? -1 : 1, .devicesWithout, at: now)
    }
  }

  /// A request for Settings leaves, in the place of any earlier one. A record of the pool stands for it, in no queue.
  private mutating func sendFetch(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    let fetch = fetches.unsafelyUnwrapped + device.place
    fetch.pointee.count = fetch.pointee.count == .max ? 1 : fetch.pointee.count &+ 1
    fetch.pointee.isAwaited = true
    ledger.count(1, .fetches, at: now)
    trace(.askedForSettings, device, at: now)
    if self[device].pointee.flags.contains(.offline) {
      endFetch(device, .noStatus, served: now, at: now, sink)
      return
    }
    let batch = batches.allocate(
      for: device, firstOrdinal: UploadRequest.settingsFetch, firstTime: now, events: 0)
    let request = batches.address(batch)
    request.pointee.attemptLeaves(number: fetch.pointee.count)
    request.pointee.flags = []
    let id = AttemptID(device, batch, number: fetch.pointee.count, generation: request.pointee.generation)
    _ = send(id, request, retryCount: 0, at: now, sink)
  }

  /// The network goes, and with it the request under way.
  mutating func giveUpFetch(_ device: DeviceIndex, at now: Int64, _ sink: Sink) {
    guard let fetches, fetches[device.place].isAwaited else { return }
    endFetch(device, .noStatus, served: now, at: now, sink)
  }

  /// The process ends: nobody waits for the answer.
  mutating func forgetFetch(_ device: DeviceIndex) { fetches?[device.place].isAwaited = false }

  /// Something has become of a request for Settings.
  @inline(never)
  mutating func hearFetch(_ delivery: Delivery, at now: Int64, _ sink: Sink) {
    let (batch, device) = (delivery.batch, delivery.device)
    if delivery.kind != .timeOut || delivery.resolves { batches[batch].attemptEnds() }
    // What the server has answered stays until the client hears of it, or gives up waiting.
    if delivery.kind != .acceptance { releaseIfDone(batch, device) }
    guard let fetch = fetches?[device.place], fetch.isAwaited, fetch.count == delivery.attempt else { return }
    switch delivery.kind {
    case .acceptance, .loss: break
    case .answer:
      self[device].pointee.noteReception(at: now)
      endFetch(
        device, .status(Int(delivery.status), retryAfter: nil),
        served: now &- Int64(delivery.downlink), at: now, sink)
    case .timeOut: endFetch(device, .noStatus, served: now, at: now, sink)
    }
  }

  /// - Parameter served: when the answer left.
  private mutating func endFetch(
    _ device: DeviceIndex, _ response: UploadResponse, served: Int64, at now: Int64, _ sink: Sink
  ) {
    fetches?[device.place].isAwaited = false
    let isFetched = response == .status(200, retryAfter: nil)
    ledger.count(1, isFetched ? .fetched : response == .noStatus ? .unanswered : .refused, at: now)
    if isFetched { run(device, on: settingsServed(to: device, at: served), at: now) }
    trace(isFetched ? .fetchedSettings : .gotNoSettings(response), device, at: now)
    if pages != nil { finishLoading(device, at: now, sink) }
  }
}
