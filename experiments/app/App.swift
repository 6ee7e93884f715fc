import Foundation
import RetryStateStore
import UploadGating
import UploadPipeline
import UploadRetry

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// An app that uploads events with UploadPipeline and URLSession. It is a program without a screen, so that it runs anywhere and
// `fleetsim conformance --exec` can judge it: App --input JSON [--folder DIR].
//
// `Uploader`, `StoredEvents` and `readSettings` are for an app to take over. `App` at the end is the program around them.

/// An event of the app.
struct Event: Codable {
  var type: String
  var event: String
  var userId: String?
  var messageId: String?
  var properties: [String: String]?
}

/// Events in a folder, one file each, until they are delivered or lost.
///
/// The name of a file has the event's number and when it was tracked: `12-1700000000000000.json`. An empty file `12.batch` says
/// that a batch begins with event 12, so that a launched app makes the same batches again.
struct StoredEvents {
  private let folder: URL
  private var files: [UInt32: (url: URL, createdAt: Int64)] = [:]
  private var starts: Set<UInt32> = []

  init(in folder: URL) throws {
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for url in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      let parts = url.deletingPathExtension().lastPathComponent.split(separator: "-")
      guard let number = parts.first.flatMap({ UInt32($0) }) else { continue }
      if url.pathExtension == "batch" { starts.insert(number) }
      if parts.count == 2, let time = Int64(parts[1]) { files[number] = (url, time) }
    }
  }

  var isEmpty: Bool { files.isEmpty }

  /// The number that follows all that are stored.
  var nextNumber: UInt32 { files.keys.max().map { $0 + 1 } ?? 0 }

  mutating func add(_ event: Event, number: UInt32, at time: Int64) throws {
    let url = folder.appendingPathComponent("\(number)-\(time).json")
    try JSONEncoder().encode(event).write(to: url, options: .atomic)
    files[number] = (url, time)
  }

  func events(_ numbers: Range<UInt32>) -> [Event] {
    numbers.compactMap { number in
      files[number].flatMap { try? JSONDecoder().decode(Event.self, from: Data(contentsOf: $0.url)) }
    }
  }

  mutating func remove(_ numbers: Range<UInt32>) {
    for number in numbers {
      if let file = files.removeValue(forKey: number) { try? FileManager.default.removeItem(at: file.url) }
      if starts.remove(number) != nil { try? FileManager.default.removeItem(at: startFile(number)) }
    }
  }

  /// A batch begins with this event.
  mutating func noteBatch(from number: UInt32) {
    guard files[number] != nil, starts.insert(number).inserted else { return }
    try? Data().write(to: startFile(number))
  }

  /// The stored events as they were cut; those that no flush had sealed are the last one.
  func batches(ofAtMost limit: UInt32) -> [(firstEvent: UInt32, events: UInt32, createdAt: Int64)] {
    var batches: [(firstEvent: UInt32, events: UInt32, createdAt: Int64)] = []
    for (number, file) in files.sorted(by: { $0.key < $1.key }) {
      if let last = batches.last, last.firstEvent + last.events == number, last.events < limit,
        !starts.contains(number)
      {
        batches[batches.count - 1].events += 1
      } else {
        batches.append((number, 1, file.createdAt))
      }
    }
    return batches
  }

  private func startFile(_ number: UInt32) -> URL { folder.appendingPathComponent("\(number).batch") }
}

