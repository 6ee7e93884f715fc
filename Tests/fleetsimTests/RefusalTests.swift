import ScenarioModel
import Testing

@Suite("Refusals")
struct RefusalTests {
  /// How a command line goes on, with `␣` for a blank within a word, and what standard error has to have.
  typealias Case = (line: String, message: String)

  private static let sizes: [Case] = [
    "20", "GiB", "20Gib", "0GiB", "0.1B", "-1GiB", "1e3MiB␣", "unlimited",
  ].map { ($0, "'\($0.replacing("␣", with: " "))' is invalid for '--memory-limit <size>'") }

  private static let usage: KeyValuePairs<String, [Case]> = [
    "": [
      ("comprae s.json5", "Error: Unknown command 'comprae'. Did you mean 'compare'?"),
      ("run", "Error: Missing expected argument '<scenario>'"),
      ("check", "Missing expected argument '<scenario>'"),
      ("compare fleet.json5", "Error: There is nothing to compare: give --client, --jitter, --settings a"),
      ("live s.json5", "Missing expected option '--server <url>'"),
    ],
    "help": [
      ("exit", "Error: There is no help on 'exit'."), ("schema jsno", "there are scenario and json"),
      ("completions tcsh", "Error: There are no completions for 'tcsh'; there are for bash, zsh, fish.\n"),
      ("completions", "Error: Missing expected argument '<what>': one of bash, zsh, fish.\n"),
      ("man run", "Error: Unexpected argument 'run'\n"), ("run json", "Error: Unexpected argument 'json'\n"),
    ],
    "run s.json5 --memory-limit": sizes,
    "presets": [
      ("toggl,toggl", "'toggl' is there twice"), ("toggl,,datafly", "there is nothing between two commas"),
      ("segment-swfit", "Error: The client 'segment-swfit' does not exist; there are tapi-document, "),
      ("segment-swfit", ". Did you mean 'segment-swift'?\nSee 'fleetsim presets --help'.\n"),
      ("android", "\(ClientPreset.names.last!).\nSee "),
    ],
    "run s.json5": [
      ("--sed 4", "Error: Unknown option '--sed'. Did you mean '--seed'?"),
      ("other.json5", "Error: Unexpected argument 'other.json5'"),
      ("--seed -1", "The value '-1' is invalid for '--seed <n>': a whole number from 0 to 2^64-1."),
      ("--seed 18446744073709551616", "is invalid for '--seed <n>'"),
      ("--jobs 0", "is invalid for '--jobs <n>': a whole number from 1 to 1024."),
      ("--set duration", "is invalid for '--set <path=value>': it is written as duration=1h."),
      ("--twin-series", "goes with '--out <dir>'"), ("--openmetrics", "goes with '--out <dir>'"),
      ("--require recovry␣<=␣20m", "'--require <limit>': 'recovry' is neither a criterion"),
    ],
    "compare s.json5": [
      ("--set tapi.bukket.capacity=3/s", "--set: "), ("--vary tapi.bukket.capacity=3/s", "--vary: "),
      ("--client segment-swift --jitter full,none", "--jitter: settings.backoffConfig.jitterStrategy: "),
      ("--jitter fulll,none", "The jitter strategy 'fulll' does not exist. Did you mean 'full'?"),
      ("--jitter additive:101", "P from 0 to 100"), ("--jitter full,full", "'full' is there twice"),
      ("--jitter additive:500", "Error: 'additive:500' is no jitter strategy: allowed is additive:P, "),
      ("--jitter additive:500", "(P from 0 to 100, at most 6 decimals; T a time as 500ms, 3s, 2m or 1h, "),
      ("--jitter full,,none", "there is nothing between two commas"),
      (
        "--jitter full,none --vary settings.backoffConfig.jitterStrategy=none,equal",
        "'--jitter' chooses values of settings.backoffConfig.jitterStrategy already"
      ),
      (
        "--vary duration=1h,2h --vary duration=2h,3h",
        "another '--vary' chooses values of duration already; name them all there."
      ),
      ("--settings today.json,today.json", "names 'today.json' twice"),
      ("--settings today.json,", "nothing between two commas"), ("--share 50", "give both"),
      ("--rollout new.json --share 150", "a share is 0 to 100"),
      ("--vary new=settings=new.json,today.json", "'new' names one variant"),
      ("--settings a.json,b.json --vary settings=c.json", "'--settings' chooses values of settings"),
      (
        "--rollout new.json --set fleet.phones.rollout.at=1m --set fleet.phones.rollout.settings={}",
        "would replace the rollout that phones has"
      ),
      ("--seeds 1", "'--seeds <n>': a whole number from 2 to 100000."),
      ("--seeds 3 --vary seed=1,2", "Seeds can't be compared with --seeds"),
      ("--seeds 3 --budget 2M", "'--budget' goes without '--seeds', which says how many"),
      ("--seed 3 --budget 2M", "'--budget' does not go with '--seed', which is one."),
      ("--budget 0", "a number of attempts from 1 on, as 500k, 20M or 2G."),
      ("--budget 9999999999G", "a number of attempts from 1 on"),
      ("--explore", "Missing expected option '--out <dir>': '--explore' writes a page."),
      ("--explore --out o --json", "'--json' does not go with '--explore'"),
      ("--explore --out o --budget 2M", "'--budget' does not go with '--explore'"),
      ("--explore --out o --twin-series", "'--twin-series' does not go with '--explore'"),
      ("--explore --out o --openmetrics", "'--openmetrics' does not go with '--explore'"),
      ("--explore --out o --vary seed=1,2", "Seeds can't be compared with --seeds"),
      ("--seeds 2 --out o --twin-series", "curves.csv has the mean curves"),
      ("--seeds 2 --out o --openmetrics", "curves.csv has the mean curves"),
      ("--seeds 2 --shard 3/2", "'--shard <i/N>': the number of the part and of all parts"),
      ("--shard 1/2", "'--shard' goes with '--seeds'"),
      ("--seeds 2 --shard 1/2", "'--shard' goes with '--journal <dir>'"),
      ("--seeds 2 --shard 1/2 --journal j --out o", "'--out' does not go with '--shard'"),
      ("--seeds 2 --shard 1/2 --journal j --json", "'--json' does not go with '--shard'"),
    ],
    "check s.json5": [
      ("--seeds 5", "goes with '--record'"), ("--record --seeds 1", "a whole number from 2 to 10000"),
      ("--format xml", "text, github, junit"), ("--verbose --quiet", "exclude each other"),
      ("s.json5 --record", "Two scenarios would both be called 's'"),
      ("--record --set duration", "it is written as duration=1h"),
      ("--json --format junit", "it goes neither with '--format' nor with"),
      ("--json --record", "it goes neither with '--format' nor with"),
      ("--set seed=51", "'seed=51' is invalid for '--set <path=value>': a check runs under the seeds"),
    ],
    "decide fleet.json5 --today today.json --proposed new.json": [
      ("--only-incidents", "name that file"), ("--allow attemps", "did you mean 'attempts'?"),
    ],
    "tune a.json5": [
      ("--search tapi.bucket.capacity=1/s..2/s", "no key of Settings"),
      ("--search settings.backoffConfig.maxBackoffInterval=5", "at least two values"),
      ("--search settings.backoffConfig.maxBackofInterval=5..9", "there is no \"maxBackofInterval\""),
      ("--search settings.backoffConfig.jitterStrategy=full,ful", "--search"),
      ("--space space.json5 --objective speed", "is no metric"),
      ("--space space.json5 --require lost_events", "one of <= >= < > = and a limit"),
      ("--space space.json5 --require failures␣<=␣5%", "lets some runs fail"),
      ("--space space.json5 --budget 3", "too small"), ("--space space.json5 --budget soon", "--budget"),
      // Without keys those that decide searches are.
      ("--budget 3", "too small"),
    ],
    "calibrate kiosks.json5 --observed m.csv": [
      ("--fit seed=1..9", "'seed' is of the run"), ("", "Missing expected option '--fit"),
      ("--fit tapi.bucket.capacity=60/s..10/s", "goes from the smaller to the larger"),
      ("--fit tapi.bucket.capacty=10/s..60/s", "did you mean \"capacity\""),
      ("--fit fleet.kiosks.flush.phase=0s..30s", "shorter than the interval"),
      ("--fit fleet.kiosks.share=5%..100%", "leave something for the cohorts without a share"),
      ("--fit tapi.bucket.burst=1..9 --budget 20", "a whole number from 200 to 1000000"),
    ],
    "limit s.json5": [
      ("", "'limit' looks for one thing"), ("--incident outrage", "did you mean 'outage'?"),
      ("--key seed=1..2 --incident outage", "'limit' looks for one thing"),
    ],
    "live s.json5 --server": [
      ("http://192.0.2.1:80", "is not this machine"),
      ("http://localhost:80", "a name can be of another machine"),
      ("http://127.0.0.1:1 --speed 0", "a number from 0.1 to 1000"),
      ("http://127.0.0.1:1 --speed nan", "a number from 0.1 to 1000"),
      ("http://127.0.0.1:1 --warm-up 3s", "goes with '--exec'"),
      ("http://127.0.0.1:1 --exec ␣", "'--exec <command>': a command of the shell is expected"),
      ("http://127.0.0.1:1 --exec true --speed 2", "'--speed' can be 1 only"),
    ],
    "validate": [
      ("", "Missing expected argument '<scenario>'"), ("--settings s", "'--client <a,b,c>'"),
      ("--client segment-swfit --settings s", "Did you mean 'segment-swift'?"),
      ("--client segment-swift", "Missing expected option '--settings <file>'"),
      ("s.json5 --client segment-swift --settings s", "leave out 's.json5' or '--client'"),
      ("--client segment-swift --settings s --set duration=1h", "'--set' changes a scenario"),
      ("--client datafly --client datafly --settings s", "names 'datafly' twice"),
    ],
    "trace s.json5": [
      ("--device 60", "There is no device 60: the fleet's devices have the numbers 0 to 59."),
      ("--device -1", "The value '-1' is invalid for '--device <n>': a whole number from 0."),
      ("", "Missing expected option '--device <n>'"), ("--device 0 --from soon", "write 20m or 0:20:00"),
      ("--device 0 --format perfeto", "; did you mean 'perfetto'? Allowed: text, perfetto."),
      ("--device 0 --from 2m --to 1m", "'--from' is not before '--to'"),
    ],
    "conformance": [
      ("--client toggl-push", "Error: No vector of the built-in files is about the client 'toggl-push': "),
      // Clients that there are, in a scenario.
      ("--client grpc", "is about the client 'grpc': they are about tapi-document, "),
      ("--client mine.json5", "is about the client 'mine.json5': they are about tapi-document, "),
      ("--client segment-swfit", "Did you mean 'segment-swift'?"),
      ("--jobs 2", "'--jobs' goes with '--exec'"),
      ("--fetches-settings", "'--fetches-settings' goes with '--exec'"),
      ("--exec true --client segment-swift", "it goes with no vector file and no '--client'"),
      ("--exec true v.json", "it goes with no vector file and no '--client'"),
      ("--exec ␣", "'--exec <command>': a command of the shell is expected"),
      ("--exec true --case none", "The case 'none' does not exist."),
      ("--exec true --ignores flush", "'--ignores <keys>'; did you mean 'flushAt'?"),
      ("--exec true --interval-unit h", "'--interval-unit <unit>'. Allowed: s, ms."),
    ],
    "bench": [
      ("--devices 0", "'0' is invalid for '--devices <n>': a whole number from 1 to 4000000000."),
      ("--devices 1e6", "'1e6' is invalid for '--devices <n>'"),
      ("--repeat 0", "'0' is invalid for '--repeat <r>': a whole number from 1 to 1000."),
      ("--only herd-1-15", "The workload 'herd-1-15' does not exist; there are herd-1-150, herd-1-90, 001,"),
      ("--only herd-1-15", "Did you mean 'herd-1-150'?"), ("--only 001,001", "'001' is there twice"),
      ("--only 001,,sparse", "there is nothing between two commas"),
      ("--duration 5", "'5' is invalid for '--duration <span>': a span from 1s to 366d, as 20m or 2h."),
      ("--duration 10ms", "'10ms' is invalid for '--duration <span>'"),
      ("--duration 30h", "'--duration 30h' is too long for 'herd-1-150': at most 27 h 47 min, 100000 rows "),
      ("scenario.json5", "Unexpected argument 'scenario.json5'"),
    ],
  ]

