/// A scenario's keys in words, for the axes of pictures.
package enum KeyWords {
  /// Keys whose own word says too little.
  private static let words = ["for": "length", "at": "start", "k": "K", "over": "sending time"]
  private static let ordinals = ["first", "second", "third", "fourth", "fifth"]
  /// Objects that say nothing that their members do not.
  private static let silent: Set<String> = [
    "tapi", "settings", "fleet", "backoffConfig", "rateLimitConfig", "server",
  ]

  /// `length of the first incident` of `tapi.incidents.0.for`, `queue limit of the workers` of `tapi.workers.queueLimit`.
  package static func words(_ path: String) -> String {
    var parts = path.split(separator: ".").map(String.init)
    guard let key = parts.popLast() else { return path }
    let name = words[key] ?? spelled(key)
    guard let owner = parts.popLast(), !silent.contains(owner) else { return name }
    if let number = Int(owner), let list = parts.popLast() {
      let one = list.hasSuffix("s") ? String(list.dropLast()) : list
      let place = ordinals.indices.contains(number) ? ordinals[number] : "number \(number)"
      return "\(name) of the \(place) \(spelled(one))"
    }
    return "\(name) of the \(spelled(owner))"
  }

  /// `queue limit` of `queueLimit`.
  private static func spelled(_ key: String) -> String {
    var text = ""
    var wasCapital = true
    for letter in key {
      text += letter.isUppercase && !wasCapital ? " " + letter.lowercased() : String(letter)
      wasCapital = letter.isUppercase
    }
    return text
  }
}
