import Testing

@testable import FleetExperiments
