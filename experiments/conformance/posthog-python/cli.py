"""Sends the events of --input through posthog and says how it went."""

import argparse
import json
import sys
import time

from posthog import Posthog


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", required=True)
    asked = json.loads(parser.parse_args().input)
    config = asked.get("config", {})
    errors = []
    # `fleetsim live --exec` says when a client starts.
    due = asked.get("startAt", time.time() * 1000)
    time.sleep(max(0, due / 1000 - time.time()))
    client = Posthog(
        asked["writeKey"],
        host=asked.get("apiHost"),
        flush_at=config.get("flushAt", 100),
        flush_interval=config.get("flushInterval", 5),
        max_retries=config.get("maxRetries", 3),
        timeout=config.get("timeout", 15),
        on_error=lambda error, batch: errors.append(str(error)),
    )
    for sequence in asked["sequences"]:
        due += sequence.get("delayMs", 0)
        time.sleep(max(0, due / 1000 - time.time()))
        for event in sequence["events"]:
            client.capture(event["event"], distinct_id=event["userId"], properties=event.get("properties"))
    client.flush()
    client.join()
    print(json.dumps({"success": not errors, "sentBatches": 0 if errors else 1}))
    return 1 if errors else 0


sys.exit(main())
