"""A job that listens, and prints all that a browser sends it and what its page could get."""

import http.server
import json
from pathlib import Path
from typing import Any


class Spy(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        print("HEADERS", json.dumps(dict(self.headers)), flush=True)
        self.answer("text/html", Path("page.html").read_bytes() if self.path == "/" else b"")

    def do_POST(self) -> None:
        print("REPORT", self.rfile.read(int(self.headers["content-length"])).decode(), flush=True)
        self.answer("text/plain", b"thanks")

    def answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Spy) as server:
    print("PORT", server.server_address[1], flush=True)
    server.serve_forever()