/// Owns the client and does as it says: stores, uploads, wakes up.
actor Uploader {
  private var client: UploadClient
  private var stored: StoredEvents
  private var nextNumber: UInt32
  private var store: FileRetrySnapshotStore
  private var saved: RetrySnapshot?
  private let session: URLSession
  private let request: URLRequest
  /// Events that the client has given up.
  private(set) var lost = 0

  /// - Parameters:
  ///   - request: the POST of a batch but for its body.
  ///   - folder: where events and retry state stay when the app ends.
  init(
    request: URLRequest, session: URLSession, config: HTTPConfig, flushAt: Int, gates: ClientGates,
    folder: URL
  ) throws {
    var options = ClientOptions()
    (options.wakesByTimer, options.gates) = (true, gates)
    stored = try StoredEvents(in: folder.appendingPathComponent("events"))
    nextNumber = stored.nextNumber
    store = FileRetrySnapshotStore(url: folder.appendingPathComponent("retry-state"))
    client = UploadClient(options: options, config: config, flushCount: FlushCount(flushAt))
    (self.session, self.request) = (session, request)
    let (snapshot, repairs) = store.restore(now: now(), config: config, policy: options.policy)
    let batches = stored.batches(ofAtMost: options.maximumBatchEvents)
    for repair in repairs + client.launch(snapshot, holding: batches, nextEvent: nextNumber, at: now()) {
      log("stored retry state: \(repair)")
    }
  }

  /// Whether nothing is left to upload.
  var isDone: Bool { stored.isEmpty }

  /// Stores an event, and uploads if it completes a batch.
  func track(_ event: Event) throws {
    try stored.add(event, number: nextNumber, at: now())
    nextNumber += 1
    client.add(1, at: now())
    act()
  }

  /// The flush timer, the app in the background, the network is back, …
  func flush(_ trigger: ClientTrigger) {
    client.trigger(trigger, at: now())
    act()
  }

  private func answered(_ batch: BatchIndex, _ response: UploadResponse) {
    client.answered(batch, response, at: now())
    act()
  }

  /// Does what the client says, and saves before each upload and after everything.
  private func act() {
    for batch in client.held { stored.noteBatch(from: batch.events.lowerBound) }
    for action in client.takeActions() {
      switch action {
      case .send(let batch, let numbers, let retryCount, _):
        save()
        upload(stored.events(numbers), retryCount, as: batch)
      case .delivered(let numbers): stored.remove(numbers)
      case .lost(let numbers, let reason):
        log("events \(numbers) are lost: \(reason)")
        lost += numbers.count
        stored.remove(numbers)
      case .wake(let time):
        Task {
          try await Task.sleep(for: .microseconds(max(0, time - now())))
          flush(.wakeUp)
        }
      case .step: break
      }
    }
    save()
  }

  private func save() {
    let snapshot = client.snapshot
    guard snapshot != saved else { return }
    do {
      try store.save(snapshot)
      saved = snapshot
    } catch { log("\(error)") }
  }

  private func upload(_ events: [Event], _ retryCount: UInt16?, as batch: BatchIndex) {
    var request = request
    request.httpBody = try? JSONEncoder().encode(["batch": events])
    if let retryCount { request.setValue("\(retryCount)", forHTTPHeaderField: "X-Retry-Count") }
    Task { [session, request] in
      var response = UploadResponse.noStatus
      var failure: (any Error)?
      do {
        if let answer = try await session.data(for: request).1 as? HTTPURLResponse {
          let wait = answer.value(forHTTPHeaderField: "Retry-After").flatMap {
            RetryAfter.parse($0, nowUnixSeconds: now() / 1_000_000)
          }
          response = .status(answer.statusCode, retryAfter: wait)
        }
      } catch { failure = error }
      answered(batch, response)
      // Whoever reads this line finds the try in the stored state.
      if let failure { log("no answer: \(failure.localizedDescription)") }
    }
  }
}

/// Reads Settings as the CDN has them; nothing that is wrong in them stops the client.
func readSettings(_ data: Data) -> HTTPConfig {
  guard let json = try? JSONDecoder().decode(SettingsJSON.self, from: data) else {
    log("Settings are no JSON: the defaults are used")
    return HTTPConfig()
  }
  let (config, repairs) = HTTPConfig.decode(json.value)
  for repair in repairs { log("Settings: \(repair.path): \(repair.message)") }
  return config
}

