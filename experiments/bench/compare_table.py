"""The table of compare.sh. Its input has a line "WORKLOAD PROGRAM DEVICES ATTEMPTS NS_PER_ATTEMPT" for each run."""

import statistics
import sys

# Every program must do the same work: attempts per client of herd-1 at 150 %, from the C and Python references; of another workload,
# those of C. C with fleetsim's rules for draws must make fleetsim's attempts, to the last.
HERD_1_ATTEMPTS_PER_CLIENT = 110.53
TOLERANCE = {"herd-1": 0.005, "001": 0.01}
TITLES = [
    "workload", "program", "devices", "runs", "attempts/client", "ns/attempt", "min", "max", "times C", "times C-rules", "SimPy / this",
    "one thread / this",
]


def main():
    runs = {}
    for line in open(sys.argv[1]):
        workload, program, devices, attempts, ns = line.split()
        runs.setdefault((workload, program, int(devices)), []).append((int(attempts), float(ns)))
    medians = {key: statistics.median(ns for _, ns in values) for key, values in runs.items()}
    simpy = min((ns for (_, program, _), ns in medians.items() if program == "SimPy"), default=None)

    rows = []
    wrong = []
    for (workload, program, devices), values in sorted(
        runs.items(), key=lambda item: (item[0][0] != "herd-1", item[0][2], item[0][1] != "SimPy", item[0][1])
    ):
        ns = medians[workload, program, devices]
        per_client = values[0][0] / devices
        expected = HERD_1_ATTEMPTS_PER_CLIENT if workload == "herd-1" else runs[workload, "C", devices][0][0] / devices
        if any(abs(attempts / devices / expected - 1) > TOLERANCE[workload] for attempts, _ in values):
            wrong.append(f"{workload}, {program} with {devices} devices: {per_client:.2f} where {expected:.2f} are right")
        if program == "C-rules" and values[0][0] != runs[workload, "fleetsim", devices][0][0]:
            wrong.append(f"{workload}, {program} with {devices} devices: {values[0][0]:,} attempts, not fleetsim's")
        c = medians.get((workload, "C", devices))
        rules = medians.get((workload, "C-rules", devices)) if program.startswith("fleetsim") else None
        one_thread = medians.get((workload, "fleetsim", devices)) if program.startswith("fleetsim-x") else None
        rows.append(
            [
                workload,
                program,
                f"{devices:,}",
                str(len(values)),
                f"{per_client:.2f}",
                f"{ns:,.1f}",
                f"{min(n for _, n in values):,.1f}",
                f"{max(n for _, n in values):,.1f}",
                f"{ns / c:.2f}" if c else "",
                f"{ns / rules:.2f}" if rules else "",
                f"{simpy / ns:,.0f}" if simpy and workload == "herd-1" else "",
                f"{one_thread / ns:.2f}" if one_thread else "",
            ]
        )
    widths = [max(len(row[i]) for row in [TITLES] + rows) for i in range(len(TITLES))]
    for row in [TITLES, ["-" * width for width in widths]] + rows:
        cells = [cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    if wrong:
        print("\nNOT THE SAME WORK, in attempts per client:\n  " + "\n  ".join(wrong))
        sys.exit(1)
    held = [f"{TOLERANCE['herd-1']:.1%} of {HERD_1_ATTEMPTS_PER_CLIENT} (herd-1)"]
    if any(workload == "001" for workload, _, _ in runs):
        held.append(f"{TOLERANCE['001']:.0%} of C's (001)")
    print("\nAll programs did the same work: attempts per client within " + " and ".join(held) + ".")


main()
