#!/bin/sh
# What `adversary` finds, against brute force, and against the Settings of 020: writes results/025-adversary.
set -eu
cd "$(dirname "$0")/../.."
swift build -c release --product fleetsim
out=results/025-adversary
mkdir -p "$out"
python3 experiments/025-adversary/brute.py >"$out/boundary.txt.new"
mv "$out/boundary.txt.new" "$out/boundary.txt"
python3 experiments/025-adversary/settings.py >"$out/settings.txt.new"
mv "$out/settings.txt.new" "$out/settings.txt"
experiments/025-adversary/picture.py
