"""A Weaviate server of the tests' own: a process on free ports of this machine, with a folder that is thrown away."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from simuverse.memory.stores.weaviate_address import Address

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "CLUSTER_HOSTNAME": "node1",
        "AUTOSCHEMA_ENABLED": "false",
        "DISABLE_TELEMETRY": "true",
        "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "true",
    }
)
"""What docker-compose.yml sets too, and a test sees to it."""

BACKUP_SETTINGS: Mapping[str, str] = MappingProxyType({"ENABLE_MODULES": "backup-filesystem"})
"""For a server that is backed up to a folder, beside the folder itself: what docker-compose.yml sets too."""

KEY_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
        "AUTHENTICATION_APIKEY_ENABLED": "true",
        "AUTHENTICATION_APIKEY_USERS": "simuverse",
        "AUTHORIZATION_RBAC_ENABLED": "true",
        "AUTHORIZATION_RBAC_ROOT_USERS": "simuverse",
    }
)
"""For a server that wants a key, beside the key itself: what docker-compose.production.yml sets too."""

QUICK_HEALING: Mapping[str, str] = MappingProxyType(
    {"ASYNC_REPLICATION_FREQUENCY": "1s", "ASYNC_REPLICATION_PROPAGATION_DELAY": "1s"}
)
"""Nodes look every 30 s by themselves for what another lacks, which is long for a test."""

IMAGE = "cr.weaviate.io/semitechnologies/weaviate:1.39.2"
"""As pinned in docker-compose.yml."""

READY = 60.0
"""Seconds that a server may take to start, on a busy machine."""

_HOST = "127.0.0.1"

_STARTS = 3
"""Times that it is started, where a port was taken between the look for a free one and the start."""


def settings_with_key(key: str, *, further: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Of a server that knows ``key`` as that of its root user.

    Args:
        further: names of users without rights, each with a key of their own.
    """
    users = {KEY_SETTINGS["AUTHENTICATION_APIKEY_USERS"]: key, **(further or {})}
    return {
        **SETTINGS,
        **KEY_SETTINGS,
        "AUTHENTICATION_APIKEY_ALLOWED_KEYS": ",".join(users.values()),
        "AUTHENTICATION_APIKEY_USERS": ",".join(users),
    }


class PortTaken(AssertionError):
    """The server ended at once, as another holds one of its ports."""


