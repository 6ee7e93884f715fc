#!/usr/bin/env bash
# Judges a change of a Settings file, and ends as decide does: settings.sh FLEET SETTINGS BASE [OPTIONS OF DECIDE…]
#
# FLEET is a scenario, SETTINGS the changed file, and BASE the commit with the file of today. What a client of the fleet makes of single values
# becomes a warning on their line, the answer an annotation on the first line that changes, and the whole answer the job's summary. The answer's
# text for a comment is in $RUNNER_TEMP/fleetsim/comment.md. FLEETSIM is the program.
set -euo pipefail
fleet=$1 settings=$2 base=$3
shift 3
: "${FLEETSIM:=$HOME/.cache/fleetsim/fleetsim}" "${RUNNER_TEMP:=$(mktemp -d)}"
work=$RUNNER_TEMP/fleetsim
mkdir -p "$work/today"

# Words of a workflow command, as GitHub wants them escaped.
escaped() { sed -e 's/%/%25/g' -e 's/\r/%0D/g' | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n/%0A/g'; }
file=$(printf '%s\n' "$settings" | escaped | sed -e 's/:/%3A/g' -e 's/,/%2C/g')

if [ -z "$base" ]; then
  echo "::error file=$file::there is no commit to decide against: the event has none before it, so give the input 'base'"
  exit 64
fi

today=$work/today/${settings##*/}
if ! git show "$base:$settings" >"$today" 2>/dev/null; then
  echo "::error file=$file::there is no $settings in $base to decide against: give the commit before the change, and check out with fetch-depth: 0"
  exit 66
fi
if git diff --quiet "$base" -- "$settings"; then
  echo "::notice file=$file::$settings is as it is in $base: there is nothing to decide"
  exit 0
fi

"$FLEETSIM" validate "$fleet" --settings "$settings" --quiet 2>&1 | while IFS= read -r finding; do
  case $finding in
    "$settings":[0-9]*)
      rest=${finding#"$settings":}
      words=${rest#*: }
      echo "::warning file=$file,line=${rest%%:*}::$(printf '%s\n' "${words#warning: }" | escaped)"
      ;;
    *) printf '%s\n' "$finding" ;;
  esac
done

code=0
"$FLEETSIM" decide "$fleet" --today "$today" --proposed "$settings" --markdown "$work/comment.md" "$@" || code=$?
if [ -f "$work/comment.md" ]; then
  cat "$work/comment.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
  echo "comment=$work/comment.md" >>"${GITHUB_OUTPUT:-/dev/null}"
  line=$(git diff --unified=0 "$base" -- "$settings" | sed -n 's/^@@ -[0-9,]* +\([0-9]*\).*/\1/p' | head -1)
  case $code in 0) level=notice ;; 1) level=error ;; *) level=warning ;; esac
  echo "::$level file=$file,line=${line:-1}::$(sed -n '1s/^## fleetsim decide: //p' "$work/comment.md" | escaped)"
fi
exit "$code"
