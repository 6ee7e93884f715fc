/// A shell's completion of commands, options and their values, made of the declarations of the commands.
package enum CompletionScript: String, CaseIterable, Sendable {
  case bash, zsh, fish

  package func text(of root: CommandSpecification) -> String {
    switch self {
    case .bash: Self.bash(root)
    case .zsh: Self.zsh(root)
    case .fish: Self.fish(root)
    }
  }

  /// The first sentence of a help text, without its end.
  private static func summary(_ help: String) -> String {
    let end = help.firstRange(of: ". ")?.lowerBound ?? help.endIndex
    let sentence = help[..<end]
    return String(sentence.hasSuffix(".") ? sentence.dropLast() : sentence)
  }

  /// As one word of a shell.
  private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

  // MARK: bash

  private static func bash(_ root: CommandSpecification) -> String {
    // Options with the same values stand together.
    var values: [(action: String, places: [String])] = []
    for command in root.subcommands {
      for option in command.allOptions where option.valueName != nil {
        let (action, place) = (bash(option.choice), "'\(command.name) --\(option.name)'")
        if let index = values.firstIndex(where: { $0.action == action }) {
          values[index].places.append(place)
        } else {
          values.append((action, [place]))
        }
      }
    }
    let cases = values.map { "    \($0.places.joined(separator: " | ")) )\n      \($0.action) ;;\n" }
    let commands = root.subcommands.map { command in
      // An argument has its place; the last one may have several.
      let places = command.arguments.enumerated().dropLast().map { "\($0 + 2)) \(bash($1.choice)) ;; " }
      let last = command.arguments.last.map { bash($0.choice) } ?? ":"
      let argument = places.isEmpty ? last : "case $COMP_CWORD in \(places.joined())*) \(last) ;; esac"
      let options = command.allOptions.map { "--\($0.name)" }.joined(separator: " ")
      return "    \(command.name)) \(argument); options='\(options)' ;;\n"
    }
    return #"""
      # Completions of \#(root.name) for bash 3.2 and later, made by: \#(root.name) help completions bash

      # Offers what begins with the value at the cursor, without the part before it that readline keeps.
      _\#(root.name)_offer() {
        local kept=$word item
        case ${COMP_WORDS[COMP_CWORD]} in = | :) ;; *) kept=${word%"${COMP_WORDS[COMP_CWORD]}"} ;; esac
        for item; do
          item=${word%"$value"}$item
          if [[ $item == "$word"* ]]; then COMPREPLY+=("${item#"$kept"}"); fi
        done
      }

      # Values with commas between, each once.
      _\#(root.name)_list() {
        local before= item
        case $value in *,*) before=${value%,*}, ;; esac
        compopt -o nospace 2>/dev/null
        for item; do
          case ,$before in *",$item,"*) ;; *) _\#(root.name)_offer "$before$item" ;; esac
        done
      }

      # Readline knows best how to complete names of files.
      _\#(root.name)_files() {
        compopt -o "$1" 2>/dev/null && return
        local IFS=$'\n'
        if [[ $1 == dirnames ]]; then COMPREPLY=($(compgen -d -- "$value")); else COMPREPLY=($(compgen -f -- "$value")); fi
      }

      _\#(root.name)() {
        local line=${COMP_LINE:0:COMP_POINT} word option value options=
        COMPREPLY=()
        word=${line##*[[:space:]]}
        line=${line%"$word"}
        line=${line%"${line##*[![:space:]]}"}
        option=${line##*[[:space:]]} value=$word
        if [[ $COMP_CWORD -eq 1 ]]; then
          _\#(root.name)_offer \#((root.subcommands.map(\.name) + root.allOptions.map { "--\($0.name)" }).joined(separator: " "))
          return
        fi
        case $word in --*=*) option=${word%%=*} value=${word#*=} ;; esac
        case "${COMP_WORDS[1]} $option" in
      \#(cases.joined())    *) option= ;;
        esac
        if [[ -n $option ]]; then return; fi
        case ${COMP_WORDS[1]} in
      \#(commands.joined())  esac
        if [[ $word == -* ]]; then
          COMPREPLY=()
          _\#(root.name)_offer $options
        fi
      }
      complete -F _\#(root.name) \#(root.name)

      """#
  }

  private static func bash(_ choice: ValueChoice) -> String {
    switch choice {
    case .anything: ":"
    case .file: "_fleetsim_files default"
    case .directory: "_fleetsim_files dirnames"
    case .one(let words): "_fleetsim_offer \(words.joined(separator: " "))"
    case .several(let words): "_fleetsim_list \(words.joined(separator: " "))"
    }
  }

  // MARK: zsh

  private static func zsh(_ root: CommandSpecification) -> String {
    let commands = root.subcommands.map { "    " + quoted("\($0.name):\(summary($0.abstract))") + "\n" }
    let cases = root.subcommands.map { command in
      var specifications = command.allOptions.map(zsh)
      for (index, argument) in command.arguments.enumerated() {
        let place = argument.isRepeatable ? "*:" : "\(index + 1):\(argument.isOptional ? ":" : "")"
        specifications.append(quoted("\(place)\(zshText(argument.valueName)):\(zsh(argument.choice))"))
      }
      return "    \(command.name)) _arguments -s -S \(specifications.joined(separator: " \\\n      ")) ;;\n"
    }
    return #"""
      #compdef \#(root.name)
      # Completions of \#(root.name) for zsh, made by: \#(root.name) help completions zsh

      _\#(root.name)() {
        local curcontext=$curcontext state line
        local -a commands=(
      \#(commands.joined())  )
        _arguments -C \#(root.allOptions.map(zsh).joined(separator: " ")) '1:command:->command' '*::argument:->argument' && return
        if [[ $state == command ]]; then
          _describe -t commands command commands
          return
        fi
        case $words[1] in
      \#(cases.joined())  esac
      }

      if [[ $funcstack[1] == _\#(root.name) ]]; then _\#(root.name) "$@"; else compdef _\#(root.name) \#(root.name); fi

      """#
  }

  private static func zsh(_ option: OptionSpecification) -> String {
    let names = (option.short.map { ["-\($0)"] } ?? []) + ["--\(option.name)"]
    let exclusion =
      option.isRepeatable ? "'*'" : names.count > 1 ? quoted("(\(names.joined(separator: " ")))") : ""
    let value = option.valueName.map { ":\(zshText($0)):\(zsh(option.choice))" } ?? ""
    let rest = quoted("\(option.valueName == nil ? "" : "=")[\(zshText(summary(option.help)))]\(value)")
    return exclusion + (names.count > 1 ? "{\(names.joined(separator: ","))}" : names[0]) + rest
  }

  private static func zsh(_ choice: ValueChoice) -> String {
    switch choice {
    case .anything: " "
    case .file: "_files"
    case .directory: "_files -/"
    case .one(let words): "(\(words.joined(separator: " ")))"
    case .several(let words): zshText("_sequence compadd - \(words.joined(separator: " "))")
    }
  }

  /// As a part of what `_arguments` splits at colons and brackets.
  private static func zshText(_ text: String) -> String {
    String(text.flatMap { "\\:[]".contains($0) ? ["\\", $0] : [$0] })
  }

  // MARK: fish

  private static func fish(_ root: CommandSpecification) -> String {
    func line(_ condition: String, _ rest: String, _ help: String) -> String {
      "complete -c \(root.name) -n \(quoted(condition)) \(rest) -d \(fishText(summary(help)))\n"
    }
    let first = "__\(root.name)_at"
    var text = """
      # Completions of \(root.name) for fish, made by: \(root.name) help completions fish

      # Whether the command is the one that is named; without a name, whether there is none yet.
      function __\(root.name)_at
          set -l words (commandline -opc)
          if test (count $argv) -eq 0
              test (count $words) -eq 1
          else
              test (count $words) -gt 1; and test $words[2] = $argv[1]
          end
      end

      complete -c \(root.name) -f

      """
    text += root.allOptions.map { line(first, fish($0), $0.help) }.joined()
    text += root.subcommands.map { line(first, "-a \($0.name)", $0.abstract) }.joined()
    for command in root.subcommands {
      text += "\n"
      for (index, argument) in command.arguments.enumerated() where argument.choice != .anything {
        let place =
          command.arguments.count > 1 ? "; and test (count (commandline -opc)) -eq \(index + 2)" : ""
        text += line("\(first) \(command.name)\(place)", fish(argument.choice), argument.valueName)
      }
      text += command.allOptions.map { line("\(first) \(command.name)", fish($0), $0.help) }.joined()
    }
    return text
  }

  private static func fish(_ option: OptionSpecification) -> String {
    let names = (option.short.map { "-s \($0) " } ?? "") + "-l \(option.name)"
    if option.valueName == nil { return names }
    return names
      + (option.choice == .file
        ? " -r -F" : " -x" + (option.choice == .anything ? "" : " " + fish(option.choice)))
  }

  private static func fish(_ choice: ValueChoice) -> String {
    switch choice {
    case .anything: ""
    case .file: "-F"
    case .directory: "-a '(__fish_complete_directories)'"
    case .one(let words): "-a '\(words.joined(separator: " "))'"
    case .several(let words): "-a '(__fish_append , \(words.joined(separator: " ")))'"
    }
  }

  private static func fishText(_ text: String) -> String {
    "'" + String(text.flatMap { "\\'".contains($0) ? ["\\", $0] : [$0] }) + "'"
  }
}
