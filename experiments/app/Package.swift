// swift-tools-version: 6.3
import PackageDescription

// An app's own package. An app elsewhere writes `.package(url: "https://…/fleetsim", from: "1.0.0")` in place of the path.
let package = Package(
  name: "app",
  platforms: [.macOS(.v15), .iOS(.v18)],
  dependencies: [.package(name: "fleetsim", path: "../..")],
  targets: [
    .executableTarget(
      name: "App",
      dependencies: ["UploadRetry", "UploadGating", "UploadPipeline", "RetryStateStore"]
        .map { .product(name: $0, package: "fleetsim") },
      path: ".", exclude: ["restarted.sh"], sources: ["App.swift"])
  ],
  swiftLanguageModes: [.v6]
)
