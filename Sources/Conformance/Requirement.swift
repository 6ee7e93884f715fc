/// The requirements that vectors can test.
public enum Requirement {
  /// In order, with what each says in a few words.
  public static let all: [(id: String, title: String)] = [
    ("S2", "X-Retry-Count and the two counters"),
    ("S3", "one batch after another; a 429 ends the loop"),
    ("S4", "Retry-After: forms, cap, absence"),
    ("S5", "4xx: which are dropped, which retried"),
    ("S6", "5xx: which are dropped, which retried"),
    ("S7", "Retry-After counts on 429 alone"),
    ("S8", "1xx, 3xx and unknown codes are dropped"),
    ("S9", "no HTTP status: the batch backs off"),
    ("S10", "the backoff formula and its jitter"),
    ("S11", "the limit on total time, strictly more"),
    ("S12", "the limits on retries"),
    ("S13", "Settings: defaults, shapes, precedence"),
    ("S14", "Settings: bad values are repaired"),
    ("S15", "enabled: false is legacy"),
    ("S16", "READY, WAITING and their transitions"),
    ("S17", "triggers and the upload loop"),
    ("S18", "state survives a restart"),
    ("S19", "a launch fetches the Settings"),
    ("S20", "what becomes of an upload is reported"),
    ("K1", "ten 4xx within an hour block a query"),
    ("K2", "a project waits after a 429 or a 503"),
    ("O2", "the longer of the own delay and Retry-After"),
    ("O3", "what is given up is blocked, not lost"),
    ("O9", "a 401 refreshes credentials, then one retry"),
    ("T1", "60 requests a minute and 3 a second"),
    ("D1", "the oldest of a full queue goes"),
    ("D2", "what makes a flush"),
    ("D4", "waits of 1 2 4 8 16 32 s, then pending again"),
    ("D5", "400, 401 and 403 drop, all else is retried"),
  ]

  static let names = "S2 to S20, " + all.map(\.id).filter { !$0.hasPrefix("S") }.joined(separator: ", ")
}
