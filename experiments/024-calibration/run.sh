#!/bin/sh
# Twenty incidents with planted values, fitted: writes results/024-calibration/incidents.md. Some ten minutes on two free cores.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p results/024-calibration
swift build -c release --product fleetsim
experiments/024-calibration/incidents.py 20 >results/024-calibration/incidents.md
experiments/024-calibration/picture.py
