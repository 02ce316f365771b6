"""How many memories a collection has, how long they are, and how many hold a word: what BM25 is made of.

A server scores with statistics of its own, which after updates and deletes are approximate until it compacts: by a
tenth where a tenth of the memories were rewritten. Counted anew they are exact, and so are the scores made of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import fsum, log1p
from sys import intern
from typing import TYPE_CHECKING

from simuverse.memory.keyword_index import K1, B
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_objects import Stored, Text
from simuverse.memory.stores.weaviate_partition import Partition

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.filters import FilterReturn

RECHECKED = 1.0
"""Seconds for which a size that was right is taken to be so still: a turn's searches come all at once."""

Change = tuple[Stored | None, Stored | None]
"""A memory before and after; None where it isn't there."""

_LENGTH: Mapping[Text, str] = {"search_text": "search_length", "context_text": "context_length"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Totals:
    """``tokens``: of all memories, repeats counted. ``with_tokens``: how many memories have any."""

    size: int
    tokens: int
    with_tokens: int


@dataclass(frozen=True, slots=True)
class Words:
    """Of a document: how many tokens it has, and how often each occurs."""

    count: int
    frequencies: Mapping[str, int]

    @classmethod
    def of(cls, tokens: Sequence[str]) -> Words:
        # Thousands are kept, of much the same tokens.
        return cls(len(tokens), Counter(map(intern, tokens)))


@dataclass(frozen=True, kw_only=True, slots=True)
class WordStatistics:
    """Of one collection, for the terms of one query; formulas as in :mod:`simuverse.memory.keyword_index`.

    Args:
        size: memories in the collection, 0 or more.
        average: tokens of a memory that has any; 0 if none has.
        containing: term to how many memories hold it.
    """

    size: int
    average: float
    containing: Mapping[str, int]

    def scorer(self, terms: Sequence[str]) -> Callable[[Words], float]:
        """What gives the BM25 of a document which counts in the statistics."""
        weights = {term: self._idf(term) * times for term, times in Counter(terms).items()}

        def score(document: Words) -> float:
            frequencies = document.frequencies
            length = K1 * (1 - B + B * document.count / self.average) if self.average else 0.0
            total = 0.0
            for term in filter(frequencies.__contains__, weights):
                frequency = frequencies[term]
                total += weights[term] * frequency / (frequency + length)
            return total

        return score

    def reach(self, terms: Sequence[str]) -> float:
        """What no score can pass: the sum of the terms' idf."""
        # Not sum: what it rounds to depends on the version of Python.
        return fsum(self._idf(term) * times for term, times in Counter(terms).items())

    def _idf(self, term: str) -> float:
        containing = self.containing[term]
        return log1p((self.size - containing + 0.5) / (containing + 0.5))


class CountedWords:
    """Counts of one collection, kept and brought up to date by each change that is made here.

    They are counted anew when the collection has another size than it should, which is looked at once in
    :data:`RECHECKED`. Another program that changes memories without changing their number goes unnoticed until then.

    A collection that was empty when it was first counted has all of its words counted here, as an agent's has that
    recalls before it remembers. Of another one, a word that is asked for the first time is counted by the server.
    """

    def __init__(self, connection: Connection, partition: Partition) -> None:
        self._connection = connection
        self._partition = partition
        self._changing = 0
        self._changes = 0
        self._checked = -RECHECKED
        self._totals: dict[Text, _Totals] = {}
        self._containing: dict[Text, dict[str, int]] = {text: {} for text in _LENGTH}
        self._complete: set[Text] = set()

    @contextmanager
    def changing(self) -> Generator[list[Change]]:
        """Around a change of the collection: put into the list what it is before and after. If it fails, nobody knows
        how far it went, and all is counted anew.
        """
        changes: list[Change] = []
        self._changing += 1
        try:
            yield changes
            self._update(changes)
        except BaseException:
            self._forget()
            raise
        finally:
            self._changing -= 1
            self._changes += 1

    async def of(self, text: Text, terms: Sequence[str]) -> WordStatistics:
        """Raises:
        StoreError: they can't be counted.
        """
        wanted, changes = set(terms), self._changes
        if text in self._totals:
            await self._check_size(text)
        totals, counts = await asyncio.gather(self._totals_of(text), self._containing_of(text, wanted))
        # What was counted while a change was under way may or may not hold that change.
        if changes == self._changes and not self._changing:
            if text not in self._totals and not totals.size:
                self._complete.add(text)
            self._totals[text] = totals
            self._containing[text] |= counts
        average = totals.tokens / totals.with_tokens if totals.with_tokens else 0.0
        return WordStatistics(size=totals.size, average=average, containing=counts)

    async def _check_size(self, text: Text) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._checked < RECHECKED:
            return
        size = await self._count(None)
        known = self._totals.get(text)
        if known is None or known.size == size:
            self._checked = now
        else:
            self._forget()

    def _forget(self) -> None:
        self._complete.clear()
        self._totals.clear()
        for counted in self._containing.values():
            counted.clear()

    def _update(self, changes: Sequence[Change]) -> None:
        for text, totals in self._totals.items():
            size, tokens, with_tokens = totals.size, totals.tokens, totals.with_tokens
            counted = self._containing[text]
            for before, after in changes:
                old, new = (() if one is None else one.tokens(text) for one in (before, after))
                size += (after is not None) - (before is not None)
                tokens += len(new) - len(old)
                with_tokens += bool(new) - bool(old)
                there = {*new}
                changed = there.symmetric_difference(old)
                for term in changed if text in self._complete else changed & counted.keys():
                    counted[term] = counted.get(term, 0) + (1 if term in there else -1)
            self._totals[text] = _Totals(size=size, tokens=tokens, with_tokens=with_tokens)

    async def _totals_of(self, text: Text) -> _Totals:
        if text in self._totals:
            return self._totals[text]
        from weaviate.classes.query import Metrics

        length = _LENGTH[text]

        async def ask(client: WeaviateAsyncClient) -> _Totals:
            found = await self._partition.on(client).aggregate.over_all(
                return_metrics=Metrics(length).integer(count=True, sum_=True)
            )
            lengths = found.properties.get(length)
            return _Totals(
                size=found.total_count or 0,
                tokens=getattr(lengths, "sum_", None) or 0,
                with_tokens=getattr(lengths, "count", None) or 0,
            )

        return await self._connection.query(ask)

    async def _containing_of(self, text: Text, terms: Collection[str]) -> dict[str, int]:
        from weaviate.classes.query import Filter

        counted = self._containing[text]
        if text in self._complete:
            return {term: counted.get(term, 0) for term in terms}
        found = {term: counted[term] for term in terms if term in counted}
        missing = [term for term in terms if term not in found]
        counts = await asyncio.gather(*(self._count(Filter.by_property(text).equal(term)) for term in missing))
        return found | dict(zip(missing, counts, strict=True))

    async def _count(self, filters: FilterReturn | None) -> int:
        return await self._connection.query(lambda client: self._partition.count(client, filters))
