/// A shell's completion: a script that asks fleetsim what it offers for a line (`CommandSpecification.offers`).
package enum CompletionScript: String, CaseIterable, Sendable {
  case bash, zsh, fish

  package var text: String {
    switch self {
    case .bash:
      #"""
      # Completions of fleetsim for bash 3.2 and later, made by: fleetsim help completions bash

      # Readline knows best how to complete names of files.
      _fleetsim_files() {
        compopt -o "$1" 2>/dev/null && return
        local IFS=$'\n'
        COMPREPLY=($(compgen "$2" -- "$3"))
      }

      _fleetsim() {
        local line=${COMP_LINE:0:COMP_POINT} word kept item meaning
        COMPREPLY=()
        word=${line##*[[:space:]]} kept=$word
        # The part of the word that readline keeps.
        case ${COMP_WORDS[COMP_CWORD]} in = | :) ;; *) kept=${word%"${COMP_WORDS[COMP_CWORD]}"} ;; esac
        while IFS=$'\t' read -r item meaning; do
          case $item in
          :file) _fleetsim_files default -f "${word#--*=}" ;;
          :directory) _fleetsim_files dirnames -d "${word#--*=}" ;;
          :list) compopt -o nospace 2>/dev/null ;;
          *) COMPREPLY+=("${item#"$kept"}") ;;
          esac
        done < <("${1:-fleetsim}" help complete "$line" 2>/dev/null)
      }
      complete -F _fleetsim fleetsim

      """#
    case .zsh:
      #"""
      #compdef fleetsim
      # Completions of fleetsim for zsh, made by: fleetsim help completions zsh

      _fleetsim() {
        local item
        local -a items meanings ends
        for item in ${(f)"$(${~words[1]} help complete "${(j: :)words[1,CURRENT]}" 2>/dev/null)"}; do
          case $item in
          :file) compset -P '--*='; _files; return ;;
          :directory) compset -P '--*='; _files -/; return ;;
          :list) ends=(-S '') ;;
          *) items+=("${item%%$'\t'*}") meanings+=("${item/$'\t'/  -- }") ;;
          esac
        done
        compadd -l "${ends[@]}" -d meanings -a items
      }

      if [[ $funcstack[1] == _fleetsim ]]; then _fleetsim "$@"; else compdef _fleetsim fleetsim; fi

      """#
    case .fish:
      #"""
      # Completions of fleetsim for fish, made by: fleetsim help completions fish

      function __fleetsim_offers
          set -l option (commandline -ct | string match -r -- '^--[^=]*='; or echo)
          set -l value (commandline -ct | string replace -r -- '^--[^=]*=' '')
          for item in (fleetsim help complete (commandline -cp | string collect) 2>/dev/null)
              switch $item
                  case :file
                      printf '%s\n' $option(__fish_complete_path $value)
                  case :directory
                      printf '%s\n' $option(__fish_complete_directories $value)
                  case ':*'
                  case '*'
                      echo $item
              end
          end
      end

      complete -c fleetsim -f -a '(__fleetsim_offers)'

      """#
    }
  }
}

extension CommandSpecification {
  /// The words that may stand at the end of a line of a shell, from the declarations of the commands: a line each, with a tab
  /// before its meaning. `:file` and `:directory` stand for names that the shell knows, `:list` says that a comma may follow.
  /// - Parameter line: up to the cursor, the program's name first.
  func offers(_ line: String) -> String {
    var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    if line.last?.isWhitespace ?? true { words.append("") }
    let word = words.last ?? ""
    return offers(behind: words.dropFirst().dropLast(), word)
      .filter { $0.word.hasPrefix(word) || $0.word.hasPrefix(":") }
      .map { $0.meaning.isEmpty ? $0.word : "\($0.word)\t\($0.meaning)" }
      .map { $0 + "\n" }.joined()
  }

  private typealias Offer = (word: String, meaning: String)

  private func offers(behind words: ArraySlice<String>, _ word: String) -> [Offer] {
    guard let name = words.first else {
      return subcommands.map { ($0.name, Self.summary($0.abstract)) } + offers(of: self)
    }
    guard let command = subcommands.first(where: { $0.name == name }) else { return [] }
    func choice(_ option: Substring) -> ValueChoice? {
      command.allOptions.first { "--\($0.name)" == option && $0.valueName != nil }?.choice
    }
    if word.hasPrefix("--"), let end = word.firstIndex(of: "="), let choice = choice(word[..<end]) {
      return values(choice, word[word.index(after: end)...]).map {
        ($0.word.hasPrefix(":") ? $0.word : word[...end] + $0.word, "")
      }
    }
    if let last = words.dropFirst().last, let choice = choice(last[...]) { return values(choice, word[...]) }
    if word.hasPrefix("-") { return offers(of: command) }
    var place = 0
    var isValue = false
    for word in words.dropFirst() {
      if !isValue, !word.hasPrefix("-") { place += 1 }
      isValue = choice(word[...]) != nil
    }
    let argument =
      command.arguments.indices.contains(place)
      ? command.arguments[place] : command.arguments.last { $0.isRepeatable }
    return argument.map { values($0.choice, word[...]) } ?? []
  }

  private func offers(of command: CommandSpecification) -> [Offer] {
    command.allOptions.map { ("--\($0.name)", Self.summary($0.help)) }
  }

  /// - Parameter value: its beginning.
  private func values(_ choice: ValueChoice, _ value: Substring) -> [Offer] {
    switch choice {
    case .anything: return []
    case .file: return [(":file", "")]
    case .directory: return [(":directory", "")]
    case .one(let words): return words.map { ($0, "") }
    case .several(let words):
      let given = value.split(separator: ",", omittingEmptySubsequences: false).dropLast()
      let before = given.map { $0 + "," }.joined()
      return [(":list", "")] + words.filter { !given.contains($0[...]) }.map { (before + $0, "") }
    }
  }

  /// The first sentence of a help text, without its end.
  private static func summary(_ help: String) -> String {
    let sentence = help[..<(help.firstRange(of: ". ")?.lowerBound ?? help.endIndex)]
    return String(sentence.hasSuffix(".") ? sentence.dropLast() : sentence)
  }
}
