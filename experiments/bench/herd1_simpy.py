"""herd-1 in SimPy, written as the SimPy tutorial teaches: processes, time-outs and events.

    python3 -m venv venv && venv/bin/pip install --require-hashes -r requirements.lock
    venv/bin/python herd1_simpy.py --devices 10000

Prints one line of JSON. The model is that of herd-1.json5 beside this file; ns_per_attempt covers the making of the fleet
and the run, not the start of Python.
"""

import argparse
import json
import platform
import random
import time
from collections import Counter

import simpy

FLUSH_INTERVAL = 30.0
LATENCY = 0.05
OUTAGE_START, OUTAGE_END = 600.0, 1200.0
RETRY_AFTER = 5.0
BACKOFF_BASE, BACKOFF_CAP = 0.5, 300.0


class TrackingEndpoint:
    """Admission by token bucket; in the outage every answer is 503."""

    def __init__(self, env, capacity):
        self.env = env
        self.capacity = capacity
        self.burst = self.tokens = max(1.0, capacity * 0.1)
        self.refilled_at = 0.0
        self.answers = Counter()
        self.offered_by_second = Counter()

    def status(self):
        now = self.env.now
        self.offered_by_second[int(now)] += 1
        if OUTAGE_START <= now < OUTAGE_END:
            status = 503
        else:
            elapsed = now - self.refilled_at
            self.tokens = min(self.burst, self.tokens + elapsed * self.capacity)
            self.refilled_at = now
            if self.tokens >= 1.0:
                self.tokens -= 1.0
                status = 200
            else:
                status = 429
        self.answers[status] += 1
        return status


class Client:
    """A flush timer that creates an event as it fires, and an uploader that sends what there is."""

    def __init__(self, env, endpoint, times_to_delivery):
        self.env = env
        self.endpoint = endpoint
        self.times_to_delivery = times_to_delivery
        self.queue = []  # creation times
        self.flushed = env.event()
        env.process(self.flush_timer())
        env.process(self.uploader())

    def flush_timer(self):
        yield self.env.timeout(random.uniform(0, FLUSH_INTERVAL))
        while True:
            self.queue.append(self.env.now)
            if not self.flushed.triggered:
                self.flushed.succeed()
            yield self.env.timeout(FLUSH_INTERVAL)

    def uploader(self):
        retries = 0
        while True:
            if not self.queue:
                self.flushed = self.env.event()
                yield self.flushed
            batch = len(self.queue)
            yield self.env.timeout(LATENCY)
            status = self.endpoint.status()
            accepted_at = self.env.now
            yield self.env.timeout(LATENCY)
            if status == 200:
                retries = 0
                for created_at in self.queue[:batch]:
                    self.times_to_delivery[int((accepted_at - created_at) * 100)] += 1
                del self.queue[:batch]
            elif status == 429:
                yield self.env.timeout(RETRY_AFTER)
            else:
                backoff = min(BACKOFF_BASE * 2**retries, BACKOFF_CAP)
                retries += 1
                yield self.env.timeout(random.uniform(0, backoff))


def percentile(counts, share):
    """Of values counted in hundredths of a second."""
    wanted = share * sum(counts.values())
    for value in sorted(counts):
        wanted -= counts[value]
        if wanted < 0:
            return value / 100


def main():
    parser = argparse.ArgumentParser(description="The workload herd-1 in SimPy; prints one line of JSON.")
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=3_600, help="virtual time of the run")
    parser.add_argument("--capacity-percent", type=float, default=150, help="of the normal load")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.devices < 1 or options.seconds < 1 or not options.capacity_percent > 0:
        parser.error("--devices, --seconds and --capacity-percent must be positive")

    random.seed(options.seed)
    started = time.perf_counter()
    env = simpy.Environment()
    capacity = options.devices / FLUSH_INTERVAL * options.capacity_percent / 100
    endpoint = TrackingEndpoint(env, capacity)
    times_to_delivery = Counter()
    for _ in range(options.devices):
        Client(env, endpoint, times_to_delivery)
    env.run(until=options.seconds)
    elapsed = time.perf_counter() - started

    attempts = sum(endpoint.answers.values())
    after_outage = [n for second, n in endpoint.offered_by_second.items() if second >= OUTAGE_END]
    print(
        json.dumps(
            {
                "program": f"SimPy {simpy.__version__}, Python {platform.python_version()}",
                "devices": options.devices,
                "duration_s": options.seconds,
                "attempts": attempts,
                "answers_2xx": endpoint.answers[200],
                "answers_429": endpoint.answers[429],
                "answers_503": endpoint.answers[503],
                "delivered_events": sum(times_to_delivery.values()),
                "time_to_delivery_p50_s": percentile(times_to_delivery, 0.5),
                "time_to_delivery_p99_s": percentile(times_to_delivery, 0.99),
                "peak_offered_after_outage_rps": max(after_outage, default=0),
                "ns_per_attempt": round(elapsed * 1e9 / max(attempts, 1), 1),
            }
        )
    )


if __name__ == "__main__":
    main()
