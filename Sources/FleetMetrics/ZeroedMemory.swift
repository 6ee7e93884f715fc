#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Zeroed memory whose pages cost nothing until they are written.
func zeroedMemory(byteCount: Int) -> UnsafeMutableRawPointer {
  guard let memory = calloc(byteCount, 1) else {
    fatalError("out of memory: \(byteCount) bytes for a time series")
  }
  return memory
}

func releaseZeroedMemory(_ memory: UnsafeMutableRawPointer) { free(memory) }
