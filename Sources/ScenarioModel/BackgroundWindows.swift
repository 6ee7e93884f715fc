import SimulationKernel

/// When the operating system lets an app in the background use the network.
///
/// An app in the background sends nothing but in a window. The first window comes `first` after the app has left the foreground, each
/// further one a gap after the window before has closed. The gap is `first` at the beginning and grows by `growth` up to
/// `longest`. In a window the app flushes, and goes on for as long as the window is open. Uploads under way when it closes end as
/// they would. A session ends the wait: the next time in the background begins with `first` again.
public struct BackgroundWindows: Sendable, Hashable {
  /// The times to which windows are aligned. The grid's step is `first`: a window moves back to the latest time of the grid that
  /// lies behind the window before.
  public enum Alignment: String, Sendable, Hashable, CaseIterable {
    /// No grid.
    case none
    /// Multiples of `first` since the app has left the foreground.
    case launch
    /// A grid of each device's own.
    case device
    /// The run's clock: full hours where `first` is an hour.
    case clock
  }

  /// At least 1 s.
  public var first: Span
  /// By how much each gap is longer than the one before. 1,000,000 … 100,000,000 parts per million.
  public var growthPartsPerMillion: Int64
  /// The longest gap, at least `first`; nil: as long as `first`.
  public var longest: Span?
  /// How long a window is open. At least 1 ms.
  public var length: Span
  /// Each window opens at a random time in so long a span from its time on.
  public var flexibility: Span
  public var alignment: Alignment

  public init(
    first: Span, growthPartsPerMillion: Int64 = 1_000_000, longest: Span? = nil, length: Span = .seconds(30),
    flexibility: Span = .zero, alignment: Alignment = .none
  ) {
    self.first = first
    self.growthPartsPerMillion = growthPartsPerMillion
    self.longest = longest
    self.length = length
    self.flexibility = flexibility
    self.alignment = alignment
  }

  /// The gap behind a gap.
  package func gap(after gap: Int64) -> Int64 {
    let grown = gap / 1_000_000 * growthPartsPerMillion + gap % 1_000_000 * growthPartsPerMillion / 1_000_000
    return min(grown, (longest ?? first).microseconds)
  }

  /// What public documents say of a system; what none says is an assumption, named as such.
  public enum System: String, Sendable, Hashable, CaseIterable {
    /// Android's Doze. AOSP, `DeviceIdleController`: idle for 60 min, doubled each time up to 6 h, with a maintenance window of
    /// 5 min between. Assumption: the device lies still at once, without the hour before, and no window grows to 10 min.
    case androidDoze = "android-doze"
    /// Android's light Doze. The same source: idle for 5 min, doubled up to 15 min; a window has a budget of 1 to 5 min.
    /// Assumption: the budget is 1 min, and Doze proper does not follow.
    case androidLightDoze = "android-light-doze"
    /// Periodic work of Android's WorkManager. Its documentation: every 15 min at the shortest, with a flexible span of at least
    /// 5 min. Assumption: each run has a minute.
    case androidWorkManager = "android-workmanager"
    /// App refresh of iOS. Apple's documentation: up to 30 s, at a time that the system chooses. Assumption: between 1 and 4 h
    /// after the time before.
    case iosAppRefresh = "ios-app-refresh"
    /// A background `URLSession` of iOS that adds one task at a time. An Apple engineer (developer forums, 14854, 2015): the
    /// system doubles a delay each time it resumes the app, and resets it in the foreground. Measured there (128813, iOS 12.4):
    /// 60, 120, 240 s. Assumption: 30 s for each resumption, and at most 24 h.
    case iosBackgroundSession = "ios-background-session"

    public var windows: BackgroundWindows {
      switch self {
      case .androidDoze:
        BackgroundWindows(
          first: .hours(1), growthPartsPerMillion: 2_000_000, longest: .hours(6), length: .minutes(5))
      case .androidLightDoze:
        BackgroundWindows(
          first: .minutes(5), growthPartsPerMillion: 2_000_000, longest: .minutes(15), length: .minutes(1))
      case .androidWorkManager:
        BackgroundWindows(
          first: .minutes(15), length: .minutes(1), flexibility: .minutes(5), alignment: .launch)
      case .iosAppRefresh:
        BackgroundWindows(first: .hours(1), length: .seconds(30), flexibility: .hours(3))
      case .iosBackgroundSession:
        BackgroundWindows(
          first: .minutes(1), growthPartsPerMillion: 2_000_000, longest: .hours(24), length: .seconds(30))
      }
    }
  }

  /// The system whose windows these are; nil: none's.
  public var system: System? { System.allCases.first { $0.windows == self } }
}
