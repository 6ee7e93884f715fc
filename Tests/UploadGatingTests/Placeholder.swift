import Testing

@testable import UploadGating
