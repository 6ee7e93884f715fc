# How an SDK of this folder is judged. To be sourced; needs its packages on the PATH of python3, and $fleetsim.
#
#   judge_sdk SDK OPTION...      SDK/options has what its program needs besides

judge_sdk() {
  local sdk=$1 options=()
  shift
  if [ -f "experiments/conformance/$sdk/options" ]; then read -ra options <"experiments/conformance/$sdk/options"; fi
  "$fleetsim" conformance --exec "python3 experiments/conformance/$sdk/cli.py" "${options[@]}" "$@"
}
