import FleetExperiments
import Testing

@Suite("Shards")
struct ShardTests {
  @Test("the parts of anything are a partition of it, and differ by one item at most")
  func partition() throws {
    for count in [1, 2, 3, 7, 64, 65] {
      let parts = try (0..<count).map {
        try #require(SweepShard(index: $0, count: count)).part(of: Array(0..<64))
      }
      #expect(parts.flatMap(\.self).sorted() == Array(0..<64))
      #expect(parts.map(\.count).max()! - parts.map(\.count).min()! <= 1)
    }
  }

  @Test("parts are counted from 1")
  func parsing() throws {
    #expect(try SweepShard.parse("1/4") == SweepShard(index: 0, count: 4))
    #expect(try SweepShard.parse("4/4") == SweepShard(index: 3, count: 4))
    #expect(try SweepShard.parse("1000000/1000000").text == "1000000/1000000")
  }

  @Test(
    "a part that there is not is refused with what would be right",
    arguments: [
      "0/0", "0/4", "5/4", "-1/4", "1/-4", "+1/4", "1", "1/", "/", "", "1/2/3", "a/b", "1.5/2", "1/1000001",
      "99999999999999999999/99999999999999999999", "9223372036854775807/4", " 1/4", "１/４",
    ])
  func refusal(text: String) {
    do {
      let shard = try SweepShard.parse(text)
      Issue.record("\(text) became \(shard.text)")
    } catch {
      #expect(error.description.hasPrefix("The value '\(text)' is invalid for '--shard <i/N>': "))
    }
  }

  @Test(
    "job schedulers say which part, each in its own way",
    arguments: [
      (["SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_COUNT": "4"], nil, "3/4"),
      // --array=10-16:2
      (
        [
          "SLURM_ARRAY_TASK_ID": "14", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_STEP": "2",
          "SLURM_ARRAY_TASK_COUNT": "4",
        ], nil, "3/4"
      ),
      (["SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "4"], 4, "1/4"),
      (["SLURM_ARRAY_TASK_ID": "3"], 4, "4/4"),
      (["JOB_COMPLETION_INDEX": "0"], 4, "1/4"),
      (["JOB_COMPLETION_INDEX": "3", "JOB_COMPLETIONS": "4"], nil, "4/4"),
      (["AWS_BATCH_JOB_ARRAY_INDEX": "1", "AWS_BATCH_JOB_ARRAY_SIZE": "4"], nil, "2/4"),
      (["PARALLEL_SEQ": "4"], 4, "4/4"),
    ] as [([String: String], Int?, String)])
  func schedulers(environment: [String: String], count: Int?, expected: String) throws {
    #expect(try SweepShard.from(environment: environment, count: count)?.shard.text == expected)
  }

  @Test("GNU parallel runs whole sweeps too: only --shards makes its number a part")
  func wholeSweeps() throws {
    #expect(try SweepShard.from(environment: ["PARALLEL_SEQ": "3"], count: nil) == nil)
    #expect(try SweepShard.from(environment: [:], count: nil) == nil)
  }

  @Test(
    "an environment that makes no sense is named, with what would be right",
    arguments: [
      ([:], 4, "nothing says which one this is"),
      (["JOB_COMPLETION_INDEX": "1"], nil, "nothing says how many there are: give '--shards <N>'"),
      (["JOB_COMPLETION_INDEX": "4"], 4, "JOB_COMPLETION_INDEX='4' is wrong: a whole number from 0 to 3"),
      (["JOB_COMPLETION_INDEX": "1", "JOB_COMPLETIONS": "0"], nil, "JOB_COMPLETIONS='0' is wrong"),
      (["PARALLEL_SEQ": "0"], 4, "PARALLEL_SEQ='0' is wrong: a whole number from 1 to 4"),
      (["PARALLEL_SEQ": "5"], 4, "PARALLEL_SEQ='5' is wrong: a whole number from 1 to 4"),
      (
        ["AWS_BATCH_JOB_ARRAY_INDEX": "x", "AWS_BATCH_JOB_ARRAY_SIZE": "4"], nil,
        "AWS_BATCH_JOB_ARRAY_INDEX='x'"
      ),
      (
        ["AWS_BATCH_JOB_ARRAY_INDEX": "1", "AWS_BATCH_JOB_ARRAY_SIZE": "4"], 5,
        "says that there are 4 shards, '--shards 5' that there are 5"
      ),
      // --array=1,3,7
      (
        ["SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "3"], nil,
        "submit it as --array=0-2"
      ),
      (
        ["SLURM_ARRAY_TASK_ID": "-1", "SLURM_ARRAY_TASK_COUNT": "3"], nil, "SLURM_ARRAY_TASK_ID='-1' is wrong"
      ),
      (
        ["SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_STEP": "0", "SLURM_ARRAY_TASK_COUNT": "3"], nil,
        "SLURM_ARRAY_TASK_STEP='0' is wrong"
      ),
      (
        ["SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "4", "PARALLEL_SEQ": "1"], 4,
        "Two job schedulers say which shard this is, SLURM_ARRAY_TASK_ID and PARALLEL_SEQ"
      ),
    ] as [([String: String], Int?, String)])
  func nonsense(environment: [String: String], count: Int?, message: String) {
    do {
      let found = try SweepShard.from(environment: environment, count: count)
      Issue.record("became \(found?.shard.text ?? "nothing")")
    } catch {
      #expect(error.description.contains(message), "\(error)")
    }
  }
}
