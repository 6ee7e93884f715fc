"""Sends the events of --input through segment-analytics-python and says how it went."""

import argparse
import json
import sys
import time

from segment.analytics.client import Client


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", required=True)
    asked = json.loads(parser.parse_args().input)
    config = asked.get("config", {})
    errors = []
    # `fleetsim live --exec` says when a client starts.
    due = asked.get("startAt", time.time() * 1000)
    time.sleep(max(0, due / 1000 - time.time()))
    client = Client(
        asked["writeKey"],
        host=asked.get("apiHost"),
        upload_size=config.get("flushAt", 100),
        upload_interval=config.get("flushInterval", 0.5),
        max_retries=config.get("maxRetries", 10),
        timeout=config.get("timeout", 15),
        on_error=lambda error, batch: errors.append(str(error)),
    )
    for sequence in asked["sequences"]:
        due += sequence.get("delayMs", 0)
        time.sleep(max(0, due / 1000 - time.time()))
        for event in sequence["events"]:
            if event["type"] != "track":
                raise ValueError("only track is supported: " + event["type"])
            client.track(
                event.get("userId"),
                event["event"],
                event.get("properties"),
                anonymous_id=event.get("anonymousId"),
                message_id=event.get("messageId"),
            )
    client.flush()
    client.join()
    result = {"success": not errors, "sentBatches": 0 if errors else 1}
    if errors:
        result["error"] = errors[0]
    print(json.dumps(result))
    return 1 if errors else 0


sys.exit(main())
