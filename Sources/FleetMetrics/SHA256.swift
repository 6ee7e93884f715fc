/// SHA-256 (FIPS 180-4), so that `sha256sum` can check what `run.json` says of the CSV files.
package struct SHA256 {
  private var state: SIMD8<UInt32> = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]

  /// The digest of `bytes` in lower-case hexadecimal. O(n).
  package static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let nibbles = words(of: bytes).flatMap { word in
      stride(from: UInt32(28), through: 0, by: -4).map { digits[Int(word >> $0 & 15)] }
    }
    return String(decoding: nibbles, as: UTF8.self)
  }

  /// The digest of `bytes` in Base64 (RFC 4648), as a Content-Security-Policy names a script. O(n).
  package static func base64(_ bytes: [UInt8]) -> String {
    let digest = words(of: bytes).flatMap { word in
      stride(from: UInt32(24), through: 0, by: -8).map { word >> $0 & 0xFF }
    }
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    // 32 bytes: ten times three of them, and two.
    for start in stride(from: 0, to: digest.count, by: 3) {
      let group =
        digest[start] << 16 | digest[start + 1] << 8 | (start + 2 < digest.count ? digest[start + 2] : 0)
      for shift in stride(from: UInt32(18), through: 0, by: -6) {
        text.append(letters[Int(group >> shift & 63)])
      }
    }
    return String(text.dropLast()) + "="
  }

  private static func words(of bytes: [UInt8]) -> [UInt32] {
    var hash = SHA256()
    let whole = bytes.count / 64 * 64
    hash.compress(bytes[..<whole])
    // The rest, a one bit, zeros, and the length in bits in the last eight bytes.
    var tail = bytes[whole...] + [0x80]
    while tail.count % 64 != 56 { tail.append(0) }
    let bits = UInt64(bytes.count) &* 8
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      tail.append(UInt8(truncatingIfNeeded: bits >> shift))
    }
    hash.compress(tail)
    return hash.state.indices.map { hash.state[$0] }
  }

  /// Takes whole blocks of 64 bytes.
  private mutating func compress(_ blocks: ArraySlice<UInt8>) {
    // Buffers, whose elements are not checked, and below eight rounds a turn, in which no word moves: a quarter faster.
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
      Self.constants.withUnsafeBufferPointer { constants in
        blocks.withUnsafeBytes { bytes in
          for start in stride(from: 0, to: bytes.count, by: 64) {
            for i in 0..<16 {
              schedule[i] = UInt32(
                bigEndian: bytes.loadUnaligned(fromByteOffset: start + i * 4, as: UInt32.self))
            }
            state &+= Self.rounds(state, schedule, constants)
          }
        }
      }
    }
  }

  @inline(__always)
  private static func rounds(
    _ state: SIMD8<UInt32>, _ schedule: UnsafeMutableBufferPointer<UInt32>,
    _ constants: UnsafeBufferPointer<UInt32>
  ) -> SIMD8<UInt32> {
    for i in 16..<64 {
      let a = schedule[i &- 15]
      let b = schedule[i &- 2]
      let s0 = rotated(a, 7) ^ rotated(a, 18) ^ (a &>> 3)
      let s1 = rotated(b, 17) ^ rotated(b, 19) ^ (b &>> 10)
      schedule[i] = schedule[i &- 16] &+ s0 &+ schedule[i &- 7] &+ s1
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for i in stride(from: 0, to: 64, by: 8) {
      func word(_ j: Int) -> UInt32 { schedule[i &+ j] &+ constants[i &+ j] }
      round(a, b, c, &d, e, f, g, &h, word(0))
      round(h, a, b, &c, d, e, f, &g, word(1))
      round(g, h, a, &b, c, d, e, &f, word(2))
      round(f, g, h, &a, b, c, d, &e, word(3))
      round(e, f, g, &h, a, b, c, &d, word(4))
      round(d, e, f, &g, h, a, b, &c, word(5))
      round(c, d, e, &f, g, h, a, &b, word(6))
      round(b, c, d, &e, f, g, h, &a, word(7))
    }
    return [a, b, c, d, e, f, g, h]
  }

  @inline(__always)
  private static func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
    _ h: inout UInt32, _ word: UInt32
  ) {
    h = h &+ word &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ (g ^ (e & (f ^ g)))
    d = d &+ h
    h = h &+ (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ ((a & b) | (c & (a | b)))
  }

  @inline(__always)
  private static func rotated(_ x: UInt32, _ n: UInt32) -> UInt32 { x &>> n | x &<< (32 &- n) }

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
