extension HTMLReport {
  /// Every word that the report uses in a sense of its own, as Definitions.md defines it.
  static var terms: String { HTMLPage.terms(definitions) }

  /// The words of a report on replications.
  static var replicationTerms: String {
    HTMLPage.terms(replicationDefinitions, title: "What the statistics mean")
  }

  private static let replicationDefinitions: [(String, String)] = [
    (
      "Replication",
      "All strategies run once with the same seed: they meet the same events and the same network (common random numbers)."
    ),
    (
      "95 % interval",
      "Computed from other seeds in the same way, 19 of 20 such intervals hold the expected value. Student's t; a "
        + "bootstrap-t where the values are skewed; none where too few runs differ from the rest."
    ),
    (
      "Paired difference",
      "Strategy minus strategy, seed by seed. What the seed does to both cancels, so small differences show."
    ),
    (
      "Holm's procedure",
      "With many pairs one differs by chance. The intervals of the differences are widened such that a metric has a false "
        + "difference with at most 5 % probability."
    ),
    (
      "Made it",
      "A run that never recovers counts with the time there was. The share of runs that recovered stands beside it, with "
        + "Wilson's interval."
    ),
  ]

  private static let definitions: [(String, String)] = [
    ("Strategy", "One variant of the scenario. All variants meet the same events and the same network."),
    (
      "Offered load",
      "Upload attempts reaching the server per second, first attempts and retries, whether served or not."
    ),
    (
      "Capacity",
      "Requests per second that the server can serve. The dashed line includes what incidents take away; ratios use "
        + "the nominal capacity."
    ),
    ("Goodput", "Batches accepted for the first time, per second."),
    ("Backlog", "Events created and neither accepted by the server nor dropped by the device."),
    ("Twin", "The same run, with the same seed, without its incidents. It shows what normal looks like."),
    (
      "Recovered",
      "The backlog, as a mean over the last minute (or the longest flush interval, if that is longer), is at most "
        + "10 % or one event above the twin's and stays so for as long again. The time counts from the end of the last "
        + "incident."
    ),
    (
      "Drained",
      "99 % of the events held at the end of the last incident have been delivered or dropped. The time counts from "
        + "there."
    ),
    (
      "Undelivered",
      "Events lost (dropped by a device, for whatever reason, and not accepted after all), blocked (given up, but kept by "
        + "their device) or late (pending at the end of the run, beyond those that the twin has pending)."
    ),
    (
      "Affected p99",
      "Time from creation to first acceptance that 99 % of the affected events did not exceed, the undelivered ones among "
        + "them: an event that never came counts as watched until the end of the run (Kaplan and Meier). Affected are those "
        + "created from the first incident's start until the fleet has recovered."
    ),
    ("p99 delivery", "The same over the delivered events of the whole run."),
    ("Extra attempts", "Upload attempts more than the twin's, over the run, a device."),
    ("Attempts / device", "Upload attempts over the whole run, divided by the number of devices."),
    (
      "Amplification",
      "Upload attempts divided by batches settled (delivered or dropped). 1 is the least possible."
    ),
    ("Peak load", "The largest offered load in any one-second window of the run, divided by capacity."),
    (
      "Herd factor",
      "The same for windows that begin after an incident has ended. It is not ranked on: the strategy that leaves "
        + "the server idle longest can have the lowest peak."
    ),
    (
      "Idle while backlogged",
      "Seconds' worth of capacity unused, outside outages, while the backlog was more than 10 % above the twin's."
    ),
    (
      "Incident", "A planned disturbance of the server: an outage, or a brownout with a part of its capacity."
    ),
  ]

