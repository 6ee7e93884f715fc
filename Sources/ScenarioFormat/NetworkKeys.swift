import ScenarioModel
import SimulationKernel
import UploadRetry

extension Cohort {
  /// The way between a device and the server.
  static let networkKeys = ObjectKeys(
    standIn,
    [
      Field("latency", \.latency, .latency, "One way, each way drawn apart."),
      Field(
        "bandwidth", \.link.uploadBytesPerSecond, Kind<Int>.bandwidth.orNull,
        "Of the way up.",
        defaultValue: .said("no limit")),
      Field(
        "loss", \.link.loss, .loss,
        "What gets lost; one share is that of both."),
    ])
}

/// The shares of requests and of answers that are lost.
struct Loss: Sendable, Equatable {
  var request: Int64 = 0
  var answer: Int64 = 0

  fileprivate static let keys = ObjectKeys(
    Loss(), keepsRest: true,
    [
      Field("request", \.request, .share(), "On the way to the server."),
      Field("answer", \.answer, .share(), "On the way back; the server has done its work."),
    ])
}

extension Link {
  fileprivate var loss: Loss {
    get { Loss(request: requestLossPartsPerMillion, answer: answerLossPartsPerMillion) }
    set { (requestLossPartsPerMillion, answerLossPartsPerMillion) = (newValue.request, newValue.answer) }
  }
}

extension Kind where Value == Loss {
  /// `"1%"` each way, or `{ request, answer }`.
  fileprivate static let loss = Kind.object(Loss.keys).or(Kind<Int64>.share()) {
    Loss(request: $0, answer: $0)
  }
}

extension Kind where Value == Int {
  /// `"50KB/s"`.
  fileprivate static let bandwidth = Kind(
    schema: .pattern("^[0-9.]+(B|KB|MB|GB)/s$"),
    range: "1B/s to 1000GB/s",
    read: { decoder, node, path in
      guard let text = decoder.unitText(node, path, "a bandwidth", example: "50KB/s", unit: "B/s") else {
        return nil
      }
      guard text.hasSuffix("/s") else {
        decoder.report(
          "\(quoted(text)) is not a bandwidth; write a size a second, like \"50KB/s\"", at: node.position,
          path)
        return nil
      }
      let size = PositionedValue(.string(String(text.dropLast(2))), at: node.position)
      return Kind.size(1...1_000_000_000_000).read(&decoder, size, path)
    }, write: { .text(Units.text(bytes: $0) + "/s") })
}

// MARK: Time-outs

/// When a client gives an upload up.
struct Timeouts: Sendable, Equatable {
  var connect: Span?
  var request = Span.seconds(30)

  fileprivate static let keys = ObjectKeys(
    Timeouts(),
    [
      Field(
        "connect", \.connect, Kind<Span>.span(from: .milliseconds(1)).orNull,
        "When it gives up getting a connection."),
      Field("request", \.request, .span(from: .milliseconds(1)), "When it gives up the whole upload."),
      .order("connect", \.connect, "request", \.request),
    ])
}

extension Kind where Value == Timeouts {
  /// `"30s"` or `{ connect: "5s", request: "30s" }`.
  static let timeouts = Kind.object(Timeouts.keys).or(
    Kind<Span>.span(from: .milliseconds(1)), { Timeouts(request: $0) },
    part: { $0.connect == nil ? $0.request : nil })
}

// MARK: Online and offline

/// `connectivity` as it is written: periods need both keys.
struct ConnectivityKeys: Sendable, Equatable {
  var online: Distribution?
  var offline: Distribution?
  var share: Int64?
  var rest = Connectivity()

  fileprivate static let keys = ObjectKeys(
    ConnectivityKeys(), keepsRest: true,
    [
      Field(
        "online", \.online, Kind<Distribution>.period.orNothing, "How long a device is online at a time."),
      Field("offline", \.offline, Kind<Distribution>.period.orNothing, "How long it is offline then."),
      Field(
        "share", \.share, Kind<Int64>.share().orNothing, "Of the devices.",
        defaultValue: .said("100%")),
      .check { decoder, node, path, _ in
        for (key, other) in [("online", "offline"), ("offline", "online")]
        where node[key] == nil && node[other] != nil {
          decoder.report(
            "missing beside \(other); write for example \(key): { exponential: \"1h\" }", at: node.position,
            decoder.join(path, key))
        }
        return true
      },
      Field(
        "interruptions", \.rest.interruptions,
        Kind.object(Connectivity.Interruption.keys).list(0...100, named: "interruptions"),
        "Spans in which a share of the devices is offline."),
      Field(
        "flushOnReconnect", \.rest.flushesOnReconnect, .bool, "Whether a device flushes when it is back."),
    ])
}

