#!/usr/bin/env python3
"""How long a small server stays full of requests that nobody waits for, by a Markov chain: experiments/034-escape-times/chain.py

A state is how many requests the server has and how many clients wait for their second try. The expected times to the empty state solve a linear system
(first-step analysis), here by Gaussian elimination of a band. With replications.csv of a run behind it, the time of its seeds is put beside.
"""
import csv
import math
import sys

ARRIVALS = 1.2  # first tries a second
SERVICE = 2.0  # requests a second, exponential
TIMEOUT = 10.0  # s
PLACES = 50  # in the server: one at work, 49 that wait
DELAY = 30.4  # s from an attempt to its retry, in the mean: 10.4 s and 20 s, or 0.4 s and 30 s


def late(others):
    """The chance that a request behind so many others is served after the time-out: at most so many services end within it."""
    term = total = math.exp(-SERVICE * TIMEOUT)
    for k in range(1, others + 1):
        term *= SERVICE * TIMEOUT / k
        total += term
    return total


def ways(present, waiting):
    """Where a state goes to, and how often a second."""
    retries = waiting / DELAY
    if present < PLACES:
        yield present + 1, waiting, ARRIVALS * (1 - late(present))
        yield present + 1, waiting + 1, ARRIVALS * late(present)
        if waiting:
            yield present + 1, waiting - 1, retries
    else:
        yield present, waiting + 1, ARRIVALS
        if waiting:
            yield present, waiting - 1, retries
    if present:
        yield present - 1, waiting, SERVICE


def times(most):
    """The expected seconds to the empty state, by state, with at most so many that wait for a retry."""
    width = PLACES + 1
    rows, right = [], []
    for waiting in range(most + 1):
        for present in range(width):
            state = waiting * width + present
            row = {state: 0.0}
            if state == 0:
                row[0] = 1.0
            else:
                for to_present, to_waiting, rate in ways(present, waiting):
                    to = min(to_waiting, most) * width + to_present
                    if to != state:
                        row[state] += rate
                        row[to] = row.get(to, 0.0) - rate
            rows.append(row)
            right.append(1.0 if state else 0.0)
    for pivot, row in enumerate(rows):
        for below in range(pivot + 1, min(len(rows), pivot + width + 2)):
            factor = rows[below].pop(pivot, 0.0) / row[pivot]
            if factor:
                for column, value in row.items():
                    if column > pivot:
                        rows[below][column] = rows[below].get(column, 0.0) - factor * value
                right[below] -= factor * right[pivot]
    for state in reversed(range(len(rows))):
        right[state] -= sum(value * right[column] for column, value in rows[state].items() if column > state)
        right[state] /= rows[state][state]
    return right


def watches(path):
    """From the last incident's end to the recovery of each run, or to its end: seconds, whether it came back, and from when on it is ill.

    A run is ill after twice the time in which any client could have caught up, at least two minutes.
    """
    with open(path) as file:
        for row in csv.DictReader(file):
            came_back = row["recovery_s"] != ""
            length = float(row["recovery_s"] if came_back else row["recovery_horizon_s"])
            yield length, came_back, 2 * max(float(row["possible_s"] or 0), 60)


def expected(count, chance):
    """Of how many expected occurrences at most so many come about with this chance (F. Garwood, Biometrika 28, 1936)."""
    low, high = 0.0, count + 6 * math.sqrt(count) + 10
    for _ in range(100):
        middle = (low + high) / 2
        total = sum(math.exp(k * math.log(middle) - middle - math.lgamma(k + 1)) for k in range(count + 1))
        low, high = (middle, high) if total > chance else (low, middle)
    return high


def escapes(path):
    """What an ill run's time to come back by chance is, from any moment of its illness: a row of escape.csv.

    The chance is the same at any moment (exponential law), so a run that was ill until its end tells as much as the others.
    The trend is Laplace's: how many standard deviations later than by such a chance they come back.
    """
    ill = sorted((length - onset, not came_back) for length, came_back, onset in watches(path) if length > onset)
    time, count = sum(length for length, _ in ill), sum(not ended for _, ended in ill)
    before = last = 0.0
    places = []
    for number, (length, ended) in enumerate(ill):
        before += (length - last) * (len(ill) - number)
        last = length
        # One that ends the whole watch is always there.
        if not ended and number < len(ill) - 1:
            places.append(before / time)
    return {
        "ill_seeds": len(ill), "escaped_seeds": count, "ill_s": f"{time:.6f}", "escape_mean_s": f"{time / count:.6f}",
        "escape_low_95_s": f"{time / expected(count, 0.025):.6f}", "escape_high_95_s": f"{time / expected(count - 1, 0.975):.6f}",
        "escape_trend": f"{(sum(places) / len(places) - 0.5) * math.sqrt(12 * len(places)):.3f}",
    }


def main():
    waiting = int(ARRIVALS * DELAY)
    seconds = times(waiting + 60)
    width = PLACES + 1
    print(f"chain, from a full server and {waiting} waiting: {seconds[waiting * width + PLACES] / 60:.1f} min")
    print(f"chain, from an empty server and 1 waiting: {seconds[width] / 60:.1f} min")
    for path in sys.argv[1:]:
        row = escapes(path)
        mean, low, high = (float(row[f"escape_{name}_s"]) / 60 for name in ("mean", "low_95", "high_95"))
        print(f"seeds, {path}: {mean:.1f} min (95 %: {low:.1f} to {high:.1f}); {row['escaped_seeds']} of {row['ill_seeds']} came back")


if __name__ == "__main__":
    main()
