import UploadRetry

extension ClientPreset {
  /// One difference between clients, as a table of them prints it: a switch of `RetryPolicy`, or what belongs to
  /// the queue.
  public struct Switch: Sendable {
    /// Its path in a cohort of a scenario: `policy.noStatus`, `queue.mode`.
    public let path: String
    /// What it decides, on one line.
    public let meaning: String
    /// The requirement that it belongs to: `S10`.
    public let requirement: String
    /// The allowed values; a capital letter stands for a number.
    public let values: [String]
    /// The value that a preset has.
    public let value: @Sendable (ClientPreset) -> String

    /// How a table calls it: the name of a switch of `RetryPolicy`, or the path.
    public var name: String {
      let prefix = "policy."
      return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
    }
  }

  /// Every row of the table: what belongs to the queue, then `RetryPolicy.switches`.
  public static let switches: [Switch] =
    [
      Switch(
        path: "queue.mode",
        meaning: "retry state of each batch file, or one of the client, which re-chunks its events",
        requirement: "S2", values: ["files", "rebatch"],
        value: { $0.queueMode == .files ? "files" : "rebatch" }),
      Switch(
        path: "uploadConcurrency", meaning: "uploads of a device at once", requirement: "S3",
        values: ["N (1 to 1000000)", "unlimited"],
        value: { $0.uploadConcurrency == .max ? "unlimited" : "\($0.uploadConcurrency)" }),
      Switch(
        path: "flushWhileUploading", meaning: "a flush that comes while uploads run", requirement: "S17",
        values: ["joins", "ignored"], value: { $0.ignoresFlushWhileUploading ? "ignored" : "joins" }),
    ]
    + RetryPolicy.switches.map { entry in
      Switch(
        path: "policy." + entry.name, meaning: entry.meaning, requirement: entry.requirement,
        values: entry.values, value: { entry.value(in: $0.policy) })
    }
}
