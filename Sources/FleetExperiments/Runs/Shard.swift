/// A part of a sweep that one process makes: number `index`, from 0, of `count`.
public struct Shard: Sendable, Hashable {
  public let index: Int
  public let count: Int

  /// - Returns: nil unless 0 ≤ `index` < `count` ≤ `maximumCount`.
  public init?(index: Int, count: Int) {
    guard (1...Self.maximumCount).contains(count), (0..<count).contains(index) else { return nil }
    self.index = index
    self.count = count
  }

  public static let maximumCount = 1_000_000
  public static let whole = Shard(index: 0, count: 1)!

  /// `2/4`, as people count.
  public var text: String { "\(index + 1)/\(count)" }

  /// Its part of `items`: every `count`-th, so that no two parts differ by more than one in number.
  public func part<Item>(of items: [Item]) -> [Item] {
    stride(from: index, to: items.count, by: count).map { items[$0] }
  }
}

/// Which shard the command line or a job scheduler asks for.
public enum ShardChoice {
  /// What is wrong, where, and what would be right.
  public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String
    package init(description: String) { self.description = description }
  }

  /// `i/N` with 1 ≤ i ≤ N.
  public static func parse(_ text: String) throws(Problem) -> Shard {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, let number = whole(parts[0]), let count = whole(parts[1]) {
      if let shard = Shard(index: number - 1, count: count) { return shard }
      if (1...Shard.maximumCount).contains(count) {
        throw Problem(
          description:
            "The value '\(text)' is invalid for '--shard <i/N>': there is no part \(number) of \(count); the first is 1/\(count), "
            + "the last \(count)/\(count).")
      }
    }
    throw Problem(
      description:
        "The value '\(text)' is invalid for '--shard <i/N>': the number of the part and of all parts, from 1/1 to "
        + "N/N with N at most \(Shard.maximumCount), as 2/4.")
  }

  /// The shard that a job scheduler asks for, and the variable that said so; nil if no scheduler is there.
  ///
  /// Slurm and AWS Batch say how many there are. Kubernetes does not, unless the manifest sets `JOB_COMPLETIONS`, and GNU
  /// parallel never: there `count` says it. GNU parallel counts only with `count`, since it also runs whole sweeps.
  public static func from(
    environment: [String: String], count: Int?
  ) throws(Problem) -> (shard: Shard, source: String)? {
    var found: [(shard: Shard, source: String)] = []
    if environment[slurm] != nil { found.append((try fromSlurm(environment, count), slurm)) }
    if environment[kubernetes] != nil {
      let known = try environment[completions].map { text throws(Problem) in
        try number(text, completions, 1...Shard.maximumCount)
      }
      found.append(
        (try numbered(from: 0, kubernetes, environment, of: known, completions, count), kubernetes))
    }
    if environment[batch] != nil {
      let known = try environment[batchSize].map { text throws(Problem) in
        try number(text, batchSize, 1...Shard.maximumCount)
      }
      found.append((try numbered(from: 0, batch, environment, of: known, batchSize, count), batch))
    }
    if environment[parallel] != nil, count != nil {
      found.append((try numbered(from: 1, parallel, environment, of: nil, "", count), parallel))
    }
    guard found.count <= 1 else {
      throw Problem(
        description:
          "Two job schedulers say which shard this is, \(found.map(\.source).joined(separator: " and ")): "
          + "say it with '--shard <i/N>'.")
    }
    if found.isEmpty, let count {
      throw Problem(
        description:
          "'--shards \(count)' says how many shards there are, but nothing says which one this is: "
          + "run it under Slurm, Kubernetes, AWS Batch or GNU parallel (\(slurm), \(kubernetes), \(batch), \(parallel)), "
          + "or give '--shard <i/\(count)>'.")
    }
    return found.first
  }

  /// Every variable that `from` looks at.
  public static let variables = [
    slurm, "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT", kubernetes, completions,
    batch, batchSize, parallel,
  ]

  private static let slurm = "SLURM_ARRAY_TASK_ID"
  private static let kubernetes = "JOB_COMPLETION_INDEX"
  private static let completions = "JOB_COMPLETIONS"
  private static let batch = "AWS_BATCH_JOB_ARRAY_INDEX"
  private static let batchSize = "AWS_BATCH_JOB_ARRAY_SIZE"
  private static let parallel = "PARALLEL_SEQ"

  /// Task numbers run from MIN in steps; an array given as a list (`1,3,7`) has no place for its gaps.
  private static func fromSlurm(_ environment: [String: String], _ given: Int?) throws(Problem) -> Shard {
    func value(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
      guard let text = environment[name] else { return nil }
      return try number(text, name, range)
    }
    let ids = 0...Int(UInt32.max)
    let id = try value(slurm, ids) ?? 0
    let first = try value("SLURM_ARRAY_TASK_MIN", ids) ?? 0
    let step = try value("SLURM_ARRAY_TASK_STEP", 1...Int(UInt32.max)) ?? 1
    let known = try value("SLURM_ARRAY_TASK_COUNT", 1...Shard.maximumCount)
    let count = try count(known, "SLURM_ARRAY_TASK_COUNT", given, for: slurm)
    let (steps, rest) = (id - first).quotientAndRemainder(dividingBy: step)
    if rest == 0, let shard = Shard(index: steps, count: count) { return shard }
    throw Problem(
      description: "\(slurm)=\(id) is no task of an array of \(count) from \(first) in steps of \(step): "
        + "submit it as --array=0-\(count - 1), or say the shard with '--shard <i/N>'.")
  }

  private static func numbered(
    from first: Int, _ name: String, _ environment: [String: String], of known: Int?, _ countName: String,
    _ given: Int?
  ) throws(Problem) -> Shard {
    let count = try count(known, countName, given, for: name)
    let index = try number(environment[name] ?? "", name, first...(first + count - 1))
    return Shard(index: index - first, count: count) ?? .whole
  }

  private static func count(
    _ known: Int?, _ countName: String, _ given: Int?, for name: String
  ) throws(Problem) -> Int {
    if let known, let given, known != given {
      throw Problem(
        description:
          "\(countName) says that there \(known == 1 ? "is" : "are") \(FigureText.count(known, "shard")), "
          + "'--shards \(given)' that there \(given == 1 ? "is" : "are") \(given): "
          + "leave '--shards' out, or say the shard with '--shard <i/N>'.")
    }
    guard let count = known ?? given else {
      throw Problem(
        description: "\(name) says which shard this is, but nothing says how many there are: "
          + "give '--shards <N>', or '--shard 1/1' for the whole sweep.")
    }
    return count
  }

  private static func number(
    _ text: String, _ name: String, _ range: ClosedRange<Int>
  ) throws(Problem) -> Int {
    if let value = whole(text), range.contains(value) { return value }
    throw Problem(
      description:
        "\(name)='\(text)' is wrong: a whole number from \(range.lowerBound) to \(range.upperBound) "
        + "is expected; '--shard <i/N>' says it without the environment.")
  }

  /// Digits alone.
  private static func whole(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }
}
