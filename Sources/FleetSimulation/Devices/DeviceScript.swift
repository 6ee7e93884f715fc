import ShippedClients
import UploadPipeline

/// Tells a device that is driven by hand what others draw.
final class DeviceScript {
  /// When its events are created.
  let times = ScriptedTimes()
  let gates: GateWords
  /// Every draw of its pages; nil: they draw as the fleet's do.
  let pageWord: UInt64?
  /// Those that its next page finds; nil: the plan's.
  var settings: BrowserSettings?
  private let draw: () -> UInt64

  /// - Parameter generator: of words for all jitter; the first is the salt of its gates.
  init(_ generator: some RandomNumberGenerator, pageWord: UInt64?) {
    var generator = generator
    gates = GateWords(salt: generator.next())
    self.pageWord = pageWord
    draw = { generator.next() }
  }

  /// The word of the next jitter.
  func next() -> UInt64 { draw() }
}

/// When the events of a scripted device are created, by their numbers; only one thread has it.
package final class ScriptedTimes: @unchecked Sendable {
  private var times: [Int64] = []

  func append(_ n: UInt32, at time: Int64) { times.append(contentsOf: repeatElement(time, count: Int(n))) }

  func time(of ordinal: UInt32) -> Int64 { Int(ordinal) < times.count ? times[Int(ordinal)] : .max }
}
