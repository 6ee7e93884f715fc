import CMemory

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a crew asks of the system's library: Foundation has the same, and is nearly three quarters of a statically linked program.
package enum SystemThreads {
  /// Cores that this process may use, at least 1.
  static var cores: Int { Int(fleetsim_usable_cores()) }

  /// Of a clock that only goes forward.
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Lets others run first.
  static func giveWay() { sched_yield() }

  /// Starts a thread that nobody waits for, with a stack of a mebibyte.
  package static func start(_ run: @escaping @Sendable () -> Void) {
    let body = Unmanaged.passRetained(ThreadBody(run: run)).toOpaque()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, 1 << 20)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(&thread, &attributes, runThreadBody, body)
    #else
      var thread = pthread_t()
      let code = pthread_create(&thread, &attributes, { runThreadBody($0!) }, body)
    #endif
    pthread_attr_destroy(&attributes)
    precondition(code == 0, "the system starts no more threads: \(String(cString: strerror(code)))")
  }
}

/// What a thread is to run.
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
