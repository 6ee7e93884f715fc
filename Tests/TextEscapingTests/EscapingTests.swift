import Foundation
import FoundationXML
import TestSupport
import Testing
import TextEscaping

/// Every scalar before and behind each character that means something where the text goes. What comes out is read by others'
/// parsers, or looked at byte by byte: a Character of Swift may hold both scalars.
@Suite("Texts of others")
struct EscapingTests {
  /// All of the first scripts, whose format characters join others, and scalars of every block.
  static let scalars: [Unicode.Scalar] = {
    let step = TestDepth.cases(97, exhaustively: 17)
    let others =
      Array(stride(from: UInt32(0x700), to: 0x1_0000, by: step))
      + stride(from: UInt32(0x1_0000), through: 0x10_FFFF, by: step * 41)
    let known: [UInt32] = [
      0x200B, 0x200D, 0x202E, 0x2028, 0x2066, 0x3000, 0xE000, 0xFEFF, 0xFFFE, 0xE_0001, 0x10_FFF1,
    ]
    return (Array(UInt32(0)..<0x700) + known + others).compactMap(Unicode.Scalar.init)
  }()

  /// `x<x` for every scalar x, as one text.
  static func surrounded(_ character: Unicode.Scalar) -> String {
    String(decoding: scalars.flatMap { [$0.value, character.value, $0.value] }, as: UTF32.self)
  }

  /// The scalars of these categories, as ICU knows them.
  static let hidden: Set<Unicode.Scalar> = {
    let all = String(decoding: scalars.flatMap { [$0.value, 0x61] }, as: UTF32.self)
    let pattern = #"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Noncharacter_Code_Point}]"#
    let matches = try! NSRegularExpression(pattern: pattern)
      .matches(in: all, range: NSRange(location: 0, length: all.utf16.count))
    let units = Array(all.utf16)
    return Set(
      matches.map {
        String(decoding: units[$0.range.location..<$0.range.upperBound], as: UTF16.self).unicodeScalars.first!
      })
  }()
  static func isHidden(_ scalar: Unicode.Scalar) -> Bool { hidden.contains(scalar) }

  static func same(_ a: String, _ b: String) -> Bool { a.unicodeScalars.elementsEqual(b.unicodeScalars) }

  @Test(
    "in HTML no scalar takes one of the five characters from its escape",
    arguments: ["<", ">", "&", "\"", "'"])
  func markup(character: Unicode.Scalar) {
    let bytes = Escaping.markup(Self.surrounded(character)).utf8
    #expect(!bytes.contains { "<>\"'".utf8.contains($0) })
    let entities = ["amp;", "lt;", "gt;", "quot;", "#39;"]
    let isEscaped = bytes.split(separator: UInt8(ascii: "&")).dropFirst().allSatisfy { rest in
      entities.contains { rest.starts(with: $0.utf8) }
    }
    #expect(isEscaped)
  }

  @Test(
    "a parser of XML reads in an element and in an attribute what people are shown",
    arguments: ["<", "&", "\"", "'", "\n"])
  func xml(character: Unicode.Scalar) throws {
    let text = Self.surrounded(character)
    let read = XMLText()
    let document = "<a b=\"\(Escaping.markup(text))\">\(Escaping.markup(text))</a>"
    let parser = XMLParser(data: Data(document.utf8))
    parser.delegate = read
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    #expect(Self.same(read.element, Escaping.visible(text)))
    // XML makes spaces of line feeds and tabs in attributes.
    let spaced = Escaping.visible(text).unicodeScalars.map { $0 == "\n" || $0 == "\t" ? " " : $0 }
    #expect(read.attribute.unicodeScalars.elementsEqual(spaced))
  }

  @Test(
    "a parser of JSON reads the text itself, in a file and in a page",
    arguments: ["<", "\"", "\\", "\n", "/"])
  func json(character: Unicode.Scalar) throws {
    let text = Self.surrounded(character)
    for written in [Escaping.json(text), Escaping.script(text)] {
      #expect(Self.same(try JSONDecoder().decode(String.self, from: Data(written.utf8)), text))
    }
  }

  @Test(
    "in a script of a page no text has a character that HTML or a line of the script ends at",
    arguments: ["<", ">", "&", "'"])
  func script(character: Unicode.Scalar) {
    let written = Escaping.script(Self.surrounded(character))
    #expect(!written.utf8.contains { "<>&'\n".utf8.contains($0) })
    #expect(!written.unicodeScalars.contains(where: Self.isHidden))
  }

