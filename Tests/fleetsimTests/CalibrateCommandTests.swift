import Testing

@Suite("calibrate")
struct CalibrateCommandTests {
  /// 400 phones, some of them together at one second of each 20, before a server with half of the capacity that such a flush takes.
  static let scenario = """
    { format: 1, seed: 1, duration: "200s", interval: "5s",
      tapi: { bucket: { capacity: "30/s", burst: 5 }, overload: { status: 429, retryAfter: "4s" } },
      network: { latency: { median: "300ms", p99: "2s", minimum: "200ms" } },
      fleet: [
        { name: "phones", devices: 300, events: "12/min", flush: { count: 20, interval: "20s" } },
        { name: "kiosks", devices: 100, events: "12/min", flush: { count: null, interval: "20s", phase: "5s" } } ] }
    """

  private static let fits = [
    "--fit", "tapi.bucket.capacity=10/s..60/s", "--fit", "fleet.kiosks.share=5%..60%", "--fit",
    "fleet.kiosks.flush.phase=0s..19s",
  ]

  private static func seconds(_ text: Substring) -> Double {
    (Double(text.drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "." }) ?? .nan)
      / (text.hasSuffix("ms") ? 1e3 : 1)
  }

  @Test("finds planted values with one worker or two, and goes on from its journal")
  func planted() throws {
    let scratch = try Scratch.with(Self.scenario)
    try scratch.run(
      "run s.json5 --seed 1000001 --set tapi.bucket.capacity=22/s --set fleet.kiosks.share=35% "
        + "--set fleet.kiosks.flush.phase=11.3s --out measured",
      code: 0)
    let command =
      ["calibrate", "s.json5", "--observed", "measured/timeseries.csv", "--budget", "200", "--out", "out"]
      + Self.fits
    let files = ["fitted.json5", "calibration.svg"]
    func calibrate(jobs: String, _ journal: String?) throws -> [String] {
      let output = try scratch.run(command + ["--jobs", jobs], code: 0)
      #expect(output.standardOutput.hasPrefix("The scenario explains the series (220 runs)\n"))
      #expect(output.standardOutput.contains("\ntapi.bucket.capacity  "), "\(output)")
      let notes = output.story("note")
      #expect(notes.contains { $0.hasPrefix("off by ") && $0.contains(" the last 20 %") }, "\(notes)")
      #expect(notes.filter { $0.contains("journal") } == [journal].compactMap(\.self), "\(notes)")
      return try files.map { try scratch.text("out/" + $0) }
    }
    let alone = try calibrate(jobs: "1", nil)
    // Two workers go on from two thirds of what one left, and replace what it wrote.
    for name in scratch.runs("out.journal").prefix(70) { try scratch.remove("out.journal/" + name) }
    for name in files { try scratch.remove("out/" + name) }
    let together = try calibrate(jobs: "2", "150 runs from the journal, 70 made")
    for (name, (one, two)) in zip(files, zip(alone, together)) { #expect(one == two, "\(name)") }
    let lines = try scratch.text("out/fitted.json5").split(separator: "\n")
    let values = lines.dropFirst().prefix(3).map { $0.split(separator: " ").last ?? "" }
    let capacity = Double(values[0].dropLast(2)) ?? 0
    let share = Double(values[1].dropLast()) ?? 0
    #expect(abs(capacity - 22) < 0.15 * 22, "\(values)")
    #expect(abs(share - 35) < 0.25 * 35, "\(values)")
    #expect(abs(Self.seconds(values[2]) - 11.3) < 0.05 * 20, "\(values)")

    // A journal that is there is used, and the fitted scenario runs as it is.
    #expect(try calibrate(jobs: "1", "220 runs from the journal, 0 made") == alone)
    try scratch.run("validate out/fitted.json5 --quiet", code: 0)
  }
}
