import CSystem
import Synchronization

extension CommandEnvironment {
  /// Starts an upload client: a command of the shell, with its `--input`. It asks no proxy for what it sends to this machine.
  /// - Returns: as `start(shell:)`.
  func start(client command: String, input: String, output: Int32, errors: Int32) -> pid_t? {
    let names = ["NO_PROXY", "no_proxy"]
    let given = names.map { variables[$0] ?? "" }
    let others = zip(given, given.reversed()).map { $0.isEmpty ? $1 : $0 }
    let values = others.map { $0.isEmpty ? Self.loopback : $0 == "*" ? $0 : "\($0),\(Self.loopback)" }
    return start(
      shell: command + #" --input "$1""#, words: [input],
      variables: Dictionary(uniqueKeysWithValues: zip(names, values)), output: output, errors: errors)
  }

  private static let loopback = "127.0.0.1,localhost"

  /// Has the shell run a command.
  /// - Parameters:
  ///   - more: what the command finds as `$1` and so on.
  ///   - variables: more than ours.
  ///   - output: gets what it prints, `errors` what it complains of; nil: our standard error.
  ///   - leavesOthers: whether processes that it leaves behind may go on.
  /// - Returns: its process (`ChildProcess`); nil: `errno` says why the system starts none.
  func start(
    shell command: String, words more: [String] = [], variables: [String: String] = [:],
    output: Int32? = nil, errors: Int32? = nil, leavesOthers: Bool = false
  ) -> pid_t? {
    signals.hold()
    let variables = self.variables.all.merging(variables) { $1 }.map { "\($0.key)=\($0.value)" }
    let arguments = ["sh", "-c", command] + (more.isEmpty ? [] : ["sh"] + more)
    let texts = [["/bin/sh"], arguments, variables, files.directory.map { [$0] } ?? []].map { texts in
      texts.map { strdup($0) } + [nil]
    }
    defer { for text in texts.joined() { free(text) } }
    return texts[1].withUnsafeBufferPointer { arguments in
      texts[2].withUnsafeBufferPointer { variables in
        let program = fleetsim_program(
          path: texts[0][0], arguments: arguments.baseAddress, environment: variables.baseAddress,
          directory: texts[3][0], output: output ?? console.errors, errors: errors ?? console.errors,
          leaves_others: leavesOthers)
        return ChildProcess.start(program, complaints: console.errors)
      }
    }
  }
}

/// The processes that a command starts, each with all that it starts itself.
///
/// The system knows it by its guardian, which ends as it does, once nothing of its tree is left. It ends the tree when we are gone.
enum ChildProcess {
  /// Descriptors that a child must not inherit are made while this is held, and so are children.
  static let descriptors = Mutex<Void>(())

  /// The ends of a pipe that no child inherits, to read and to write; none: `errno` says why.
  static func makePipe() -> [Int32] {
    descriptors.withLock { _ in
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return [] }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return ends
    }
  }

  /// A pipe that only we could write to: guardians see it closed when we are gone.
  private static let life = Mutex<[Int32]>([])

  /// - Returns: the guardian; nil: `errno` says why the system starts none.
  static func start(_ program: fleetsim_program, complaints: Int32) -> pid_t? {
    life.withLock { life in
      if life.isEmpty { life = makePipe() }
      guard let end = life.first else { return nil }
      var program = program
      let child = descriptors.withLock { _ in fleetsim_start(&program, end, complaints) }
      return child < 0 ? nil : child
    }
  }

  /// Ends processes with all that they started.
  static func end(_ children: [pid_t]) {
    for child in children { kill(child, SIGTERM) }
    for child in children { _ = wait(for: child) }
  }

  /// Waits for processes at most so many microseconds in all, and ends those that still run. Returns what was wrong: `exit code 3`.
  static func wait(for children: [pid_t], atMost microseconds: UInt32) -> [String] {
    var left = microseconds
    return children.compactMap { child in
      var status: Int32 = 0
      while waitpid(child, &status, WNOHANG) == 0 {
        if left == 0 {
          end([child])
          return "it still ran and was ended"
        }
        let pause = min(left, 10_000)
        usleep(pause)
        left -= pause
      }
      if status == 0 { return nil }
      return status & 0x7F == 0
        ? "exit code \(status >> 8 & 0xFF)" : "it was ended by signal \(status & 0x7F)"
    }
  }

  static func wait(for child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
  }
}
