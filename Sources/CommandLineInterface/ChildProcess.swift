import Synchronization

/// This program once more, with other arguments.
enum ChildProcess {
  /// Runs it to its end and returns what it wrote to standard output; its standard error is ours.
  /// - Throws: `CommandFailure`: the child's own code if it failed, 130, 131 or 143 on a signal.
  static func run(_ arguments: [String], doing task: String) throws(CommandFailure) -> String {
    Interruption.hold()
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw unstartable(task, errno) }
    defer { close(ends[0]) }
    let child: pid_t
    do throws(CommandFailure) {
      child = try start(arguments, standardOutput: ends[1], closing: ends[0], task)
    } catch {
      close(ends[1])
      throw error
    }
    close(ends[1])
    let output: [UInt8]
    do throws(CommandFailure) {
      output = try read(ends[0])
    } catch {
      kill(child, SIGTERM)
      _ = wait(for: child)
      throw error
    }
    try check(wait(for: child), task)
    return String(decoding: output, as: UTF8.self)
  }

  private static func start(
    _ arguments: [String], standardOutput: Int32, closing other: Int32, _ task: String
  ) throws(CommandFailure) -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, standardOutput, STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, standardOutput)
    posix_spawn_file_actions_addclose(&actions, other)
    var words = (["fleetsim"] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, executable, &actions, nil, &words, environ)
    guard code == 0 else { throw unstartable(task, code) }
    return child
  }

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

  /// Has the shell run a command.
  /// - Parameters:
  ///   - words: what the command finds as `$1` and so on.
  ///   - environment: more variables than ours.
  ///   - output: gets what it prints, `errors` what it complains of.
  ///   - leads: whether it leads a process group of its own.
  /// - Returns: its process, to be ended by `wait(for:)`; nil: the system starts none.
  static func start(
    shell command: String, words more: [String] = [], environment: [String: String] = [:],
    output: Int32 = STDERR_FILENO, errors: Int32 = STDERR_FILENO, leads: Bool = false
  ) -> pid_t? {
    Interruption.hold()
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
    if errors != STDERR_FILENO { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The child gets the default action for the signals that we ignore: a server that it starts must not ignore them.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    sigaddset(&signals, SIGXFSZ)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    if leads { posix_spawnattr_setpgroup(&attributes, 0) }
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | (leads ? Int16(POSIX_SPAWN_SETPGROUP) : 0))
    var variables = environment.map { "\($0.key)=\($0.value)" }
    var inherited = environ
    while let variable = inherited.pointee {
      let text = String(cString: variable)
      if environment[String(text.prefix { $0 != "=" })] == nil { variables.append(text) }
      inherited += 1
    }
    let arguments: [String] = ["sh", "-c", command] + (more.isEmpty ? [] : ["sh"] + more)
    var words = arguments.map { strdup($0) } + [nil]
    var pairs = variables.map { strdup($0) } + [nil]
    defer { for word in words + pairs { free(word) } }
    var child: pid_t = 0
    let code = descriptors.withLock { _ in
      posix_spawn(&child, "/bin/sh", &actions, &attributes, &words, &pairs)
    }
    return code == 0 ? child : nil
  }

  static var executable: String {
    #if canImport(Darwin)
      var size: UInt32 = 0
      _NSGetExecutablePath(nil, &size)
      var path = [CChar](repeating: 0, count: Int(size) + 1)
      _NSGetExecutablePath(&path, &size)
      return path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    #else
      "/proc/self/exe"
    #endif
  }

  /// Everything until the child closes its end. A signal is noticed within a tenth of a second.
  private static func read(_ descriptor: Int32) throws(CommandFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      try Interruption.check()
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&watched, 1, 100) > 0 else { continue }
      let count = systemRead(descriptor, &chunk)
      if count == 0 { return bytes }
      if count > 0 { bytes += chunk[..<count] }
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

  private static func wait(for child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
  }

  private static func check(_ status: Int32, _ task: String) throws(CommandFailure) {
    if status == 0 { return }
    try Interruption.check()
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

  private static func unstartable(_ task: String, _ code: Int32) -> CommandFailure {
    CommandFailure(.systemRefuses, "\(task) cannot be started: \(systemMessage(code))")
  }
}
