/// A distribution of spans. CONTRACT: cases are fixed; `sample` is the kernel author's.
public enum Distribution: Sendable, Hashable {
  case constant(Span)
  case uniform(Span, Span)
  case exponential(mean: Span)
  /// `minimum` + log-normal, such that the whole has this median and this 99th percentile.
  case logNormal(median: Span, p99: Span, minimum: Span)
}
