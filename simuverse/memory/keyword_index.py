"""BM25 over an inverted index in memory, with exact statistics.

Score, as Weaviate computes it (its "block-max" path), so that both stores rank alike::

    idf(t)   = ln(1 + (N - n_t + 0.5) / (n_t + 0.5)) * (times t occurs in the query)
    score(d) = sum over t of idf(t) * tf / (tf + K1 * (1 - B + B * |d| / avg))

There is no ``K1 + 1`` in the numerator. N counts every document in the index, whatever a search filters out; ``|d|``
counts repeats; ``avg`` is the mean length of the documents that have any token.

SQLite's FTS5 isn't used for this: its ``bm25`` has another idf and numerator, and scores every match of a frequent word
in its own virtual machine.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count
from math import fsum, log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
"""Saturation of the term frequency; the default of Lucene and Weaviate."""

B = 0.75
"""How much a long document is held against it, 0 to 1; the default of Lucene and Weaviate."""

_UNSORTED_AT_MOST = 8_000_000
"""Tokens that wait to be sorted into the postings, of some 200,000 memories: sorting takes 200 MB for that moment."""

Rows = NDArray[np.int32]


class Documents(NamedTuple):
    """Several documents, one after another.

    Args:
        terms: the numbers of their tokens, repeats kept.
        lengths: how many of ``terms`` each has.
    """

    terms: NDArray[np.int32]
    lengths: NDArray[np.int32]

    def joined(self, places: NDArray[np.intp], counts: NDArray[np.intp]) -> Documents:
        """New ones, each put together of those at the next so many ``places`` as ``counts`` says."""
        lengths = self.lengths[places]
        terms = self.terms[_places(np.cumsum(self.lengths)[places] - lengths, lengths)]
        ends = np.cumsum(counts)
        upto = np.concatenate(([0], np.cumsum(lengths)))
        return Documents(terms, (upto[ends] - upto[ends - counts]).astype(np.int32))


class Terms:
    """Numbers for tokens, in the order in which they are first met; indexes of the same texts share them."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, token: str) -> int | None:
        return self._numbers.get(token)

    def numbered(self, tokens: Iterable[str], lengths: Sequence[int]) -> Documents:
        """Args:
        tokens: of all documents, one after another, repeats kept.
        lengths: how many each has.
        """
        sizes = np.array(lengths, dtype=np.int32)
        return Documents(np.fromiter(map(self._numbers.__getitem__, tokens), np.int32, int(sizes.sum())), sizes)


