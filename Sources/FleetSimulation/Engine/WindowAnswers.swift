import FleetMetrics
import SimulationKernel
import TAPIModel

/// What the requests of a window are answered, where each runner gives its own their answers.
enum WindowAnswers {
  /// The server has answered each.
  case given
  /// All get the same answer.
  case common(TAPIServer.FastAnswer)
  /// Those that `ShardRunner.isAdmitted` marks are accepted, the others get this answer.
  case byAdmission(refusal: TAPIServer.FastAnswer)
}

/// What a runner's requests of a piece of a window came to.
struct AnswerTally: BitwiseCopyable {
  private var counts = SIMD4<Int64>()

  init() {}

  @inline(__always)
  init(all: Int, first: Int, accepted: Int, unheard: Int) {
    counts = SIMD4(Int64(all), Int64(first), Int64(accepted), Int64(unheard))
  }

  var all: Int64 { counts[0] }
  /// First attempts.
  var first: Int64 { counts[1] }
  var accepted: Int64 { counts[2] }
  /// Answers to clients that have given up before they come.
  var unheard: Int64 { counts[3] }

  @inline(__always)
  static func &+= (a: inout AnswerTally, b: AnswerTally) { a.counts &+= b.counts }
}

/// A window cut where a row of the series or a tenth of a second ends.
struct WindowPieces: ~Copyable {
  /// A window with more of them is answered request by request.
  static var most: Int { 8 }

  private var windowStart: Int64 = 0
  /// Where each ends, microseconds after the start of the window; the last never does.
  private let ends = UnsafeMutablePointer<Int64>.allocate(capacity: Self.most)
  private(set) var count = 1
  /// A window up to here that comes after the latest lies in the same one piece.
  private(set) var uncutUntil: Int64 = 0

  deinit { ends.deallocate() }

  var base: UnsafePointer<Int64> { UnsafePointer(ends) }

  /// When a piece begins, or a window in it.
  func start(of piece: Int) -> Int64 {
    piece == 0 ? windowStart : windowStart &+ ends[piece &- 1]
  }

  /// Cuts a window; false: into too many pieces.
  mutating func cut(from start: Int64, until end: Int64, _ rows: inout RowCursor, _ tenths: inout RowCursor)
    -> Bool
  {
    windowStart = start
    count = 0
    var time = start
    while true {
      _ = rows.row(at: time)
      _ = tenths.row(at: time)
      time = min(rows.end, tenths.end)
      if time >= end || count &+ 1 == Self.most { break }
      ends[count] = time &- start
      count &+= 1
    }
    ends[count] = .max
    count &+= 1
    uncutUntil = count == 1 ? time : 0
    return time >= end
  }
}

extension ServerFront {
  /// Whether the requests of a window may be answered without being asked for one by one; if so, its pieces are cut.
  mutating func hasFastAnswers(
    from start: Int64, until end: Int64, _ runners: borrowing WindowedEngine.Runners
  ) -> Bool {
    guard server.hasFastAnswers, !checks, server.nextOwnTime.microseconds >= end else { return false }
    if end <= pieces.uncutUntil, refusedStatus == server.refusedStatus { return true }
    countAnswers(runners)
    refusedStatus = server.refusedStatus
    return pieces.cut(from: start, until: end, &rows, &tenths)
  }

  /// Counts what the runners have answered since it was last asked for.
  mutating func countAnswers(_ runners: borrowing WindowedEngine.Runners) {
    for piece in 0..<pieces.count {
      var sum = AnswerTally()
      for i in 0..<runners.count { sum &+= runners[i].takeTally(piece) }
      let time = pieces.start(of: piece)
      let row = counters[rows.row(at: time)]
      row[.firstAttempts] &+= sum.first
      row[.retries] &+= sum.all &- sum.first
      row[.answers2xx] &+= sum.accepted
      row[refusedStatus == 0 ? .unanswered : Self.counter(of: refusedStatus)] &+= sum.all &- sum.accepted
      row[.unheardAnswers] &+= sum.unheard
      offered[tenths.row(at: time)] &+= UInt32(truncatingIfNeeded: sum.all)
    }
  }
}

