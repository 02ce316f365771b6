"""The embeddings address of OpenAI's interface, on this machine, answering with vectors that were computed before."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from benchmarks.peers.peer import Vector


@contextmanager
def embeddings_address(vectors: Mapping[str, Vector]) -> Generator[str]:
    """Its base, until the block ends. A text that isn't among ``vectors`` gets status 400."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            unknown = [text for text in texts if text not in vectors]
            data = [
                {"object": "embedding", "index": place, "embedding": vectors[text].tolist()}
                for place, text in enumerate(texts)
                if not unknown
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            answer = {"object": "list", "data": data, "model": asked["model"], "usage": usage}
            body = json.dumps({"error": {"message": f"no vector of {unknown[0]!r}"}} if unknown else answer).encode()
            self.send_response(400 if unknown else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
