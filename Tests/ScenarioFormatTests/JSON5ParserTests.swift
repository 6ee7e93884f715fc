import ScenarioFormat
import ScenarioModel
import Testing

@Suite("JSON5 with positions")
struct JSON5ParserTests {
  /// The tree as one line of plain JSON, numbers as written.
  private func compact(_ text: String) throws -> String { JSONText.compact(try JSON5Parser.parse(text)) }

  /// `line:column: message`.
  private func failure(_ text: String) -> String? {
    do throws(JSON5Error) {
      _ = try JSON5Parser.parse(text)
      return nil
    } catch {
      return "\(error.position.line):\(error.position.column): \(error.message)"
    }
  }

  static let accepted: [(String, String)] = [
    ("{}", "{}"), ("[]", "[]"), (" null ", "null"), ("true", "true"), ("false", "false"),
    ("[1,2,]", "[1, 2]"), ("{a:1,}", #"{ "a": 1 }"#), ("{'a':1,\"b\":2}", #"{ "a": 1, "b": 2 }"#),
    ("// c\n1 /* d */ // e", "1"), ("/**/[/*a*/1/*b*/,/*c*/]", "[1]"), ("1//", "1"),
    ("'it\"s'", #""it\"s""#),
    (#"'\'\"\\\b\f\n\r\t\v\0\x41\u00e9'"#, #""'\"\\\u0008\u000c\n\r\t\u000b\u0000Aé""#),
    ("'a\\\nb'", #""ab""#), ("'a\\\r\nb'", #""ab""#), ("'a\\\rb'", #""ab""#), ("'a\\\u{2028}b'", #""ab""#),
    (#"'\q\ä'"#, #""qä""#), (#"'\uD83D\uDE00'"#, "\"😀\""), ("'\u{2028}'", #""\u2028""#),
    ("{$_aé1: 1}", #"{ "$_aé1": 1 }"#), (#"{\u0061b: 1}"#, #"{ "ab": 1 }"#), ("{null: 1}", #"{ "null": 1 }"#),
    (#"{a\u0031: 1}"#, #"{ "a1": 1 }"#), ("{Infinity: 1, NaN: 2}", #"{ "Infinity": 1, "NaN": 2 }"#),
    ("[0, 1, -1, +1, .5, 5., 0.5, 1e3, 1E+3, 1.5e-3]", "[0, 1, -1, +1, .5, 5., 0.5, 1e3, 1E+3, 1.5e-3]"),
    (
      "[0x1F, -0XfF, Infinity, -Infinity, +Infinity, NaN, -NaN]",
      "[0x1F, -0XfF, Infinity, -Infinity, +Infinity, NaN, -NaN]"
    ),
    ("\u{FEFF}\u{A0}\u{2003}\u{3000}\t\u{0B}\u{0C}1\u{2029}", "1"), ("{\"\": 0}", #"{ "": 0 }"#),
    ("// only \u{2028}1", "1"), ("1e999", "1e999"),
  ]

  @Test("reads every feature of JSON5", arguments: accepted)
  func accepts(_ text: String, _ expected: String) throws {
    #expect(try compact(text) == expected)
  }

  static let refused: [(String, String)] = [
    ("", "1:1: the file is empty; expected a value such as { … }"),
    ("  \n // nothing\n", "3:1: the file is empty; expected a value such as { … }"),
    ("{", "1:2: expected a key or \"}\", found the end of the file"),
    ("[", "1:2: expected a value, found the end of the file"),
    ("{a}", "1:3: expected \":\" after the key \"a\", found \"}\""),
    ("{a:}", "1:4: expected a value, found \"}\""),
    ("{a:1 b:2}", "1:6: expected \",\" or \"}\" after a member of an object, found \"b\""),
    ("{a:1,,}", "1:6: expected a key or \"}\", found \",\""),
    ("{,}", "1:2: expected a key or \"}\", found \",\""),
    ("{1:2}", "1:2: expected a key or \"}\", found \"1\""),
    ("{a-b:2}", "1:3: expected \":\" after the key \"a\", found \"-\""),
    ("[1 2]", "1:4: expected \",\" or \"]\" after an element of a list, found \"2\""),
    ("[,]", "1:2: expected a value, found \",\""),
    ("{a:1 // one\n b:2}", "1:5: expected \",\" or \"}\" after a member of an object, found \"b\" on line 2"),
    ("[1,\n 2\n\n 3]", "2:3: expected \",\" or \"]\" after an element of a list, found \"3\" on line 4"),
    ("{a:1\n", "2:1: expected \",\" or \"}\" after a member of an object, found the end of the file"),
    ("[1}", "1:3: expected \",\" or \"]\" after an element of a list, found \"}\""),
    ("1 2", "1:3: expected the end of the file, found \"2\""),
    ("{a: yes}", "1:5: expected a value, found \"yes\"; text needs quotes"),
    ("{a: 30s}", "1:5: a number with a unit needs quotes: \"30s\""),
    ("{a: 0x1Fg}", "1:5: a number with a unit needs quotes: \"0x1Fg\""),
    ("010", "1:1: a number cannot start with \"0\" and another digit"),
    ("-", "1:2: expected a digit, found the end of the file"),
    (".", "1:2: expected a digit, found the end of the file"),
    ("+-1", "1:2: expected a digit, found \"-\""),
    ("-x", "1:2: expected a number after the sign, found \"x\""),
    ("0x", "1:3: expected hexadecimal digits after \"0x\", found the end of the file"),
    ("1e", "1:3: expected digits in the exponent, found the end of the file"),
    ("1e+]", "1:4: expected digits in the exponent, found \"]\""),
    ("'abc", "1:1: this string is never closed"), ("'abc\\", "1:5: this string is never closed"),
    ("'a\nb'", "1:3: a string cannot go on over the end of a line; expected \"'\""),
    (#"'\1'"#, "1:2: octal escapes do not exist; write \"\\xHH\""),
    (#"'\01'"#, "1:2: octal escapes do not exist; write \"\\x00\""),
    (#"'\x4'"#, "1:2: expected 2 hexadecimal digits in this escape"),
    (#"'\u12'"#, "1:2: expected 4 hexadecimal digits in this escape"),
    (#"'\uD83D'"#, "1:2: half a surrogate pair; write both halves, such as \"\\uD83D\\uDE00\""),
    (#"'\uDE00'"#, "1:2: half a surrogate pair; write both halves, such as \"\\uD83D\\uDE00\""),
    (#"{\x61: 1}"#, "1:2: expected \"\\uXXXX\" in an unquoted key, found \"x61\""),
    (#"{\u0031: 1}"#, "1:2: this character needs a key in quotes"),
    ("/* a", "1:1: this comment is never closed; expected \"*/\""),
    ("1 / 2", "1:3: expected a comment after \"/\", found \" \""),
    ("{\n  a: 1,\n  'a': 2\n}", "3:3: duplicate key \"a\"; it is on line 2 already"),
    ("{\n  é: 'ä', a: §\n}", "2:14: expected a value, found \"§\""),
    ("[\r\n1,\r\r!]", "4:1: expected a value, found \"!\""),
    ("{a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,\nc:2}", "2:1: duplicate key \"c\"; it is on line 1 already"),
    ("\u{7}", "1:1: expected a value, found \"\\u{7}\""),
  ]

  @Test("says where a text stops being JSON5, and what was expected", arguments: refused)
  func refuses(_ text: String, _ expected: String) {
    #expect(failure(text) == expected)
  }

  @Test("every value and key knows its line and column, in Unicode scalars")
  func positions() throws {
    let tree = try JSON5Parser.parse(
      "// ä\n{\n  a: [1,\r\n    'é', x2: 3]}".replacing(", x2: 3", with: ", { b: 2 }"))
    #expect(tree.position == Position(source: 0, line: 2, column: 1))
    #expect(tree.members?[0].keyPosition == Position(source: 0, line: 3, column: 3))
    guard case .array(let elements)? = tree["a"]?.content else {
      Issue.record("no list")
      return
    }
    #expect(elements.map(\.position.line) == [3, 4, 4])
    #expect(elements.map(\.position.column) == [7, 5, 10])
    #expect(elements[2]["b"]?.position.column == 15)
  }

  @Test("64 levels are read, 65 are refused, and a million do no harm")
  func depth() {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(failure(nested(64)) == nil)
    #expect(failure(nested(65)) == "1:65: nested deeper than 64 levels")
    #expect(failure(String(repeating: "[", count: 1_000_000)) == "1:65: nested deeper than 64 levels")
    #expect(failure(String(repeating: "{a:", count: 65)) == "1:193: nested deeper than 64 levels")
  }

  @Test("a text of more than 16 MB is refused before it is read")
  func size() {
    let spaces = [UInt8](repeating: UInt8(ascii: " "), count: JSON5Parser.maximumBytes + 1)
    let text = String(decoding: spaces, as: UTF8.self)
    #expect(failure(text) == "1:1: the file has 16777217 bytes; at most 16777216 (16 MB) are read")
  }

  @Test("a megabyte on one line takes time in proportion to its length")
  func oneLongLine() throws {
    let clock = ContinuousClock()
    let text = "[" + String(repeating: "{a:'é',b:[1,2]},", count: 65_000) + "]"
    let time = try clock.measure { _ = try JSON5Parser.parse(text) }
    // Counting columns from the start of the line each time would take minutes.
    #expect(time < .seconds(20))
  }
}
