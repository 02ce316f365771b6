"""The compose files: what they set is what the live tests start their servers with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from simuverse.memory.stores.weaviate_address import GRPC_PORT, HTTP_PORT
from simuverse.parts import OLLAMA_PORT
from tests.absent import absent
from tests.commands import ROOT
from tests.live.weaviate_server import BACKUP_SETTINGS, IMAGE, KEY_SETTINGS, SETTINGS

SINGLE, PRODUCTION = ROOT / "docker-compose.yml", ROOT / "docker-compose.production.yml"
BOTH = pytest.mark.parametrize("file", [SINGLE, PRODUCTION], ids=lambda file: file.stem)


class Health(msgspec.Struct):
    test: list[str]
    start_period: str


class Service(msgspec.Struct, kw_only=True):
    image: str
    ports: list[str]
    volumes: list[str]
    healthcheck: Health
    mem_limit: str
    restart: str
    init: bool
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    profiles: list[str] = msgspec.field(default_factory=list[str])
    stop_grace_period: str = ""
    cpus: float = 0


class Compose(msgspec.Struct):
    services: dict[str, Service]
    volumes: dict[str, None]


def read(file: Path) -> Compose:
    return msgspec.yaml.decode(file.read_text(), type=Compose)


def nodes(file: Path) -> Mapping[str, Service]:
    return {name: one for name, one in read(file).services.items() if "weaviate" in one.image}


def test_the_single_server_is_set_as_the_live_tests_set_theirs() -> None:
    (server,) = nodes(SINGLE).values()
    settings = {**SETTINGS, **BACKUP_SETTINGS}
    assert settings.items() <= server.environment.items()
    here = {"PERSISTENCE_DATA_PATH", "BACKUP_FILESYSTEM_PATH", "GOMEMLIMIT"}
    assert server.environment.keys() - settings.keys() == here
    assert server.ports == [f"127.0.0.1:{port}:{port}" for port in (HTTP_PORT, GRPC_PORT)]


def test_the_nodes_in_production_are_set_as_the_live_tests_set_a_server_with_keys() -> None:
    found = nodes(PRODUCTION)
    assert list(found) == ["node1", "node2", "node3"]
    for name, node in found.items():
        assert {**SETTINGS, **KEY_SETTINGS, "CLUSTER_HOSTNAME": name}.items() <= node.environment.items()
        assert node.environment["REPLICATION_MINIMUM_FACTOR"] == node.environment["RAFT_BOOTSTRAP_EXPECT"] == "3"
        assert node.environment["RAFT_JOIN"] == "node1,node2,node3"
        assert node.environment["AUTHENTICATION_APIKEY_ALLOWED_KEYS"].startswith("${WEAVIATE_API_KEY:?")
    assert [node.environment.get("CLUSTER_JOIN") for node in found.values()] == [None, "node1:7946", "node1:7946"]
    assert len({port for node in found.values() for port in node.ports}) == 6
    assert len({volume for node in found.values() for volume in node.volumes}) == 3


@BOTH
def test_every_node_is_pinned_lasts_and_stays_on_this_machine(file: Path) -> None:
    for node in nodes(file).values():
        assert node.image == IMAGE
        assert all(port.startswith("127.0.0.1:") for port in node.ports)
        places = {inside: name for name, _, inside in (volume.partition(":") for volume in node.volumes)}
        assert set(places.values()) <= set(read(file).volumes)
        paths = ("PERSISTENCE_DATA_PATH", "BACKUP_FILESYSTEM_PATH")
        assert list(places) == [node.environment[path] for path in paths if path in node.environment]
        assert node.healthcheck.test[-1] == f"http://localhost:{HTTP_PORT}/v1/.well-known/ready"
        assert node.stop_grace_period == "2m"
        assert node.cpus > 0
        assert memory(node.environment["GOMEMLIMIT"]) < 0.9 * memory(node.mem_limit)
        assert (node.restart, node.init) == ("unless-stopped", True)


def test_ollama_comes_by_its_profile_only() -> None:
    ollama = read(SINGLE).services["ollama"]
    assert ollama.profiles == ["ollama"]
    assert ollama.ports == [f"127.0.0.1:{OLLAMA_PORT}:{OLLAMA_PORT}"]
    assert not ollama.image.endswith(":latest")


@BOTH
def test_docker_reads_it_without_complaint(file: Path) -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        absent("there is no `docker compose`: install Docker's plugin of that name")
    ended = subprocess.run(
        [docker, "compose", "--file", str(file), "--profile", "*", "config", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "WEAVIATE_API_KEY": "a-key"},
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def memory(text: str) -> int:
    """In MiB."""
    return int(text[:-1]) * 1024 if text.endswith("g") else int(text.removesuffix("MiB"))
