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
from math import log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
"""Saturation of the term frequency; the default of Lucene and Weaviate."""

B = 0.75
"""How much a long document is held against it, 0 to 1; the default of Lucene and Weaviate."""

Rows = NDArray[np.int32]


class KeywordIndex:
    """Documents by row number: small whole numbers from 0, given by the caller, free to be used again once removed."""

    def __init__(self) -> None:
        self._term_ids: defaultdict[str, int] = defaultdict(count().__next__)
        """Numbers a term when it is first looked up by ``[]``."""
        self._postings: list[_Postings] = []
        self._documents: dict[int, NDArray[np.int32]] = {}
        """Term ids of each document, sorted, with repeats: what removing it needs to know."""
        self._lengths = np.zeros(0, dtype=np.int32)
        self._tokens = 0
        self._with_tokens = 0
        self._saturated: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Number of documents, those without a token included."""
        return len(self._documents)

    def put(self, rows: Sequence[int], documents: Sequence[Sequence[str]]) -> None:
        """Adds documents, or replaces those whose row is taken.

        Args:
            rows: one for each document, none twice.
            documents: the tokens of each, repeats kept.
        """
        self.remove(rows)
        self._saturated = None
        self._lengths = grown(self._lengths, max(rows, default=-1) + 1)
        row_of, lengths = np.asarray(rows, dtype=np.int32), np.fromiter(map(len, documents), np.int32, len(documents))
        terms = self._intern(chain.from_iterable(documents), size=int(lengths.sum()))
        document_of = np.repeat(np.arange(len(rows)), lengths)
        self._append_postings(terms, row_of[document_of])
        by_document = (np.sort(document_of << 32 | terms) & 0xFFFFFFFF).astype(np.int32)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        for place, row in enumerate(rows):
            self._documents[row] = by_document[starts[place] : starts[place + 1]]
        self._lengths[row_of] = lengths
        self._tokens += int(lengths.sum())
        self._with_tokens += int(np.count_nonzero(lengths))

    def remove(self, rows: Iterable[int]) -> None:
        """Takes documents out of every list and count; rows that hold none are passed over."""
        gone = [row for row in rows if row in self._documents]
        if not gone:
            return
        self._saturated = None
        is_gone = np.zeros(len(self._lengths), dtype=np.bool_)
        is_gone[gone] = True
        terms: list[int] = np.unique(np.concatenate([self._documents.pop(row) for row in gone])).tolist()
        for term in terms:
            self._postings[term].remove(is_gone)
        lengths = self._lengths[gone]
        self._tokens -= int(lengths.sum())
        self._with_tokens -= int(np.count_nonzero(lengths))
        self._lengths[gone] = 0

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
        return sum(self._idf(postings.size if postings else 0) * times for postings, times in found)

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
        number = self._term_ids.get(term)
        postings = None if number is None else self._postings[number]
        return postings if postings is not None and postings.size else None

    def _intern(self, tokens: Iterable[str], *, size: int) -> NDArray[np.int32]:
        terms = np.fromiter(map(self._term_ids.__getitem__, tokens), np.int32, size)
        self._postings.extend(_Postings() for _ in range(len(self._term_ids) - len(self._postings)))
        return terms

    def _append_postings(self, terms: NDArray[np.int32], rows: Rows) -> None:
        """One entry for each pair of term and row, its frequency the number of times the pair occurs."""
        pairs, occurrences = np.unique(terms.astype(np.int64) << 32 | rows, return_counts=True)
        pair_terms, pair_rows = pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32)
        frequencies = occurrences.astype(np.int32)
        present, starts, counts = np.unique(pair_terms, return_index=True, return_counts=True)
        spans: list[tuple[int, int, int]] = np.column_stack((present, starts, starts + counts)).tolist()
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


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array itself if it has ``size`` rows, otherwise a copy half as large again, the new rows zero.

    Growing by a share of the size makes appending one row at a time linear on the whole.
    """
    if len(array) >= size:
        return array
    larger = np.zeros((max(size, len(array) + len(array) // 2), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
