#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Darwin)
  @_exported import Darwin
#endif

/// What the operating system said to the call that just failed: `No space left on device`.
func systemMessage(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
