// swift-tools-version: 6.3
import PackageDescription

// Modules, from the ones that know nothing to the one that knows everything. No third-party package, by decision.
// UploadRetry and UploadGating are leaves on purpose: an app embeds them as they are.
// Sources/Playground is no target: `.ci/wasm` compiles it for browsers, with the modules that it builds on.

/// For modules that work once a command, not once an event: optimising them took half of a release build.
/// `FLEETSIM_SMALL` halves the program: `.ci/static` has the minutes for it.
let isSmall = Context.environment["FLEETSIM_SMALL"] != nil
/// The second flag spares a job that checks all types once more for an interface that nobody gets sooner. Debug information of a
/// release takes a sixteenth of the build, and the linker drops it (below).
let notOptimised: [SwiftSetting] = [
  .unsafeFlags([isSmall ? "-Osize" : "-Onone", "-no-emit-module-separately-wmo"]),
  .unsafeFlags(["-Xfrontend", "-gnone"], .when(configuration: .release)),
]

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude, swiftSettings: notOptimised)
}

let package = Package(
  name: "fleetsim",
  // The simulator imports Synchronization, which macOS has from 15 on; FileHandle reads so many bytes from these versions on.
  platforms: [.macOS(.v15), .iOS("13.4"), .tvOS("13.4"), .watchOS("6.2")],
  products: [
    .library(name: "UploadRetry", targets: ["UploadRetry"]),
    .library(name: "UploadGating", targets: ["UploadGating"]),
    .library(name: "UploadPipeline", targets: ["UploadPipeline"]),
    .library(name: "RetryStateStore", targets: ["RetryStateStore"]),
    .library(name: "FleetSimulation", targets: ["FleetSimulation"]),
    .executable(name: "fleetsim", targets: ["fleetsim"]),
  ],
  targets: [
    // The client, as an app embeds it.
    .target(name: "UploadRetry"),
    .target(name: "UploadGating"),
    .target(name: "UploadPipeline", dependencies: ["UploadRetry", "UploadGating"]),
    .target(name: "RetryStateStore", dependencies: ["UploadRetry"]),
    .target(name: "ShippedClients", dependencies: ["ShippedQuirks", "UploadPipeline"]),
    // What a single shipped client does otherwise: the fleet links it, an app does not.
    .target(name: "ShippedQuirks", dependencies: ["UploadPipeline"]),

    // The simulation.
    // A prefetch instruction, tables in large pages, the cores of a process. Swift has no other way to them.
    .target(name: "CMemory"),
    .target(name: "SimulationKernel", dependencies: ["CMemory"]),
    // Leaves: how what others wrote is put into files and pages.
    .target(name: "TextEscaping"),
    .target(name: "FleetMetrics", dependencies: ["TextEscaping"]),
    .target(name: "FleetStatistics"),
    .target(name: "TAPIModel", dependencies: ["SimulationKernel", "FleetMetrics"]),
    .target(name: "ScenarioModel", dependencies: ["ShippedClients", "TAPIModel"]),
    .target(name: "FleetSimulation", dependencies: ["ScenarioModel", "FleetMetrics"]),

    // What people write and read.
    // The client files, which only C can put into a binary as they are; so with the vectors.
    .target(name: "ClientFiles", exclude: ["clients"]),
    .target(name: "ReportFiles", exclude: ["files"]),
    .target(
      name: "ScenarioFormat", dependencies: ["ScenarioModel", "ClientFiles", "TextEscaping"],
      swiftSettings: notOptimised),
    .target(name: "ConformanceVectors"),
    // Optimised: tests hold each change of a client against thousands of recorded steps.
    .target(
      name: "Conformance",
      dependencies: ["FleetSimulation", "ScenarioFormat", "ConformanceVectors"],
      swiftSettings: isSmall ? notOptimised : []),
    .target(
      name: "FleetExperiments",
      dependencies: ["FleetSimulation", "ScenarioFormat", "FleetStatistics"],
      swiftSettings: notOptimised),
    .target(
      name: "FleetReports", dependencies: ["FleetExperiments", "ReportFiles"],
      swiftSettings: notOptimised),
    .target(name: "CSystem"),
    .target(name: "HTTPTransport", dependencies: ["FleetSimulation"], swiftSettings: notOptimised),
    .target(
      name: "CommandLineInterface",
      dependencies: ["FleetReports", "Conformance", "HTTPTransport", "CSystem"],
      swiftSettings: notOptimised),
    // Without its debug information it is half as large. A command with `--out` reads it all, for `run.json`. The tests, which
    // link it, lose theirs too.
    .executableTarget(
      name: "fleetsim", dependencies: ["CommandLineInterface"],
      linkerSettings: [
        .unsafeFlags(["-Xlinker", "-S"], .when(platforms: [.linux], configuration: .release))
      ]),
    // For developers: what an attempt costs.
    .executableTarget(
      name: "fleetsim-bench", dependencies: ["FleetSimulation", "ScenarioFormat"], swiftSettings: notOptimised
    ),

    // How many cases run at a time, which Swift Testing reads before any Swift code of a test runs.
    .target(name: "TestOrder", path: "Tests/TestOrder"),
    .target(
      name: "TestSupport", dependencies: ["TestOrder", "UploadRetry"], path: "Tests/TestSupport",
      swiftSettings: notOptimised),
    .target(
      name: "TestClients", dependencies: ["ScenarioFormat"], path: "Tests/TestClients",
      swiftSettings: notOptimised),
    .target(
      name: "TestScenarios", dependencies: ["ScenarioModel"], path: "Tests/TestScenarios",
      swiftSettings: notOptimised),
    // Optimised: what tests run hundreds of times, one event after another.
    .target(name: "PlainEngine", dependencies: ["FleetSimulation"], path: "Tests/PlainEngine"),
    tests("TextEscapingTests", ["TextEscaping"]),
    tests("UploadRetryTests", ["ShippedQuirks", "TestClients"]),
    tests("UploadGatingTests", ["UploadGating"]),
    tests("UploadPipelineTests", ["ShippedQuirks", "TestClients"]),
    tests("ShippedClientsTests", ["ShippedClients"]),
    tests("RetryStateStoreTests", ["RetryStateStore"]),
    tests("SimulationKernelTests", ["SimulationKernel"]),
    tests("TAPIModelTests", ["TAPIModel", "TestScenarios"]),
    tests("FleetMetricsTests", ["FleetMetrics"]),
    tests("FleetStatisticsTests", ["FleetStatistics"]),
    tests("ScenarioFormatTests", ["ScenarioFormat", "TestClients", "TestScenarios"]),
    tests(
      "FleetSimulationTests",
      ["FleetSimulation", "FleetStatistics", "PlainEngine", "TestClients", "TestScenarios"]),
    tests("ConformanceTests", ["Conformance", "TestClients"], exclude: ["Recordings", "Vectors"]),
    tests("FleetExperimentsTests", ["FleetExperiments", "TestScenarios"]),
    tests("FleetReportsTests", ["FleetReports", "TestScenarios"]),
    tests("HTTPTransportTests", ["HTTPTransport"]),
    // The documents, and the habits of the sources.
    tests("RepositoryTests", []),
    tests("fleetsimTests", ["CommandLineInterface", "fleetsim", "fleetsim-bench"], exclude: ["Snapshots"]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu2x
)

// Each target names every module that it builds on, those behind others too. SwiftPM builds a target anew when a module that it
// names has changed, and the file of a module between the two stays as it is when only the size of a type behind it has changed:
// the objects of the target would go on with the old size.
for target in package.targets {
  var names: Set<String> = []
  var open = [target]
  while let next = open.popLast() {
    for case .byNameItem(let name, _) in next.dependencies where names.insert(name).inserted {
      open += package.targets.filter { $0.name == name }
    }
  }
  target.dependencies = names.sorted().map { .init(stringLiteral: $0) }
}

// `FLEETSIM_TESTS=UploadRetryTests,TAPIModelTests swift test` builds these test targets and what they need. Without it a test run
// builds the whole package, and links all test targets into one program.
if let chosen = Context.environment["FLEETSIM_TESTS"]?.split(separator: ",").map(String.init) {
  var needed = Set(chosen)
  for target in package.targets where chosen.contains(target.name) {
    for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}
