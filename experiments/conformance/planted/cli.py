"""A small client that does as the document says, with at most one fault that is asked for: the judge has to find each."""

import argparse
import base64
import email.utils
import http.client
import json
import random
import sys
import threading
import time
import urllib.parse

FAULTS = ["none", "retries-400", "ignores-retry-after", "no-header", "parallel", "no-backoff", "no-key", "sends-twice", "one-too-many"]
DROPPED = {400, 401, 403, 404, 413, 422, 501, 505, 511}


class Client:
    """Batches in a list, sent oldest first; time moves for all of them at once."""

    def __init__(self, asked, fault):
        config = asked.get("config", {})
        self.host = urllib.parse.urlsplit(asked["apiHost"]).netloc
        self.key = asked["writeKey"]
        self.fault = fault
        self.flush_at = config.get("flushAt", 20)
        self.retries = config.get("maxRetries", 100) + (1 if fault == "one-too-many" else 0)
        self.timeout = config.get("timeout", 15)
        self.batches = []
        self.rate_limits = 0
        self.wait_until = 0.0
        self.has_failed = False

    def seal(self, events):
        """A batch is its body, its failures and when it is due."""
        self.batches.append({"body": json.dumps({"batch": events}), "failures": 0, "due": 0.0, "done": False})

    def post(self, batch):
        """The status and the Retry-After; None without an answer."""
        headers = {"Content-Type": "application/json"}
        if self.fault != "no-key":
            headers["Authorization"] = "Basic " + base64.b64encode((self.key + ":").encode()).decode()
        if self.fault != "no-header":
            headers["X-Retry-Count"] = str(batch["failures"] or self.rate_limits if batch.get("tried") else 0)
        batch["tried"] = True
        try:
            connection = http.client.HTTPConnection(self.host, timeout=self.timeout)
            connection.request("POST", "/v1/b", batch["body"], headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("Retry-After")
        except (OSError, http.client.HTTPException):
            return None, None

    def send(self, batch):
        """Sends a batch once; says whether the loop goes on."""
        status, retry_after = self.post(batch)
        if status is not None and 200 <= status < 300:
            batch["done"] = self.fault != "sends-twice" or batch.get("again", False)
            batch["again"] = True
            self.rate_limits = 0
            return True
        if status == 429:
            self.rate_limits += 1
            if self.rate_limits > self.retries:
                return self.drop(batch)
            if self.fault != "ignores-retry-after":
                self.wait_until = time.monotonic() + pause(retry_after)
            return False
        retried = status is None or status in (408, 410, 460) or 500 <= status < 600
        if status == 400 and self.fault == "retries-400":
            retried = True
        elif status in DROPPED:
            retried = False
        if not retried or batch["failures"] >= self.retries:
            return self.drop(batch)
        backoff = 0.0 if self.fault == "no-backoff" else min(0.5 * 2 ** batch["failures"], 300)
        batch["failures"] += 1
        batch["due"] = time.monotonic() + backoff * (1 + random.random() / 10)
        return True

    def drop(self, batch):
        batch["done"] = True
        self.has_failed = True
        return True

    def flush_once(self):
        """One loop over what is due."""
        now = time.monotonic()
        if now < self.wait_until:
            return
        due = [batch for batch in self.batches if batch["due"] <= now]
        if self.fault == "parallel":
            threads = [threading.Thread(target=self.send, args=(batch,)) for batch in due]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            for batch in due:
                if not self.send(batch):
                    break
        self.batches = [batch for batch in self.batches if not batch["done"]]

    def run_until(self, end):
        """Loops until a time, or until nothing is left."""
        while (end is None and self.batches) or (end is not None and time.monotonic() < end):
            self.flush_once()
            time.sleep(0.005)


def pause(retry_after):
    """Seconds of a Retry-After; without one, the longest wait."""
    if retry_after is None:
        return 300
    try:
        return min(max(int(retry_after), 0), 300)
    except ValueError:
        pass
    try:
        date = email.utils.mktime_tz(email.utils.parsedate_tz(retry_after) or (2036, 1, 1, 0, 0, 0, 0, 1, 0, 0))
        return min(max(date - time.time(), 0), 300)
    except (TypeError, ValueError):
        return 300


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=FAULTS, default="none")
    parser.add_argument("--input", required=True)
    options = parser.parse_args()
    asked = json.loads(options.input)
    client = Client(asked, options.fault)
    pending, started = [], time.monotonic()
    interval = asked.get("config", {}).get("flushInterval", 30)
    next_flush = started + interval
    for sequence in asked["sequences"]:
        end = time.monotonic() + sequence.get("delayMs", 0) / 1000
        while time.monotonic() < end:
            if time.monotonic() >= next_flush:
                next_flush += interval
                if pending:
                    client.seal(pending)
                    pending = []
            client.run_until(min(end, next_flush))
        for event in sequence["events"]:
            pending.append(event)
            if len(pending) >= client.flush_at:
                client.seal(pending)
                pending = []
    if pending:
        client.seal(pending)
    client.run_until(None)
    print(json.dumps({"success": not client.has_failed, "sentBatches": 0 if client.has_failed else 1}))
    return 1 if client.has_failed else 0


sys.exit(main())
