import Synchronization

extension CommandEnvironment {
  /// Runs this program once more and returns what it wrote to standard output; its standard error is ours.
  /// - Throws: `CommandFailure`: the child's own code if it failed, 130, 131 or 143 on a signal.
  func run(_ arguments: [String], doing task: String) throws(CommandFailure) -> String {
    if let standIn { return try standIn(arguments) }
    let ends = ChildProcess.pipe()
    guard ends.count == 2 else { throw unstartable(task, errno) }
    defer { close(ends[0]) }
    let (child, code) = start(
      executable.path, [CommandSpecification.toolName] + arguments, output: ends[1])
    close(ends[1])
    guard code == 0 else { throw unstartable(task, code) }
    let output: [UInt8]
    do throws(CommandFailure) {
      output = try read(ends[0])
    } catch {
      kill(child, SIGTERM)
      _ = ChildProcess.wait(for: child)
      throw error
    }
    try check(ChildProcess.wait(for: child), task)
    return String(decoding: output, as: UTF8.self)
  }

  /// Starts an upload client: a command of the shell, with its `--input`. It leads a process group of its own, and asks no proxy
  /// for what it sends to this machine.
  /// - Returns: as `start(shell:)`.
  func start(client command: String, input: String, output: Int32, errors: Int32) -> pid_t? {
    let names = ["NO_PROXY", "no_proxy"]
    let given = names.map { variables[$0] ?? "" }
    let others = zip(given, given.reversed()).map { $0.isEmpty ? $1 : $0 }
    let values = others.map { $0.isEmpty ? Self.loopback : $0 == "*" ? $0 : "\($0),\(Self.loopback)" }
    return start(
      shell: command + #" --input "$1""#, words: [input],
      variables: Dictionary(uniqueKeysWithValues: zip(names, values)), output: output, errors: errors,
      leads: true)
  }

  private static let loopback = "127.0.0.1,localhost"

  /// Has the shell run a command.
  /// - Parameters:
  ///   - more: what the command finds as `$1` and so on.
  ///   - variables: more than ours.
  ///   - output: gets what it prints, `errors` what it complains of; nil: our standard error.
  ///   - leads: whether it leads a process group of its own.
  /// - Returns: its process, to be ended by `wait(for:)`; nil: `errno` says why the system starts none.
  func start(
    shell command: String, words more: [String] = [], variables: [String: String] = [:],
    output: Int32? = nil, errors: Int32? = nil, leads: Bool = false
  ) -> pid_t? {
    let (child, code) = start(
      Self.shell, ["sh", "-c", command] + (more.isEmpty ? [] : ["sh"] + more), variables: variables,
      output: output ?? console.errors, errors: errors, leads: leads)
    errno = code
    return code == 0 ? child : nil
  }

  private static let shell = "/bin/sh"

  /// Starts a program with nothing to read.
  /// - Returns: its process, or what the system said.
  private func start(
    _ program: String, _ arguments: [String], variables more: [String: String] = [:], output: Int32,
    errors: Int32? = nil, leads: Bool = false
  ) -> (child: pid_t, code: Int32) {
    signals.hold()
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    let errors = errors ?? console.errors
    if errors != STDERR_FILENO { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The child gets the default action for the signals that we ignore: a server that it starts must not ignore them.
    var ignored = sigset_t()
    sigemptyset(&ignored)
    sigaddset(&ignored, SIGPIPE)
    sigaddset(&ignored, SIGXFSZ)
    posix_spawnattr_setsigdefault(&attributes, &ignored)
    if leads { posix_spawnattr_setpgroup(&attributes, 0) }
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | (leads ? Int16(POSIX_SPAWN_SETPGROUP) : 0))
    let pairs = variables.all.merging(more) { $1 }.map { "\($0.key)=\($0.value)" }
    // Not every system lets a child be started elsewhere.
    let elsewhere = files.directory.map { ["sh", "-c", #"cd "$0" && exec "$@""#, $0, program] }
    var words = (elsewhere.map { $0 + arguments.dropFirst() } ?? arguments).map { strdup($0) } + [nil]
    var texts = pairs.map { strdup($0) } + [nil]
    defer { for word in words + texts { free(word) } }
    var child: pid_t = 0
    let code = ChildProcess.descriptors.withLock { _ in
      posix_spawn(&child, elsewhere == nil ? program : Self.shell, &actions, &attributes, &words, &texts)
    }
    return (child, code)
  }

  /// Everything until the child closes its end. A signal is noticed within a tenth of a second.
  private func read(_ descriptor: Int32) throws(CommandFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      try signals.check()
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&watched, 1, 100) > 0 else { continue }
      let count = systemRead(descriptor, &chunk)
      if count == 0 { return bytes }
      if count > 0 { bytes += chunk[..<count] }
    }
  }

  private func check(_ status: Int32, _ task: String) throws(CommandFailure) {
    if status == 0 { return }
    try signals.check()
    let signal = status & 0x7F
    guard signal == 0 else {
      throw CommandFailure(
        .internalError,
        "\(task) was ended by signal \(signal)"
          + (signal == SIGKILL ? ": the system may have run out of memory; fewer devices need less" : ""))
    }
    let code = ExitCode(rawValue: status >> 8 & 0xFF) ?? .internalError
    throw CommandFailure(code, "\(task) failed")
  }

  private func unstartable(_ task: String, _ code: Int32) -> CommandFailure {
    CommandFailure(.systemRefuses, "\(task) cannot be started: \(systemMessage(code))")
  }
}

/// What processes have in common that a command starts.
enum ChildProcess {
  /// Descriptors that a child must not inherit are made while this is held, and so are children.
  static let descriptors = Mutex<Void>(())

  /// Makes descriptors that no child inherits.
  /// - Parameter make: returns them; one below 0 is none.
  static func privately(_ make: () -> [Int32]) -> [Int32] {
    descriptors.withLock { _ in
      let made = make()
      for descriptor in made where descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      return made
    }
  }

  /// The ends of a pipe that no child inherits, to read and to write; none: `errno` says why.
  static func pipe() -> [Int32] {
    privately {
      var ends: [Int32] = [-1, -1]
      return systemPipe(&ends) == 0 ? ends : []
    }
  }

  /// Waits for processes at most so many microseconds in all, and returns what was wrong: `exit code 3`, or that one still runs.
  static func wait(for children: [pid_t], atMost microseconds: UInt32) -> [String] {
    var left = microseconds
    return children.compactMap { child in
      var status: Int32 = 0
      while waitpid(child, &status, WNOHANG) == 0 {
        if left == 0 { return "it still runs" }
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

/// `pipe` of the system, for types that have a method of this name.
private func systemPipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }
