#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A clock that only goes forward; nothing in a result of the simulator but `wall` in `run.json` depends on it.
@Sendable
func monotonicSeconds() -> Double { seconds(CLOCK_MONOTONIC) }

/// The time of day, for dates in the headers of a live run.
@Sendable
func unixSeconds() -> Double { seconds(CLOCK_REALTIME) }

private func seconds(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