  private static let data: KeyValuePairs<String, [Case]> = [
    "": [
      ("run misspelt.json5 --out out", "misspelt.json5:4: tapi.overlaod"),
      ("run empty.json5", "empty.json5:"),
      ("validate /dev/zero", "/dev/zero: larger than 64 MB, and at most that is read of a file\n"),
      ("run half.json5 --json", "half.json5:"), ("validate half.json5 --json", "half.json5:"),
      ("validate lacking.json5", "lacking.json5:7: fleet.phones.settings: cannot read \"gone.json\""),
      ("compare many.json5", "many.json5:8: compare: 20 times 20 values make too many variants: at most 256"),
      ("validate many.json5", "many.json5:8: compare: 20 times 20 values make too many variants"),
      ("validate --settings half.json5 --client segment-swift", "half.json5:"),
      ("validate --settings list.json5 --client segment-swift", "list.json5:1:1: "),
      ("conformance half.json5 list.json5", "half.json5:"),
      ("conformance half.json5 list.json5", "list.json5:1:"),
    ],
    "check s.json5 --record": [("--baseline s.json5", "s.json5:1: this is no baseline of fleetsim")],
    "decide fleet.json5 --today today.json --proposed": [
      ("other.json", "no retry settings here"),
      (
        "slip.json",
        "slip.json: backoffConfig.maxRetryCont is no key of Settings, and every client ignores it; "
          + "did you mean backoffConfig.maxRetryCount?\n"
      ),
      ("new.json --incidents late.json5", "late.json5: sunday: an incident begins at 5h"),
      ("new.json --incidents list.json5", "a file of incidents is an object of lists by name"),
      ("new.json --set tapi.bucket.capacity=1/s", "does not hold even without any incident"),
      ("new.json --set tapi.bucket.capacity=1/s", "\nSmall enough for chance to decide: tapi.bucket."),
    ],
    "tune a.json5": [("--space a.json5", "there is no such key in a search space")],
    "bench --only sparse,001": [("--devices 4000000000", "sparse with 4,000,000,000 devices: does not fit")],
    "calibrate kiosks.json5 --fit tapi.bucket.burst=1..9": [
      ("--observed m.csv --set duration=30s", "give --set duration=50s"),
      ("--observed bad.csv", "bad.csv:4: 'x' is no count"),
    ],
    "live s.json5 --server http://127.0.0.1:1": [
      ("--set fleet.phones.devices=1000000", "--scale 1:50"),
      ("--set fleet.phones.gates.reconcile=true", "can't be run live"),
      ("--exec true --set fleet.phones.devices=501", "--scale 1:2 runs a part of them"),
      (
        "--exec true --set fleet.phones.devices=1 --set fleet.phones.events=2/s",
        "give fewer events or a shorter duration"
      ),
    ],
  ]

