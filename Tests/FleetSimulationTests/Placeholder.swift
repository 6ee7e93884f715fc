import Testing

@testable import FleetSimulation