extension Kind where Value == Connectivity {
  static let connectivity = Kind<ConnectivityKeys>.object(ConnectivityKeys.keys).mapped { keys in
    var connectivity = keys.rest
    if let online = keys.online, let offline = keys.offline {
      connectivity.periods = .init(
        online: online, offline: offline, sharePartsPerMillion: keys.share ?? 1_000_000)
    }
    return connectivity
  } _: { connectivity in
    let periods = connectivity.periods
    return ConnectivityKeys(
      online: periods?.online, offline: periods?.offline, share: periods?.sharePartsPerMillion,
      rest: connectivity)
  }
}

extension Connectivity.Interruption {
  fileprivate static let keys = ObjectKeys(
    Self(start: .start, duration: .zero),
    [
      Field("at", \.start, .time, "When it begins.", example: "\"30m\""),
      Field("for", \.duration, .span(from: Span(microseconds: 1)), "How long it lasts.", example: "\"10m\""),
      Field("share", \.sharePartsPerMillion, .share(), "Of the devices."),
    ])
}

// MARK: In the foreground and closed

extension Sessions {
  /// Between sessions an app's flush interval does not run and no wait wakes it up.
  static let keys = ObjectKeys(
    Sessions(sharePartsPerMillion: 0, length: .constant(.zero)),
    [
      Field(
        "share", \.sharePartsPerMillion, .share(1...999_999),
        "Of the time, in which a device's app is in the foreground.", example: "\"5%\""),
      Field(
        "length", \.length, .period,
        "How long a session lasts.",
        example: "\"4m\""),
      Field(
        "eventsInBackground", \.createsEventsInBackground, .bool,
        "Whether events are created in the background, too."
      ),
      Field(
        "curve", \.curve, Kind<RateCurve>.curve.orNull,
        "A factor on the rate at which closed apps are opened, by the time of day; share is that at 100%. Events that come in sessions "
          + "follow it.", defaultValue: .said("the same all day"), isLater: true),
      .refusal { _, sessions in
        sessions.meanGap > Units.longestSpan
          ? "with sessions so long and a share so small the app is closed for more than "
            + Units.text(Units.longestSpan) + " at a time" : nil
      },
    ])
}

extension Cohort {
  var timeouts: Timeouts {
    get { Timeouts(connect: connectTimeout, request: timeout) }
    set { (connectTimeout, timeout) = (newValue.connect, newValue.request) }
  }
}

// MARK: What holds for a cohort as a whole

extension Field<Cohort> {
  /// Polls are flushes, of which a device holds one.
  static let pollsHoldOne = Field.check { decoder, node, path, cohort in
    guard cohort.polls else { return true }
    if cohort.page != nil || cohort.queue.mode == .rebatch {
      let remedy = cohort.page == nil ? "set queue.mode to \"files\"" : "write every in place of polls"
      decoder.report(
        "polls are requests of their own, which this client gathers; \(remedy)", at: node, path,
        ["events", "polls"])
      return false
    }
    let said = (cohort.flush, cohort.queue)
    cohort.holdOnePoll()
    for (key, isAsImplied) in [("flush", said.0 == cohort.flush), ("queue", said.1 == cohort.queue)]
    where node[key] != nil && !isAsImplied {
      decoder.report(
        "a client that polls flushes each poll by itself and holds one; leave \(key) out, or write events.every",
        at: node, path,
        [key])
      return false
    }
    return true
  }
}

extension Cohort {
  /// A lost answer is noticed by the time-out.
  private static var longestTimeoutWithLoss: Span { .hours(1) }

