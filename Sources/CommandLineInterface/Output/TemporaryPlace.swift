import CSystem
import ScenarioModel

/// A file or directory beside the place that it is for, until it is whole: `.summary.csv.fleetsim-5f0c1b2a94d3e687.tmp`.
///
/// Nobody else has its name, which is drawn. Its owner holds a lock on it, which the kernel drops when the owner ends, however that
/// comes. So what is not locked is a rest, wherever its owner ran: process numbers and names of hosts tell nothing in containers.
package struct TemporaryPlace: Sendable {
  /// A new one is to be renamed into place. An old one was in place before; it goes back if its successor does not come.
  package enum Kind: String, CaseIterable, Sendable {
    case new = ".tmp"
    case old = ".old"
  }

  package let path: String
  /// Holds the lock.
  package let descriptor: Int32

  private static let marker = ".fleetsim-"
  private static let digits = 16

  /// A name that nobody has.
  package static func name(beside path: String, _ kind: Kind = .new) -> String {
    let (parent, name) = OutputDirectory.split(path)
    let drawn = String(UInt64.random(in: 0 ... .max), radix: 16)
    let padded = String(repeating: "0", count: digits - drawn.count) + drawn
    return "\(parent)/.\(name)\(marker)\(padded)\(kind.rawValue)"
  }

  /// Makes an empty one, locked. nil: `errno` says why not.
  package init?(beside path: String, isDirectory: Bool) {
    while true {
      let path = Self.name(beside: path)
      if isDirectory, mkdir(path, 0o777) != 0 { return nil }
      let flags = isDirectory ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_CREAT | O_EXCL
      let descriptor = open(path, flags | O_CLOEXEC, 0o666)
      if descriptor < 0 {
        // Another process may have taken a directory for a rest, as long as it has no lock.
        if isDirectory, errno == ENOENT { continue }
        return nil
      }
      if Self.lock(descriptor, isPatient: true), !Self.isAt(path, descriptor) {
        close(descriptor)
        continue
      }
      (self.path, self.descriptor) = (path, descriptor)
      return
    }
  }

  package func release() { close(descriptor) }

  /// Whether the lock is had now. Some file systems have none; what is there is left alone.
  static func lock(_ descriptor: Int32, isPatient: Bool) -> Bool {
    while flock(descriptor, LOCK_EX | (isPatient ? 0 : LOCK_NB)) != 0 {
      if errno != EINTR { return false }
    }
    return true
  }

  /// Whether an open file or directory is the one at a path.
  static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
    var open = stat()
    guard let there = stat(at: path, followsLinks: false), fstat(descriptor, &open) == 0 else { return false }
    return there.st_ino == open.st_ino && there.st_dev == open.st_dev
  }

  // MARK: Rests

  /// Returns the final name of a temporary file or directory; nil if it is none of ours.
  static func target(of name: String, _ kind: Kind = .new) -> String? {
    let bytes = Array(name.utf8)
    let ending = Array(marker.utf8) + Array(repeating: 0, count: digits) + Array(kind.rawValue.utf8)
    guard bytes.first == UInt8(ascii: "."), bytes.count > ending.count + 1 else { return nil }
    let target = bytes[1..<(bytes.count - ending.count)]
    let isOurs = zip(bytes[target.endIndex...], ending).allSatisfy { byte, expected in
      expected == 0 ? Ascii.hexValue(byte) != nil : byte == expected
    }
    return isOurs ? String(decoding: target, as: UTF8.self) : nil
  }

  /// Removes what ended processes have left beside `path` for that place.
  static func removeRests(beside path: String) {
    let (folder, target) = OutputDirectory.split(path)
    removeRests(in: folder) { $0 == target }
  }

  /// Removes what ended processes left in a folder. An old directory goes back to an empty place.
  static func removeRests(in folder: String, of isMeant: (String) -> Bool = { _ in true }) {
    for name in (try? OutputDirectory.entries(folder, named: folder)) ?? [] {
      for kind in Kind.allCases {
        guard let target = target(of: name, kind), isMeant(target) else { continue }
        removeRest("\(folder)/\(name)", kind, of: "\(folder)/\(target)")
      }
    }
  }

  private static func removeRest(_ rest: String, _ kind: Kind, of place: String) {
    let descriptor = open(rest, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard lock(descriptor, isPatient: false), isAt(rest, descriptor) else { return }
    if kind == .old, access(place, F_OK) != 0 {
      rename(rest, place)
    } else if unlink(rest) != 0 {
      OutputDirectory.removeTree(rest)
    }
  }
}
