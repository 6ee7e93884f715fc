/// How a backoff is spread (requirements J, O2). CONTRACT: signatures are fixed, bodies are the UploadRetry author's.
public enum Jitter: Sendable, Hashable {
  case none
  case additive(percent: Double)
  case full
  case equal
  case decorrelated
}
