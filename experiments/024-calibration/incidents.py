#!/usr/bin/env python3
"""Plants values in an incident, measures it under another seed, fits, and compares: incidents.py [COUNT [JOBS]]

Prints a Markdown table. FLEETSIM names the program (default: .build/release/fleetsim).
"""
import json, os, pathlib, random, subprocess, sys, tempfile

here = pathlib.Path(__file__).parent
tool = os.environ.get("FLEETSIM", str(here.parent.parent / ".build/release/fleetsim"))
count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
jobs = sys.argv[2] if len(sys.argv) > 2 else "2"
# Key, planted from … to, range of the fit, unit, what 5 % is of (None: of the value).
keys = [
    ("tapi.bucket.capacity", 30, 60, "20/s..100/s", "/s", None),
    ("fleet.old.share", 10, 50, "2%..80%", "%", None),
    ("fleet.kiosks.flush.phase", 3, 57, "0s..59s", "s", 60),
]


def number(text):
    if text == "synchronised":
        return 0.0
    for unit, factor in (("/s", 1), ("%", 1), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("m", 60), ("s", 1)):
        if text.endswith(unit):
            return float(text[: -len(unit)]) * factor
    return float(text)


draw = random.Random(24)
near = within = held = 0
print("| incident | " + " | ".join(f"`{k[0]}` planted | fitted | 95 %" for k in keys) + " | explained |")
print("|---:|" + "---:|---:|---:|" * len(keys) + "---|")
for incident in range(1, count + 1):
    planted = [round(draw.uniform(low, high), 2) for _, low, high, _, _, _ in keys]
    sets = [w for key, value in zip(keys, planted) for w in ("--set", f"{key[0]}={value}{key[4]}")]
    with tempfile.TemporaryDirectory() as folder:
        seed = str(1_000_000 + incident)
        subprocess.run(
            [tool, "run", here / "incident.json5", *sets, "--seed", seed, "--out", f"{folder}/measured", "--quiet"],
            check=True, stdout=subprocess.DEVNULL)
        fits = [w for key in keys for w in ("--fit", f"{key[0]}={key[3]}")]
        found = json.loads(subprocess.run(
            [tool, "calibrate", here / "incident.json5", "--observed", f"{folder}/measured/timeseries.csv", *fits,
             "--jobs", jobs, "--json", "--quiet", *sys.argv[3:]], check=True, capture_output=True, text=True).stdout)
    cells, all_near = [], True
    for key, value, result in zip(keys, planted, found["keys"]):
        fitted, low, high = (number(result[name]) for name in ("value", "low95", "high95"))
        all_near &= abs(fitted - value) <= 0.05 * (key[5] or value)
        held += low <= value <= high
        within += 1
        mark = "" if low <= value <= high else " ✗"
        cells += [f"{value:g}", f"{fitted:.4g}", f"{low:.4g} to {high:.4g}{mark}"]
    near += all_near
    print(f"| {incident} | " + " | ".join(cells) + f" | {'yes' if found['isExplained'] else 'no'}, {found['scatterRatio']:.2f} |", flush=True)
print()
print(f"All values within 5 % of what was planted (a phase: of its period): {near} of {count} incidents.")
print(f"95 % intervals that hold what was planted: {held} of {within}, {100 * held / within:.1f} %.")
