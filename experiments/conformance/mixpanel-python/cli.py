"""Sends the events of --input through mixpanel's Consumer, which sends each at once, and says how it went."""

import argparse
import json
import sys
import time

from mixpanel import Consumer, Mixpanel, MixpanelException


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", required=True)
    asked = json.loads(parser.parse_args().input)
    config = asked.get("config", {})
    consumer = Consumer(
        events_url=asked["apiHost"] + "/track",
        request_timeout=config.get("timeout"),
        retry_limit=config.get("maxRetries", 4),
    )
    # The SDK mounts its retries for https:// alone.
    session = consumer._session
    session.mount("http://", session.get_adapter("https://"))
    client = Mixpanel(asked["writeKey"], consumer=consumer)
    success = True
    for sequence in asked["sequences"]:
        time.sleep(sequence.get("delayMs", 0) / 1000)
        for event in sequence["events"]:
            try:
                client.track(event["userId"], event["event"], event.get("properties"))
            except MixpanelException as error:
                print(error, file=sys.stderr)
                success = False
    print(json.dumps({"success": success, "sentBatches": 1 if success else 0}))
    return 0 if success else 1


sys.exit(main())
