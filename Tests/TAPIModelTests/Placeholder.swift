import Testing

@testable import TAPIModel
