"""A small HTTP server with a limit of threads, as one writes it in an afternoon.

    python3 sleepy.py PORT THREADS

Each request computes for a moment, waits for something else, and answers. `/metrics` tells, as Prometheus
reads it, how many requests are being worked on and how many wait for a thread.
"""

import hashlib
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, THREADS = int(sys.argv[1]), int(sys.argv[2])
ROUNDS, ELSEWHERE_S = 4000, 0.05

slots = threading.Semaphore(THREADS)
lock = threading.Lock()
counts = {"busy": 0, "waiting": 0, "requests": 0, "waited_seconds": 0.0}


def count(**changes):
    with lock:
        for name, change in changes.items():
            counts[name] += change


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 16384  # Head and body in one packet.

    def do_GET(self):
        if self.path == "/metrics":
            self.answer(metrics())
        else:
            self.answer(work())

    def answer(self, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def work():
    came = time.monotonic()
    count(waiting=1)
    with slots:
        count(waiting=-1, busy=1, requests=1, waited_seconds=time.monotonic() - came)
        digest = b"weir"
        for _ in range(ROUNDS):
            digest = hashlib.sha256(digest).digest()
        time.sleep(ELSEWHERE_S)
        count(busy=-1)
    return digest.hex() + "\n"


def metrics():
    with lock:
        lines = [
            f"sleepy_threads {THREADS}",
            f"sleepy_busy {counts['busy']}",
            f"sleepy_waiting {counts['waiting']}",
            f"sleepy_requests_total {counts['requests']}",
            f"sleepy_waited_seconds_total {counts['waited_seconds']:.6f}",
        ]
    return "\n".join(lines) + "\n"


class Server(ThreadingHTTPServer):
    request_queue_size = 511
    daemon_threads = True


Server(("127.0.0.1", PORT), Handler).serve_forever()
