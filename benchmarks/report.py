"""Puts what was measured into the pages of ``docs/``: each table between two comments that name it.

    python -m benchmarks.report

Reads ``benchmarks/results/*.json``; a table whose file isn't there stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.peers.run import table as peers_table

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    for name, (page, table) in TABLES.items():
        file = RESULTS / f"{name}.json"
        if file.exists():
            measured = json.loads(file.read_text())
            text = (DOCS / page).read_text()
            (DOCS / page).write_text(_replaced(text, name, f"{_where(measured)}\n\n{table(measured)}"))


def _replaced(text: str, name: str, table: str) -> str:
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if start not in text or end not in text:
        raise SystemExit(f"the page of {name} has no {start} … {end}")
    return re.sub(f"{start}.*?{end}", lambda _: f"{start}\n{table}\n{end}", text, flags=re.DOTALL)


def _where(measured: Mapping[str, Any]) -> str:
    """Date, machine and versions."""
    versions = ", ".join(f"{package} {version}" for package, version in measured["versions"].items())
    load = measured.get("load")
    busy = (
        ""
        if load is None or load <= measured["cores"]
        else f", whose load was {load:.1f}, so that much of this is waiting"
    )
    return f"Measured {measured['date']} on {measured['cores']} cores{busy}; Python {measured['python']}, {versions}."


def _start(measured: Mapping[str, Any]) -> str:
    return "\n".join(
        [
            "| | ms | aim |",
            "|---|--:|--:|",
            f"| `import simuverse`, beyond Python's own start | {measured['import_ms']:,.0f} | 150 |",
            f"| a fresh process to its first recall, all of it | {measured['first_recall_ms']:,.0f} | 1,000 |",
            f"| a store of {measured['memories']:,} to its first answer | {measured['store_opens_ms']:,.0f} | 2,000 |",
        ]
    )


def _growth(measured: Mapping[str, Any]) -> str:
    lines = [
        "| memories | store | p50 ms | p95 ms | fresh p50 | 4 at once p50 | first search ms | MB in this process |",
        "|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, rows in measured["memories"].items():
        for row in rows:
            memory = "" if row["memory_mb"] is None else f"{row['memory_mb']:,.0f}"
            lines.append(
                f"| {row['memories']:,} | {name} | {row['p50_ms']:.1f} | {row['p95_ms']:.1f} "
                f"| {row['fresh_p50_ms']:.1f} | {row['at_once_p50_ms']:.1f} "
                f"| {row['first_search_ms']:,.0f} | {memory} |"
            )
    lines += ["", "| agents, 1,000 memories each | p50 ms | first recall of each, p50 ms | MB |", "|--:|--:|--:|--:|"]
    for row in measured["agents"]:
        memory = "" if row["memory_mb"] is None else f"{row['memory_mb']:,.0f}"
        lines.append(f"| {row['agents']} | {row['p50_ms']:.1f} | {row['first_p50_ms']:.1f} | {memory} |")
    lines += ["", "| queries of one recall, 10,000 memories | p50 ms |", "|--:|--:|"]
    lines += [f"| {row['queries']} | {row['p50_ms']:.1f} |" for row in measured["queries"]]
    return "\n".join(lines)


def _depth(measured: Mapping[str, Any]) -> str:
    lines = ["| memories | question | at 5 | at 10 | as shipped | p50 ms |", "|--:|---|--:|--:|--:|--:|"]
    lines += [
        f"| {row['size']:,} | {row['question']} | {100 * row['at_5']:.0f} | {100 * row['at_10']:.0f} "
        f"| {100 * row['shipped']:.0f} | {row['p50_ms']:.1f} |"
        for row in measured["measured"]
    ]
    return "\n".join(lines)


def _importance(measured: Mapping[str, Any]) -> str:
    lines = ["| list | events | correlation |", "|---|--:|--:|"]
    lines += [f"| {row['events']} | {row['count']} | {row['correlation']:.2f} |" for row in measured["measured"]]
    return "\n".join(lines)


_SHOWN = ("all", "multi-hop")
"""Categories that stand in the page; the command prints all."""


def _recall(measured: Mapping[str, Any]) -> str:
    lines = [
        "| questions | setting | category | n | at 5 | at 10 | whole evidence at 10 | MRR | p50 ms |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for one in measured["measured"]:
        for row in one["categories"]:
            if row["category"] in _SHOWN:
                at_5, at_10, all_at_10, mrr = (
                    f"{100 * row[name]['mean']:.1f}" for name in ("at_5", "at_10", "all_at_10", "mrr")
                )
                low, high = (f"{100 * row['at_10'][name]:.1f}" for name in ("low", "high"))
                lines.append(
                    f"| {one['source']} | {one['setting']} | {row['category']} | {row['questions']} | {at_5} "
                    f"| {at_10} ({low} to {high}) | {all_at_10} | {mrr} | {one['p50_ms']:.1f} |"
                )
    return "\n".join(lines)


def _held_out(measured: Mapping[str, Any]) -> str:
    lines = ["| weights | all, at 10 | multi-hop |", "|---|--:|--:|"]
    lines += [f"| {name} | {one['all']:.1f} | {one['several']:.1f} |" for name, one in measured["held_out"].items()]
    return "\n".join(lines)


def _silence(measured: Mapping[str, Any]) -> str:
    lines = [
        "| questions | sure from | answers kept | own | foreign | far | area |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for one in measured["sources"]:
        for row in one["curve"]:
            shares = " | ".join(f"{100 * row[name]:.1f}" for name in ("kept", "own", "foreign", "far"))
            lines.append(f"| {one['source']} | {row['min_sure']:g} | {shares} | {one['area']:.3f} |")
    return "\n".join(lines)


def _embedders(measured: Mapping[str, Any]) -> str:
    lines = [
        "| embedder | version | numbers | MB | texts a second | questions | setting | category | at 5 | at 10 "
        "| whole evidence at 10 |",
        "|---|---|--:|--:|--:|---|---|---|--:|--:|--:|",
    ]
    for one in measured["embedders"]:
        of = f"| {one['name']} | {one['version']} | {one['dimension']} | {one['megabytes']:.0f} "
        of += f"| {one['texts_a_second']:,.0f} "
        for row in one["recall"]:
            if row["category"] in _SHOWN:
                lines.append(
                    f"{of}| {row['source']} | {row['setting']} | {row['category']} | {row['at_5']:.1f} "
                    f"| {row['at_10']:.1f} | {row['all_at_10']:.1f} |"
                )
    return "\n".join(lines)


def _deep(measured: Mapping[str, Any]) -> str:
    lines = [
        f"| embedder, {measured['memories']:,} memories | question | at 5 | at 10 | as shipped |",
        "|---|---|--:|--:|--:|",
    ]
    for one in measured["embedders"]:
        for row in one["measured"]:
            shares = " | ".join(f"{100 * row[name]:.0f}" for name in ("at_5", "at_10", "shipped"))
            lines.append(f"| {one['name']} | {row['question']} | {shares} |")
    return "\n".join(lines)


def _care(measured: Mapping[str, Any]) -> str:
    commands = [*measured["measured"][0]["seconds"]]
    heads = " | ".join(f"`{command}`" for command in commands)
    lines = [f"| seconds | memories | {heads} |", f"|---|--:|{'--:|' * len(commands)}"]
    for one in measured["measured"]:
        taken = " | ".join(f"{one['seconds'][command]:.0f}" for command in commands)
        lines.append(f"| {one['store']} | {one['memories']:,} | {taken} |")
    return "\n".join(lines)


def _text(measured: Mapping[str, Any]) -> str:
    """What a command printed, as it is."""
    lines = [line.rstrip() for line in measured["text"].strip("\n").splitlines()]
    return "\n".join(["```text", *lines, "```"])


TABLES: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "peers": ("performance.md", peers_table),
    "latency": ("performance.md", _text),
    "start": ("performance.md", _start),
    "growth": ("performance.md", _growth),
    "depth": ("performance.md", _depth),
    "importance": ("performance.md", _importance),
    "recall": ("performance.md", _recall),
    "ablation": ("performance.md", _text),
    "held_out": ("performance.md", _held_out),
    "silence": ("performance.md", _silence),
    "embedders": ("performance.md", _embedders),
    "deep": ("performance.md", _deep),
    "changes": ("performance.md", _text),
    "time": ("performance.md", _text),
    "hygiene": ("trust.md", _text),
    "care": ("care.md", _care),
    "server": ("weaviate.md", _text),
    "collections": ("weaviate.md", _text),
    "tenants": ("weaviate.md", _text),
}
"""Each table's page, and how it is made of what was measured."""


if __name__ == "__main__":
    main()
