#!/usr/bin/env python3
"""Do the documents say what the results say? experiments/figures.py [--list] [PAGE…]

Each line of FIGURES names figures of a page and the place in a results file that they come from. A figure that differs is printed
with file and line, as is one that the page or the results no longer have; then the exit code is 1. PAGE… checks those pages alone,
--list prints every figure that was compared. Needs Python 3 and nothing else.

A line is (TEXT, PICK). TEXT is what the page says, with {} for each figure and … for anything within its line. Stars and backticks
do not count, and any white space is as good as another. PICK finds the same figures in the file that stands above the lines, one after
another, with ; between them:

  CSV        run=29s & seed=1: recovery_s; attempts / devices     rows with those values, then an expression of columns
             count agrees=='true'                                 how many rows it is true of; also sum, min, max, mean, distinct,
                                                                  and half: half a 95 % interval of the mean (Student's t)
  JSON       a/b/0/c                                              a path
  else       the capacity is ([\\d.]+)                             regular expressions with a group a figure; sum adds up all matches

A figure is a number, a share (41 %), a time (1 h 19 min, 12 min 28 s), a word (three) or never (the result has no value). It is right
if the result rounds to it, as finely as it is written. "~30" behind an expression allows 30 more, in seconds where it is a time: the rows
of the committed series may be wider than those of the page.

A file is below results/, or below the repository if it begins with a slash.
"""

import csv
import functools
import json
import math
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
E = "experiments/"
GUIDES = "Sources/fleetsim/fleetsim.docc/"

# The 97.5 % quantile of Student's t, by degrees of freedom.
STUDENT = {2: 4.303, 4: 2.776, 9: 2.262, 19: 2.093}

# What many lines pick.
SLOWNESS = "idle_while_backlogged_s ~60; time_to_delivery_p99_s; attempts / devices"
COST = "answers_429; herd_factor_ratio; time_to_delivery_p99_s; lost_events"
CLIENT = "lost_events; time_to_delivery_p99_s; attempts / devices; herd_factor_ratio"
UNHEARD = "unheard_answers; answers_2xx; duplicate_events; pending_events; lost_events"
RETURN = "recovery_s; undelivered_events / created_events; attempts_above_twin_per_device; peak_offered_ratio"
COARSE = "recovery_s ~300"
# The clients that have a row on 016's page.
CLIENTS = re.findall(r"^\| ([a-z][a-z0-9-]+) \| (?:\d|never)", (ROOT / "experiments/016-sdk-catalogue/README.md").read_text(), re.M)


def sent(k, factor):
    return (f"fleet.clients.gates.adaptiveThrottling.k={k} & tapi.incidents.0.factor={factor}: "
            "mean requests / answers_2xx; half requests / answers_2xx")


def cut(factor, length, devices, counted="recovery_s is not None; distinct seed; mean recovery_s"):
    return (f"tapi.incidents.0.factor={factor} & tapi.incidents.0.for={length} & fleet.clients.devices={devices}: "
            f"count {counted}")


def down(column):
    return f"tapi.incidents.0.factor=20% & tapi.incidents.0.for=10s & fleet.clients.devices=1240000: mean {column}"


def ours(row, share, column, marks):
    """018's cells of a row, by column; those with a mark have a ±."""
    budgets = ["{perRun:0}", "null", "{capacity:5}", '{capacity:5,perRequest:"10%"}']
    for place, (budget, mark) in enumerate(zip(budgets, marks)):
        figure = f"{column} / created_events"
        yield (f"{row} | … | | ours {'| … ' * place}| {{}} {'± {} ' * (mark == '±')}|",
               f"tapi.incidents.0.share={share} & fleet.clients.gates.retryBudget={budget}: mean {figure}"
               + f"; half {figure}" * (mark == "±"))


def strategies(row, value="recovery_s", more=""):
    """036's cells of a row, by column."""
    for place, name in enumerate(("none", "additive:10", "full")):
        yield f"| {row} {'| … ' * place}| {{}} |", f"run={name}{more}: {value}"


def published(share, budget, column):
    figure = f"{column} / created_events"
    return f"tapi.incidents.0.share={share}% & fleet.clients.gates.retryBudget={budget}: mean {figure}; half {figure}"


def breaker(share, column, spread=True):
    return f"tapi.incidents.0.share={share}%: mean {column} / created_events" + f"; half {column} / created_events" * spread


def doubled(devices):
    return f"fleet.application.devices={devices}: mean requests / 120; half requests / 120"


def heard(variant):
    return f"{variant} & time_s=50: requests / 10; answers_2xx / 10 - unheard_answers / 10"


def tripped(kind, by):
    return f"breaker={kind} & by={by}: load_820; load_850; load_880; load_900"


def surge(rate, length="10"):
    return f"surge_rps={rate} & surge_s={length}: "


def hosts(jitter, *picks):
    """028's least ("min recovery_s") and most of the seeds of a kind of jitter, which the names of the runs begin with."""
    parts = [pick.split() for pick in picks]
    return "; ".join(f"{over} {column} if run[:{len(jitter) + 2}] == '{jitter} ·' else {9e9 if over == 'min' else -1}" for over, column in parts)


HEADER = {"none": "none", "60s": "60s", "spread": '{from:"30s",to:"90s"}'}


def told(header, switch, expressions):
    return f"actions.0.retryAfter={HEADER[header]} & fleet.phones.policy.retryAfterOnOtherCodes={switch}: {expressions}"


def shipped(header, client, expressions):
    return f"actions.0.retryAfter={HEADER[header]} & client={client}: {expressions}"


def sleeps(lego, others, expressions, day=None):
    day = "" if day is None else f" & time_s={day}"
    return f"fleet.lego.spikes.0.spread={lego}s & fleet.others.spikes.0.spread={others}s{day}: {expressions}"


