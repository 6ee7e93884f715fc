import Testing

@testable import FleetMetrics