  static var styleSheet: String {
    func variables(_ palette: [String: String]) -> String {
      palette.sorted { $0.key < $1.key }.map { "--\($0.key):\($0.value);" }.joined()
    }
    return """
      :root{color-scheme:light dark;\(variables(Theme.light))--panel:#f4f6f8;--best:#0b6e4f;}
      @media (prefers-color-scheme:dark){:root{\(variables(Theme.dark))--panel:#1d232a;--best:#4fd1a5;}}
      @media print{:root{color-scheme:light;\(variables(Theme.light))--panel:#f4f6f8;--best:#0b6e4f;}}
      *{box-sizing:border-box}
      body{margin:0;background:var(--surface);color:var(--text);
        font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
      main{max-width:1200px;margin:0 auto;padding:24px 20px 48px}
      h1{font-size:26px;line-height:1.25;margin:0}
      h2{font-size:18px;margin:36px 0 4px}
      .question{font-size:17px;color:var(--muted);margin:6px 0 0}
      .verdict{margin:20px 0 10px;padding:14px 20px;background:var(--panel);border-left:6px solid var(--muted);
        border-radius:4px}
      .verdict p{margin:4px 0;font-size:16px;line-height:1.45}
      .verdict .lead{font-size:24px;font-weight:700;line-height:1.3}
      .choice{margin:12px 0 6px;font-weight:600}
      .tiles{display:flex;flex-wrap:wrap;gap:10px;margin:6px 0 12px}
      .tile{flex:1 1 150px;padding:10px 14px;border:1px solid var(--grid);border-radius:4px;
        border-top:4px solid var(--grid);display:flex;flex-direction:column}
      .tile span{color:var(--muted);font-size:13px}
      .tile strong{font-size:25px;line-height:1.3;font-variant-numeric:tabular-nums;white-space:nowrap}
      .tile small{color:var(--muted);font-size:13px}
      .tile.better{border-top-color:var(--best)}
      .tile.better small::before{content:"better than ";color:var(--best);font-weight:600}
      .tile.worse{border-top-color:var(--incident)}
      .tile.worse small::before{content:"worse than ";color:var(--incident);font-weight:600}
      .facts,figcaption{color:var(--muted);font-size:13.5px;margin:4px 0 8px}
      figure{margin:0}
      .chart{overflow-x:auto}
      .chart svg{display:block;width:100%;min-width:760px;height:auto;margin-top:6px}
      table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px;margin:6px 0}
      th,td{padding:6px 8px;border-bottom:1px solid var(--grid);text-align:right;vertical-align:bottom}
      thead th{color:var(--muted);font-weight:500;font-size:12.5px;line-height:1.25}
      th:first-child{text-align:left}
      tbody th{font-weight:600;overflow-wrap:break-word;min-width:165px;padding-left:28px;text-indent:-20px}
      .swatch{display:inline-block;width:12px;height:12px;border-radius:2px;margin-right:8px;
        print-color-adjust:exact;-webkit-print-color-adjust:exact}
      .best{font-weight:700;color:var(--best)}
      .bad{font-weight:700;color:var(--incident)}
      .weak{color:var(--muted)}
      td small{color:var(--muted);font-weight:400;font-size:11.5px}
      td .first{color:var(--best);font-weight:700}
      .narrow{display:none}
      .best::before{content:"\\2713\\00a0"}
      dl{display:grid;grid-template-columns:minmax(140px,max-content) 1fr;gap:6px 20px;font-size:14px}
      dt{font-weight:600}
      dd{margin:0}
      pre{background:var(--panel);padding:12px 14px;border-radius:4px;overflow-x:auto;font-size:13px;
        white-space:pre-wrap;overflow-wrap:anywhere}
      summary{cursor:pointer}
      .more{margin-top:28px;border-top:1px solid var(--grid);padding-top:10px}
      .more>summary{font-size:18px;font-weight:700}
      @media screen and (max-width:760px){
        .wide{display:none}.narrow{display:block}.narrow svg{min-width:0}
        thead{display:none}tr{display:block;padding:8px 0;border-bottom:1px solid var(--grid)}
        th,td{border:0;padding:2px 0}tbody th{display:block;min-width:0;font-size:16px;padding-left:20px}
        .tile strong{font-size:20px}
        td{display:flex;justify-content:space-between;gap:16px}td span{text-align:right}
        td::before{content:attr(data-label);color:var(--muted)}}
      @media screen and (max-width:640px){dl{grid-template-columns:1fr;gap:2px}dd{margin-bottom:8px}}
      @media print{main{max-width:none;padding:0}svg,tr,.tile,.verdict{break-inside:avoid}h2,figcaption{break-after:avoid}h2{margin-top:20px}
        .chart{overflow:visible}
        .wide{display:block}.narrow{display:none}details::details-content{content-visibility:visible;block-size:auto}
        details>summary{list-style:none}
        .chart svg{min-width:0}table{font-size:11px}th,td{padding:4px 5px}}

      """
  }
}