class KeywordIndex:
    """Documents by row number: small whole numbers from 0, given by the caller, free to be used again once removed.

    Postings are brought up to date when they are next looked at, so that many documents that come in small steps are
    sorted once.
    """

    def __init__(self, terms: Terms | None = None) -> None:
        """Args: terms: shared with other indexes; by default its own."""
        self._terms = Terms() if terms is None else terms
        self._postings: list[_Postings] = []
        self._unsorted: list[tuple[NDArray[np.int32], Rows]] = []
        """Terms that aren't in the postings yet, and the row of each."""
        self._unsorted_tokens = 0
        self._documents = np.zeros(0, dtype=np.int32)
        """Terms of all documents, what removing them needs to know; in between, those of removed ones."""
        self._used = 0
        """Places of ``_documents`` that were written."""
        self._starts = np.zeros(0, dtype=np.int64)
        self._lengths = np.zeros(0, dtype=np.int32)
        self._held = np.zeros(0, dtype=np.bool_)
        """Where a row's document starts, how long it is, and whether there is one."""
        self._count = 0
        self._tokens = 0
        self._with_tokens = 0
        self._saturated: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Number of documents, those without a token included."""
        return self._count

    def put(self, rows: Sequence[int], documents: Sequence[Sequence[str]]) -> None:
        """Adds documents, or replaces those whose row is taken.

        Args:
            rows: one for each document, none twice.
            documents: the tokens of each, repeats kept.
        """
        self.put_numbered(rows, self._terms.numbered(chain.from_iterable(documents), [*map(len, documents)]))

    def put_numbered(self, rows: Sequence[int], documents: Documents) -> None:
        """The same, for documents numbered by the index's terms."""
        self.remove(rows)
        self._saturated = None
        row_of, lengths = np.asarray(rows, dtype=np.int32), documents.lengths
        tokens, size = len(documents.terms), max(rows, default=-1) + 1
        self._starts, self._lengths = grown(self._starts, size), grown(self._lengths, size)
        self._held = grown(self._held, size)
        self._documents = grown(self._documents, self._used + tokens)
        self._documents[self._used : self._used + tokens] = documents.terms
        self._starts[row_of] = self._used + np.cumsum(lengths) - lengths
        self._lengths[row_of], self._held[row_of] = lengths, True
        self._used += tokens
        self._unsorted.append((documents.terms, np.repeat(row_of, lengths)))
        self._unsorted_tokens += tokens
        self._count += len(rows)
        self._tokens += tokens
        self._with_tokens += int(np.count_nonzero(lengths))
        if self._unsorted_tokens > _UNSORTED_AT_MOST:
            self._sort()

    def remove(self, rows: Iterable[int]) -> None:
        """Takes documents out of every list and count; rows that hold none are passed over."""
        gone = [row for row in rows if row < len(self._held) and self._held[row]]
        if not gone:
            return
        self._sort()
        self._saturated = None
        is_gone = np.zeros(len(self._lengths), dtype=np.bool_)
        is_gone[gone] = True
        lengths = self._lengths[gone]
        terms: list[int] = np.unique(self._documents[_places(self._starts[gone], lengths)]).tolist()
        for term in terms:
            self._postings[term].remove(is_gone)
        self._count -= len(gone)
        self._tokens -= int(lengths.sum())
        self._with_tokens -= int(np.count_nonzero(lengths))
        self._lengths[gone], self._held[gone] = 0, False
        if self._used > 2 * self._tokens:
            self._close_gaps()

    def scores(self, terms: Iterable[str], *, size: int) -> NDArray[np.float64]:
        """BM25 of every row, 0 where no term occurs and above 0 elsewhere.

        Args:
            terms: the query's tokens; repeats weigh more.
            size: of the result: above every row in use.
        """
        found = [(postings, times) for term, times in Counter(terms).items() if (postings := self._found(term))]
        if not found:
            return np.zeros(size, dtype=np.float64)
        rows = np.concatenate([postings.rows for postings, _ in found])
        frequencies = np.concatenate([postings.frequencies for postings, _ in found])
        idf = np.repeat(
            [self._idf(postings.size) * times for postings, times in found], [postings.size for postings, _ in found]
        )
        # Adds up a row's terms in the query's order, in one pass.
        weights = idf * frequencies / (frequencies + self._saturations()[rows])
        return np.asarray(np.bincount(rows, weights, minlength=size), dtype=np.float64)

    def reach(self, terms: Iterable[str]) -> float:
        """The sum of the terms' idf, of those that occur nowhere too: what no score can pass."""
        found = ((self._found(term), times) for term, times in Counter(terms).items())
        # Not sum: what it rounds to depends on the version of Python.
        return fsum(self._idf(postings.size if postings else 0) * times for postings, times in found)

    def holding(self, terms: Iterable[str], *, size: int) -> NDArray[np.bool_]:
        """Which rows hold every one of the terms; none does if there are no terms."""
        wanted = set(terms)
        matched = np.zeros(size, dtype=np.int32)
        for term in wanted:
            postings = self._found(term)
            if postings is not None:
                matched[postings.rows] += 1
        return (matched == len(wanted)) if wanted else np.zeros(size, dtype=np.bool_)

    def _saturations(self) -> NDArray[np.float64]:
        """``K1 * (1 - B + B * |d| / avg)`` of every row, kept until a document comes or goes."""
        if self._saturated is None:
            average = self._tokens / self._with_tokens
            self._saturated = np.asarray(K1 * (1 - B + B / average * self._lengths), dtype=np.float64)
        return self._saturated

    def _idf(self, containing: int) -> float:
        return log1p((len(self) - containing + 0.5) / (containing + 0.5))

    def _found(self, term: str) -> _Postings | None:
        self._sort()
        number = self._terms.find(term)
        postings = None if number is None or number >= len(self._postings) else self._postings[number]
        return postings if postings is not None and postings.size else None

    def _close_gaps(self) -> None:
        """Leaves of ``_documents`` only what is still held."""
        lengths = self._lengths.astype(np.int64)
        self._documents = self._documents[_places(self._starts, lengths)]
        self._starts, self._used = np.cumsum(lengths) - lengths, self._tokens

    def _sort(self) -> None:
        """One entry for each pair of term and row, its frequency the number of times the pair occurs."""
        if not self._unsorted:
            return
        terms, rows = (np.concatenate(parts) for parts in zip(*self._unsorted, strict=True))
        self._unsorted, self._unsorted_tokens = [], 0
        self._postings.extend(_Postings() for _ in range(len(self._terms) - len(self._postings)))
        pairs = np.sort(terms.astype(np.int64) << 32 | rows)
        firsts = _firsts(pairs)
        frequencies = np.diff(firsts, append=len(pairs)).astype(np.int32)
        pairs = pairs[firsts]
        pair_terms, pair_rows = pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32)
        starts = _firsts(pair_terms)
        spans: list[tuple[int, int, int]] = np.column_stack(
            (pair_terms[starts], starts, np.append(starts, len(pairs))[1:])
        ).tolist()
        for term, start, end in spans:
            self._postings[term].extend(pair_rows[start:end], frequencies[start:end])


class _Postings:
    """Which rows hold a term, and how often each."""

    __slots__ = ("_frequencies", "_rows", "size")

    def __init__(self) -> None:
        self._rows = self._frequencies = np.zeros(0, dtype=np.int32)
        self.size = 0

    @property
    def rows(self) -> Rows:
        return self._rows[: self.size]

    @property
    def frequencies(self) -> NDArray[np.int32]:
        return self._frequencies[: self.size]

    def extend(self, rows: Rows, frequencies: NDArray[np.int32]) -> None:
        end = self.size + len(rows)
        if self.size:
            self._rows, self._frequencies = grown(self._rows, end), grown(self._frequencies, end)
            self._rows[self.size : end], self._frequencies[self.size : end] = rows, frequencies
        else:
            self._rows, self._frequencies = rows, frequencies
        self.size = end

    def remove(self, is_gone: NDArray[np.bool_]) -> None:
        """Args: is_gone: for each row of the index, whether it goes."""
        keep = ~is_gone[self.rows]
        self._rows, self._frequencies = self.rows[keep], self.frequencies[keep]
        self.size = len(self._rows)


def _places(starts: NDArray[np.int64], lengths: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """All places of the spans that start and last so, one span after another."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def _firsts(ascending: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where each value occurs first."""
    is_first = np.ones(len(ascending), dtype=np.bool_)
    is_first[1:] = ascending[1:] != ascending[:-1]
    return np.flatnonzero(is_first)


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array itself if it has ``size`` rows, otherwise a copy half as large again, the new rows zero.

    Growing by a share of the size makes appending one row at a time linear on the whole.
    """
    if len(array) >= size:
        return array
    larger = np.zeros((max(size, len(array) + len(array) // 2), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
