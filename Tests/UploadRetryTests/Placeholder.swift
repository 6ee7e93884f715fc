import Testing

@testable import UploadRetry
