import Foundation

/// Files that tests compare with what the program prints: help screens, generated pages, transcripts, the JSON Schema.
///
/// After a deliberate change, record all of them with
/// `FLEETSIM_RECORD_SNAPSHOTS=1 swift test --filter 'HelpTests|TranscriptTests|ScenarioSchemaTests|ClientFileTests'` and read the difference.
public enum Snapshot {
  private static let isRecording = ProcessInfo.processInfo.environment["FLEETSIM_RECORD_SNAPSHOTS"] == "1"

  /// What `file` holds, after `text` has been recorded in it if that was asked for.
  /// - Throws: what Foundation throws where there is no such file.
  public static func recorded(in file: URL, now text: String) throws -> String {
    if isRecording { try Data(text.utf8).write(to: file) }
    return String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }
}
