"""A server that Weir does not know: a thread for each connection, `/cpu` computes, `/lock` waits for the one lock,
`/store` makes blocks durable."""

import os
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()


def store():
    with tempfile.TemporaryFile(dir=".", buffering=0) as file:
        for _ in range(8):
            file.write(bytes(4096))
            os.fdatasync(file.fileno())


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path.startswith("/lock"):
            with LOCK:
                time.sleep(0.01)
        elif self.path.startswith("/store"):
            store()
        else:
            sum(range(60_000))
        body = b"done\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 511
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
