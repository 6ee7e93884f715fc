import FleetMetrics
import SimulationKernel
import TAPIModel

/// A window in which everybody gets the same answer, so that several threads may give it: what is left for the server is to count.
extension ServerFront {
  /// The answer to all requests of a window, if they come from two rooms and it is certain to be the same one; nothing has happened
  /// if it is nil. Otherwise the server has done its part but for `countAlike`, and each room answers its own (`Room.answerAlike`).
  mutating func answerAlike(
    _ a: UnsafeMutablePointer<Room>, _ b: UnsafeMutablePointer<Room>, from start: Int64, until end: Int64
  ) -> TAPIServer.PlainAnswer? {
    let (n, m) = (a.pointee.arrivalWords.count, b.pointee.arrivalWords.count)
    _ = rows.row(at: start)
    guard n &+ m > 0, end <= rows.end, answersAllAlike(n &+ m, from: start, until: end) else { return nil }
    let (first, second) = (a.pointee.arrivalWords.base, b.pointee.arrivalWords.base)
    var answers = server.plainAnswers()
    var answer = TAPIServer.PlainAnswer(status: 0)
    var (i, j) = (0, 0)
    while i &+ j < n &+ m {
      // Up to the next tenth of a second.
      let word = i < n && (j == m || first[i] <= second[j]) ? first[i] : second[j]
      let tenth = tenths.row(at: start &+ ArrivalWord.offset(word))
      let limit = UInt64(tenths.end &- start) &<< UInt64(ArrivalWord.offsetShift)
      let before = i &+ j
      while true {
        let left = i < n ? first[i] : .max
        let right = j < m ? second[j] : .max
        let next = min(left, right)
        if next >= limit { break }
        if left <= right { i &+= 1 } else { j &+= 1 }
        answer = answers.answer(at: Instant(microseconds: start &+ ArrivalWord.offset(next)))
      }
      offered[tenth] &+= UInt32(truncatingIfNeeded: i &+ j &- before)
    }
    server.resume(answers)
    return answer
  }

  /// Counts the requests of the window at `start`, which have been answered alike.
  mutating func countAlike(
    _ answer: TAPIServer.PlainAnswer, all: Int, first: Int, at start: Int64
  ) {
    let row = counters[rows.row(at: start)]
    row[.firstAttempts] &+= Int64(first)
    row[.retries] &+= Int64(all &- first)
    row[Self.counter(of: answer.status)] &+= Int64(all)
  }
}

extension Room {
  /// Answers what arrives in the window at `start`, all of it alike, and counts the first attempts.
  mutating func answerAlike(_ answer: TAPIServer.PlainAnswer, start: Int64) {
    let (uploads, count) = (arrivals.base, arrivals.count)
    let end = outbox.end.microseconds
    var first = 0
    for i in 0..<count {
      let upload = uploads + i
      if upload.pointee.attempt == 1 { first &+= 1 }
      let due = start &+ Int64(upload.pointee.offset) &+ Int64(upload.pointee.downlink)
      if due < end {
        outbox.answer(upload.pointee, answer, at: due)
      } else {
        outbox.answerLate(upload.pointee, answer, at: due)
      }
    }
    firstAttempts = first
  }
}
