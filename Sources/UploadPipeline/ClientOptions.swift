import UploadRetry

/// What a client is, beside its Settings: plain values, the same for all clients of a host.
public struct ClientOptions: Sendable {
  /// Uploads at once, 1 … ; `UInt32.max`: no limit (S3).
  public var uploads: UInt32
  /// One retry record for the client, whose events are chunked anew at each flush; else one for each sealed batch (S2).
  public var isRebatch: Bool
  /// A flush that comes while uploads run is ignored (S17).
  public var ignoresFlushWhileUploading: Bool
  /// A wake-up comes when a wait is over; else retries happen at triggers only (S17).
  public var wakesByTimer: Bool
  /// Events of a batch at most. 1 … 65,535.
  public var maximumBatchEvents: UInt32
  /// Events held at most; the oldest beyond that are lost.
  public var limit: UInt32
  /// Whether a batch that is answered 413 is cut in two. *files* only.
  public var splitsOn413: Bool
  /// How long it takes to refresh credentials (O9), microseconds.
  public var credentialRefresh: Int64
  /// The switches of the retry machine.
  public var policy: RetryPolicy
  public var gates: ClientGates {
    didSet {
      gateLayout = ClientGates.Layout(gates)
      keepsGates = !gates.isEmpty
    }
  }
  /// Where the gates' states lie in a client's row.
  public private(set) var gateLayout: ClientGates.Layout
  /// Whether there are gates at all.
  public private(set) var keepsGates: Bool

  public init(
    policy: RetryPolicy = .tapiDocument, uploads: Int = 1, isRebatch: Bool = false,
    ignoresFlushWhileUploading: Bool = false, wakesByTimer: Bool = false, maximumBatchEvents: Int = 500,
    limit: Int = 1_000, splitsOn413: Bool = false, credentialRefresh: Int64 = 1_000_000,
    gates: ClientGates = ClientGates()
  ) {
    self.policy = policy
    self.uploads = UInt32(clamping: uploads)
    self.isRebatch = isRebatch
    self.ignoresFlushWhileUploading = ignoresFlushWhileUploading
    self.wakesByTimer = wakesByTimer
    self.maximumBatchEvents = UInt32(clamping: min(maximumBatchEvents, Int(UInt16.max)))
    self.limit = UInt32(clamping: limit)
    self.splitsOn413 = splitsOn413
    self.credentialRefresh = credentialRefresh
    self.gates = gates
    gateLayout = ClientGates.Layout(gates)
    keepsGates = !gates.isEmpty
  }
}
