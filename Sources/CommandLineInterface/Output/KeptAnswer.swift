import FleetExperiments
import FleetReports
import ScenarioModel

// An answer as `run.json` keeps it: its story, and the parts of a terminal's text.

extension Answer {
  var kept: JSONValue {
    let lines = story.lines.map { line -> JSONValue in
      ["subject": line.subject.rawValue, "text": line.text]
    }
    return [
      "story": ["finding": story.finding, "basis": story.basis, "lines": lines] as JSONValue,
      "mostLines": mostLines, "terminal": terminal.compactMap(\.kept),
      "details": details.compactMap(\.kept),
    ]
  }

  /// The answer that a manifest keeps; nil where it keeps none, or another program wrote it.
  init?(kept manifest: PositionedValue) {
    guard let answer = manifest["answer"], let finding = answer["story"]?["finding"]?.text,
      let basis = answer["story"]?["basis"]?.text, let lines = answer["story"]?["lines"]?.elements,
      case .exact(let most)? = ExactDecimal(answer["mostLines"])?.times(1)
    else { return nil }
    var story = Story(finding, basis: basis)
    for line in lines {
      guard let subject = line["subject"]?.text.flatMap(Story.Subject.init), let text = line["text"]?.text
      else { return nil }
      story.add(subject, text)
    }
    self.init(story)
    mostLines = Int(min(max(most, 0), 1_000))
    terminal = (answer["terminal"]?.elements ?? []).compactMap(Part.init(kept:))
    details = (answer["details"]?.elements ?? []).compactMap(Part.init(kept:))
  }
}

extension Answer.Part {
  /// nil: a terminal does not have it.
  fileprivate var kept: JSONValue? {
    switch self {
    case .list(let items, let title, _): ["title": title ?? "", "items": items]
    case .table(let table, let title, _):
      [
        "title": title, "header": table.columns.map(\.title),
        "words": table.columns.filter { !$0.isNumber }.map(\.title), "rows": table.tickedRows,
      ]
    case .text(let text, _): ["text": text]
    case .figure, .terms, .html, .folded: nil
    }
  }

  fileprivate init?(kept: PositionedValue) {
    func texts(_ value: PositionedValue?) -> [String]? { value?.elements?.compactMap(\.text) }
    let title = kept["title"]?.text ?? ""
    if let text = kept["text"]?.text {
      self = .text(text)
    } else if let items = texts(kept["items"]) {
      self = .list(items, title: title.isEmpty ? nil : title)
    } else if let header = texts(kept["header"]), let words = texts(kept["words"]),
      let rows = kept["rows"]?.elements?.compactMap(texts), rows.allSatisfy({ $0.count == header.count })
    {
      let columns = header.map { TextTable.Column(title: $0, isNumber: !words.contains($0)) }
      self = .table(TextTable(columns: columns, rows: rows), title: title)
    } else {
      return nil
    }
  }
}
