import Testing

@testable import SimulationKernel
