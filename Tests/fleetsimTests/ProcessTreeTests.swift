import Foundation
import Testing

@Suite("Processes of a command")
struct ProcessTreeTests {
  private static let scenario = """
    { format: 1, seed: 1, duration: "60m", interval: "1m",
      tapi: { bucket: { capacity: "50/s", burst: 50 }, overload: { status: 503 },
        incidents: [{ kind: "outage", at: "2s", for: "50m", status: 503 }] },
      network: { latency: "5ms" },
      fleet: [{ name: "phones", devices: 2, events: "6/min", flush: { count: 1, interval: "10s" } }] }
    """
  private static let live = ["live", "s.json5", "--server", "http://127.0.0.1:9", "--predictions", "1"]

  /// Starts a child, one in a session of its own and a daemon, each of which notes its number and stays.
  private static let start = "sh stay.sh & setsid sh stay.sh & (setsid sh stay.sh &)\n"
  private static let hasSessions = access("/usr/bin/setsid", X_OK) == 0

  private static func scratch(_ script: String) throws -> Scratch {
    try Scratch.with(
      scenario, and: ["stay.sh": "echo $$ >>numbers\nexec sleep 600\n", "c.sh": script])
  }

  private static func numbers(_ scratch: Scratch) -> [pid_t] {
    ((try? scratch.text("numbers")) ?? "").split(separator: "\n").compactMap { pid_t($0) }
  }

  /// Whether all of so many processes end. The kernel takes its time, but no more than a minute.
  private static func end(_ count: Int, in scratch: Scratch) -> Bool {
    let numbers = numbers(scratch)
    for _ in 0..<6_000 where numbers.contains(where: { kill($0, 0) == 0 }) { usleep(10_000) }
    let left = numbers.filter { kill($0, SIGKILL) == 0 }
    return numbers.count == count && left.isEmpty
  }

  private static let commands = [
    (["conformance", "--exec"], 4), (live + ["--exec"], 8), (live + ["--on-incident"], 4),
  ]

  @Test(
    "nothing is left when fleetsim is hung up, interrupted or killed", .enabled(if: hasSessions),
    arguments: [SIGHUP, SIGINT, SIGKILL], commands)
  func signals(signal: Int32, command: (words: [String], processes: Int)) throws {
    let scratch = try Self.scratch(Self.start + "exec sh stay.sh\n")
    let output = try Tool.process(
      command.words + ["sh c.sh"], in: scratch.url, signal: signal,
      when: { Self.numbers(scratch).count == command.processes })
    // 256: not by itself.
    #expect(output.code == (signal == SIGKILL ? 256 : 128) + signal, "\(output.standardError)")
    #expect(Self.end(command.processes, in: scratch))
  }

  @Test("nothing is left of a command that starts others and exits", .enabled(if: hasSessions))
  func exits() async throws {
    let scratch = try Self.scratch(
      Self.start + "while [ $(wc -l 2>/dev/null <numbers || echo 0) -lt 3 ]; do sleep 0.02; done\n")
    let said = "it ended with exit status 0 and sent nothing"
    try await Scratch.aside { try scratch.run("conformance --exec", ["sh c.sh"], code: 69, says: said) }
    #expect(Self.end(3, in: scratch))
  }

  @Test("a server that a command of --on-incident has left stays")
  func server() async throws {
    let scratch = try Self.scratch("[ $FLEETSIM_MOMENT = begin ] || exit 0\nsh stay.sh & sleep 0\n")
    let more = ["--speed", "1000", "--set", "duration=51m", "--on-incident", "sh c.sh"]
    let output = try await Scratch.aside { try scratch.run(Self.live + more, code: 69) }
    #expect(!output.standardError.contains("warning: --on-incident"), "\(output.standardError)")
    let numbers = Self.numbers(scratch)
    #expect(numbers.count == 1 && kill(numbers[0], SIGKILL) == 0)
  }

  @Test("nohup has fleetsim ignore SIGHUP, also from its command")
  func nohup() throws {
    let scratch = try Self.scratch("kill -HUP $(cat self)")
    let output = try Tool.process(
      ["conformance", "--exec", "sh c.sh"], in: scratch.url, shell: "trap '' HUP; echo $$ >self")
    #expect(output.code == 69, "\(output.standardError)")
  }

  private static let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"
  /// A command that becomes root, whoever starts it: a copy of `setpriv` for which that is permitted.
  private static let root = "./root --reuid=0 --clear-groups"
  private static let copy = "chmod 755 . && cp $(command -v setpriv) root && chmod 4755 root"

  /// Where a program of root's may be run so, as on no file system without them.
  private static func canBecomeRoot() throws -> Bool {
    guard getuid() == 0 else { return false }
    let scratch = try Scratch()
    let version = try Tool.process(
      ["--version"], in: scratch.url, shell: "\(copy) && exec \(nobody) \(root) \"$0\" \"$@\"")
    return version.code == 0
  }

  @Test("a process that can't be ended is named", .enabled(if: try canBecomeRoot()))
  func foreign() throws {
    let scratch = try Self.scratch("")
    // What is left is ended by root at last; Foundation would wait for it.
    let output = try Tool.process(
      ["conformance", "--exec", "\(Self.root) sh stay.sh; true", "--start-limit", "1s"], in: scratch.url,
      shell: #"\#(Self.copy); \#(Self.nobody) "$0" "$@"; code=$?; kill -9 $(cat numbers) && exit $code; exit"#
    )
    #expect(output.code == 69, "\(output.standardError)")
    #expect(!Self.numbers(scratch).isEmpty)
    for number in Self.numbers(scratch) {
      let warning = "warning: a process that a command started can't be ended, number \(number): "
      #expect(output.standardError.contains(warning + "the system doesn't permit it\n"))
    }
  }
}