FIGURES = {
    # The first page
    ("README.md", "readme/seconds.csv"): [
        ("take {} minutes after a Retry-After of 29 s", "run=29s: mean recovery_s / 60"),
        ("29 s, and {} to {} after one of 30 s", "run=30s: min recovery_s / 60; max recovery_s / 60"),
    ],
    ("README.md", "readme/four.txt"): [
        (f"{name} {{}} {{}} {{}} {{}}", rf"(?m)^{re.escape(name)} +(\d+ min \d+ s) +(\d+ min \d+ s) +(\d+ min \d+ s) +(\d+)$")
        for name in ["additive:10 (today)", "✓ full", "✓ equal", "✓ decorrelated"]
    ],
    ("README.md", "live/table-503.md"): [
        ("{} of {} live runs", r"sum \| (\d+) of \d+ \| ; sum \| \d+ of (\d+) \|"),
    ],
    ("README.md", "live/runs-503.csv"): [
        ("one p99 came {} too early", "run=full-gate-5 & metric=time_to_delivery_p99_s: -difference_ratio"),
    ],
    ("README.md", "027-live-metastable/live.csv"): [
        ("{} of {} live runs](experiments/027", "count predicted_down == measured_down; count True"),
    ],
    ("README.md", "bench/compare.txt"): [
        ("makes the same attempts within {}", r"within ([\d.]+%) of 110\.53"),
    ],
    ("README.md", "coverage/coverage.txt"): [
        ("{} of {}](results/coverage)", r"hold it +(\d+): ; repetitions +(\d+)"),
    ],
    ("README.md", "coverage/conclusions.md"): [
        ("{} to {}](Sources/fleetsim", r"rare-losses \| .recovery_s. \| 15 .*\| ([\d.]+) % ; "
         r"rare-losses \| .recovery_s. \| 10 \|.*\| ([\d.]+ %)"),
    ],
    ("README.md", "003-retry-after/spread/summary.csv"): [
        ("drawn for each answer, they take {} minutes", """run=from 30s, to 90s: recovery_s / 60"""),
    ],
    ("README.md", "005-gate-or-timer/retries/summary.csv"): [
        ("take {} minutes with full jitter and", "run=full · retries=timer: recovery_s / 60 ~1"),
        ("with full jitter and {} with 10 %", "run=additive:10 · retries=timer: recovery_s / 60 ~1"),
    ],
    ("README.md", "004-upload-concurrency/halt/summary.csv"): [
        ("draws {} times the 429s", "run=unlimited: answers_429 / 132169"),
    ],
    ("README.md", "/experiments/011-metastable/README.md"): [
        ("{} of 20 fleets recover from a server slowed for two minutes, {} of 20",
         r"(\d+) after two\b ; (\d+) after three\b"),
    ],
    ("README.md", "015-production-day/hour/summary.csv"): [
        ("costs {} minutes of recovery at night", "run=3h: recovery_s / 60 ~5"),
        ("at night and {} in the evening", "run=20h: recovery_s / 60 ~5"),
    ],
    ("README.md", "038-proxies/budget/summary.csv"): [
        ("With Envoy's 20 % it is back in {}", """run=retries 3: recovery_s"""),
    ],
    ("README.md", "020-recommended-defaults/tuned/settings.json"): [
        ("a first wait of {}, a cap of {} and", "integrations/Segment.io/httpConfig/backoffConfig/baseBackoffInterval; "
         "integrations/Segment.io/httpConfig/backoffConfig/maxBackoffInterval"),
    ],
    ("README.md", "020-recommended-defaults/tuned/pareto.csv"): [
        ("save {} of the extra attempts", "kind=recommended: 1 - attempts_above_twin_per_device_vs_today_ratio"),
    ],
    # Outages, jitter, Retry-After
    (E + "001-outage-herd/README.md", "001-outage-herd/timer/summary.csv"): [
        ("| none | {} | {} | {} | {} |", "run=none: recovery_s ~30; " + SLOWNESS),
        ("| additive:10 | {} | {} | {} | {} |", "run=additive:10: recovery_s ~30; " + SLOWNESS),
        ("| additive:10, clamped at the cap | {} | {} | {} | {} |", "run=additive:10+clamp: recovery_s ~30; " + SLOWNESS),
        ("| full | {} | {} | {} | {} |", "run=full: recovery_s ~30; " + SLOWNESS),
        ("| equal | {} | {} | {} | {} |", "run=equal: recovery_s ~30; " + SLOWNESS),
        ("| decorrelated | {} | {} | {} | {} |", "run=decorrelated: recovery_s ~30; " + SLOWNESS),
    ],
    (E + "002-jitter-at-the-cap/README.md", "002-jitter-at-the-cap/silent/summary.csv"): [
        ("| none | 300 s | {} | {} | {} |", "run=none: recovery_s; time_to_delivery_p99_s; attempts / devices"),
        ("| additive:10, clamped (shipped in Swift and Kotlin) | 300 s | {} | {} | {} |",
         "run=additive:10+clamp: recovery_s; time_to_delivery_p99_s; attempts / devices"),
        ("| additive:10 (document) | 300–330 s | {} | {} | {} |",
         "run=additive:10: recovery_s; time_to_delivery_p99_s; attempts / devices"),
        ("| equal | 150–300 s | {} | {} | {} |", "run=equal: recovery_s; time_to_delivery_p99_s; attempts / devices"),
        ("| full | 0–300 s | {} | {} | {} |", "run=full: recovery_s; time_to_delivery_p99_s; attempts / devices"),
    ],
    (E + "003-retry-after/README.md", "003-retry-after/spread/summary.csv"): [
        ("| 60 s | {} | {} of 40 min | … | {} |", "run=60s: recovery_s; idle_while_backlogged_s ~1; attempts / devices"),
        ("| 30–90 s, a draw each | {} | {} | … | {} |",
         """run=from 30s, to 90s: recovery_s ~20; idle_while_backlogged_s ~1; attempts / devices"""),
        ("| none: 300 s | {} | {} of 40 min | … | {} |",
         "run=none: recovery_s; idle_while_backlogged_s ~1; attempts / devices"),
        ("{} events, rising |", "run=60s: pending_events"),
        ("{}, as without an outage |", """run=from 30s, to 90s: pending_events"""),
        ("{}, rising | 79 |", "run=none: pending_events"),
        # Of the 40 minutes after the incident, in which 4.8 million events are created.
        ("Such a pulse leaves {} of the capacity idle", "run=none: idle_while_backlogged_s / 2400"),
    ],
    (E + "003-retry-after/README.md", "003-retry-after/gate/summary.csv"): [
        ("| 29 s | 1 | {} |", "run=29s: recovery_s ~20"),
        ("| 30 s | 2 | {} |", "run=30s: recovery_s"),
        ("| 31 s | 2 | {} |", "run=31s: recovery_s"),
    ],
    (E + "004-upload-concurrency/README.md", "004-upload-concurrency/halt/summary.csv"): [
        ("| 1 | {} | {} | {} | {} | {} |", "run=1: recovery_s ~60; " + COST),
        ("| 2 | {} | {} | {} | {} | {} |", "run=2: recovery_s ~60; " + COST),
        ("| 5 | {} | {} | {} | {} | {} |", "run=5: recovery_s ~60; " + COST),
        ("| unlimited | {} | {} | {} | {} | {} |", "run=unlimited: recovery_s ~60; " + COST),
    ],
    (E + "004-upload-concurrency/README.md", "004-upload-concurrency/backoff/summary.csv"): [
        ("| {} | 3,250,000 | {} | {} | {} |",
         "run=1: recovery_s; timed_out_requests; herd_factor_ratio; time_to_delivery_p99_s"),
        ("| {} | 3,500,000 | {} | {} | {} |",
         "run=unlimited: recovery_s; timed_out_requests; herd_factor_ratio; time_to_delivery_p99_s"),
        ("has {} times as many time-outs, and p99 delivery is {} later",
         "run=unlimited: timed_out_requests / 382022; time_to_delivery_p99_s - 1054.867"),
    ],
    (E + "005-gate-or-timer/README.md", "005-gate-or-timer/retries/summary.csv"): [
        ("| none | gate | {} | {} | {} | {} | {} |",
         f"run=none · retries=gate: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| none | timer | {} | {} | {} | {} | {} |",
         f"run=none · retries=timer: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| additive:10 | gate | {} | {} | {} | {} | {} |",
         f"run=additive:10 · retries=gate: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| additive:10 | timer | {} | {} | {} | {} | {} |",
         f"run=additive:10 · retries=timer: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| full | gate | {} | {} | {} | {} | {} |",
         f"run=full · retries=gate: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| full | timer | {} | {} | {} | {} | {} |",
         f"run=full · retries=timer: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
    ],
    (E + "006-rollout-share/README.md", "006-rollout-share/share/summary.csv"): [
        ("| 0 % | {} | {} | {} | {} | {}× |", f"run=0%: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| 25 % | {} | {} | {} | {} | {}× |", f"run=25%: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| 50 % | {} | {} | {} | {} | {}× |", f"run=50%: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| 75 % | {} | {} | {} | {} | {}× |", f"run=75%: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
        ("| 100 % | {} | {} | {} | {} | {}× |", f"run=100%: recovery_s ~60; {SLOWNESS}; herd_factor_ratio"),
    ],
    (E + "007-synchronised-restart/README.md", "007-synchronised-restart/during/summary.csv"): [
        ("| additive:10 | during | persisted | {} | {} | {} | {}× | {}× |",
         "run=additive:10 · state=persisted: recovery_s; time_to_delivery_p99_s; attempts / devices; peak_offered_ratio; herd_factor_ratio"),
        ("| additive:10 | during | in memory | {} | {} | {} | {}× | {}× |",
         "run=additive:10 · state=inMemory: recovery_s; time_to_delivery_p99_s; attempts / devices; peak_offered_ratio; herd_factor_ratio"),
        ("| full | during | in memory | {} | {} | {} | {}× | {}× |",
         "run=full · state=inMemory: recovery_s; time_to_delivery_p99_s; attempts / devices; peak_offered_ratio; herd_factor_ratio"),
    ],
    (E + "007-synchronised-restart/README.md", "007-synchronised-restart/after/summary.csv"): [
        ("| additive:10 | after | in memory | {} | {} | {} | {}× | {}× |",
         "run=additive:10 · state=inMemory: recovery_s; time_to_delivery_p99_s; attempts / devices; peak_offered_ratio; herd_factor_ratio"),
    ],
    # Limits
    (E + "038-proxies/README.md", "038-proxies/budget/summary.csv"): [
        ("budget of 20 % it is back in {}, and", """run=retries 3: recovery_s"""),
        ("| none | {} | {} |", "run=null: recovery_s; affected_delivery_p99_s"),
        ("| no retry | {} | {} |", """run=retries 0: recovery_s; affected_delivery_p99_s"""),
        ("| 1 retry, no budget | {} | {} |",
         """run=retries 1, budget null: recovery_s; affected_delivery_p99_s"""),
        ("| 3 retries, no budget | {} |", """run=retries 3, budget null: recovery_s"""),
        ("| 3 retries, budget 20 % | {} | {} |", """run=retries 3: recovery_s; affected_delivery_p99_s"""),
    ],
    (E + "038-proxies/README.md", "038-proxies/share/summary.csv"): [
        ("| 20 % | {} |", """run=share 20%: recovery_s"""), ("| 50 % | {} |", """run=share 50%: recovery_s"""),
        ("| 60 % | {} |", """run=share 60%: recovery_s"""), ("| 80 % | {} |", """run=share 80%: recovery_s"""),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/cdn/cohorts.csv"): [
        ("destroys {} of the events that browsers make", "cohort=web: lost_events / created_events"),
        ("| no CDN for 30 min | {} |", "cohort=web: lost_events"),
        ("| no CDN for 30 min | … | {} |", "cohort=android: lost_events"),
        ("| no CDN for 30 min | … | … | {} |", "cohort=web: attempts"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/server/cohorts.csv"): [
        ("| no server for 10 min | {} | … | {} |", "cohort=web: lost_events; attempts"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/both/cohorts.csv"): [
        ("| both | {} | … | {} |", "cohort=web: lost_events; attempts"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/cdn/settings.csv"): [
        ("At the end of the CDN's outage {} devices run", "time_s=5100.000000: devices_without_settings"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/none/summary.csv"): [
        ("nobody: they are no requests | | | {} | {} |", "attempts / devices; answers_429"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/large/summary.csv"): [
        ("endpoint of 2,000/s | … | … | {} | {} |", "attempts / devices; answers_429"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/large/settings.csv"): [
        ("endpoint of 2,000/s | {} |", "sum settings_fetched"),
        ("endpoint of 2,000/s | … | {} |", "time_s=5340.000000: devices_without_settings"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/shared/summary.csv"): [
        ("the server itself | … | … | {} | {} |", "attempts / devices; answers_429"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/shared/settings.csv"): [
        ("the server itself | {} |", "sum settings_fetched"),
        ("the server itself | … | {} |", "time_s=5340.000000: devices_without_settings"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/small/summary.csv"): [
        ("endpoint of 200/s | … | … | {} | {} |", "attempts / devices; answers_429"),
    ],
    (E + "039-settings-fetches/README.md", "039-settings-fetches/small/settings.csv"): [
        ("endpoint of 200/s | {} |", "sum settings_fetched"),
        ("endpoint of 200/s | … | {} |", "time_s=5340.000000: devices_without_settings"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/random/replications.csv"): [
        *strategies("at phases of their own (3 seeds)", "mean recovery_s"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/after-answer/replications.csv"): [
        *strategies("the interval begins at the answer (3 seeds)", "recovery_s", " & seed=1"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/drift/summary.csv"): [
        *strategies("clocks drift"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/timer/summary.csv"): [
        *strategies("the same, retries by timer"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/minute/summary.csv"): [
        *strategies("a tenth at the full half minute"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/closed/summary.csv"): [
        *strategies("closed apps"),
        ("events are delivered {} after", "run=none: affected_delivery_p99_s"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/windows/summary.csv"): [
        *strategies("closed apps, windows"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/catalogue/summary.csv"): [
        ("`keen-existing`, from … to {}.", "run=keen-existing: recovery_s"),
    ],
    (E + "036-living-phases/README.md", "036-living-phases/catalogue-os/summary.csv"): [
        ("windows {} of the {} have caught up", "count recovery_s <= 600; count devices > 0"),
    ],
    (E + "037-push/README.md", "037-push/news/limit.csv"): [
        ("the capacity, and the news' {}.", "value=0s: peak_offered_max_ratio"),
        ("Eight for the second: at most {} of such runs", "is_answer=true: risk_high_95_ratio"),
    ],
    (E + "037-push/README.md", "037-push/offer/limit.csv"): [
        ("the offer's busiest second has {} of the capacity", "value=0s: peak_offered_max_ratio"),
    ],
    (E + "037-push/README.md", "037-push/pace/summary.csv"): [
        ("| 1 min | {} | {} |", "run=1m: recovery_s; late_events"), ("| 30 min | {} | {} |", "run=30m: recovery_s; late_events"),
        ("| 46 min | {} | {} |", "run=46m: recovery_s; late_events"),
    ],
    (E + "008-long-outage-limits/README.md", "008-long-outage-limits/answered/summary.csv"): [
        ("| 503 | 6/min | 100 | … | 100 retries | {} |", "run=events=6/min · maxRetryCount=100: lost_events / devices"),
        ("| 503 | 6/min | 1000 | … | 12 h since the first failure | {} |",
         "run=events=6/min · maxRetryCount=1000: lost_events / devices"),
        ("| 503 | 1/min | 100 | … | 100 retries | {} |", "run=events=1/min · maxRetryCount=100: lost_events / devices"),
        ("| 503 | 1/min | 1000 | … | 12 h since the first failure | {} |",
         "run=events=1/min · maxRetryCount=1000: lost_events / devices"),
    ],
    (E + "008-long-outage-limits/README.md", "008-long-outage-limits/silent/summary.csv"): [
        ("| silence | 6/min | 100 | … | 12 h since the first failure | {} |", "run=6/min: lost_events / devices"),
        ("| silence | 1/min | 100 | … | 12 h since the first failure | {} |", "run=1/min: lost_events / devices"),
    ],
    (E + "008-long-outage-limits/README.md", "008-long-outage-limits/limited/summary.csv"): [
        ("| 429, Retry-After 30 s | 1/min | 100 | … | 100 retries of the client | {} |", "run=30s: lost_events / devices"),
        ("| 429 without Retry-After | 1/min | 100 | … | 100 retries of the client | {} |", "run=none: lost_events / devices"),
    ],
    (E + "009-retry-limit/README.md", "009-retry-limit/limits/summary.csv"): [
        ("| 4 | {} | {} | {} |", "run=4: lost_events; recovery_s ~10; attempts / devices"),
        ("| 5 | {} | {} | {} |", "run=5: lost_events; recovery_s ~10; attempts / devices"),
        ("| 6 | {} | {} | {} |", "run=6: lost_events; recovery_s ~10; attempts / devices"),
        ("| 100 | {} | {} | {} |", "run=100: lost_events; recovery_s ~10; attempts / devices"),
    ],
    # Clients, queues, breakers, a day
    (E + "010-five-systems/README.md", "010-five-systems/outage/summary.csv"): [
        ("| datafly | {} | {} | {} | {} | {} × capacity |", "run=datafly: recovery_s; " + CLIENT),
        ("| segment-react-native | {} | {} | {} | {} | {} × |", "run=segment-react-native: recovery_s; " + CLIENT),
        ("| tapi-document | {} | {} | {} | {} | {} × |", "run=tapi-document: recovery_s; " + CLIENT),
        ("| segment-kotlin | {} | {} | {} | {} | {} × |", "run=segment-kotlin: recovery_s; " + CLIENT),
        ("| segment-swift | {} | {} | {} | {} | {} × |", "run=segment-swift: recovery_s; " + CLIENT),
        ("| toggl-push | {} | {} | {} | {} | {} × |", "run=toggl-push: recovery_s; " + CLIENT),
        ("| toggl | {} | {} | {} | {} | {} × |", "run=toggl: recovery_s; " + CLIENT),
        ("| keen-proposed | {} | {} | {} | {} | {} × |", "run=keen-proposed: recovery_s; " + CLIENT),
        ("| offline-first | {} | {} | {} | {} | {} × |", "run=offline-first: recovery_s; " + CLIENT),
        ("| keen-existing | {} | {} of {} | {} | {} | {} × |", "run=keen-existing: recovery_s; lost_events; created_events; "
         "time_to_delivery_p99_s; attempts / devices; herd_factor_ratio"),
    ],
    (E + "011-metastable/README.md", "011-metastable/trigger/summary.csv"): [
        ("| 1 min | {} | {} of {} | {} | {} | {} |", "run=1m: recovery_s; " + UNHEARD),
        ("| 2 min | {} | {} of {} | {} | {} | {} |", "run=2m: recovery_s; " + UNHEARD),
        ("| 3 min | {} | {} of {} | {} | {} | {} |", "run=3m: recovery_s; " + UNHEARD),
        ("| 5 min | {} | {} of {} | {} | {} | {} |", "run=5m: recovery_s; " + UNHEARD),
    ],
    (E + "011-metastable/README.md", "011-metastable/queue/summary.csv"): [
        ("300 (10 s of work): {};", "run=300: recovery_s"),
        ("; 200: {};", "run=200: recovery_s"),
    ],
    (E + "011-metastable/README.md", "011-metastable/waits/summary.csv"): [
        ("30 s: {}; 60 s:", "run=30: recovery_s"),
        ("; 60 s: {}; 120 s:", "run=60: recovery_s"),
    ],
    (E + "011-metastable/README.md", "011-metastable/map-dense/stability.csv"): [
        ("from any brownout, in {} on average at most", "y=288: max recovery_mean_s"),
        ("With 297 (9.9 s) {} to {} of", "y=297: min recovered_seeds / seeds if x_value >= 240 else 1; "
         "max recovered_seeds / seeds if x_value >= 240 else 0"),
        ("With 306 (10.2 s) {} to {} do", "y=306: min recovered_seeds / seeds if x_value >= 240 else 1; "
         "max recovered_seeds / seeds if x_value >= 240 else 0"),
    ],
    (E + "012-circuit-breaker/README.md", "012-circuit-breaker/outage/summary.csv"): [
        ("| none | {} | {} | {} × capacity |", "run=null: answers_5xx_other; recovery_s; herd_factor_ratio"),
        ("| default | {} | {} | {} × |", "run={}: answers_5xx_other; recovery_s; herd_factor_ratio"),
        ("| open for 2, 4, 8, 10 min | {} | {} | {} × |",
         """run=openTime 2m, longestOpenTime 10m: answers_5xx_other; recovery_s; herd_factor_ratio"""),
    ],
    (E + "012-circuit-breaker/README.md", "012-circuit-breaker/partial/summary.csv"): [
        ("| none | {} | {} | at once |", "run=null: answers_5xx_other; time_to_delivery_p99_s"),
        ("| default | {} | {} | {} |", "run={}: answers_5xx_other; time_to_delivery_p99_s; recovery_s"),
        ("| opens above 20 % | {} | {} | 2 min |", """run=threshold 20%: answers_5xx_other; time_to_delivery_p99_s"""),
    ],
    (E + "013-shared-token/README.md", "013-shared-token/traffic/summary.csv"): [
        ("| 35/min | 55/min | {} of {} | …", "run=35/min: answers_429; attempts"),
        ("| 40/min | 60/min | {} of {} | …", "run=40/min: answers_429; attempts"),
    ],
    (E + "013-shared-token/README.md", "013-shared-token/traffic/40-min/cohorts.csv"): [
        ("| 40/min | 60/min | … | {} | …", "cohort=app: time_to_delivery_p99_s"),
    ],
    (E + "014-queue-overflow/README.md", "014-queue-overflow/length/6h/cohorts.csv"): [
        ("| 6 h | 0 | {} | … | 22.9 %", "cohort=normal: lost_events_ratio"),
        ("is {} of what the heavy users", "cohort=heavy: lost_events_ratio"),
    ],
    (E + "014-queue-overflow/README.md", "014-queue-overflow/length/summary.csv"): [
        ("| 1 h | 0 | 0 | 1.7 % | {} |", "run=1h: lost_events / created_events"),
        ("| 3 h | 0 | 2.9 % | 14.3 % | {} |", "run=3h: lost_events / created_events"),
        ("| 12 h | 0 | 59.3 % | 70.6 % | {} |", "run=12h: lost_events / created_events"),
    ],
    (E + "015-production-day/README.md", "015-production-day/hour/summary.csv"): [
        ("| 3 h | 3/s | 17/s | {} |", "run=3h: " + COARSE),
        ("| 8 h | 9.5/s | 10.5/s | {} |", "run=8h: " + COARSE),
        ("| 13 h | 10/s | 10/s | {} |", "run=13h: " + COARSE),
        ("| 4 to 7/s | {} |", "run=20h: " + COARSE),
    ],
    (E + "016-sdk-catalogue/README.md", "016-sdk-catalogue/outage/summary.csv"): [
        *((f"| {client} | {{}} | {{}} | {{}} | {{}} × |", f"run={client}: {RETURN}") for client in CLIENTS),
        ("an empty upload for each that waits: {} extra", "run=amplitude-node: attempts_above_twin_per_device"),
        ("*segment-python* has one ladder of waits for everything: {},", "run=segment-python: attempts_above_twin_per_device"),
        ("*segment-browser-batching* has one, too: {}.", "run=segment-browser-batching: attempts_above_twin_per_device"),
    ],
    (E + "016-sdk-catalogue/README.md", "016-sdk-catalogue/busy/summary.csv"): [
        *((f"| {client} | … | … | … | … | {{}} | {{}} | {{}} | {{}} × |", f"run={client}: {RETURN}") for client in CLIENTS
          if client != "segment-browser"),
        ("extra attempts a quiet phone and {} a busy one", "run=amplitude-node: attempts_above_twin_per_device"),
        ("The latter makes {} attempts a phone and {} times the capacity",
         "run=mixpanel-android-2015: attempts_above_twin_per_device; peak_offered_ratio"),
    ],
    # Published results: a verdict over several seeds needs results of several seeds
    (E + "017-metastable-in-the-wild/README.md", "017-metastable-in-the-wild/rows/summary.csv"): [
        ("| 78 % | 10 s | 6,200/s | recovers | recovers in {} of {}, after {} |", cut("22%", "10s", 1240000)),
        ("| 80 % | 10 s | 6,200/s | never within 500 s | never in {} of {} |",
         cut("20%", "10s", 1240000, "recovery_s is None; distinct seed")),
        ("| 80 % | 9 s | 6,200/s | recovers | recovers in {} of {}, after {} |", cut("20%", "9s", 1240000)),
        ("| 80 % | 10 s | 4,200/s | recovers | recovers in {} of {}, after {} |", cut("20%", "10s", 840000)),
    ],
    (E + "017-metastable-in-the-wild/README.md", "017-metastable-in-the-wild/rows/sums.csv"): [
        ("| some 20,000/s | {}/s |", down("requests / 300")),
        ("| 600/s | {} |", down("answers_2xx - unheard_answers")),
        ("| its capacity, {}/s, all", down("unheard_answers / 300")),
    ],
    (E + "018-token-buckets/README.md", "018-token-buckets/shares/summary.csv"): [
        ("interval over {} seeds", "distinct seed"),
        *ours("| 1 % | load, by formula", "1%", "attempts", " ±±±"),
        *ours("| | success, by formula | 0.99", "1%", "delivered_events", "±   "),
        *ours("| 20 % | load, by formula", "20%", "attempts", " ±± "),
        *ours("| | success, by formula | 0.8", "20%", "delivered_events", "±±±±"),
        *ours("| 30 % | load, by formula", "30%", "attempts", " ±± "),
        *ours("| | success, by formula | 0.7", "30%", "delivered_events", "±±±±"),
        *ours("| 50 % | load, by formula", "50%", "attempts", " ±± "),
        *ours("| | success, by formula | 0.5", "50%", "delivered_events", "±±±±"),
    ],
    (E + "018-token-buckets/README.md", "018-token-buckets/breaker/summary.csv"): [
        *(line for share, success in [("1", "0.99"), ("20", "0.8"), ("30", "0.7"), ("50", "0.5")] for line in [
            (f"| {share} % | load, by formula | … | | ours | … | … | … | … | {{}} ± {{}} |", breaker(share, "attempts")),
            (f"| | success, by formula | {success} | … | | ours | … | … | … | … | {{}} {'± {} ' * (share != '1')}|",
             breaker(share, "delivered_events", share != "1"))]),
        ("the load at 5 % is {} ± {} (article", breaker("5", "attempts")),
        ("and at 3 % {} ± {} (1.031)", breaker("3", "attempts")),
    ],
    (E + "019-adaptive-throttling/README.md", "019-adaptive-throttling/factor/sums.csv"): [
        ("interval over {} seeds", "distinct seed"),
        ("| 1.6 | {} ± {} | … |", sent("2", "50%")),
        ("| 1.6 | … | {} ± {} | … |", sent("1.5", "50%")),
        ("| 1.6 | … | … | {} ± {} |", sent("1.1", "50%")),
        ("| 4 | {} ± {} | … |", sent("2", "20%")),
        ("| 4 | … | {} ± {} | … |", sent("1.5", "20%")),
        ("| 4 | … | … | {} ± {} |", sent("1.1", "20%")),
        ("| 20 | {} ± {} | … |", sent("2", "4%")),
        ("| 20 | … | {} ± {} | … |", sent("1.5", "4%")),
        ("| 20 | … | … | {} ± {} |", sent("1.1", "4%")),
    ],
    (E + "019-adaptive-throttling/README.md", "019-adaptive-throttling/retries/summary.csv"): [
        ("| three tries | 3 | {} |", "run=null: attempts / first_attempts"),
        ("a retry budget of 10 % of the requests | 1.1 | {} |",
         """run=capacity 5, perRequest 10%: attempts / first_attempts"""),
    ],
    (E + "021-optimistic-contention/README.md", "021-optimistic-contention/contest.csv"): [
        ("| 190 | published | 8,002 | 5,163 | 2,426 | 1,762 | 1,771 | | | ours | … | … | … | … | {} ±",
         "clients=190 & strategy=FullJitter: calls"),
        ("or one call at all {} points", "count calls > 0"),
        ("interval holds {} of the 95 published figures",
         "count calls - calls_95 < published_calls + 1 and calls + calls_95 >= published_calls"),
    ],
    (E + "035-connections/README.md", "035-connections/with/summary.csv"): [
        (f"| {count} | {text} | {{}} | {{}} | {{}} |",
         f"tapi.connections.handshakes.count={count} & tapi.connections.handshakes.queueLimit={limit}: "
         "recovery_s; affected_delivery_p99_s; attempts_above_twin_per_device")
        for count, text, limit in [(4, "500", 500), (4, "4,096", 4096), (2, "500", 500), (2, "4,096", 4096), (1, "500", 500)]
    ] + [
        ("| 1 | 4,096 | {} | more than 50 min | {} |",
         "tapi.connections.handshakes.count=1 & tapi.connections.handshakes.queueLimit=4096: "
         "recovery_s; attempts_above_twin_per_device"),
    ],
    (E + "035-connections/README.md", "035-connections/without/summary.csv"): [
        ("| none needed | | {} | {} | {} |", "recovery_s; affected_delivery_p99_s; attempts_above_twin_per_device"),
        ("the same fleet is back in {}.", "recovery_s"),
    ],
    (E + "035-connections/README.md", "035-connections/queue/summary.csv"): [
        (f"| {text} | {limit // 100} s | {{}} |", f"tapi.connections.handshakes.queueLimit={limit}: recovery_s")
        for text, limit in [("100", 100), ("1,000", 1000), ("1,900", 1900), ("2,000", 2000), ("2,500", 2500)]
    ],
    (E + "022-doubled-load/README.md", "022-doubled-load/seeds/summary.csv"): [
        ("seeds 1 to {} |", "distinct seed"),
        ("over {} seeds (Poisson", "distinct seed"),
        ("all heard; back after {} to {} |", "fleet.application.devices=14500: min recovery_s; max recovery_s"),
    ],
    (E + "022-doubled-load/README.md", "022-doubled-load/seeds/sums.csv"): [
        ("| {} ± {} offered, none of 300 answers heard | | between", doubled(28000)),
        ("at 155/s: {} ± {} offered", doubled(15500)),
        ("at 145/s: {} ± {} offered", doubled(14500)),
        ("offered, none of {} answers heard | | between", "fleet.application.devices=28000: mean unheard_answers / 120"),
    ],
    (E + "023-retry-every-second/README.md", "023-retry-every-second/old/sums.csv"): [
        ("ours, seeds 1 to {} |", "distinct seed"),
        # The last hour, against the 9.81 requests a second of a fleet that is well.
        ("never until 23:00: {} times the load, {} requests a second answered",
         "sum requests / 36 / 300 / 9.81 if time_s >= 28800 else 0; sum answers_2xx / 36 / 300 if time_s >= 28800 else 0"),
    ],
    (GUIDES + "4-explanation/published-results.md", "017-metastable-in-the-wild/rows/summary.csv"): [
        ("the same, {} seeds each", "distinct seed"),
    ],
    (GUIDES + "4-explanation/published-results.md", "021-optimistic-contention/contest.csv"): [
        ("| {} to {} | 37.7 ± 0.4", "min published_calls; max published_calls"),
        ("| 38 to 8,002 | {} ± 0.4 to {} ± 12", "min calls; max calls"),
        ("at all {},", "count calls > 0"),
    ],
    (GUIDES + "4-explanation/published-results.md", "017-metastable-in-the-wild/rows/sums.csv"): [
        ("| some 20,000/s | {}/s |", down("requests / 300")),
        ("near 3 s | {} | does", down("answers_2xx - unheard_answers")),
    ],
    (GUIDES + "4-explanation/published-results.md", "018-token-buckets/shares/summary.csv"): [
        ("1.0101 to 1.8750 | {} ± {} to", published("1", "null", "attempts")),
        ("1.0101 to 1.8750 | … to {} ± {} |", published("50", "null", "attempts")),
        ("1.0000 to 0.9375 | … to {} ± {} |", published("50", "null", "delivered_events")),
        ("| near 1.1 | {} at p = 0.2, 1.1", published("20", '{capacity:5,perRequest:"10%"}', "attempts").partition(";")[0]),
        ("at p = 0.2, {} at 0.5, each", published("50", '{capacity:5,perRequest:"10%"}', "attempts").partition(";")[0]),
        ("near 1.1 | {} ± {} at p = 0.2, 1.0538", published("20", "{capacity:5}", "attempts")),
        ("at p = 0.2, {} ± {} at 0.5 | as by", published("50", "{capacity:5}", "attempts")),
    ],
    (GUIDES + "4-explanation/published-results.md", "018-token-buckets/breaker/summary.csv"): [
        ("| 1.0101, 1, 1 | {} ± {},", breaker("1", "attempts")),
        ("| 1.0101, 1, 1 | … ± 0.0002, {} ± {},", breaker("20", "attempts")),
        ("| 1.0101, 1, 1 | … ± 0.0002, … ± 0.0007, {} ± {} |", breaker("50", "attempts")),
        ("at p = 0.05, where ours is {} ± {} and", breaker("5", "attempts")),
    ],
    (GUIDES + "4-explanation/published-results.md", "019-adaptive-throttling/factor/sums.csv"): [
        ("| 2, 1.1 | {} ± {}, 1.093", sent("2", "4%")),
        ("| 2, 1.1 | 1.994 ± 0.005, {} ± {} at", sent("1.1", "4%")),
    ],
    (GUIDES + "4-explanation/published-results.md", "022-doubled-load/seeds/sums.csv"): [
        ("| 560/s for good | {} ± {}/s", doubled(28000)),
    ],
    (GUIDES + "4-explanation/published-results.md", "023-retry-every-second/old/summary.csv"): [
        ("not back | never, {} seeds", "distinct seed"),
    ],
    (GUIDES + "4-explanation/published-results.md", "023-retry-every-second/operators/summary.csv"): [
        ("back at 20:45 to 20:50, {} seeds", "distinct seed"),
    ],
    (E + "040-retrystorm/README.md", "040-retrystorm/retries/sums.csv"): [
        ("no retry | recovers | {}, {} |", heard("fleet.callers.settings.backoffConfig.maxRetryCount=0")),
        ("fixed wait | stays at zero | {}, {} |", heard("fleet.callers.settings.backoffConfig.maxRetryCount=5")),
    ],
    (E + "040-retrystorm/README.md", "040-retrystorm/waits/sums.csv"): [
        ("full jitter | stay at zero | {}, {};", heard("fleet.callers.settings.backoffConfig.jitterStrategy=none")),
        ("full jitter | stay at zero | …; {}, {} |", heard("fleet.callers.settings.backoffConfig.jitterStrategy=full")),
    ],
    (E + "040-retrystorm/README.md", "040-retrystorm/budget/sums.csv"): [
        ("token bucket | recovers | {}, {} |", heard("seed=1")),
    ],
    (E + "040-retrystorm/README.md", "040-retrystorm/breaker/sums.csv"): [
        ("breaker of retries | recovers | {}, {} |", heard("fleet.callers.gates.breaker.retriesOnly=true")),
    ],
    (E + "040-retrystorm/README.md", "040-retrystorm/tripped.csv"): [
        ("by their rule, in Python | {} | {} | {} | {} | | the same, but", tripped("retries", "rules_tripped")),
        ("two seconds for each opening | {} | {} | {} | {} |", tripped("retries", "rules_open")),
        ("31 % | | fleetsim | {} | {} | {} | {} | | of all", tripped("retries", "fleetsim")),
        ("30 % | | by their rule, in Python | {} | {} | {} | {} |", tripped("all", "rules_tripped")),
        ("25 % | | fleetsim | {} | {} | {} | {} |", tripped("all", "fleetsim")),
    ],
    (GUIDES + "4-explanation/published-results.md", "040-retrystorm/tripped.csv"): [
        ("2, 8, 16, 30 % | {}, {}, {}, {} |", tripped("all", "fleetsim")),
        ("7, 34, 51, 73 % | {}, {}, {}, {} |", tripped("retries", "fleetsim")),
    ],
    # Settings
    (E + "020-recommended-defaults/README.md", "020-recommended-defaults/tuned/settings.json"): [
        ("baseBackoffInterval {} instead of", "integrations/Segment.io/httpConfig/backoffConfig/baseBackoffInterval"),
        ("maxBackoffInterval {} instead of", "integrations/Segment.io/httpConfig/backoffConfig/maxBackoffInterval"),
    ],
    (E + "020-recommended-defaults/README.md", "020-recommended-defaults/tuned/pareto.csv"): [
        ("make {} fewer extra attempts", "kind=recommended: 1 - attempts_above_twin_per_device_vs_today_ratio"),
        ("p99 is {} shorter", "kind=recommended: 1 - affected_delivery_judged_s_vs_today_ratio"),
        ("The score is {} of today's. The table", "kind=recommended: score_ratio"),
        ("| 7.81 → 2.74 | {} |", "kind=recommended: short_outage_score_ratio - 1"),
        ("| 58.8 → 35.6 | {} |", "kind=recommended: long_outage_score_ratio - 1"),
        ("| 20.5 → 9.35 | {} |", "kind=recommended: brownout_score_ratio - 1"),
        ("| 34.9 → 18.3 | {} |", "kind=recommended: restart_score_ratio - 1"),
    ],
    (E + "020-recommended-defaults/README.md", "search/scale.md"): [
        ("found {}, {} and decorrelated", r"a quarter \| baseBackoffInterval (\d+), maxBackoffInterval (\d+)"),
        ("and decorrelated, score {}.", r"\| a quarter .* \| ([\d.]+) \("),
    ],
    (GUIDES + "4-explanation/how-searches-work.md", "search/grid.md"): [
        ("In one it is {} above", r"\| \+(1\.[\d.]+ %) \|"),
    ],
    (GUIDES + "4-explanation/how-searches-work.md", "search/scale.md"): [
        ("those on all by {} (one standard", r"standard deviation of ([\d.]+ %)"),
        ("where candidates are {} apart", r"they are (\d+ %) apart"),
    ],
    (GUIDES + "4-explanation/how-searches-work.md", "024-calibration/incidents.md"): [
        ("within 5 % in {} of {}, and {} of {} intervals", r"period\): (\d+) of (\d+) incidents ; planted: (\d+) of (\d+),"),
    ],
    (E + "024-calibration/README.md", "024-calibration/incidents.md"): [
        ("planted in {} of {} incidents", r"period\): (\d+) of (\d+) incidents"),
        ("intervals hold the planted value in {} of {} cases", r"planted: (\d+) of (\d+),"),
    ],
    (E + "025-adversary/README.md", "025-adversary/boundary.txt"): [
        ("within {} of brute force", r"\+([\d.]+%) +19 /20"),
        ("| brute force, {} points | {} | 10 min | 60 % | {} | | {} |",
         r"brute force, (\d+) points +(\d+) +600s +60% +([\d.]+)s.* (\d+) /20"),
        ("| adversary, seed 1 | {} | 11 min 15 s | 60 % | {} | {} | {} |",
         r"adversary, seed 1 +(\d+) +675s +60% +([\d.]+)s +(-[\d.]+%) +(\d+) /20"),
        ("| seed 1001 | {} | 9 min 15 s | 60 % | {} | {} | {} |",
         r"adversary, seed 1001 +(\d+) +555s +60% +([\d.]+)s +(\+[\d.]+%) +(\d+) /20"),
    ],
    (E + "025-adversary/README.md", "025-adversary/settings.txt"): [
        ("10 min of 503 | {} | {} | {} | {} | {} | {} |",
         r"worst, recommended +10 /10 +([\d.]+)s ; worst, defaults +10 /10 +([\d.]+)s ; "
         r"recommended.* ([\d.]+)s +26\.3 ; defaults.* ([\d.]+)s +45\.8 ; 1360\.1s +([\d.]+) ; 1578\.2s +([\d.]+)"),
    ],
    # Pages of a browser
    (E + "026-browser-pages/README.md", "026-browser-pages/open/summary.csv"): [
        ("| segment-browser | {} | {} | … | … | {} | {} | | segment-browser-batching | 1,104,181", "run=segment-browser: attempts; "
         "lost_events; polls_mean_per_device_day / 32 ~50; polls_p99_per_device_day / 32 ~50"),
        ("| 1,104,181 | {} |", "run=segment-browser-batching: lost_events"),
    ],
    (E + "026-browser-pages/README.md", "026-browser-pages/visits/summary.csv"): [
        ("| segment-browser-batching | 835,926 | {} | 394 | {} |", "run=segment-browser-batching: lost_events; lost_with_page_events"),
    ],
    (E + "026-browser-pages/README.md", "026-browser-pages/killed/summary.csv"): [
        ("| segment-browser-batching | 1,128,428 | {} | 115,238 | {} |",
         "run=segment-browser-batching: lost_events; lost_with_page_events"),
    ],
    # Incidents that others measured
    (E + "027-live-metastable/README.md", "027-live-metastable/threshold.csv"): [
        ("| tries a request | 3.00 | {} to {} |", surge("40.0") + "attempts_per_request_low; attempts_per_request_high"),
        ("| 0 % | {} | … |", surge("40.0") + "success_ratio_high"),
        ("| 253 to 256 | {} to {} |", surge("40.0") + "queue_low; queue_high"),
        ("tries a request without a surge | 1.00 | {} |", surge("12.0") + "attempts_per_request_high"),
        *((f"| {rate}/s | {{}} |", surge(f"{rate}.0") + "down") for rate in [12, 16, 18, 20, 22, 24, 40]),
        ("half a second keeps {} of {} seeds", surge("40.0", "0.5") + "down; seeds"),
        ("one second {}, and", surge("40.0", "1") + "down"),
    ],
    (E + "027-live-metastable/README.md", "027-live-metastable/live.csv"): [
        ("the same queue {} of {} runs", "count predicted_down == measured_down; count True"),
        ("| tries a request | 3.00 | … | {} to {} |", surge("40.0") + "min measured_attempts_per_request; max measured_attempts_per_request"),
        ("| 0 % | … | {} |", surge("40.0") + "max measured_success_ratio"),
        ("| 253 to 256 | … | {} to {} |", surge("40.0") + "min measured_queue_low; max measured_queue_high"),
        *((f"| {rate}/s | … | {{}} | {{}} | {{}} of {{}} |", surge(f"{rate}.0") + "sum predicted_down; sum measured_down; "
           "count predicted_down == measured_down; count True") for rate in [12, 16, 18, 20, 22, 24, 40]),
        ("by at most {}. The rows", "max abs(measured_attempts / predicted_attempts - 1)"),
    ],
    (E + "028-fleet-hosts/README.md", "028-fleet-hosts/waits.txt"): [
        ("34.4, 64.4 | {}, {}, {}, {}, {},", r"off ([\d.]+) s, until 0:00:44 ; off ([\d.]+) s, until 0:00:48 ; off ([\d.]+) s, until 0:00:57 ; "
         r"off ([\d.]+) s, until 0:01:14 ; off ([\d.]+) s, until 0:01:48"),
    ],
    (E + "028-fleet-hosts/README.md", "028-fleet-hosts/flat/summary.csv"): [
        ("394,000 a container | {} in all |", "seed=1: answers_5xx_other"),
        ("| 3,975 and 2,807 | {} and", "seed=1: attempts / duration_s"),
    ],
    (E + "028-fleet-hosts/README.md", "028-fleet-hosts/backoff/summary.csv"): [
        ("9,500 a container | {} in all |", "seed=1: answers_5xx_other"),
        ("| 3,975 and 2,807 | … and {} requests", "seed=1: attempts / duration_s"),
        ("| 38 to 41 | {} |", "seed=1: 2841160 / answers_5xx_other"),
    ],
    (E + "028-fleet-hosts/README.md", "028-fleet-hosts/cap-5/summary.csv"): [
        ("| 10 %, clamped at 5 min (theirs) | {} | {} to {} | … |",
         hosts("additive:10+clamp", "max recovery_s", "min herd_factor_ratio", "max herd_factor_ratio")),
        ("| 10 %, clamped at 5 min (theirs) | … | … | {} |", "run=additive:10+clamp · seed=1: answers_503"),
        ("| 10 % on top of 5 min | {} | {} to {} | … |", hosts("additive:10", "max recovery_s", "min herd_factor_ratio", "max herd_factor_ratio")),
        ("| 10 % on top of 5 min | … | … | {} |", "run=additive:10 · seed=1: answers_503"),
        ("| full, 5 min | {} | {} to {} | … |", hosts("full", "max recovery_s", "min herd_factor_ratio", "max herd_factor_ratio")),
        ("| full, 5 min | … | … | {} |", "run=full · seed=1: answers_503"),
    ],
    (E + "028-fleet-hosts/README.md", "028-fleet-hosts/cap-15/summary.csv"): [
        ("| full, 15 min | {} to {} | {} to {} |",
         hosts("full", "min recovery_s", "max recovery_s", "min herd_factor_ratio", "max herd_factor_ratio")),
        ("| full, 15 min | … | … | {} |", "run=full · seed=1: answers_503"),
        ("| 100 % on top of 15 min (proposed) | {} to {} | {} to {} |",
         hosts("additive:100", "min recovery_s", "max recovery_s", "min herd_factor_ratio", "max herd_factor_ratio")),
        ("| 100 % on top of 15 min (proposed) | … | … | {} |", "run=additive:100 · seed=1: answers_503"),
    ],
    (E + "028-fleet-hosts/README.md", "028-fleet-hosts/costly-5/summary.csv"): [
        ("(theirs) | … | … | … | {} | {} |", "run=additive:10+clamp · seed=1: recovery_s; affected_delivery_p99_s"),
        ("| 10 % on top of 5 min | … | … | … | {} | … |", hosts("additive:10", "max recovery_s")),
        ("| 10 % on top of 5 min | … | … | … | … | {} |", "run=additive:10 · seed=1: affected_delivery_p99_s"),
        ("| full, 5 min | … | … | … | {} | … |", hosts("full", "max recovery_s")),
        ("| full, 5 min | … | … | … | … | {} |", "run=full · seed=1: affected_delivery_p99_s"),
    ],
    (E + "028-fleet-hosts/README.md", "028-fleet-hosts/costly-15/summary.csv"): [
        ("| full, 15 min | … | … | … | {} to {} | … |", hosts("full", "min recovery_s", "max recovery_s")),
        ("| full, 15 min | … | … | … | … | {} |", "run=full · seed=1: affected_delivery_p99_s"),
        ("(proposed) | … | … | … | {} to {} | … |", hosts("additive:100", "min recovery_s", "max recovery_s")),
        ("(proposed) | … | … | … | … | {} |", "run=additive:100 · seed=1: affected_delivery_p99_s"),
    ],
    (E + "029-retry-after-on-503/README.md", "029-retry-after-on-503/switch/summary.csv"): [
        (f"| {words} | {name} | {{}} | {{}} | {{}} | {{}} |",
         told(header, switch, "recovery_s; herd_factor_ratio; attempts / devices; affected_delivery_p99_s"))
        for header, words in [("60s", "60 s"), ("spread", "30–90 s")]
        for name, switch in [("ignores it", "ignored"), ("delays the batch", "delaysBatch"), ("replaces its backoff", "replacesBackoff"),
                             ("pauses", "pausesPipeline")]
    ],
    (E + "029-retry-after-on-503/README.md", "029-retry-after-on-503/clients/summary.csv"): [
        *((f"| {client} | {before}{{}}, {{}} sends", shipped(header, client, "recovery_s; attempts / devices"))
          for client in ["segment-swift", "segment-react-native", "segment-kotlin", "segment-kotlin-main", "segment-python", "posthog",
                         "mixpanel-android"]
          for header, before in [("none", ""), ("60s", "… | "), ("spread", "… | … | ")]),
        ("399 sends, {} lost", shipped("60s", "segment-swift", "lost_events")),
        ("419 sends, {} lost", shipped("spread", "segment-swift", "lost_events")),
        ("174 sends, {} lost", shipped("none", "segment-python", "lost_events")),
        ("149 sends, {} lost", shipped("none", "posthog", "lost_events")),
        ("143 sends, {} lost | 1 min,", shipped("60s", "posthog", "lost_events")),
    ],
    (E + "030-midnight-renewals/README.md", "030-midnight-renewals/first/sums.csv"): [
        ("| 288,000 (173,000 are 60 %) | {},", sleeps(10, 10, "requests")),
        ("of all, with lego's sleep | – | {} |", sleeps(490, 10, "requests")),
        ("of all, if all sleep | – | {} |", sleeps(490, 490, "requests")),
        ("to {} if the largest", sleeps(490, 10, "requests")),
        ("they fall to {}.", sleeps(490, 490, "requests")),
    ],
    (E + "030-midnight-renewals/README.md", "030-midnight-renewals/first/summary.csv"): [
        (f"| {name} | {{}} |", sleeps(lego, others, "peak_offered_ratio"))
        for name, lego, others in [("nobody", 10, 10), ("the others", 10, 490), ("lego", 490, 10), ("all", 490, 490)]
    ],
    (E + "030-midnight-renewals/README.md", "030-midnight-renewals/days/sums.csv"): [
        line for name, lego, others in [("nobody", 10, 10), ("the others", 10, 490), ("lego", 490, 10), ("all", 490, 490)] for line in [
            (f"| {name} | … | {{}} |", sleeps(lego, others, "requests", 0)),
            (f"| {name} | … | … | {{}} |", sleeps(lego, others, "requests", 86400)),
            (f"| {name} | … | … | … | {{}} | {{}} |", sleeps(lego, others, "requests; answers_503", 172800))]
    ],
    (E + "031-tipping-point/README.md", "031-tipping-point/rules.csv"): [
        line for name, rule in [("check, decided at arrival (theirs)", "arrival"), ("check, decided at the begin", "begin")] for line in [
            (f"| {name} {'| … ' * place}| {{}} |", f"rule={rule} & for_ms={length}: storm")
            for place, length in enumerate([500, 600, 650, 700, 825, 850, 2000])]
    ] + [
        ("finds the same, and {} of {} seeds", "rule=arrival & for_ms=650: storm; seeds"),
    ],
    (E + "031-tipping-point/README.md", "031-tipping-point/storms.csv"): [
        (f"| engine, decided at the begin {'| … ' * place}| {{}} |", f"for_ms={length}: storm")
        for place, length in enumerate([500, 600, 650, 700, 825, 850, 2000])
    ],
    (E + "032-app-update/README.md", "032-app-update/gap/sums.csv"): [
        (f"| {day} December | … {'| … ' * place}| {{}} |", f"run={gap} & time_s={(day - 19) * 86400}: requests / 80000")
        for day in [19, 20, 22, 25, 30] for place, gap in enumerate(["1d", "2d", "3d", "4d"])
    ],
    (E + "041-waiting-editors/README.md", "041-waiting-editors/released/sums.csv"): [
        ("{} million requests a second, where", "run=0s: max requests / 10000"),
        ("| at once | {} | {} times |", "run=0s: max requests * 100; max requests / 5000"),
        ("| at a time within ten seconds | {} | {} times |", "run=10s: max requests * 100; max requests / 5000"),
    ],
    (E + "041-waiting-editors/README.md", "041-waiting-editors/released/summary.csv"): [
        ("| at once | … | … | {} |", "run=0s: recovery_s"), ("| at a time within ten seconds | … | … | {} |", "run=10s: recovery_s"),
    ],
    (E + "041-waiting-editors/README.md", "041-waiting-editors/jitter/sums.csv"): [
        ("drawn below ten seconds | {} | {} times |", "run=10: max requests * 100; max requests / 5000"),
        ("drawn below a minute | {} | {} times |", "run=60: max requests * 100; max requests / 5000"),
    ],
    (E + "041-waiting-editors/README.md", "041-waiting-editors/jitter/summary.csv"): [
        ("drawn below ten seconds | … | … | {} |", "run=10: recovery_s"), ("drawn below a minute | … | … | {} |", "run=60: recovery_s"),
    ],
    (GUIDES + "4-explanation/published-results.md", "041-waiting-editors/released/sums.csv"): [
        ("three times its peak | {} million, {} times", "run=0s: max requests / 10000; max requests / 5000"),
    ],
    (E + "033-synchronous-retries/README.md", "033-synchronous-retries/constant/summary.csv"): [
        ("| 20 times | {} ({} times) | {} | {} |", "run=1: herd_factor_ratio * 1000; herd_factor_ratio * 1000 / 667; answers_503; recovery_s"),
        ("| each 5 s | – | {} ({} times) | {} | {} |",
         "run=0: herd_factor_ratio * 1000; herd_factor_ratio * 1000 / 667; answers_503; recovery_s"),
    ],
    (E + "033-synchronous-retries/README.md", "033-synchronous-retries/backoff/summary.csv"): [
        ("| curbed | {} ({} times) | {} | {} |",
         "run=full: herd_factor_ratio * 1000; herd_factor_ratio * 1000 / 667; answers_503; recovery_s"),
    ],
    (GUIDES + "4-explanation/published-results.md", "027-live-metastable/threshold.csv"): [
        ("253 to 256 | {}, {} to {}, {} to {} (", surge("40.0") + "success_ratio_high; attempts_per_request_low; attempts_per_request_high; "
         "queue_low; queue_high"),
        ("20/s keeps {} of {} down", surge("20.0") + "down; seeds"),
    ],
    (GUIDES + "4-explanation/published-results.md", "027-live-metastable/live.csv"): [
        ("live {}, {} to {}, {} to {} |", surge("40.0") + "max measured_success_ratio; min measured_attempts_per_request; "
         "max measured_attempts_per_request; min measured_queue_low; max measured_queue_high"),
        ("{} of {} live runs end", "count predicted_down == measured_down; count True"),
    ],
    (GUIDES + "4-explanation/published-results.md", "028-fleet-hosts/waits.txt"): [
        ("34.4, 64.4 | {}, {}, {}, {}, {},", r"off ([\d.]+) s, until 0:00:44 ; off ([\d.]+) s, until 0:00:48 ; off ([\d.]+) s, until 0:00:57 ; "
         r"off ([\d.]+) s, until 0:01:14 ; off ([\d.]+) s, until 0:01:48"),
    ],
    (GUIDES + "4-explanation/published-results.md", "028-fleet-hosts/backoff/summary.csv"): [
        ("| 38 to 41 | {} after", "seed=1: 2841160 / answers_5xx_other"),
    ],
    (GUIDES + "4-explanation/published-results.md", "028-fleet-hosts/costly-15/summary.csv"): [
        ("back after {}, against", "run=additive:100 · seed=1: recovery_s"),
    ],
    (GUIDES + "4-explanation/published-results.md", "028-fleet-hosts/costly-5/summary.csv"): [
        ("against {} with full jitter", hosts("full", "min recovery_s")),
    ],
    (GUIDES + "4-explanation/published-results.md", "031-tipping-point/storms.csv"): [
        ("| 0, 31, 64 | {},", "for_ms=600: storm"),
        ("| 0, 31, 64 | 0, {},", "for_ms=650: storm"),
        ("| 0, 31, 64 | 0, 0, {};", "for_ms=700: storm"),
    ],
    (GUIDES + "4-explanation/published-results.md", "031-tipping-point/rules.csv"): [
        ("their rule has {},", "rule=arrival & for_ms=600: storm"),
        ("their rule has 0, {},", "rule=arrival & for_ms=650: storm"),
        ("their rule has 0, 34, {} |", "rule=arrival & for_ms=700: storm"),
    ],
    (GUIDES + "4-explanation/published-results.md", "030-midnight-renewals/first/sums.csv"): [
        ("client's sleep {},", sleeps(490, 10, "requests")),
        ("if all sleep {} |", sleeps(490, 490, "requests")),
    ],
    (GUIDES + "4-explanation/published-results.md", "030-midnight-renewals/days/sums.csv"): [
        ("| said | {},", sleeps(10, 10, "requests", 0)),
        ("| said | 288,754, {},", sleeps(10, 10, "requests", 86400)),
        ("475,813, {} in three days", sleeps(10, 10, "requests", 172800)),
    ],
    (GUIDES + "4-explanation/published-results.md", "032-app-update/gap/sums.csv"): [
        ("nearly normal | {},", "run=2d & time_s=0: requests / 80000"),
        ("10.0, {} times with", "run=2d & time_s=950400: requests / 80000"),
    ],
    (GUIDES + "4-explanation/published-results.md", "033-synchronous-retries/constant/summary.csv"): [
        ("| 20 times | {} times after", "run=1: herd_factor_ratio * 1000 / 667"),
    ],
    # A Markov chain beside its seeds
    (E + "034-escape-times/README.md", "034-escape-times/escape.csv"): [
        ("mean of 1,000 seeds is {} minutes, with a 95 % interval from {} to {}",
         "run=seeds: escape_mean_s / 60; escape_low_95_s / 60; escape_high_95_s / 60"),
        ("| 1,000 seeds, six hours | {} min | {} to {} min | {} of {} |",
         "run=seeds: escape_mean_s / 60; escape_low_95_s / 60; escape_high_95_s / 60; escaped_seeds; ill_seeds"),
        ("| the same, watched for one hour only | {} min | {} to {} min | {} of {} |",
         "run=short: escape_mean_s / 60; escape_low_95_s / 60; escape_high_95_s / 60; escaped_seeds; ill_seeds"),
        ("| full jitter in place of exponential waits | {} min | {} to {} min | {} of {} |",
         "run=even: escape_mean_s / 60; escape_low_95_s / 60; escape_high_95_s / 60; escaped_seeds; ill_seeds"),
        ("test: {} standard deviations", "run=seeds: escape_trend"),
    ],
    # A real server, real SDKs
    (E + "live/README.md", "live/table-503.md"): [
        ("{} of {} runs with 503s are as predicted", r"sum \| (\d+) of \d+ \| ; sum \| \d+ of (\d+) \|"),
        ("| full, gate | {} of {} |", r"full, gate \| (\d+) of (\d+)"),
    ],
    (E + "live/README.md", "live/table-silent.md"): [
        ("silent: additive, gate | {} of {} |", r"additive, gate \| (\d+) of (\d+)"),
        ("silent: full, timer | {} of {} |", r"full, timer \| (\d+) of (\d+)"),
    ],
    (E + "live/README.md", "live/table-stopped.md"): [
        ("stopped: additive, gate | {} of {} |", r"additive, gate \| (\d+) of (\d+)"),
        ("stopped: full, timer | {} of {} |", r"full, timer \| (\d+) of (\d+)"),
    ],
    (E + "live/README.md", "live/table-segment-python.md"): [
        ("table-segment-python.md)) | {} of {} | {}% to {}% | {}% to {}% | {}% to {}% |", r"segment-python \| (\d+) of (\d+) \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \| [^|]* \| [^|]* \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \|"),
    ],
    (E + "live/README.md", "live/table-segment-python-roomy.md"): [
        ("table-segment-python-roomy.md)) | {} of {} | {}% to {}% | {}% to {}% | {}% to {}% |", r"segment-python-roomy \| (\d+) of (\d+) \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \| [^|]* \| [^|]* \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \|"),
    ],
    (E + "live/README.md", "live/table-posthog-python.md"): [
        ("table-posthog-python.md)) | {} of {} | {}% to {}% | {}% to {}% | {}% to {}% |", r"posthog-python \| (\d+) of (\d+) \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \| [^|]* \| [^|]* \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \| ([-+][\d.]+)% to ([-+][\d.]+)%[^|]* \|"),
    ],
    (E + "live/README.md", "live/runs-posthog-python.csv"): [
        ("in three runs: {} for {},", "metric=answers_429 & run=posthog-python-3: measured; predicted"),
        ("for 35, {} for {} and", "metric=answers_429 & run=posthog-python-7: measured; predicted"),
        ("for 37 and {} for {}.", "metric=answers_429 & run=posthog-python-10: measured; predicted"),
        ("in the {} that are", "metric=recovery_s & run=posthog-python-3: measured"),
    ],
    (E + "conformance/README.md", "conformance/busy.txt"): [
        ("segment-analytics-python 2.4.0 holds {} of", r"(\d+) requirements hold"),
        ("In {} runs on two cores", r"run (20):"),
    ],
    # How sure, how fast, how large
    (GUIDES + "4-explanation/how-sure.md", "coverage/conclusions.md"): [
        ("There {} to {} of the intervals",
         r"rare-losses \| .recovery_s. \| 15 .*\| ([\d.]+) % ; "
         r"rare-losses \| .recovery_s. \| 10 \|.*\| ([\d.]+ %)"),
    ],
    (GUIDES + "2-how-to/compare.md", "001-outage-herd/timer/summary.csv"): [
        ("additive:10 (today) {} {} {} {}",
         "run=additive:10: healthy_s ~60; recovery_s ~30; affected_delivery_p99_s ~5; attempts_above_twin_per_device"),
        ("✓ full {} {} {} {}",
         "run=full: healthy_s ~60; recovery_s ~30; affected_delivery_p99_s ~5; attempts_above_twin_per_device"),
        ("✓ decorrelated {} {} {} {}",
         "run=decorrelated: healthy_s ~60; recovery_s ~30; affected_delivery_p99_s ~5; attempts_above_twin_per_device"),
    ],
    (GUIDES + "4-explanation/scale.md", "scale/table.md"): [
        ("| 001, full | 1:20 | 1000 | {} ±", r"001, full \| 1:20 \| 1000 \| (\d+) ±"),
        ("| evening, segment-swift | 1:1000 | 3000 | … | {} ±", r"evening, segment-swift \| 1:1000 .* \| ([\d.]+) ± [\d.]+ \| 318"),
    ],
    (GUIDES + "4-explanation/speed.md", "bench/compare.txt"): [
        ("Python 3.11 (at 20,000 devices) | {} |", r"SimPy +20,000 +1 +[\d.]+ +([\d,.]+)"),
        ("| fleetsim | {} | {} | {} |", r"herd-1 +fleetsim +100,000 +3 +\S+ +(\S+) ; herd-1 +fleetsim +1,000,000 +3 +\S+ +(\S+) ; "
         r"herd-1 +fleetsim +10,000,000 +3 +\S+ +(\S+)"),
        ("can do nothing but herd-1 | {} | {} | {} |", r"herd-1 +C +100,000 +3 +\S+ +(\S+) ; herd-1 +C +1,000,000 +3 +\S+ +(\S+) ; "
         r"herd-1 +C +10,000,000 +3 +\S+ +(\S+)"),
        ("| fleetsim | {} | {} | | fleetsim --threads", r"001 +fleetsim +20,000 +3 +\S+ +(\S+) ; 001 +fleetsim +100,000 +3 +\S+ +(\S+)"),
    ],
    (GUIDES + "4-explanation/speed.md", "bench/hundred-million.txt"): [
        ("which is {} bytes a device", r"MiB +(\d+)  a3a6"),
    ],
}

# How a figure is read


class Figure:
    """A figure as a page writes it: its value, and half of its last digit."""

    WORDS = {word: number for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split())}
    WORDS |= {"twenty": 20, "never": None, "–": None, "at once": 0, "none": 0, "hundred": 100}
    UNITS = {"d": 86400, "h": 3600, "min": 60, "minutes": 60, "s": 1, "ms": 0.001, "%": 0.01}
    NUMBER = r"\d[\d,]*(?:\.\d+)?"
    UNIT = r"(?:\s?%|\s(?:d|h|min|minutes|s|ms)\b)"
    PATTERN = rf"[−+-]?{NUMBER}½?(?:{UNIT}(?:\s\d+\s(?:min|s)\b)?)?|" + "|".join(sorted(WORDS, key=len, reverse=True))

    def __init__(self, text):
        self.text = re.sub(r"\s+", " ", text.strip())
        if self.text.lower() in self.WORDS:
            self.value, self.half = self.WORDS[self.text.lower()], 0.5
            return
        sign = -1 if self.text[0] in "−-" else 1
        self.value = 0.0
        for number, half, unit in re.findall(rf"({self.NUMBER})(½?)\s?(%|[a-z]+)?", self.text):
            digits = number.replace(",", "")
            place = 10.0 ** -len(digits.partition(".")[2])
            if "." not in digits and len(digits) > 4:
                place = 10.0 ** (len(digits) - len(digits.rstrip("0")))
            scale = self.UNITS.get(unit, 1)
            self.value += (float(digits) + (0.5 if half else 0)) * scale
            self.half = place * scale / 2
        self.value *= sign

    def agrees(self, result, allowed):
        if result is None or self.value is None:
            return result is None and self.value is None
        return abs(self.value - result) <= self.half * 1.0001 + allowed + 1e-9

    def like(self, result):
        """The result, written as this figure is."""
        if result is None:
            return "never"
        if self.text.endswith("%"):
            return f"{100 * result:.{max(0, round(-math.log10(self.half * 200)))}f} %"
        if re.search(r"\d (h|min|s|minutes)\b", self.text):
            hours, rest = divmod(round(abs(result)), 3600)
            minutes, seconds = divmod(rest, 60)
            parts = [f"{n} {u}" for n, u in [(hours, "h"), (minutes, "min"), (seconds, "s")] if n]
            return ("−" if result < 0 else "") + (" ".join(parts) or "0 s")
        return f"{result:,.{min(6, max(0, math.ceil(-math.log10(self.half * 2))))}f}"


# Where its result is


class Missing(Exception):
    """The results have no such place."""


def number(text):
    text = text.strip()
    try:
        return float(text)
    except ValueError:
        return None if text == "" else text


@functools.cache
def text_of(path):
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise Missing("there is no such file")


@functools.cache
def rows_of(path):
    rows = csv.DictReader(text_of(path).splitlines())
    return [{name: number(value) for key, value in row.items() for name in (key, re.sub(r"\W", "_", key))} for row in rows]


def in_table(path, pick):
    conditions, _, wanted = pick.rpartition(": ")
    rows = rows_of(path)
    for condition in filter(None, conditions.split(" & ")):
        column, _, value = condition.partition("=")
        if rows and column.strip() not in rows[0]:
            raise Missing(f"has no column {column.strip()}")
        rows = [row for row in rows if row[column.strip()] in (value.strip(), number(value))]
    if not rows:
        raise Missing(f"has no row with {conditions}")
    values = []
    for expression in wanted.split(";"):
        expression, _, allowed = expression.partition("~")
        over, _, rest = expression.strip().partition(" ")
        try:
            if rest and over in ("count", "sum", "min", "max", "mean", "distinct", "half"):
                found = [evaluated(rest, row) for row in rows]
                value = {"count": lambda: sum(map(bool, found)), "sum": lambda: sum(found), "min": lambda: min(found),
                         "max": lambda: max(found), "mean": lambda: sum(found) / len(found),
                         "distinct": lambda: len(set(found)),
                         "half": lambda: STUDENT[len(found) - 1] * statistics.stdev(found) / len(found) ** 0.5}[over]()
            elif len(rows) != 1:
                raise Missing(f"has {len(rows)} rows with {conditions}")
            else:
                value = evaluated(expression, rows[0])
        except NameError as error:
            raise Missing(f"has no column {error.name}")
        except SyntaxError:
            sys.exit(f"experiments/figures.py: “{expression}” is no expression of columns")
        values.append((value, float(allowed or 0), f"{conditions}: {expression.strip()}".lstrip(": ")))
    return values


def evaluated(expression, row):
    try:
        return eval(expression, {"__builtins__": {}, "abs": abs, "round": round}, row)
    except TypeError:  # a cell is empty: there is no value
        return None


def in_document(path, pick):
    values = []
    for name in pick.split(";"):
        name, _, allowed = name.partition("~")
        value = json.loads(text_of(path))
        for step in name.strip().split("/"):
            try:
                value = value[int(step)] if isinstance(value, list) else value[step]
            except (KeyError, IndexError, ValueError):
                raise Missing(f"has no {name.strip()}")
        values.append((value, float(allowed or 0), name.strip()))
    return values


def in_text(path, pick):
    values = []
    for pattern in pick.split(" ; "):
        sums = pattern.startswith("sum ")
        pattern = pattern.removeprefix("sum ")
        matches = list(re.finditer(pattern, text_of(path), re.MULTILINE))
        if not matches:
            raise Missing(f"has nothing like {pattern}")
        if sums:
            values.append((sum(Figure(match[1]).value for match in matches), 0.0, f"sum of {pattern}"))
        else:
            values += [(Figure(group).value, 0.0, pattern) for group in matches[0].groups()]
    return values


def results(path, pick):
    if path.suffix == ".csv":
        return in_table(path, pick)
    return in_document(path, pick) if path.suffix == ".json" else in_text(path, pick)


# Where a page says it


def pattern_of(text):
    """A regular expression for a text with {} and …, in which white space is white space."""
    pattern = ""
    for part in re.split(r"(\{\}|…|\s+|[*`]+)", text):
        if part == "{}":
            pattern += f"({Figure.PATTERN})"
        elif part == "…":
            pattern += r"[^\n]*?"
        elif part.isspace():
            pattern += r"\s+"
        elif part.strip("*`"):
            pattern += re.escape(part)
    return pattern


@functools.cache
def page_of(path):
    return re.sub("[*`]", "", (ROOT / path).read_text(encoding="utf-8"))


def main(arguments):
    lists = "--list" in arguments
    pages = [argument for argument in arguments if argument != "--list"]
    known = {page for page, _ in FIGURES}
    for page in pages:
        if page not in known:
            sys.exit(f"{page}: no figure of it is checked; add a line to FIGURES in experiments/figures.py")
    compared, wrong = 0, 0
    for (page, name), lines in FIGURES.items():
        if pages and page not in pages:
            continue
        path = ROOT / name[1:] if name.startswith("/") else ROOT / "results" / name
        for text, pick in lines:
            match = re.search(pattern_of(text), page_of(page))
            if not match:
                print(f"{page}:1: does not say “{text}” any more: mend the line in experiments/figures.py")
                wrong += 1
                continue
            found = [Figure(group) for group in match.groups()]
            place = [f"{page}:{page_of(page).count(chr(10), 0, match.start(i + 1)) + 1}" for i in range(len(found))]
            try:
                values = results(path, pick)
            except Missing as error:
                print(f"{place[0]}: says {found[0].text}; {path.relative_to(ROOT)} {error}")
                wrong += 1
                continue
            if len(values) != len(found):
                sys.exit(f"experiments/figures.py: “{text}” has {len(found)} figures and {pick} {len(values)}")
            for at, figure, (value, allowed, where) in zip(place, found, values):
                where = f"{path.relative_to(ROOT)} ({where})"
                compared += 1
                if isinstance(value, bool) or isinstance(value, str) or not figure.agrees(value, allowed):
                    said = value if isinstance(value, str) else figure.like(value)
                    print(f"{at}: says {figure.text}; it is {said} by {where}")
                    wrong += 1
                elif lists:
                    print(f"{at}: {figure.text} as in {where}")
    print(f"{compared} figures compared, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