  private static let input: KeyValuePairs<String, [Case]> = [
    "": [
      ("run no.json5", "no.json5: cannot be read: "), ("validate s.json5/x", "s.json5/x: cannot be read: "),
      ("compare no.json5 --json", "no.json5: cannot be read: "),
      ("run s.json5 --settings no.json5", "no.json5: cannot be read: "),
      ("run folder", "folder: is a directory; a file is expected\n"),
      ("report nowhere", "nowhere/run.json: is not there"),
      ("presets theirs.json5", "theirs.json5: cannot be read: "),
      ("conformance none.json", "none.json: cannot be read: No such file or directory\n"),
      ("check s.json5", "there is no baseline yet; record one with: fleetsim check s.json5 --record\n"),
      ("compare s.json5 --settings today.json,no.json", "no.json"),
      ("calibrate kiosks.json5 --fit tapi.bucket.burst=1..9 --observed none.csv", "none.csv: cannot be read"),
      ("validate --settings no.json --client segment-swift", "no.json: cannot be read: "),
    ]
  ]

  private static let cases = [(Int32(64), usage), (65, data), (66, input)].flatMap { code, groups in
    groups.flatMap { command, cases in cases.map { (command + " " + $0.line, $0.message, code) } }
  }

  private static func scratch() throws -> Scratch {
    let many = (1...20).map(String.init).joined(separator: ",")
    let rows = (0..<10).map { "\($0 * 5),9\n" }.joined()
    return try Scratch.with(and: [
      "folder/x": "", "fleet.json5": DecideCommandTests.fleet, "today.json": DecideCommandTests.settings(3),
      "new.json": DecideCommandTests.settings(1_000), "other.json": #"{ "sampleRate": 0.5 }"#,
      "slip.json": DecideCommandTests.settings(3, #""maxRetryCont": 3,"#),
      "late.json5": #"{ "sunday": [{ kind: "outage", at: "5h", for: "10m", status: 503 }] }"#,
      "list.json5": "[]", "empty.json5": "", "half.json5": String(Scenarios.small.prefix(100)),
      "misspelt.json5": Scenarios.small.replacing("overload:", with: "overlaod:"),
      "lacking.json5": Scenarios.small.replacing("retries:", with: "settings: \"gone.json\", retries:"),
      "many.json5": Scenarios.small.replacing(
        /compare:.*/, with: #"compare: { seed: [\#(many)], "tapi.bucket.burst": [\#(many)] },"#),
      "a.json5": SearchCommandTests.scenario, "cdn.json": SearchCommandTests.settings,
      "space.json5": SearchCommandTests.space, "kiosks.json5": CalibrateCommandTests.scenario,
      "m.csv": "time,requests\n" + rows, "bad.csv": "time,requests\n0,1\n5,2\n10,x\n",
    ])
  }

  @Test("what makes no sense is refused with what would be right, and nothing is written", arguments: cases)
  func refused(line: String, message: String, code: Int32) throws {
    let scratch = try Self.scratch()
    let before = scratch.contents
    let words = line.split(separator: " ").map { String($0.replacing("␣", with: " ")) }
    let said = try scratch.run(words, code: code, says: message).standardError
    #expect(said.hasPrefix("Error: ") || code != 64 || said.hasPrefix("--"), "\(said)")
    #expect(said.hasPrefix("Error: ") == said.hasSuffix("--help'.\n"), "with the way out: \(said)")
    #expect(scratch.contents == before)
  }
}
