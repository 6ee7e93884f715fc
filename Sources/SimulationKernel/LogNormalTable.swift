import Synchronization

/// The quantile function of one log-normal distribution as a table, in microseconds. The table leads from a draw to its sample in
/// one polynomial. `Sampler` takes a quantile of the normal distribution and then a power, one after the other.
///
/// A cell holds the cubic through the exact function at four Chebyshev nodes; cells shrink with the probability on both sides.
/// How far the cubics are from the exact function is measured as the table is made, where they are furthest. A sample is not
/// taken from the table if the error might decide its rounding to microseconds. So samples are `Sampler`'s, bit for bit.
///
/// 40 KB, made in two milliseconds; `of` keeps the latest few.
public final class LogNormalTable: Sendable {
  /// The table without its owner, for the hot loop; valid as long as that lives.
  @frozen
  public struct View: @unchecked Sendable, BitwiseCopyable {
    @usableFromInline let cells: UnsafePointer<Double>
    /// The largest error of the drawn part of a sample, relative to that part.
    @usableFromInline let error: Double

    /// The sample of a key's draw; nil where the table can't tell (one in a thousand), and the sampler has to be asked.
    @inlinable @inline(__always)
    public func sample(_ key: RandomKey) -> Int64? {
      let bits = key.bits &>> 12
      let isUpper = bits &>> 51
      // Both halves from the lower one, as in `QuantileTables.normal`.
      let lower = (bits ^ (0 &- isUpper)) & (1 &<< 51 &- 1)
      let p = (Double(Int64(bitPattern: lower)) + 0.5).bitPattern
      let cell = Int(truncatingIfNeeded: p &>> (52 &- LogNormalTable.cellBits)) &- LogNormalTable.firstCell
      if cell < 0 { return nil }
      let place =
        Double(bitPattern: p &<< LogNormalTable.cellBits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000)
        - 1.5
      let c = cells + (cell &+ Int(truncatingIfNeeded: isUpper) &* LogNormalTable.half) &<< 2
      let sample = (c[0] + c[1] * place) + (c[2] + c[3] * place) * (place * place)
      return QuantileTables.rounded(sample, within: sample * error + 1e-6)
    }
  }

  public let view: View
  private let form: Sampler.LogNormal

  @inlinable static var cellBits: UInt64 { 5 }
  /// Binary orders of magnitude of the probability on each side of the median; the rest is one draw in 500,000.
  @inlinable static var octaves: Int { 20 }
  /// Cells of one side of the median.
  @inlinable static var half: Int { octaves &<< Int(cellBits) }
  /// The leading bits of the smallest number of the table: its exponent and its cell.
  @inlinable static var firstCell: Int { (1_023 &+ 51 &- octaves) &<< Int(cellBits) }

  private init(_ form: Sampler.LogNormal) {
    self.form = form
    let cells = UnsafeMutablePointer<Double>.allocate(capacity: 8 * Self.half)
    var error = 0.0
    for octave in 0..<Self.octaves {
      let start = Double(sign: .plus, exponent: octave - Self.octaves - 1, significand: 1)
      let width = start / Double(1 << Self.cellBits)
      for cell in 0..<1 << Int(Self.cellBits) {
        for side in 0..<2 {
          func quantile(_ place: Double) -> Double {
            let z = DeterministicMath.inverseNormalCDF(start + (Double(cell) + place) * width)
            return form.minimum + DeterministicMath.exp(form.mu + form.sigma * (side == 0 ? z : -z))
          }
          let c = QuantileTables.cubic(quantile)
          let first = cells + (octave << Int(Self.cellBits) + cell + side * Self.half) << 2
          for i in 0..<4 { first[i] = c[i] }
          // Halfway between the nodes, and at both ends.
          for place in [-0.5, -0.353_553_390_593_273_8, 0, 0.353_553_390_593_273_8, 0.5] {
            let exact = quantile(place + 0.5)
            let sample = (c[0] + c[1] * place) + (c[2] + c[3] * place) * (place * place)
            error = max(error, abs(sample - exact) / exact)
          }
        }
      }
    }
    // Twice what was found, for what lies between the places looked at, and what rounding may add.
    view = View(cells: UnsafePointer(cells), error: 2 * error + 0x1p-48)
  }

  deinit { view.cells.deallocate() }

  // MARK: Tables that are there

  private static let latest = Mutex<[LogNormalTable]>([])
  private static var mostKept: Int { 8 }

  /// The table of a sampler; nil if it draws from another distribution.
  public static func of(_ sampler: Sampler) -> LogNormalTable? {
    guard case .logNormal(let form) = sampler.form else { return nil }
    if let table = latest.withLock({ $0.first { $0.form == form } }) { return table }
    let table = LogNormalTable(form)
    latest.withLock {
      if $0.count == mostKept { $0.removeFirst() }
      $0.append(table)
    }
    return table
  }
}