  @Test(
    "a label of OpenMetrics has one line, its quotes and backslashes are escaped",
    arguments: ["\"", "\\", "\n"])
  func label(character: Unicode.Scalar) {
    let text = Self.surrounded(character)
    let written = Escaping.label(text)
    var read = String.UnicodeScalarView()
    var isEscape = false
    var isRight = true
    for scalar in written.unicodeScalars {
      isRight = isRight && scalar != "\n" && (isEscape || scalar != "\"")
      if isEscape {
        isRight = isRight && "\\\"n".unicodeScalars.contains(scalar)
        read.append(scalar == "n" ? "\n" : scalar)
      } else if scalar != "\\" {
        read.append(scalar)
      }
      isEscape = !isEscape && scalar == "\\"
    }
    // A tab is a character as others in OpenMetrics.
    #expect(isRight)
    #expect(
      Self.same(
        String(read).replacing("\t", with: "\\u{9}"), Escaping.visible(text).replacing("\t", with: "\\u{9}")))
  }

  @Test("what is not seen, and what turns the direction of writing, is shown everywhere")
  func hidden() {
    let wrong = Self.scalars.filter { scalar in
      let isKept = scalar == "\n" || scalar == "\t"
      let isShown = Self.same(
        Escaping.visible(String(scalar)), "\\u{\(String(scalar.value, radix: 16, uppercase: true))}")
      return isShown != (Self.isHidden(scalar) && !isKept)
    }
    #expect(wrong == [])
    for text in ["a\u{202E}b", "\u{0600}", "\u{200E}\u{1B}[31m", "\u{E0001}", "\u{10FFF1}"] {
      for written in [
        Escaping.markup(text), Escaping.cell(text), Escaping.commandMessage(text), Escaping.line(text),
      ] {
        #expect(!written.unicodeScalars.contains(where: Self.isHidden), "\(written.debugDescription)")
      }
    }
  }

  @Test("a text of a million quotes is escaped without a copy of what has been written for each of them")
  func long() {
    let text = String(repeating: "\"", count: 1_000_000)
    #expect(Escaping.markup(text).utf8.count == 6_000_000)
    #expect(Escaping.json(text).utf8.count == 2_000_002)
  }

  // MARK: Job runners

  /// White space as .NET knows it, in which GitHub's runner is written (`Char.IsWhiteSpace`).
  static let white: [Unicode.Scalar] =
    [0x20, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000].compactMap(Unicode.Scalar.init)
    + (UInt32(0x2000)...0x200A).compactMap(Unicode.Scalar.init) + ["\t"]

  @Test("no line begins with a workflow command, whatever is white or not seen before it")
  func workflow() {
    let wrong = Self.scalars.filter { scalar in
      let line = Escaping.withoutCommands(Escaping.visible("\(scalar)::error::x"))
      let lines = line.split(separator: "\n")
      return (lines.count > 1 ? lines[1...] : lines[...]).contains { row in
        row.unicodeScalars.drop { Self.white.contains($0) }.starts(with: "::".unicodeScalars)
      } && scalar != "\n"
    }
    #expect(wrong == [])
    #expect(Escaping.withoutCommands("see std::vector") == "see std::vector")
  }

  @Test(
    "logging commands are disarmed anywhere in a line, headings stay",
    arguments: ["[error]", "vso[task.setvariable]"])
  func logging(command: String) {
    for line in ["##\(command)x", "a ##\(command)", "###\(command)", "\u{0301}##\(command)"] {
      #expect(!Escaping.withoutCommands(line).utf8.contains("##\(command)".utf8), "\(line)")
    }
    #expect(Escaping.withoutCommands("## Heading [1]") == "## Heading [1]")
  }

  @Test(
    "the message and the properties of a workflow command stay in their places",
    arguments: ["%", "\r", "\n", ":", ","])
  func commands(character: Unicode.Scalar) {
    let text = Self.surrounded(character)
    #expect(!Escaping.commandMessage(text).utf8.contains { "\r\n".utf8.contains($0) })
    let property = Escaping.commandProperty(text)
    #expect(!property.utf8.contains { "\r\n:,".utf8.contains($0) })
    let escapes = ["25", "0D", "0A", "3A", "2C"]
    let isEscaped = property.utf8.split(separator: UInt8(ascii: "%")).dropFirst().allSatisfy { rest in
      escapes.contains { rest.starts(with: $0.utf8) }
    }
    #expect(isEscaped)
  }
}

/// The text and the attribute `b` of the only element.
private final class XMLText: NSObject, XMLParserDelegate {
  var element = ""
  var attribute = ""

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    attribute = attributes["b"] ?? ""
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) { element += text }
}
