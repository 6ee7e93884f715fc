#!/usr/bin/env bash
# Does a race on a part of the fleet find what a race on the whole finds? Writes results/search/scale.md. Some ten minutes.
#
#   experiments/search/scale.sh [FLEETSIM]
set -euo pipefail
cd "$(dirname "$0")/../.."
fleetsim=${1:-.build/release/fleetsim}
[ -x "$fleetsim" ] || swift build -c release --product fleetsim >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=experiments/020-recommended-defaults
scenarios=()
for name in short-outage long-outage brownout rate-limit restart; do scenarios+=("$folder/$name.json5"); done
for scale in 1:1 1:4; do
  "$fleetsim" tune "${scenarios[@]}" --space "$folder/space.json5" --race-scale "$scale" --out "$work/$scale" --json >"$work/$scale.json"
done
python3 - "$work/1:1" "$work/1:4" >results/search/scale.md <<'P'
import csv, json, math, statistics, sys

def load(folder):
    with open(folder + "/pareto.csv") as file:
        rows = list(csv.DictReader(file))
    keys = [name for name in rows[0] if name.startswith("settings.")]
    found = json.load(open(folder + ".json")) | json.load(open(folder + "/run.json"))["wall"]
    return found, {tuple(row[key] for key in keys): row for row in rows[1:]}

(first, whole), (second, part) = map(load, sys.argv[1:3])
both = [key for key in whole if key in part and part[key]["scale"] == "1:4" and whole[key]["seeds"] == part[key]["seeds"]]
kept = [key for key in both if float(whole[key]["violations_ratio"]) == float(part[key]["violations_ratio"]) == 0]
broken = sum((float(whole[key]["violations_ratio"]) > 0) != (float(part[key]["violations_ratio"]) > 0) for key in both)
ratios = [math.log(float(part[key]["score_ratio"]) / float(whole[key]["score_ratio"])) for key in kept]
spread = [math.log(float(whole[key]["score_ratio"])) for key in kept]
order = sorted(kept, key=lambda key: float(whole[key]["score_ratio"]))
places = {key: place for place, key in enumerate(sorted(kept, key=lambda key: float(part[key]["score_ratio"])))}
moved = max(abs(place - places[key]) for place, key in enumerate(order[:20]))
print("# A race on a part of the fleet\n")
print("`experiments/search/scale.sh`: experiment 020's search, five incidents and 20,000 devices, once with the whole fleet in the race and once")
print("with 5,000 of them (`--race-scale 1:4`, the default).\n")
print(f"- Of {len(both)} candidates that had the same seeds in both, {len(kept)} break no constraint in either, and {broken} break one in one of the two only.")
print(f"- Their scores differ by {statistics.mean(ratios) * 100:+.2f} % on average, with a standard deviation of {statistics.stdev(ratios) * 100:.2f} %; from one candidate to the next")
print(f"  they are {statistics.stdev(spread) * 100:.0f} % apart (one standard deviation). None of the best twenty moves by more than {moved} places.\n")
print("| race on | recommended | score, fresh seeds | runs | wall time |")
print("|---|---|---:|---:|---:|")
for scale, found in (("the whole", first), ("a quarter", second)):
    keys = ", ".join(f"{key['path'].split('.')[-1]} {key['value']}" for key in found["keys"])
    score = f"{found['scoreRatio']:.3f} ({found['scoreRatioLow95']:.3f} to {found['scoreRatioHigh95']:.3f})"
    print(f"| {scale} | {keys} | {score} | {found['runsMade']:,} | {found['seconds']:.0f} s |")
P
echo results/search/scale.md