  /// What is said of a cohort once all of its keys have been read.
  static let wholeChecks: [Field<Cohort>] =
    [
      needsFiles,
      .refusal("sessions") { _, cohort in
        guard let sessions = cohort.sessions, !sessions.createsEventsInBackground,
          case .periodic = cohort.events
        else { return nil }
        return
          "strictly periodic events don't wait for a session; set sessions.eventsInBackground to true, or give events a rate such as \"30/h\""
      },
      .refusal("sessions", "curve") { _, cohort in
        guard let sessions = cohort.sessions, sessions.curve != nil, !sessions.createsEventsInBackground,
          case .replay = cohort.events
        else { return nil }
        return
          "measured rates follow the day by themselves, and events that come in sessions would follow this curve too; "
          + "leave it out, or set sessions.eventsInBackground to true"
      },
      .refusal("os") { _, cohort in
        guard cohort.os != nil else { return nil }
        if cohort.page != nil { return "a page of a browser is closed in the background; leave os out" }
        return cohort.sessions == nil
          ? "windows never open for an app that is always in the foreground; give the cohort sessions, as "
            + "{ share: \"10%\", length: { exponential: \"3m\" } }"
          : nil
      },
      .refusal("holdsOpen") { _, cohort in
        guard cohort.holdsOpen else { return nil }
        if cohort.page != nil { return "a page asks for nothing again when it is cut off; leave it out" }
        return cohort.eventsAtOnce > 1
          ? "who is cut off asks once, which does not go with events.atOnce; leave one of the two out" : nil
      },
      .refusal("timeout") { _, cohort in
        cohort.link.answerLossPartsPerMillion > 0 && cohort.timeout > longestTimeoutWithLoss
          ? "\(Units.text(cohort.timeout)) is too long where answers get lost; at most "
            + Units.text(longestTimeoutWithLoss) : nil
      },
      // A launch, a session's ends and a connection that is back are triggers too.
      .refusal("flush") { _, cohort in
        cohort.flush.count == nil && cohort.flush.interval == nil && cohort.sessions == nil
          && cohort.lifecycle == nil && cohort.connectivity == nil
          && !cohort.spikes.contains(where: \.flushes)
          ? "neither a count nor an interval: such a device never flushes; keep one" : nil
      },
      .refusal("queue", "overflow") { _, cohort in
        cohort.queue.overflow == .refusesNewest
          && (cohort.queue.growsUntilFailure || cohort.flushWhileUploading == .queued)
          ? "batches are refused as a whole, and here the newest has old events too; leave out queue.growsUntilFailure, and "
            + "flushWhileUploading \"queued\"" : nil
      },
      .refusal("uploads", "whileWaiting") { _, cohort in
        guard cohort.whileWaiting == .blocks else { return nil }
        let gates = cohort.gates
        if cohort.flushWhileUploading != .joins {
          return "workers that block take what is there, run or not; set flushWhileUploading to \"joins\""
        }
        return gates.reservesWholeRun || gates.restartsRun || gates.lanes != nil
          ? "workers that block have no runs and no lanes; leave out gates.wholeRun, gates.restartRun and gates.lanes"
          : nil
      },
      .refusal("gates", "lanes") { _, cohort in
        guard cohort.gates.lanes != nil else { return nil }
        if cohort.policy.limitsCheck == .beforeDue {
          return
            "lanes don't go with policy.limitsCheck \"beforeDue\", which gives up whatever is oldest; set it to \"whenDue\""
        }
        return cohort.queue.splitsOn413
          ? "lanes don't go with queue.splitOn413; leave one of the two out" : nil
      },
      .check { decoder, node, path, cohort in
        let there = cohort.latency.minimum
        guard cohort.timeout <= there + there, let node = node["timeout"] ?? node["network"] else {
          return true
        }
        decoder.warn(
          "every upload times out: the time-out is \(Units.text(cohort.timeout)), "
            + "the way to the server and back takes at least \(Units.text(there + there))",
          at: node.position, decoder.join(path, "timeout"))
        return true
      },
    ]

  /// What is of batches, of which a client that re-chunks its events has none that lasts.
  private static let needsFiles = Field<Cohort>.check { decoder, node, path, cohort in
    guard cohort.behaviour.queue.mode == .rebatch else { return true }
    let parts: [(isOn: Bool, what: String, keys: [String])] = [
      (cohort.queue.splitsOn413, "batches are cut for good", ["queue", "splitOn413"]),
      (cohort.queue.growsUntilFailure, "a batch grows until it fails", ["queue", "growsUntilFailure"]),
      (cohort.queue.batchLimit != .max, "batches are counted (events: queue.limit)", ["queue", "batches"]),
      (cohort.queue.overflow == .refusesNewest, "batches are refused as a whole", ["queue", "overflow"]),
      (cohort.whileWaiting == .blocks, "batches wait one by one", ["uploads", "whileWaiting"]),
      (cohort.gates.lanes != nil, "lanes are of uploads", ["gates", "lanes"]),
    ]
    for part in parts where part.isOn {
      let message =
        "\(part.what), and a client that re-chunks has none of its own; set queue.mode to \"files\""
      decoder.report(message, at: node, path, part.keys)
    }
    return true
  }
}
