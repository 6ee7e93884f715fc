"""Says where a run's verdicts are other than those of another one: verdicts.py COMMITTED.xml NEW.xml NAME

An inconclusive case says nothing on either side. The exit status is 1 if a verdict changed.
"""

import sys
import xml.etree.ElementTree


def verdicts(path):
    """Requirement and verdict of each case."""
    found = {}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None:
            verdict = "does not hold"
        elif skipped is None:
            verdict = "holds"
        elif "the command ignores" in skipped.get("message"):
            verdict = "not applicable"
        else:
            verdict = "inconclusive"
        found[case.get("name")] = (case.get("classname"), verdict)
    return found


committed, new, name = verdicts(sys.argv[1]), verdicts(sys.argv[2]), sys.argv[3]
changed = 0
for case, (requirement, verdict) in new.items():
    before = committed.get(case, (requirement, "missing"))[1]
    if "inconclusive" not in (before, verdict) and before != verdict:
        changed += 1
        print(f"{name}: {requirement}, {case}: {verdict}; results/conformance has: {before}", file=sys.stderr)
unclear = sum(verdict == "inconclusive" for _, verdict in new.values())
print(f"{name}: {len(new)} cases, {changed} other than committed, {unclear} inconclusive")
sys.exit(changed > 0)
