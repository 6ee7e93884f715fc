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
        let words = "Ar \(escaped(argument.valueName))" + (argument.isRepeatable ? " ..." : "")
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
    if !command.arguments.isEmpty || !command.options.isEmpty {
      var items = [".Bl -tag -width Ds"]
      for argument in command.arguments {
        items += [".It Ar \(escaped(argument.valueName))"] + paragraph(argument.help)
      }
      lines += items + list(command.options).dropFirst(command.options.isEmpty ? 0 : 1)
      if command.options.isEmpty { lines.append(".El") }
    }
    if !command.examples.isEmpty { lines += [".Pp"] + examples(command) }
    return lines
  }

  private static func list(_ options: [OptionSpecification]) -> [String] {
    if options.isEmpty { return [] }
    let items = options.flatMap { option in
      let names = (option.short.map { "Fl \($0) , " } ?? "") + "Fl \\-\(option.name)"
      return [".It \(names)\(option.valueName.map { " Ar " + escaped($0) } ?? "")"] + paragraph(option.help)
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
