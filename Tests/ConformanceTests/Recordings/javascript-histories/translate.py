#!/usr/bin/env python3
"""Makes vectors of recorded histories: translate.py PRESET GIVEN.json > PRESET.json

A time-out is an answer without a status (posthog-js) or a 408. An answer that breaks off is a time-out ten seconds after its send.
"""
import json
import sys

preset, given = sys.argv[1], json.load(open(sys.argv[2]))
IS_PAGE = preset == "posthog-js"


def names(batch):
    return batch.split("+") if batch else []


def sends(listed):
    return [send if isinstance(send, str) else next(iter(send)) for send in listed]


def client(case):
    own = case["client"]
    result = {"flushInterval": max(own["flushInterval"], 0.001)}
    if "flushQueueSize" in own:
        result["maximumBatchEvents"] = own["flushQueueSize"]
        result["maxRetries"] = own["flushMaxRetries"] - 1
    return result


def after(step, expect):
    """What holds after a step: the queue, retries and timers."""
    result = {"queue": expect["queue"]}
    for key, word in (("failures", "failures"), ("attempts", "failures"), ("dueAt", "dueAt")):
        for batch, value in expect.get(key, {}).items():
            for name in names(batch):
                result.setdefault(word, {})[name] = value
    if "flushTimer" in expect:
        result["flushTimer"] = expect["flushTimer"]
    if "restart" in step:
        result["drops"] = {}
        beacons = expect.get("beacons", [])
        if beacons:
            result["sends"] = beacons
            result["keepalive"] = sends(beacons)
    drops = expect.get("drops", [])
    reason = {"restart": "unload"}.get(next((k for k in ("restart",) if k in step), ""))
    for batch in drops:
        for name in names(batch):
            why = reason or (drops[batch] if IS_PAGE else None)
            result.setdefault("drops", {})[name] = "refused" if why == "quota" else why
    return {key: value for key, value in result.items() if value != {} or key == "queue"}


def steps(case):
    begun, broken = {}, []
    for step in case["steps"]:
        at, expect = step["at"], step["expect"]
        timed_out = sends(expect.get("timedOut", []))
        for batch, time in list(broken):
            if "trigger" in step and at >= time - 1e-9:
                timed_out.append(batch)
                broken.remove((batch, time))
        state = after(step, expect)
        sent, waits = expect.get("sends", []), expect.get("retries", {})
        for batch in sends(sent):
            begun[batch] = at
        result = {"at": at}
        if "events" in step:
            result.update(events=1, seals=step["name"])
            if "user" in step:
                result["user"] = step["user"]
        elif "answer" in step:
            answer = dict(step["answer"])
            if answer["status"] == "cut":
                broken.append((answer["batch"], begun[answer["batch"]] + 10))
                continue
            if isinstance(answer.get("body"), str):
                answer["body"] = json.loads(answer["body"])
            result["answer"] = answer
            if IS_PAGE and "outcome" in expect:
                state["outcome"] = expect["outcome"]
                # The outcome says what becomes of the answered events.
                if isinstance(expect["outcome"], dict) and "drop" in expect["outcome"]:
                    for name in names(answer["batch"]):
                        state.get("drops", {}).pop(name, None)
        elif "restart" in step:
            result["restart"] = step["restart"]
        else:
            result["trigger"] = {"flush": "manual"}.get(step["trigger"], step["trigger"])
        if sent:
            state["sends"] = sent
        if not timed_out:
            yield dict(result, expect=state)
            continue
        # The client's own timers fire first, and only a time-out of Amplitude's brings on a send.
        first = {"sends": sent} if IS_PAGE and sent else {}
        yield {"at": at, "trigger": "wakeUp", "expect": first}
        for index, batch in enumerate(timed_out):
            answer = {"batch": batch, "status": "none" if IS_PAGE else 408}
            last = index == len(timed_out) - 1
            others = {name for other in timed_out if other != batch for name in names(other)}
            drops = {name: why for name, why in state.get("drops", {}).items()
                     if name in names(batch) or last and name not in others}
            expect = dict(state) if last else {}
            expect.pop("drops", None)
            if IS_PAGE:
                expect.pop("sends", None)
                reasons = [drops.pop(name) for name in names(batch) if name in drops]
                expect["outcome"] = {"drop": reasons[0]} if reasons else {"retry": waits[batch]}
            if drops:
                expect["drops"] = drops
            yield {"at": at, "answer": answer, "expect": expect}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


print(f'{{"format":1,"title":{compact(given["title"])},"client":"{preset}","cases":[')
lines = []
for case in given["cases"]:
    vector = {"id": case["id"], "requirement": "S10", "says": case["says"], "client": client(case)}
    if "jitter" in case:
        vector["jitter"] = case["jitter"]
    lines.append(compact(dict(vector, steps=list(steps(case)))))
print(",\n".join(lines) + "\n]}")
