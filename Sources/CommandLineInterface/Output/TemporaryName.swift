/// Names of what is written beside its place until it is whole: `.summary.csv.fleetsim-host-4711-0.tmp`.
///
/// No other process has them: containers all have the process id 1, and what a killed one left stays until the next run.
package enum TemporaryName {
  /// What is to be renamed into place, and what was there before and is to be put back if that fails.
  package enum Kind: String, CaseIterable {
    case new = ".tmp"
    case old = ".old"
  }

  private static let marker = ".fleetsim-"

  /// The path of a temporary file or directory beside `path`.
  package static func make(beside path: String, _ kind: Kind = .new, attempt: Int = 0) -> String {
    let (parent, name) = OutputDirectory.split(path)
    return "\(parent)/.\(name)\(marker)\(host)-\(getpid())-\(attempt)\(kind.rawValue)"
  }

  /// What a temporary one was to become, or was; nil if it is none of ours.
  static func target(of name: String, _ kind: Kind = .new) -> String? { parts(name, kind)?.target }

  /// Removes what killed processes of this machine have left, beside `path` for that place alone, or in all of a folder. An old
  /// directory whose place is empty goes back there.
  static func removeRests(beside path: String) {
    let (folder, target) = OutputDirectory.split(path)
    removeRests(in: folder) { $0 == target }
  }

  static func removeRests(in folder: String, of isMeant: (String) -> Bool = { _ in true }) {
    for name in (try? OutputDirectory.entries(folder, named: folder)) ?? [] {
      for kind in Kind.allCases {
        guard let (target, owner) = parts(name, kind), isMeant(target), isGone(owner) else { continue }
        let rest = "\(folder)/\(name)"
        if kind == .old, access("\(folder)/\(target)", F_OK) != 0 {
          rename(rest, "\(folder)/\(target)")
        } else if unlink(rest) != 0 {
          OutputDirectory.removeTree(rest)
        }
      }
    }
  }

  private static func parts(_ name: String, _ kind: Kind) -> (target: String, owner: Substring)? {
    guard name.hasPrefix("."), name.hasSuffix(kind.rawValue) else { return nil }
    let stem = name.dropFirst().dropLast(kind.rawValue.count)
    guard let mark = stem.ranges(of: marker).last else { return nil }
    return (String(stem[..<mark.lowerBound]), stem[mark.upperBound...])
  }

  /// Whether the owner, `host-4711-0`, was a process of this machine that has ended. What has this process's own number is of one
  /// before it: nothing is begun before the rests are gone.
  private static func isGone(_ owner: Substring) -> Bool {
    let words = owner.split(separator: "-", omittingEmptySubsequences: false)
    guard words.count > 2, words.dropLast(2).joined(separator: "-") == host,
      let process = pid_t(words[words.count - 2]), process > 0
    else { return false }
    return process == getpid() || (kill(process, 0) != 0 && errno == ESRCH)
  }

  private static let host: String = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "host" }
    let text = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(
      String(decoding: text, as: UTF8.self).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        .prefix(60))
  }()
}
