import FleetMetrics
import SimulationKernel
import TAPIModel

/// A window in which every request gets the same answer, so that several threads may give it: the server only counts.
extension ServerFront {
  /// The answer to all requests of a window, in the order of time, if it is certain to be the same one; nothing has happened if it
  /// is nil. Otherwise the server has done its part but for `countCommon`, and each runner answers its own (`answerAll`).
  mutating func commonAnswer(
    to words: borrowing GrowableBuffer<UInt64>, from start: Int64, until end: Int64
  ) -> TAPIServer.FastAnswer? {
    let (words, count) = (words.base, words.count)
    _ = rows.row(at: start)
    guard count > 0, end <= rows.end, hasCommonAnswer(count, from: start, until: end) else { return nil }
    var answers = server.fastAnswers()
    var answer = TAPIServer.FastAnswer(status: 0)
    var i = 0
    while i < count {
      // Up to the next tenth of a second.
      let tenth = tenths.row(at: start &+ ArrivalWord.offset(words[i]))
      let limit = UInt64(tenths.end &- start) &<< UInt64(ArrivalWord.offsetShift)
      let first = i
      while i < count, words[i] < limit {
        answer = answers.answer(at: Instant(microseconds: start &+ ArrivalWord.offset(words[i])))
        i &+= 1
      }
      offered[tenth] &+= UInt32(truncatingIfNeeded: i &- first)
    }
    server.resume(answers)
    return answer
  }

  /// Counts the requests of the window at `start`, which have a common answer.
  mutating func countCommon(_ answer: TAPIServer.FastAnswer, all: Int, first: Int, at start: Int64) {
    let row = counters[rows.row(at: start)]
    row[.firstAttempts] &+= Int64(first)
    row[.retries] &+= Int64(all &- first)
    row[Self.counter(of: answer.status)] &+= Int64(all)
  }
}

extension ShardRunner {
  /// Gives what arrives in the window at `start` the common answer, and counts the first attempts.
  mutating func answerAll(_ answer: TAPIServer.FastAnswer, start: Int64) {
    let (uploads, count) = (arrivals.base, arrivals.count)
    var first = 0
    for i in 0..<count {
      let upload = uploads + i
      if upload.pointee.attempt == 1 { first &+= 1 }
      let due = start &+ Int64(upload.pointee.offset) &+ Int64(upload.pointee.downlink)
      calendar.answer(upload.pointee, answer, at: due)
    }
    firstAttempts = first
  }
}
