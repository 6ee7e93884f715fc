import SimulationKernel

/// An adaptive limit on the requests that are in the server, waiting or at work: the gradient of their time there decides.
///
/// The formula is that of Netflix's concurrency-limits (`Gradient2Limit` behind `WindowedLimit`, with their defaults). Each
/// window: gradient = tolerance · long-term mean / mean of the window, within 0.5 … 1; limit = (1 − smoothing) · limit +
/// smoothing · (limit · gradient + queue), within the bounds. A window in which fewer than half of the limit were there at once
/// changes nothing. The long-term mean is exponential over `longWindow` windows and plain over the first ten. It loses 5 % in a
/// window whose own mean is less than half of it. A window ends with the first request that ends after it, and with ten at least.
///
/// A request that finds the limit reached gets the overload answer. A server that has lost its work begins anew.
public struct ConcurrencyLimit: Sendable, Hashable {
  /// 1 … 10^9, `minimum` ≤ `initial` ≤ `maximum`.
  public var initial: Int
  public var minimum: Int
  public var maximum: Int
  /// Requests that may wait when there is no gradient: by how much the limit may grow in a window, before smoothing.
  public var queue = 4
  /// Parts per million.
  public var smoothing: Int64 = 200_000
  /// Parts per million: the window's mean may be so much longer than the long-term mean. At least 10^6.
  public var tolerance: Int64 = 1_500_000
  public var window = Span.seconds(1)
  /// In windows.
  public var longWindow = 600

  public init(initial: Int = 20, minimum: Int = 20, maximum: Int = 200) {
    (self.initial, self.minimum, self.maximum) = (initial, minimum, maximum)
  }
}

/// The state of a `ConcurrencyLimit`.
struct ConcurrencyLimiter {
  private let settings: ConcurrencyLimit
  private var estimate: Double
  private var longMean = 0.0
  private var windows = 0
  private var windowEnd: Instant
  /// The window's sum of times in microseconds, its count of ended requests, and the most requests at once.
  private var (sum, count, most) = (0.0, 0, 0)

  private static let leastCount = 10
  private static let warmUpWindows = 10

  init(_ settings: ConcurrencyLimit, at now: Instant) {
    self.settings = settings
    estimate = Double(settings.initial)
    windowEnd = now + settings.window
  }

  var limit: Int { Int(estimate) }

  /// A request has ended after `time` in the server, one of `present`.
  mutating func note(_ time: Span, present: Int, at now: Instant) {
    sum += Double(time.microseconds)
    count += 1
    most = max(most, present)
    if now < windowEnd || count < Self.leastCount { return }
    endWindow(mean: max(sum / Double(count), 1))
    (sum, count, most) = (0, 0, 0)
    windowEnd = now + settings.window
  }

  private mutating func endWindow(mean: Double) {
    windows += 1
    let weight = 1 / (windows <= Self.warmUpWindows ? Double(windows) : Double(settings.longWindow + 1) / 2)
    longMean += (mean - longMean) * weight
    let ratio = longMean / mean
    if ratio > 2 { longMean *= 0.95 }
    if Double(most) < estimate / 2 { return }
    let gradient = min(max(Double(settings.tolerance) / 1e6 * ratio, 0.5), 1)
    let wanted = estimate * gradient + Double(settings.queue)
    estimate += (wanted - estimate) * Double(settings.smoothing) / 1e6
    estimate = min(max(estimate, Double(settings.minimum)), Double(settings.maximum))
  }
}
