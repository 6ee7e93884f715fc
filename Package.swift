// swift-tools-version: 6.2
import PackageDescription

// Rooms, from the ones that know nothing to the one that knows everything. No third-party package, by decision.
// UploadRetry and UploadGating are leaves on purpose: an app embeds them as they are.

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, resources: resources)
}

let package = Package(
  name: "fleetsim",
  products: [
    .library(name: "UploadRetry", targets: ["UploadRetry"]),
    .library(name: "UploadGating", targets: ["UploadGating"]),
    .library(name: "UploadPipeline", targets: ["UploadPipeline"]),
    .library(name: "RetryStateStore", targets: ["RetryStateStore"]),
    .library(name: "FleetSimulation", targets: ["FleetSimulation"]),
    .executable(name: "fleetsim", targets: ["fleetsim"]),
  ],
  targets: [
    .target(name: "UploadRetry"),
    .target(name: "UploadGating"),
    .target(name: "UploadPipeline", dependencies: ["UploadRetry", "UploadGating"]),
    .target(name: "ShippedClients", dependencies: ["UploadRetry"]),
    .target(name: "RetryStateStore", dependencies: ["UploadRetry"]),
    // A prefetch instruction, and tables in large pages. Swift has no other way to them.
    .target(name: "CMemory"),
    .target(name: "SimulationKernel", dependencies: ["CMemory"]),
    .target(name: "FleetMetrics"),
    .target(name: "FleetStatistics"),
    .target(name: "TAPIModel", dependencies: ["SimulationKernel"]),
    .target(
      name: "FleetSimulation",
      dependencies: [
        "UploadRetry", "UploadGating", "UploadPipeline", "ShippedClients", "SimulationKernel", "TAPIModel",
        "FleetMetrics", "CMemory",
      ]),
    // The vector files, which only C can put into a binary as they are.
    .target(name: "ConformanceVectors"),
    .target(
      name: "Conformance",
      dependencies: [
        "UploadRetry", "UploadGating", "UploadPipeline", "ShippedClients", "FleetSimulation",
        "ConformanceVectors",
      ]),
    .target(name: "FleetExperiments", dependencies: ["FleetSimulation", "FleetStatistics"]),
    .target(
      name: "FleetReports",
      dependencies: ["Conformance", "FleetMetrics", "FleetExperiments", "FleetStatistics"]),
    .target(
      name: "CommandLineInterface",
      dependencies: ["Conformance", "FleetExperiments", "FleetReports", "FleetStatistics", "ShippedClients"]),
    .executableTarget(name: "fleetsim", dependencies: ["CommandLineInterface"]),

    tests("UploadRetryTests", ["UploadRetry"]),
    tests("UploadGatingTests", ["UploadGating"]),
    tests("UploadPipelineTests", ["UploadPipeline"]),
    tests("ShippedClientsTests", ["ShippedClients"]),
    tests("RetryStateStoreTests", ["RetryStateStore"]),
    tests("SimulationKernelTests", ["SimulationKernel"]),
    tests("TAPIModelTests", ["TAPIModel"]),
    tests("FleetMetricsTests", ["FleetMetrics"]),
    tests("FleetStatisticsTests", ["FleetStatistics"]),
    tests("FleetSimulationTests", ["FleetSimulation", "FleetStatistics"]),
    .testTarget(name: "ConformanceTests", dependencies: ["Conformance"], exclude: ["Recordings", "Vectors"]),
    tests("FleetExperimentsTests", ["FleetExperiments", "FleetStatistics"]),
    tests("FleetReportsTests", ["FleetReports"]),
    .testTarget(
      name: "fleetsimTests", dependencies: ["CommandLineInterface", "fleetsim"], exclude: ["Snapshots"]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu2x
)
