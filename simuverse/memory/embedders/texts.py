"""What every embedder does with texts before a model sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simuverse.memory.embedding import TextKind


def checked(texts: Sequence[str]) -> list[str]:
    """The texts, halves of surrogate pairs replaced, since no model can be sent them.

    Raises:
        ValueError: one is blank, which has no meaning to compare.
    """
    for place, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"text {place} of {len(texts)} is blank: there is nothing to embed")
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def batches(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    """In order, at most ``size`` each."""
    for start in range(0, len(texts), size):
        yield list(texts[start : start + size])


_SEARCH_QUERY = "Represent this sentence for searching relevant passages: "

_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("nomic-embed", "search_document: ", "search_query: "),
    ("embeddinggemma", "title: none | text: ", "task: search result | query: "),
    ("e5-", "passage: ", "query: "),
    ("arctic-embed2", "", "query: "),
    ("arctic-embed-l-v2", "", "query: "),
    ("arctic-embed-m-v2", "", "query: "),
    ("arctic-embed", "", _SEARCH_QUERY),
    ("mxbai-embed-large", "", _SEARCH_QUERY),
    (
        "qwen3-embedding",
        "",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
    ),
)
"""Part of a model's name, then what its makers say to put before a document and before a query; first match counts."""


def prefixed(texts: Sequence[str], *, model: str, kind: TextKind) -> list[str]:
    """The texts as ``model`` was trained to be given them; servers leave that to who asks."""
    for part, document, query in _PREFIXES:
        if part in model.lower():
            prefix = query if kind == "query" else document
            return [prefix + text for text in texts]
    return list(texts)
