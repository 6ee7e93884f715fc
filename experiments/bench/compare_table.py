"""The table of compare.sh. Its input has a line "PROGRAM DEVICES ATTEMPTS NS_PER_ATTEMPT" for each run."""

import statistics
import sys

# Every program must do the same work: attempts per client of herd-1 at 150 %, from the C and Python references.
ATTEMPTS_PER_CLIENT = 110.53
TOLERANCE = 0.005


def main():
    runs = {}
    for line in open(sys.argv[1]):
        program, devices, attempts, ns = line.split()
        runs.setdefault((program, int(devices)), []).append((int(attempts), float(ns)))
    medians = {key: statistics.median(ns for _, ns in values) for key, values in runs.items()}
    simpy = min((ns for (program, _), ns in medians.items() if program == "SimPy"), default=None)

    titles = ["program", "devices", "runs", "attempts/client", "ns/attempt", "min", "max", "times C", "SimPy / this", "one thread / this"]
    rows = []
    wrong = []
    for (program, devices), values in sorted(runs.items(), key=lambda item: (item[0][1], item[0][0] != "SimPy", item[0][0])):
        ns = medians[program, devices]
        per_client = values[0][0] / devices
        if any(abs(attempts / devices / ATTEMPTS_PER_CLIENT - 1) > TOLERANCE for attempts, _ in values):
            wrong.append(f"{program} with {devices} devices: {per_client:.2f}")
        c = medians.get(("C", devices))
        one_thread = medians.get(("fleetsim", devices)) if program.startswith("fleetsim-x") else None
        rows.append(
            [
                program,
                f"{devices:,}",
                str(len(values)),
                f"{per_client:.2f}",
                f"{ns:,.1f}",
                f"{min(n for _, n in values):,.1f}",
                f"{max(n for _, n in values):,.1f}",
                f"{ns / c:.2f}" if c else "",
                f"{simpy / ns:,.0f}" if simpy else "",
                f"{one_thread / ns:.2f}" if one_thread else "",
            ]
        )
    widths = [max(len(row[i]) for row in [titles] + rows) for i in range(len(titles))]
    for row in [titles, ["-" * width for width in widths]] + rows:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    if wrong:
        print(
            f"\nNOT THE SAME WORK: attempts per client are not within {TOLERANCE:.1%} of {ATTEMPTS_PER_CLIENT}:\n  "
            + "\n  ".join(wrong)
        )
        sys.exit(1)
    print(f"\nAll programs did the same work: attempts per client within {TOLERANCE:.1%} of {ATTEMPTS_PER_CLIENT}.")


main()
