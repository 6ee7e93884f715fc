/// This program once more, with other arguments.
enum ChildProcess {
  /// Runs it to its end and returns what it wrote to standard output; its standard error is ours.
  /// - Throws: `CommandFailure`: the child's own code if it failed, 130, 131 or 143 on a signal.
  static func run(_ arguments: [String], doing task: String) throws(CommandFailure) -> String {
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

  /// Has the shell run a command that nobody waits for; returns why it could not be started.
  static func start(shell command: String, environment: [String: String]) -> String? {
    var words = (["sh", "-c"] + [command]).map { (word: String) in strdup(word) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") }
    var inherited = environ
    while let variable = inherited.pointee {
      variables.append(strdup(variable))
      inherited += 1
    }
    variables.append(nil)
    defer { for word in words + variables { free(word) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, "/bin/sh", nil, nil, &words, &variables)
    return code == 0 ? nil : String(cString: strerror(code))
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
      #if canImport(Darwin)
        let count = Darwin.read(descriptor, &chunk, chunk.count)
      #elseif canImport(Musl)
        let count = Musl.read(descriptor, &chunk, chunk.count)
      #else
        let count = Glibc.read(descriptor, &chunk, chunk.count)
      #endif
      if count == 0 { return bytes }
      if count > 0 { bytes += chunk[..<count] }
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
    CommandFailure(.internalError, "\(task) cannot be started: \(systemMessage(code))")
  }
}