extension ShardRunner {
  /// Gives what arrives in the window at `start` its answers, and counts them by piece of the window.
  mutating func answerAll(_ answers: WindowAnswers, start: Int64, pieces: UnsafePointer<Int64>, count: Int) {
    switch answers {
    case .given: return
    case .common(.silence): loseAll(start: start, pieces)
    case .common(let answer): answerAll(start: start, pieces, count) { _ in answer }
    case .byAdmission(let refusal):
      let isAdmitted = isAdmitted.base
      answerAll(start: start, pieces, count) { isAdmitted[$0] ? .accepted : refusal }
    }
  }

  @inline(__always)
  private mutating func answerAll(
    start: Int64, _ pieces: UnsafePointer<Int64>, _ pieceCount: Int, _ answer: (Int) -> TAPIServer.FastAnswer
  ) {
    let (uploads, count) = (arrivals.base, arrivals.count)
    let timeout = shard.plan.pointee.network.timeout
    var (first, accepted, unheard) = (0, 0, 0)
    for i in 0..<count {
      let upload = uploads + i
      let answer = answer(i)
      if upload.pointee.attempt == 1 { first &+= 1 }
      if answer.status == 200 { accepted &+= 1 }
      let now = start &+ Int64(upload.pointee.offset)
      if Int64(upload.pointee.uplink) &+ Int64(upload.pointee.downlink) > timeout {
        answerLate(upload.pointee, answer, at: now)
        if upload.pointee.downlink != .max { unheard &+= 1 }
      } else {
        calendar.answer(upload.pointee, answer, at: now &+ Int64(upload.pointee.downlink))
      }
    }
    if pieceCount == 1 {
      tallies[0] &+= AnswerTally(all: count, first: first, accepted: accepted, unheard: unheard)
      return
    }
    for i in 0..<count {
      let upload = uploads[i]
      let isLate = Int64(upload.uplink) &+ Int64(upload.downlink) > timeout && upload.downlink != .max
      tallies[Self.piece(of: upload, pieces)] &+= AnswerTally(
        all: 1, first: upload.attempt == 1 ? 1 : 0, accepted: answer(i).status == 200 ? 1 : 0,
        unheard: isLate ? 1 : 0)
    }
  }

  @inline(__always)
  private static func piece(of upload: UploadTicket, _ pieces: UnsafePointer<Int64>) -> Int {
    var piece = 0
    while Int64(upload.offset) >= pieces[piece] { piece &+= 1 }
    return piece
  }

  /// The answer to a client that gives up before it comes: only the observers hear of it.
  @inline(never)
  private mutating func answerLate(_ upload: UploadTicket, _ answer: TAPIServer.FastAnswer, at now: Int64) {
    let deadline = now &- Int64(upload.uplink) &+ shard.plan.pointee.network.timeout
    if now <= deadline {
      calendar.schedule(Delivery(.timeOut, upload), due: Instant(microseconds: deadline))
    }
    calendar.schedule(
      Delivery(answer == .accepted ? .acceptance : .loss, upload), due: Instant(microseconds: now))
  }

  /// Nobody answers.
  private mutating func loseAll(start: Int64, _ pieces: UnsafePointer<Int64>) {
    let timeout = shard.plan.pointee.network.timeout
    for i in 0..<arrivals.count {
      let upload = arrivals[i]
      tallies[Self.piece(of: upload, pieces)] &+= AnswerTally(
        all: 1, first: upload.attempt == 1 ? 1 : 0, accepted: 0, unheard: 0)
      let now = start &+ Int64(upload.offset)
      let deadline = now &- Int64(upload.uplink) &+ timeout
      if deadline < now {
        calendar.schedule(Delivery(.loss, upload), due: Instant(microseconds: now))
      } else {
        calendar.schedule(Delivery(.timeOut, upload, resolves: true), due: Instant(microseconds: deadline))
      }
    }
  }
}
