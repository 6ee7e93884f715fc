import CMemory
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The calls that a team makes to the system's library: Foundation has the same, and is nearly three quarters of a statically
/// linked program.
package enum SystemThreads {
  /// Cores that this process may use, at least 1.
  package static var cores: Int { Int(fleetsim_usable_cores()) }

  /// Returns the time of a clock that only goes forward.
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Lets others run first.
  static func giveWay() { sched_yield() }

  /// The system starts no more threads.
  package struct Failure: Error, CustomStringConvertible {
    /// The system's code (`errno`).
    package let code: Int32

    package var description: String {
      "the system starts no more threads: \(String(cString: strerror(code)))"
    }
  }

  /// Starts a thread that nobody waits for.
  /// - Parameters:
  ///   - stack: size of its stack, bytes.
  ///   - run: its work.
  /// - Throws: `Failure` where this process, its user or its container may have no more of them; `run` is not called then.
  package static func start(stack: Int = 1 << 20, _ run: @escaping @Sendable () -> Void) throws(Failure) {
    let retained = Unmanaged.passRetained(ThreadBody(run: run))
    let body = retained.toOpaque()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, stack)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(&thread, &attributes, runThreadBody, body)
    #else
      var thread = pthread_t()
      let code = pthread_create(&thread, &attributes, { runThreadBody($0!) }, body)
    #endif
    pthread_attr_destroy(&attributes)
    if code != 0 {
      retained.release()
      throw Failure(code: code)
    }
  }

  /// Calls `work` on this thread and on others at once, and returns when all calls have returned.
  ///
  /// Dispatch has the same, but waits for ever, deaf to signals, where the system gives no thread.
  /// - Parameters:
  ///   - count: calls; fewer where the system gives no more threads, and at least one.
  ///   - work: must be content with fewer calls.
  package static func perform(_ count: Int, _ work: @escaping @Sendable () -> Void) {
    let crew = Crew()
    for _ in 1..<max(count, 1) {
      do {
        try crew.start(work)
      } catch {
        break
      }
    }
    work()
    crew.wait()
  }

  /// The stack of a thread that does any work of a command: the 8 MiB that Linux gives a process.
  package static let deepStack = 8 << 20
}

/// Threads that do the same work, once each.
private final class Crew: Sendable {
  private let running = Atomic<Int>(0)
  private let ended = SystemCondition()

  func start(_ work: @escaping @Sendable () -> Void) throws(SystemThreads.Failure) {
    running.wrappingAdd(1, ordering: .relaxed)
    do {
      try SystemThreads.start(stack: SystemThreads.deepStack) { [self] in
        work()
        leave()
      }
    } catch {
      running.wrappingSubtract(1, ordering: .relaxed)
      throw error
    }
  }

  private func leave() {
    ended.lock()
    running.wrappingSubtract(1, ordering: .releasing)
    ended.broadcast()
    ended.unlock()
  }

  /// Returns when all of them have ended.
  func wait() {
    ended.lock()
    while running.load(ordering: .acquiring) > 0 { ended.wait() }
    ended.unlock()
  }
}

/// The work of a thread.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThreadBody(_ body: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run()
  return nil
}

/// A lock that threads sleep at until another wakes them all.
final class SystemCondition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
  func wait() { pthread_cond_wait(condition, mutex) }
  func broadcast() { pthread_cond_broadcast(condition) }
}
