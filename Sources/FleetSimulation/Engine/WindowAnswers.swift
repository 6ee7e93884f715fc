import FleetMetrics
import SimulationKernel
import TAPIModel

/// The answers to the requests of a window, where each runner gives its own their answers.
enum WindowAnswers {
  /// All get the same answer.
  case common(TAPIServer.FastAnswer)
  /// Requests that `ShardRunner.isAdmitted` marks are accepted, the others get this answer.
  case byAdmission(refusal: TAPIServer.FastAnswer)
}

/// The counts of requests in a piece of a window, by answer.
struct AnswerTally: BitwiseCopyable {
  var all: Int64 = 0
  /// First attempts.
  var first: Int64 = 0
  var accepted: Int64 = 0
  /// Answers to clients that have given up before they come.
  var unheard: Int64 = 0

  static func &+= (a: inout AnswerTally, b: AnswerTally) {
    a.all &+= b.all
    a.first &+= b.first
    a.accepted &+= b.accepted
    a.unheard &+= b.unheard
  }
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
  /// Whether `TAPIServer.bucket` and `commonAnswer` may decide on the requests of a window.
  @inline(__always)
  func hasFastAnswers(from start: Int64, until end: Int64) -> Bool {
    guard server.hasFastAnswers && !checks && nextOwnTime.microseconds >= end else { return false }
    guard let line else { return true }
    return line.pointee.isIdle(from: start) && server.downAnswer == nil
  }

  /// Cuts the pieces of a window with fast answers; false: there are too many.
  mutating func cut(from start: Int64, until end: Int64, _ runners: borrowing WindowedEngine.Runners) -> Bool
  {
    if end <= pieces.uncutUntil, refusedStatus == server.refusedStatus { return true }
    countAnswers(runners)
    refusedStatus = server.refusedStatus
    return pieces.cut(from: start, until: end, &rows, &tenths)
  }

  /// Counts a fast answer at `now`.
  @inline(__always)
  mutating func count(
    _ answer: TAPIServer.FastAnswer, isFirst: Bool, isUnheard: Bool, refused: Measure, at now: Int64
  ) {
    let row = counters[rows.row(at: now)]
    row[isFirst ? .firstAttempts : .retries] &+= 1
    row[answer.status == 200 ? .answers2xx : refused] &+= 1
    if isUnheard { row[.unheardAnswers] &+= 1 }
    offered[tenths.row(at: now)] &+= 1
  }

  /// Counts what the runners have answered since it was last asked for.
  mutating func countAnswers(_ runners: borrowing WindowedEngine.Runners) {
    for piece in 0..<pieces.count {
      var sum = AnswerTally()
      for member in 0..<runners.members { sum &+= runners.rosters[member].takeTally(piece) }
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
  @inline(never)
  mutating func answerAll(
    _ answers: WindowAnswers, start: Int64, pieces: UnsafePointer<Int64>,
    _ tallies: UnsafeMutablePointer<AnswerTally>
  ) {
    switch answers {
    case .common(.silence): loseAll(start: start, pieces, tallies)
    case .common(let common):
      for i in 0..<arrivals.count {
        count(i, common, isUnheard: answer(i, common, start: start), pieces, tallies)
      }
    case .byAdmission(let refusal):
      for i in 0..<arrivals.count {
        let answer = isAdmitted.base[i] ? .accepted : refusal
        count(i, answer, isUnheard: self.answer(i, answer, start: start), pieces, tallies)
        isAdmitted.base[i] = false
      }
    }
  }

  /// Gives one of the arrivals its answer. Returns whether its client gives up before it comes.
  @inline(__always)
  mutating func answer(_ index: Int, _ answer: TAPIServer.FastAnswer, start: Int64) -> Bool {
    let upload = arrivals.base + index
    let now = start &+ Int64(upload.pointee.offset)
    let timeout = shard.plan.pointee.network.timeout
    if Int64(upload.pointee.uplink) &+ Int64(upload.pointee.downlink) > timeout {
      answerLate(upload.pointee, answer, at: now)
      return upload.pointee.downlink != .max
    }
    calendar.answer(upload.pointee, answer, at: now &+ Int64(upload.pointee.downlink))
    return false
  }

  @inline(__always)
  private func count(
    _ index: Int, _ answer: TAPIServer.FastAnswer, isUnheard: Bool, _ pieces: UnsafePointer<Int64>,
    _ tallies: UnsafeMutablePointer<AnswerTally>
  ) {
    let upload = arrivals.base + index
    let tally = tallies + Self.piece(of: upload.pointee, pieces)
    tally.pointee.all &+= 1
    tally.pointee.first &+= upload.pointee.attempt == 1 ? 1 : 0
    tally.pointee.accepted &+= answer.status == 200 ? 1 : 0
    if isUnheard { tally.pointee.unheard &+= 1 }
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
      calendar.schedule(Delivery(.timeOut, upload.id), due: deadline)
    }
    calendar.schedule(Delivery(answer == .accepted ? .acceptance : .loss, upload.id), due: now)
  }

  /// Nobody answers.
  private mutating func loseAll(
    start: Int64, _ pieces: UnsafePointer<Int64>, _ tallies: UnsafeMutablePointer<AnswerTally>
  ) {
    let timeout = shard.plan.pointee.network.timeout
    for i in 0..<arrivals.count {
      let upload = arrivals[i]
      count(i, .silence, isUnheard: false, pieces, tallies)
      let now = start &+ Int64(upload.offset)
      let deadline = now &- Int64(upload.uplink) &+ timeout
      if deadline < now {
        calendar.schedule(Delivery(.loss, upload.id), due: now)
      } else {
        calendar.schedule(Delivery(.timeOut, upload.id, resolves: true), due: deadline)
      }
    }
  }
}
