"""Serving the page: a port that is bound before anyone is told of it, and a thread a request."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from werkzeug.serving import WSGIRequestHandler, make_server

from simuverse.dashboard.app import create_app
from simuverse.dashboard.session import Session
from simuverse.errors import SettingsError

PORTS_TRIED = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """Where the page is.

    Args:
        asked: the port that was asked for; ``port`` is another where that one was taken.
    """

    host: str
    port: int
    asked: int

    @property
    def url(self) -> str:
        host = "localhost" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://[{host}]:{self.port}/" if ":" in host else f"http://{host}:{self.port}/"

    @property
    def moved(self) -> bool:
        return self.asked not in (0, self.port)


@contextmanager
def serve(session: Session, host: str, port: int) -> Generator[Served]:
    """The page of ``session``, served from now until the block is left.

    Args:
        port: the first to try; 0 takes any free one.

    Raises:
        SettingsError: ``host`` isn't this machine's, or no port is free.
    """
    app = create_app(session, host=host)
    with free_port(host, port) as bound:
        taken: int = bound.getsockname()[1]
        server = make_server(host, taken, app.server, threaded=True, request_handler=_QuietHandler, fd=bound.fileno())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, name="page", daemon=True)
    thread.start()
    try:
        yield Served(host=host, port=taken, asked=port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def free_port(host: str, port: int) -> socket.socket:
    """A listening socket on ``port``, or on the next that is free.

    Raises:
        SettingsError: ``host`` isn't this machine's, or none of a hundred ports is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, candidate))
            bound.listen()
        except OSError as error:
            bound.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise SettingsError(
                    f"the page can't be served on {host}: {error.strerror}. Give one of this machine's with --host"
                ) from error
        else:
            return bound
    raise SettingsError(f"no port from {port} to {port + PORTS_TRIED - 1} is free on {host}; give another with --port")


class _QuietHandler(WSGIRequestHandler):
    """Logs no requests: a page that polls would bury everything else."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        del code, size
