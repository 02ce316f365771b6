"""Whether texts of the same words say something else by how these stand: who does it to whom, where, how many. PURE.

For English. What is found here only holds back: no text is taken for a restatement because of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simuverse.memory.statements import Statement, listed, stems

_PLACES = {
    word: number
    for number, words in enumerate(
        (
            "under beneath below underneath",
            "behind",
            "above over",
            "beside near",
            "between",
            "outside",
            "opposite",
            "before",
            "after",
            "around",
            "across",
            "against",
        )
    )
    for word in words.split()
}
"""What says where or when something is, by what it says."""

_VAGUE = listed("in on at to from into onto by of with inside within upon for")
"""It says so as well, and one often stands for another: "at the farm" for "on the farm"."""

_ANY_PLACE = -1

_ARTICLES = listed("a an the my your his her its our their this that these those")
_ALIKE_BOTH_WAYS = listed("is are was were am be and or equals")
"""Words between parts that may change places."""

_ENGLISH = _ARTICLES | _VAGUE | listed("i you he she they we him them me than and is are was were")

_GOVERNED = 3
"""Words that such a word speaks of, at most: "under the old pear tree"."""

_LONGEST_MIDDLE = 5
"""Words between two parts that change places, at most: "sold the mare to the"."""

_LONGEST = 60
"""Words of texts in which parts are looked for that change places, at most: longer ones tell several things."""

_QUANTITIES = listed("one single several many few both dozen dozens most all lots couple plenty")


def says_otherwise(draft: Statement, known: Statement) -> bool:
    """Whether two parts have changed places, or something is elsewhere than in what is known."""
    return _exchanged(known.spoken, draft.spoken) or _elsewhere(_placed(draft.spoken), _placed(known.spoken))


def counts_otherwise(draft: Statement, known: Statement) -> bool:
    """Whether it has "one", "several" and the like where the known text has a number."""
    left = {one for one in known.particulars - draft.particulars if one.isdigit()}
    return bool(left and set(draft.spoken) & _QUANTITIES - set(known.spoken))


def _exchanged(known: tuple[str, ...], draft: tuple[str, ...]) -> bool:
    """As the dog bit the miller, and the miller the dog; "in the pantry hangs the key" is but another order."""
    if len(known) != len(draft) or len(known) > _LONGEST or known == draft or _ENGLISH.isdisjoint(known):
        return False
    ends = [place for place, (one, other) in enumerate(zip(known, draft, strict=True)) if one != other]
    one, other = known[ends[0] : ends[-1] + 1], draft[ends[0] : ends[-1] + 1]
    for begin in range(1, len(one) - 1):
        for end in range(begin + 1, min(begin + _LONGEST_MIDDLE, len(one) - 1) + 1):
            left, middle, right = one[:begin], one[begin:end], one[end:]
            if other == right + middle + left and not _may_turn(left, middle, right):
                return True
    return False


def _may_turn(left: Sequence[str], middle: Sequence[str], right: Sequence[str]) -> bool:
    prepositions = _VAGUE | _PLACES.keys()
    return left[0] in prepositions or right[0] in prepositions or set(middle) <= _ALIKE_BOTH_WAYS | _ARTICLES


def _placed(spoken: Sequence[str]) -> Mapping[str, set[int]]:
    """For each search token where its thing is said to be: a kind of :data:`_PLACES`, or anywhere."""
    found: dict[str, set[int]] = {}
    for start, word in enumerate(spoken):
        if word in _PLACES or word in _VAGUE:
            governed: list[str] = []
            for other in spoken[start + 1 :]:
                another = other in _PLACES or other in _VAGUE or (governed and other in _ARTICLES)
                if another or len(governed) == _GOVERNED:
                    break
                if other not in _ARTICLES:
                    governed.append(other)
            for stem in {stem for other in governed for stem in stems(other)}:
                found.setdefault(stem, set()).add(_PLACES.get(word, _ANY_PLACE))
    return found


def _elsewhere(one: Mapping[str, set[int]], other: Mapping[str, set[int]]) -> bool:
    """Two vague places may be the same, and of what is said to be in several any may be meant."""
    return any(places.isdisjoint(other[stem]) for stem, places in one.items() if stem in other)