class WeaviateServer:
    """Started by :meth:`start`, ended by :meth:`stop` or :meth:`kill`, and startable again on the same ports."""

    def __init__(self, binary: str, folder: Path, settings: Mapping[str, str]) -> None:
        self._binary = binary
        self._folder = folder
        self._ports = _free_ports()
        self._settings = dict(settings)
        self._process: subprocess.Popen[bytes] | None = None
        self._was_ready = False

    @classmethod
    @contextmanager
    def running(cls, binary: str, folder: Path, settings: Mapping[str, str] = SETTINGS) -> Generator[Self]:
        server = cls(binary, folder, settings)
        server.start()
        try:
            yield server
        finally:
            server.kill()

    @classmethod
    @contextmanager
    def cluster(
        cls,
        binary: str,
        folder: Path,
        settings: Mapping[str, str] = SETTINGS,
        *,
        nodes: int = 3,
        healing: Mapping[str, str] = QUICK_HEALING,
    ) -> Generator[list[Self]]:
        """Several that are one, each startable and endable by itself.

        Args:
            healing: when they look for what another lacks.
        """
        servers = cls._launched(binary, folder, {**settings, **healing}, nodes=nodes)
        try:
            yield servers
        finally:
            for server in servers:
                server.kill()

    @classmethod
    def _launched(
        cls, binary: str, folder: Path, settings: Mapping[str, str], *, nodes: int, starts: int = _STARTS
    ) -> list[Self]:
        """All ready; on other ports, and in folders beside, where another program took one."""
        place = folder / f"starts{starts}"
        servers = cls._together(binary, place, settings, nodes=nodes)
        try:
            # None is ready before the others are there.
            for server in servers:
                server.launch()
            for server in servers:
                server.wait_until_ready(beside=servers)
        except BaseException as error:
            for server in servers:
                server.kill()
            if isinstance(error, PortTaken) and starts > 1:
                return cls._launched(binary, folder, settings, nodes=nodes, starts=starts - 1)
            raise
        return servers

    @classmethod
    def _together(cls, binary: str, folder: Path, settings: Mapping[str, str], *, nodes: int) -> list[Self]:
        """None of them is launched."""
        servers: list[Self] = []
        for number in range(1, nodes + 1):
            place = folder / f"node{number}"
            place.mkdir(parents=True)
            servers.append(cls(binary, place, {**settings, "CLUSTER_HOSTNAME": place.name}))
        first = servers[0]
        together = {
            "RAFT_JOIN": ",".join(f"{one.name}:{one._ports['RAFT_PORT']}" for one in servers),
            "RAFT_BOOTSTRAP_EXPECT": str(nodes),
            "CLUSTER_ADVERTISE_ADDR": _HOST,
        }
        for server in servers:
            server._settings |= together
            if server is not first:
                server._settings["CLUSTER_JOIN"] = f"{_HOST}:{first._ports['CLUSTER_GOSSIP_BIND_PORT']}"
        return servers

    @property
    def name(self) -> str:
        return self._settings["CLUSTER_HOSTNAME"]

    @property
    def address(self) -> Address:
        return Address(host=_HOST, port=self._ports["http"], grpc_host=_HOST, grpc_port=self._ports["GRPC_PORT"])

    @property
    def url(self) -> str:
        """As a user types it, gRPC port included."""
        return f"{self.address.url}?grpc_port={self.address.grpc_port}"

    def start(self) -> None:
        """Returns when it says that it is ready. Before its first time, ports that others took are exchanged."""
        for further in reversed(range(_STARTS)):
            self.launch()
            try:
                self.wait_until_ready()
            except PortTaken:
                if not further:
                    raise
                if not self._was_ready:
                    self._ports = _free_ports()
            else:
                self._was_ready = True
                return

    def launch(self) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "PERSISTENCE_DATA_PATH": str(self._folder / "data"),
            "CLUSTER_IN_LOCALHOST": "true",
            **{name: str(port) for name, port in self._ports.items() if name.isupper()},
            **self._settings,
        }
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binary, "--host", _HOST, "--port", str(self._ports["http"]), "--scheme", "http"],
                cwd=self._folder,
                env=environment,
                stdout=log,
                stderr=log,
            )

    def pause(self) -> None:
        """It keeps its ports and answers nothing."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """At once, as by ``kill -9``."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def terminate(self) -> None:
        """By SIGTERM, as systems do at their end; returns when it is gone."""
        if self._process is not None:
            self._signal(signal.SIGTERM)
            self._process.wait()
            self._process = None

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait_until_ready(self, *, beside: Sequence[Self] = ()) -> None:
        """Args:
            beside: those without which it is never ready.

        Raises:
            PortTaken: one of them ended, as another program holds one of its ports.
            AssertionError: it isn't ready in :data:`READY`, or one of them ended for another reason.
        """
        end = time.monotonic() + READY
        failed = self
        while time.monotonic() < end:
            ended = [one for one in (self, *beside) if not one._lives()]
            if ended:
                failed = ended[0]
                break
            try:
                with urllib.request.urlopen(f"{self.address.url}/v1/.well-known/ready", timeout=1):
                    return
            except OSError:
                # Not yet; the process is asked whether it lives, so a tenth of a second is no busy loop.
                assert self._process is not None
                _pause(self._process)
        tail = (failed._folder / "log").read_bytes()[-2000:].decode(errors="replace")
        fault = PortTaken if "address already in use" in tail.strip().rpartition("\n")[2] else AssertionError
        raise fault(f"the Weaviate server didn't start:\n{tail}")

    def _lives(self) -> bool:
        assert self._process is not None
        return self._process.poll() is None


def own_client(address: Address, *, key: str | None = None) -> WeaviateAsyncClient:
    """A bare client, for what only a user of the server itself would do."""
    import weaviate
    from weaviate.classes.init import Auth

    return weaviate.use_async_with_custom(
        http_host=address.host,
        http_port=address.port,
        http_secure=address.secure,
        grpc_host=address.grpc_host,
        grpc_port=address.grpc_port,
        grpc_secure=address.secure,
        auth_credentials=Auth.api_key(key) if key else None,
        skip_init_checks=True,
    )


def docker_answers() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "info"], capture_output=True, check=False).returncode == 0


@contextmanager
def weaviate_container() -> Generator[Address]:
    from testcontainers.community.weaviate import WeaviateContainer

    with WeaviateContainer(image=IMAGE, env_vars=dict(SETTINGS)) as container:
        yield Address(
            host=container.get_http_host(),
            port=container.get_http_port(),
            grpc_host=container.get_grpc_host(),
            grpc_port=container.get_grpc_port(),
        )


def _pause(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=0.1)
    except subprocess.TimeoutExpired:
        return


def _free_ports() -> dict[str, int]:
    """One for each of the server's doors; those that go in pairs are neighbours, as the server counts on it."""
    with ExitStack() as held:
        http, grpc = _bound(held, 1), _bound(held, 1)
        gossip, raft = _bound(held, 2), _bound(held, 2)
    return {
        "http": http,
        "GRPC_PORT": grpc,
        "CLUSTER_GOSSIP_BIND_PORT": gossip,
        "CLUSTER_DATA_BIND_PORT": gossip + 1,
        "RAFT_PORT": raft,
        "RAFT_INTERNAL_RPC_PORT": raft + 1,
    }


def _bound(held: ExitStack, count: int) -> int:
    """The first of ``count`` neighbouring ports that are free, and held until all are found."""
    for _ in range(100):
        with ExitStack() as tried:
            first = tried.enter_context(socket.socket())
            first.bind((_HOST, 0))
            port: int = first.getsockname()[1]
            try:
                for further in range(port + 1, port + count):
                    tried.enter_context(socket.socket()).bind((_HOST, further))
            except (OSError, OverflowError):
                continue
            held.push(tried.pop_all())
            return port
    raise AssertionError("no neighbouring free ports")
