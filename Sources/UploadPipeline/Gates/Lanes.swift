import UploadGating

/// Where a running loop is in each lane (O8). The loop's own cursor is that of the background.
@usableFromInline
struct LaneState: BitwiseCopyable {
  /// The loop goes on with interactive batches from this event number on.
  @usableFromInline var cursor: UInt32 = 0
  @usableFromInline var order = PriorityLanes.State()
  /// `order` once the loop has passed the batch that was taken, and before it passed the latest.
  @usableFromInline var next = PriorityLanes.State()
  @usableFromInline var previous = PriorityLanes.State()
  /// The loop that starts goes on with a held run.
  @usableFromInline var resumes = false
}

/// The loop over due batches in two lanes: what the user waits for first, each lane from its oldest to its newest batch, once.
/// Only clients with `ClientGates.lanes` come here.
extension UploadClientHost where Self: ~Copyable {
  @inlinable
  func laneState(of client: ClientIndex) -> UnsafeMutablePointer<LaneState> {
    part(options.pointee.gateLayout.lanes, client, as: LaneState.self)
  }

  /// The lane of a batch: that of its first event. Interactive, where there are no lanes.
  @inlinable
  public mutating func lane(of batch: BatchIndex, _ client: ClientIndex) -> PriorityLanes.Lane {
    options.pointee.gates.lanes?.lane(word: word(.query, for: batch, client)) ?? .interactive
  }

  @inlinable
  @inline(never)
  mutating func beginLanes(_ client: ClientIndex, cursor: UInt32) {
    let state = laneState(of: client)
    if !state.pointee.resumes { state.pointee.cursor = cursor }
    state.pointee.resumes = false
  }

  /// The next due batch of the lane whose turn it is, taken out of the due ones, or none.
  @inlinable
  @inline(never)
  mutating func takeNextOfLanes(_ client: ClientIndex, from cursor: UInt32, at now: Int64) -> BatchIndex {
    guard let lanes = options.pointee.gates.lanes else { return .noBatch }
    let state = laneState(of: client)
    let interactive = next(.due(in: .interactive), client, from: state.pointee.cursor, at: now)
    let background = next(.due(in: .background), client, from: cursor, at: now)
    state.pointee.next = state.pointee.order
    let lane = lanes.next(
      &state.pointee.next, interactiveDue: interactive != .noBatch, backgroundDue: background != .noBatch)
    guard let lane else {
      // One pass, as in `continueLoop`.
      if options.pointee.flushWhileUploading != .joins { state.pointee.cursor = .max }
      return .noBatch
    }
    let batch = lane == .interactive ? interactive : background
    schedule(batch, .taken, client)
    return batch
  }

  /// The loop goes on behind a batch.
  @inlinable
  @inline(never)
  mutating func passInLane(_ batch: BatchIndex, _ client: ClientIndex, _ cursor: inout UInt32) {
    let state = laneState(of: client)
    state.pointee.previous = state.pointee.order
    state.pointee.order = state.pointee.next
    move(to: firstOrdinal(of: batch) &+ 1, inLaneOf: batch, client, &cursor)
  }

  @inlinable
  @inline(never)
  mutating func move(
    to ordinal: UInt32, inLaneOf batch: BatchIndex, _ client: ClientIndex, _ cursor: inout UInt32
  ) {
    if lane(of: batch, client) == .interactive {
      laneState(of: client).pointee.cursor = ordinal
    } else {
      cursor = ordinal
      setCursor(ordinal, of: client)
    }
  }
}
