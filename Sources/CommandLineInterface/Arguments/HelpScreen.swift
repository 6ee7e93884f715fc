/// Draws help screens the way Swift's command-line tools do.
package enum HelpScreen {
  /// Columns; lines are wrapped at spaces.
  private static let width = 80
  /// Where the second column begins.
  private static let indent = 26

  /// The whole screen of a command.
  package static func text(_ command: CommandSpecification) -> String {
    var sections: [String] = []
    sections.append(wrap("OVERVIEW: " + command.abstract, indent: 0))
    sections += command.discussion.map { wrap($0, indent: 0) }
    sections.append("USAGE: " + usage(command, hanging: "USAGE: ".count))
    if !command.arguments.isEmpty {
      sections.append(table("ARGUMENTS:", command.arguments.map { ($0.synopsis, $0.help) }))
    }
    sections.append(table("OPTIONS:", command.allOptions.map { ($0.label, $0.help) }))
    if !command.subcommands.isEmpty {
      sections.append(table("SUBCOMMANDS:", command.subcommands.map { ($0.name, $0.abstract) }))
      sections.append("  See '\(command.name) help <subcommand>' for detailed help.")
    }
    if !command.examples.isEmpty {
      let lines = command.examples.map { wrap("  " + $0.meaning, indent: 2) + "\n    " + $0.command }
      sections.append("EXAMPLES:\n" + lines.joined(separator: "\n"))
    }
    return sections.joined(separator: "\n\n") + "\n"
  }

  /// `fleetsim run <scenario> [--seed <n>] …`, wrapped under itself by `hanging` columns.
  package static func usage(_ command: CommandSpecification, hanging: Int) -> String {
    var words = [command.call]
    if command.subcommands.isEmpty {
      words += (command.arguments + command.options).map(\.usage)
    } else {
      words.append("<subcommand>")
    }
    return fill(words, first: hanging, indent: hanging + command.call.count + 1)
  }

  private static func table(_ title: String, _ rows: [(label: String, help: String)]) -> String {
    let lines = rows.map { row in
      let label = "  " + row.label
      let fits = label.count + 2 <= indent
      let head = fits ? label.padded(to: indent) : label + "\n" + "".padded(to: indent)
      return head + fill(row.help.split(separator: " ").map(String.init), first: indent, indent: indent)
    }
    return ([title] + lines).joined(separator: "\n")
  }

  private static func wrap(_ text: String, indent: Int) -> String {
    let leading = text.prefix { $0 == " " }
    let words = text.split(separator: " ").map(String.init)
    return leading + fill(words, first: leading.count, indent: indent)
  }

  /// Words on lines of at most `width` columns; the first line begins in column `first`, the others in column
  /// `indent`.
  private static func fill(_ words: [String], first: Int, indent: Int) -> String {
    words.filled { $0.count + ($1 == 0 ? first : indent) <= width }.joined(
      separator: "\n" + "".padded(to: indent))
  }

  /// Returns a page of Markdown without the marks of headings and code, for a terminal.
  package static func readable(_ markdown: String) -> String {
    let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { line in
      // Other lines keep their indentation.
      let plain = line.hasPrefix("#") ? line.drop { $0 == "#" }.drop { $0 == " " } : line
      return plain.replacing("`", with: "")
    }.joined(separator: "\n")
  }
}

/// The manual page of all commands, in mdoc(7), made of their declarations.
enum ManualPage {
  static func text(of root: CommandSpecification) -> String {
    var lines = [
      // A page that is the same whenever it is made has no date.
      ".Dd $Mdocdate$", ".Dt \(root.name.uppercased()) 1", ".Os", ".Sh NAME", ".Nm \(root.name)",
      ".Nd "
        + escaped(
          String(root.abstract.dropLast().prefix(1).lowercased() + root.abstract.dropLast().dropFirst())),
      ".Sh SYNOPSIS",
    ]
    for command in root.subcommands {
      lines += [".Nm", ".Cm \(command.name)"]
      lines += command.arguments.map { argument in
        let words = "Ar \(escaped(argument.name))" + (argument.isRepeatable ? " ..." : "")
        return argument.isOptional ? ".Op \(words)" : ".\(words)"
      }
      if !command.options.isEmpty { lines.append(".Op Ar options") }
    }
    lines += [".Sh DESCRIPTION"] + root.discussion.flatMap(paragraph)
    lines += [".Pp", "Every command has these options:"] + list(root.allOptions)
    for command in root.subcommands { lines += section(command) }
    lines += [".Sh EXIT STATUS", ".Bl -tag -width Ds"]
    for code in ExitCode.allCases { lines += [".It \(code.rawValue)"] + paragraph(code.meaning) }
    lines += [".El", ".Sh EXAMPLES"] + examples(root)
    return lines.joined(separator: "\n") + "\n"
  }

  private static func section(_ command: CommandSpecification) -> [String] {
    var lines = [".Ss \(command.name)"] + paragraph(command.abstract)
    for text in command.discussion { lines += [".Pp"] + paragraph(text) }
    lines += list(command.arguments + command.options)
    if !command.examples.isEmpty { lines += [".Pp"] + examples(command) }
    return lines
  }

  private static func list(_ parameters: [ParameterSpecification]) -> [String] {
    if parameters.isEmpty { return [] }
    let items = parameters.flatMap { parameter in
      let names = (parameter.short.map { "Fl \($0) , " } ?? "") + "Fl \\-\(parameter.name)"
      let words =
        (parameter.isArgument ? [] : [names]) + (parameter.valueName.map { ["Ar " + escaped($0)] } ?? [])
      return [".It " + words.joined(separator: " ")] + paragraph(parameter.help)
    }
    return [".Bl -tag -width Ds"] + items + [".El"]
  }

  private static func examples(_ command: CommandSpecification) -> [String] {
    let lines = command.examples.map { example in
      paragraph(example.meaning) + [".Bd -literal -offset indent", escaped(example.command), ".Ed"]
    }
    return Array(lines.joined(separator: [".Pp"]))
  }

  /// Lines of text: each sentence begins one, none is long.
  private static func paragraph(_ text: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      let isNew = line.isEmpty || line.hasSuffix(".") || line.count + word.count > 76
      if isNew, !line.isEmpty { lines.append(line) }
      line = isNew ? String(word) : line + " " + word
    }
    return (lines + [line]).map(escaped)
  }

  private static func escaped(_ text: String) -> String {
    let plain = text.replacing("\\", with: "\\e")
    return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
  }
}
