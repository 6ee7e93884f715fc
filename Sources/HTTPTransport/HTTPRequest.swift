import FleetSimulation

/// The bytes of an upload: the documented headers, and a batch of events that say who they are.
package enum HTTPRequest {
  static func bytes(of upload: LiveUpload, to server: LoopbackURL) -> [UInt8] {
    let body = body(of: upload)
    var lines = [
      "POST \(server.target) HTTP/1.1", "Host: \(server.authority)",
      // S1
      "Authorization: Basic \(base64(Array((upload.writeKey + ":").utf8)))",
      "Content-Type: application/json", "Content-Length: \(body.count)", "Connection: close",
      "User-Agent: fleetsim",
    ]
    // S2
    if let count = upload.retryCount { lines.append("X-Retry-Count: \(count)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
  }

  /// Each event as long as the scenario says, if its name leaves room.
  private static func body(of upload: LiveUpload) -> [UInt8] {
    var text = Array(#"{"batch":["#.utf8)
    for event in 0..<upload.events {
      let start =
        #"{"type":"track","event":"live","messageId":"\#(upload.device)-\#(Int(upload.firstEvent) + event)","pad":""#
      if event > 0 { text.append(UInt8(ascii: ",")) }
      text += start.utf8
      text += Array(repeating: UInt8(ascii: "x"), count: max(0, upload.eventBytes - start.utf8.count - 2))
      text += #""}"#.utf8
    }
    return text + "]}".utf8
  }

  /// RFC 4648 §4.
  package static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      var characters: [Character] = []
      for _ in 0..<4 {
        characters.append(alphabet[word & 63])
        word >>= 6
      }
      text +=
        String(characters.reversed().prefix(group.count + 1)) + String(repeating: "=", count: 3 - group.count)
    }
    return text
  }
}