/// JSON as `HTTPConfig.decode` takes it.
struct SettingsJSON: Decodable {
  var value: SettingsValue

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: Key.self) {
      value = .object(
        try object.allKeys.map { ($0.stringValue, try object.decode(SettingsJSON.self, forKey: $0).value) })
    } else if var array = try? decoder.unkeyedContainer() {
      var values: [SettingsValue] = []
      while !array.isAtEnd { values.append(try array.decode(SettingsJSON.self).value) }
      value = .array(values)
    } else {
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        value = .null
      } else if let bool = try? single.decode(Bool.self) {
        value = .bool(bool)
      } else if let number = try? single.decode(Double.self) {
        value = .number(number)
      } else {
        value = .string(try single.decode(String.self))
      }
    }
  }
}

/// The wall clock, microseconds since 1970.
func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

func log(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// A redirect is an answer like others: the client decides what it means (S8).
final class NoRedirects: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _: URLSession, task: URLSessionTask, willPerformHTTPRedirection: HTTPURLResponse, newRequest: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) { completionHandler(nil) }
}

/// The program: what to track comes as JSON, as `fleetsim conformance --exec` gives it.
@main
struct App {
  struct Input: Decodable {
    struct Sequence: Decodable {
      var delayMs: Double?
      var events: [Event]
    }
    struct Config: Decodable {
      var flushAt: Int?
      var flushInterval: Double?
      var maxRetries: Int?
      var timeout: Double?
    }
    var writeKey: String
    var apiHost: URL
    var cdnHost: URL?
    var sequences: [Sequence]
    var config: Config?
  }

  static func main() async throws {
    var arguments = CommandLine.arguments.dropFirst()
    var options: [String: String] = [:]
    while arguments.count > 1 { options[arguments.removeFirst()] = arguments.removeFirst() }
    guard let text = options["--input"] else { fatalError("usage: App --input JSON [--folder DIR]") }
    let input = try JSONDecoder().decode(Input.self, from: Data(text.utf8))
    // Without --folder each run is an app that was just installed.
    let folder =
      options["--folder"].map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = input.config?.timeout ?? 15
    let session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)

    var config = HTTPConfig()
    if let url = input.cdnHost?.appendingPathComponent("v1/projects/\(input.writeKey)/settings"),
      let data = try? await session.data(from: url).0
    {
      config = readSettings(data)
    }
    if let most = input.config?.maxRetries {
      config.backoff.maxRetryCount = most
      config.rateLimit.maxRetryCount = most
    }

    var request = URLRequest(url: input.apiHost.appendingPathComponent("v1/b"))
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let key = Data("\(input.writeKey):".utf8).base64EncodedString()
    request.setValue("Basic \(key)", forHTTPHeaderField: "Authorization")

    // Beside the waits of the Settings: a host that is down is left alone (O6), and retries are limited (O3).
    var gates = ClientGates()
    gates.breaker = CircuitBreaker()
    gates.retryBudget = RetryBudget(bucket: .init(capacity: 100, trickle: 60_000_000))

    let uploader = try Uploader(
      request: request, session: session, config: config, flushAt: input.config?.flushAt ?? 20, gates: gates,
      folder: folder)
    let timer = Task {
      while true {
        try await Task.sleep(for: .seconds(input.config?.flushInterval ?? 30))
        await uploader.flush(.interval)
      }
    }
    for sequence in input.sequences {
      try await Task.sleep(for: .milliseconds(sequence.delayMs ?? 0))
      for event in sequence.events { try await uploader.track(event) }
    }
    await uploader.flush(.background)
    while await !uploader.isDone { try await Task.sleep(for: .milliseconds(20)) }
    timer.cancel()
    if options["--folder"] == nil { try? FileManager.default.removeItem(at: folder) }
    let isComplete = await uploader.lost == 0
    print(#"{"success": \#(isComplete)}"#)
    exit(isComplete ? 0 : 1)
  }
}
