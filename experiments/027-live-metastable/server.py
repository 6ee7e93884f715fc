#!/usr/bin/env python3
"""A server with one worker and a queue: server.py PORT SPEED LOG   (ends on SIGTERM, then writes LOG)

It does 20 requests a second and lets 256 wait, times SPEED; who finds the queue full is answered 503 at once. Work goes on for clients that
have hung up. LOG has a row for each second of the clients' time, counted from the first request. Needs Python 3 and nothing else.
"""

import asyncio
import csv
import re
import signal
import sys

PORT, SPEED, LOG = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
WORK = 0.05 / SPEED
QUEUE = 256
COLUMNS = ["time_s", "requests", "answers_2xx", "unheard_answers", "answers_503", "longest_queue"]
ANSWER = "HTTP/1.1 {}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"


class Server:
    def __init__(self, loop):
        self.loop, self.free, self.held, self.start, self.rows = loop, 0.0, 0, None, {}

    def count(self, name, value=1):
        second = int((self.loop.time() - self.start) * SPEED)
        row = self.rows.setdefault(second, dict.fromkeys(COLUMNS[1:], 0))
        row[name] = max(row[name], value) if name == "longest_queue" else row[name] + value

    def arrive(self, client):
        now = self.loop.time()
        self.start = self.start or now
        self.count("requests")
        # One of those that it holds is being served.
        if self.held > QUEUE:
            self.count("answers_503")
            client.answer("503 Service Unavailable")
            return
        self.held += 1
        self.count("longest_queue", self.held - 1)
        # A fixed time of work each, one after another: no sleep that is too long adds up.
        self.free = max(self.free, now) + WORK
        self.loop.call_at(self.free, self.finish, client)

    def finish(self, client):
        self.held -= 1
        self.count("answers_2xx")
        if not client.answer("200 OK"):
            self.count("unheard_answers")


class Client(asyncio.Protocol):
    def __init__(self, server):
        self.server, self.data, self.gone, self.asked = server, b"", False, False

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.data += data
        head, blank, body = self.data.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if blank and not self.asked and len(body) >= int(length[1] if length else 0):
            self.asked = True
            self.server.arrive(self)

    def eof_received(self):
        self.gone = True

    def connection_lost(self, error):
        self.gone = True

    def answer(self, status):
        if self.gone:
            return False
        self.transport.write(ANSWER.format(status).encode())
        self.transport.close()
        return True


async def main():
    loop = asyncio.get_running_loop()
    server, end = Server(loop), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, end.set)
    await loop.create_server(lambda: Client(server), "127.0.0.1", PORT, backlog=4096)
    await end.wait()
    with open(LOG, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({"time_s": second, **row} for second, row in sorted(server.rows.items()))


asyncio.run(main())
