"""Memories in several languages for two stores to agree on, and what to ask for among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
from hypothesis import strategies as st

from simuverse.memory.analysis import query_terms
from simuverse.memory.records import NO_FILTER, Category, MemoryFilter, Provenance, SearchType, Source
from simuverse.memory.store import Entry, SearchRequest
from tests.contracts.memory_reference import SEEN, START, memory, said_by, vector

SENTENCES = (
    "Mira hid the brass key under the mill.",
    "The ferryman told Mira that the harbour floods in spring.",
    "Greta bakes rye bread, and Greta keeps the second key.",
    "I promised José twelve copper coins for the roof.",
    "Die Fähre fährt nicht, weil der Fährmann krank ist.",
    "Mira hat den Schlüssel unter der Mühle versteckt.",
    "Le passeur a perdu la clé près du moulin.",
    "La sœur de Greta habite au bord de la rivière.",
    "José arregló el tejado de la panadería.",
    "La llave de cobre está debajo del molino.",
    "Сестра спрятала ключ под мельницей.",
    "Паромщик болен, и паром сегодня не ходит.",
    "Η αδελφή έκρυψε το κλειδί κάτω από τον μύλο.",
    "أخفت الأخت المفتاح تحت الطاحونة.",
    "姉は水車小屋の下に鍵を隠した。",
    "渡し守は病気で、船は出ない。",
    "姐姐把钥匙藏在磨坊下面。",
    "누나는 방앗간 밑에 열쇠를 숨겼다.",
    "พี่สาวซ่อนกุญแจไว้ใต้โรงสี",
    "At 14:30 Mira paid 12,500 coins; see https://example.org/ledger?page=2.",
)
ENDINGS = ("", " It rained.", " Nobody saw it.", " Mira was there, and Mira laughed.", " C'était hier.", " 雨だった。")
WORDS = tuple(dict.fromkeys(word for sentence in SENTENCES for word in sentence.split()))
PROVENANCES = (SEEN, said_by("Mira"), said_by("José"), Provenance(source=Source.INFERRED))
ASKED = (
    *SENTENCES,
    "key",
    "Schlüssel",
    "Mira and the mill",
    "鍵",
    "열쇠",
    "ключи",
    "mira mira greta",
    "zeph7 brass Mira",
    "under the harbour, near zeph3",
    "unheard of",
    "the",
)

TALKS = 240
"""The first of :func:`corpus`: in talks of six, some alike word for word."""

SIZE = 720
"""Of :func:`corpus`, of which many a word is in several times as many as a search cuts at."""


def corpus(owner: str = "Jade") -> list[Entry]:
    """In eleven languages, always the same."""
    chance = np.random.default_rng(11)
    categories = list(Category)
    entries: list[Entry] = []
    for number in range(SIZE):
        at = int(chance.integers(len(SENTENCES)))
        text = SENTENCES[at] + str(chance.choice(ENDINGS)) if number < TALKS else _chatter(chance)
        made = memory(
            text,
            number,
            owner=owner,
            category=categories[int(chance.integers(len(categories)))],
            importance=int(chance.integers(1, 11)),
            minutes=number // 2,
            provenance=PROVENANCES[int(chance.integers(len(PROVENANCES)))],
            episode=f"talk {number // 6}" if number < TALKS and number % 7 else "",
            position=number % 6,
        )
        entries.append(Entry(memory=made, vector=vector(at * 10 if number < TALKS else number)))
    return entries


def _chatter(chance: np.random.Generator) -> str:
    """Three to fourteen words, the first ones often, and in one of ten a name that few bear."""
    ranks = chance.exponential(12, int(chance.integers(3, 15))).astype(int)
    words = [WORDS[min(int(rank), len(WORDS) - 1)] for rank in ranks]
    if chance.random() < 0.1:
        words.append(f"zeph{chance.integers(20)}")
    return " ".join(words)


FILTERS = st.builds(
    MemoryFilter,
    category=st.none() | st.sampled_from(Category),
    min_importance=st.none() | st.integers(1, 6),
    since=st.none() | st.integers(0, 60).map(lambda minutes: START + timedelta(minutes=minutes)),
    until=st.none() | st.integers(60, 400).map(lambda minutes: START + timedelta(minutes=minutes)),
    about=st.none() | st.sampled_from(["Mira", "José", "鍵", "the mill"]),
    exclude_sources=st.frozensets(st.sampled_from([Source.INFERRED, Source.OBSERVED]), max_size=2),
    include_superseded=st.booleans(),
    include_forgotten=st.booleans(),
)


def requests(texts: st.SearchStrategy[str]) -> st.SearchStrategy[SearchRequest]:
    """Searches of every kind for one or two of these texts."""
    return st.builds(
        SearchRequest,
        search_type=st.sampled_from(SearchType),
        terms=st.lists(texts, min_size=1, max_size=2).map(lambda asked: query_terms(" ".join(asked))),
        in_context=st.booleans(),
        vector=st.integers(0, 250).map(vector),
        filter=st.just(NO_FILTER) | FILTERS,
        limit=st.sampled_from([1, 5, 20, 100, 300]),
        alpha=st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]),
    )


TEXTS = st.one_of(
    st.sampled_from(SENTENCES),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip())),
)
"""Sentences of several languages, their words mixed, and anything else that can be written."""


@st.composite
def corpora(draw: st.DrawFn) -> Sequence[Entry]:
    """30 to 60 memories of Jade's, of which many are alike in their words, their vector or their moment."""
    texts = draw(st.lists(TEXTS, min_size=8, max_size=20))
    drawn = st.builds(
        memory,
        st.sampled_from(texts) | TEXTS,
        category=st.sampled_from(Category),
        keywords=st.just(()) | st.tuples(st.sampled_from(WORDS)),
        importance=st.integers(1, 10),
        minutes=st.integers(0, 90),
        provenance=st.sampled_from(PROVENANCES),
        forgotten_at=st.none() | st.none() | st.just(START),
        episode=st.sampled_from(["", "a walk", "a talk"]),
        position=st.integers(0, 9),
    )
    memories = draw(st.lists(st.tuples(drawn, st.integers(0, 20)), min_size=30, max_size=60))
    return [
        Entry(memory=replace(one, id=memory("Its id.", number).id), vector=vector(seed))
        for number, (one, seed) in enumerate(memories)
    ]
