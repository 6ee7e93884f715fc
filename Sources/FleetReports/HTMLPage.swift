import FleetExperiments

/// The frame of a self-contained page: style sheet, heading, verdict first, how to run it again last.
struct HTMLPage {
  var title: String
  var question: String?
  /// Lines are shown as paragraphs.
  var verdict: String
  /// The verdict in large figures, ready as HTML.
  var headline = ""
  /// One line below the verdict.
  var facts: String
  /// Sections, ready as HTML.
  var sections: String
  var command: String
  /// The scenario as normalised, folded away.
  var scenarioJSON: String?
  var version: String

  var text: String {
    var html = """
      <!DOCTYPE html>
      <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
      <head>
      <meta charset="utf-8"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta name="color-scheme" content="light dark"/>
      <title>\(Markup.escape(title))</title>
      <style>
      \(HTMLReport.styleSheet)</style>
      </head>
      <body>
      <main>
      <header>
      <h1>\(Markup.escape(title))</h1>

      """
    if let question { html += "<p class=\"question\">\(Markup.escape(question))</p>\n" }
    html += "</header>\n<section class=\"verdict\" aria-label=\"Verdict\">\n"
    for (i, line) in verdict.split(whereSeparator: \.isNewline).enumerated() {
      html += i == 0 ? Self.lead(String(line)) : "<p>\(Markup.escape(String(line)))</p>\n"
    }
    html += "</section>\n\(headline)<p class=\"facts\">\(Markup.escape(facts))</p>\n"
    html += sections
    html += """
      <section>
      <h2>How to run it again</h2>
      <pre><code>\(Markup.escape(command))</code></pre>

      """
    if let scenarioJSON {
      html += """
        <details>
        <summary>The scenario as it was run</summary>
        <pre><code>\(Markup.escape(scenarioJSON))</code></pre>
        </details>

        """
    }
    html += """
      <p class="facts">fleetsim \(Markup.escape(version))</p>
      </section>
      </main>
      </body>
      </html>

      """
    return html
  }

  /// What was found in large letters; what follows says why.
  private static func lead(_ line: String) -> String {
    let first = Verdict.headline(of: line)
    let reason = line[first.endIndex...].drop { ":;. ".contains($0) }
    var html = "<p class=\"lead\">\(Markup.escape(String(first)))</p>\n"
    guard !reason.isEmpty else { return html }
    let isWord = reason.prefix { $0 != " " }.allSatisfy { ("a"..."z").contains($0) }
    html +=
      "<p>\(Markup.escape(isWord ? reason.prefix(1).uppercased() + reason.dropFirst() : String(reason)))</p>\n"
    return html
  }

  /// Sections that are there for whoever wants them; in print they are open.
  static func folded(_ title: String, _ sections: String) -> String {
    sections.isEmpty
      ? "" : "<details class=\"more\">\n<summary>\(Markup.escape(title))</summary>\n\(sections)</details>\n"
  }

  /// A picture with its heading and what it shows.
  static func figure(_ title: String, _ caption: String, _ svg: String) -> String {
    """
    <section>
    <h2>\(Markup.escape(title))</h2>
    <figure>
    <figcaption>\(Markup.escape(caption))</figcaption>
    <div class="chart">
    \(svg)</div>
    </figure>
    </section>

    """
  }

  /// A table; the first cell of each row is its heading.
  static func table(
    _ title: String, header: [String], rows: [[String]], marks: [Int: String] = [:], note: String? = nil
  ) -> String {
    var html = "<section>\n<h2>\(Markup.escape(title))</h2>\n<div class=\"chart\">\n<table>\n<thead><tr>"
    for cell in header { html += "<th scope=\"col\">\(Markup.escape(cell))</th>" }
    html += "</tr></thead>\n<tbody>\n"
    for (i, row) in rows.enumerated() {
      html += marks[i].map { "<tr class=\"\($0)\">" } ?? "<tr>"
      for (j, cell) in row.enumerated() {
        html +=
          j == 0
          ? "<th scope=\"row\">\(Markup.escape(cell))</th>"
          : "<td data-label=\"\(Markup.escape(j < header.count ? header[j] : ""))\">\(Markup.escape(cell))</td>"
      }
      html += "</tr>\n"
    }
    html += "</tbody>\n</table>\n</div>\n"
    if let note { html += "<p class=\"facts\">\(Markup.escape(note))</p>\n" }
    return html + "</section>\n"
  }

  /// Terms and what they mean.
  static func terms(_ definitions: [(String, String)], title: String = "What the words mean") -> String {
    var html = "<dl>\n"
    for (term, definition) in definitions {
      html += "<dt>\(Markup.escape(term))</dt>\n<dd>\(Markup.escape(definition))</dd>\n"
    }
    return folded(title, html + "</dl>\n")
  }
}
