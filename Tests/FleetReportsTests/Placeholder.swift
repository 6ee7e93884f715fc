import Testing

@testable import FleetReports
