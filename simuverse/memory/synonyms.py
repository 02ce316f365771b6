"""English words that mean nearly the same, and forms that no stemmer joins, for what vectors of words don't tell. PURE.

Vectors put "owns" no nearer to "belongs" than to many another word. Left out is what turns the parts round when it
takes the other's place, such as to lend and to borrow, and what only goes together often.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from simuverse.memory.analysis import tokens

_ALIKE = """
ache hurt pain
afraid scared frightened fear
alone lonely
angry furious
answer reply
arrive arrival reach
begin began begun start
below beneath under underneath
big large huge
bike bicycle
birth born
boat ship vessel
break broke broken
build built
burn burned burnt
buy bought
carve carved
child children kid kids
choose chose chosen
close shut
come came
cost price paid pay
cure heal healed
daddy father
daughter girl
deep depth
doctor physician
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
end finish
extra spare
fall fell fallen
fast quick quickly
find found
fix mend repair
fly flew flown
forbid forbade forbidden
forget forgot forgotten
free gratis
freeze froze frozen
give gave given
go went gone
grow grew grown
hate detest
hear heard
help aid
hide hid hidden
high height
hold held
home house
ill sick
job work employment
keep kept
know knew known
labour work
learn learned learnt
letter post mail
like love enjoy
live reside dwell
long length
lose lost
make made
marry married wed wife husband
meet met meeting
money savings cash
mother mum
often frequently
old ancient
own owner belong belongs
play played
pond pool
quit stop stopped
raise raised
receive get got
ring rang rung
road street
rob robbed steal stole stolen
room chamber
run ran
sail sailor
say said tell told
see saw seen
sell sold
send sent
sew sewn sewed
shop store
sing sang sung
sleep slept asleep
small little tiny
speak spoke spoken talk
spend spent
stand stood
storm stormed stormy
swim swam swum
take took taken
teach taught
tear tore torn
think thought
till until
throw threw thrown
wake woke awake
want wants wish
wash washing laundry
wear wore worn
win won
write wrote written
young youthful
"""

_STANDS_FOR_TO_BE = """
be lie lies lay stand stands stay stays happen happens happened seem seems appear exist exists become became place thing
things one ones somebody someone something everybody kind sort time way always ever even really quite
"""
_STANDS_FOR_TO_HAVE = """
have has had having do does did done get gets got keep keeps kept hold make makes made belong belongs own owns use used
find found
"""
_LIGHTEST = frozenset(_STANDS_FOR_TO_BE.split())
"""Words that tell nothing."""

_LIGHT = _LIGHTEST | frozenset(_STANDS_FOR_TO_HAVE.split())
"""Words that tell little by themselves, and yet something in another's place."""


@lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_ALIKE.strip().splitlines()):
        for stem in {stem for word in line.split() for stem in (word, *tokens(word))}:
            found.setdefault(stem, set()).add(number)
    return {stem: frozenset(numbers) for stem, numbers in found.items()}


def meanings(word: str, stems: Iterable[str]) -> frozenset[int]:
    """Numbers of the groups that a word is in, in whatever form; in lower case, with its search tokens."""
    groups = _groups()
    return frozenset[int]().union(*(groups.get(form, frozenset()) for form in (word, *stems)))


def mean_the_same(word: str, stems: Iterable[str], other: str, other_stems: Iterable[str]) -> bool:
    """Whether both are in one group."""
    return not meanings(word, stems).isdisjoint(meanings(other, other_stems))


def tells_little(word: str, *, in_place_of_another: bool = False) -> bool:
    return word in (_LIGHTEST if in_place_of_another else _LIGHT)
