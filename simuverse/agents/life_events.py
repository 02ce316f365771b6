"""Whether a text tells of an event that changes a life, or turns a month or a year of it, by words and phrases.

PURE. English only, chosen by what befalls people everywhere: birth and death, love and kinship, health, work and study,
home and country, law, money, violence and disaster. Words are compared by their stems, so one form stands for all.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain

from simuverse.memory.analysis import tokens

TURN, LIFE_EVENT = 6, 8
"""Importance, at least, of what turns a month or a year, and of what changes a life; 1 more where it is of kin."""


@cache
def _stems(words: str) -> frozenset[str]:
    """Each word on its own, as together they might pass for another language. When first asked, as it takes time."""
    return frozenset(chain.from_iterable(map(tokens, words.split())))


_LIFE = """born birth newborn twins adopt adopted adoption pregnant pregnancy miscarriage stillborn
        marry married marriage wedding bride widow widowed divorce divorced fiancé fiancée bigamy
        died die dead death deceased killed murder murdered drowned suicide funeral buried burial orphan mourn
        cancer tumour tumor leukaemia leukemia dementia alzheimer parkinson sclerosis epilepsy diabetes hiv
        paralysed paralyzed amputated amputation wheelchair blinded deafness coma terminal incurable diagnosed diagnosis
        transplant overdose heartattack
        bankrupt bankruptcy retirement retire retired inherit inherited inheritance
        prison jail imprisoned convicted sentenced acquitted
        citizenship asylum deported refugee exile war evicted homeless shipwreck earthquake explosion
        raped abused kidnapped tortured stabbed shot baptised converted ordained"""
_TURNS = """promoted promotion resigned resignation redundant unemployed dismissed hired apprenticeship sacked
        admitted enrolled scholarship university doctorate diploma degree graduated graduation elected
        separated affair betrayed jilted emigrated immigrated emigrate homesick
        hospital hospitalised ambulance surgery surgeon operation illness fracture fractured concussion injured injury
        pneumonia stroke seizure wounded rehab sober addiction addicted alcoholic depression breakdown burnout
        accident collided crash burglar burglary burgled robbed robbery mugged assaulted blackmailed threatened
        flood flooded burnt fire wildfire hurricane avalanche
        mortgage debts lawsuit sued trial verdict court custody arrested
        lottery championship medal award debut bestseller engaged engagement proposed"""
_LIFE_PHRASES = re.compile(
    r"\b(?:pass(?:ed|es) away|heart attack|laid off|gave birth|take (?:his|her|their|my) own life"
    r"|(?:going to be|become|became) a (?:father|mother|dad|mum|mom|parent|grandfather|grandmother)"
    r"|lost (?:my|his|her|our|their|both|an?|the) (?:\w+ )?(?:job|home|house|legs?|arms?|eyes?|sight|baby|child)"
    r"|(?:ask|asked) (?:me|him|her) to marry|never \w+ again|live apart|left (?:me|him|her) for"
    r"|(?:had|have|has) to (?:flee|go into hiding)|fled|(?:was|been|got|were) fired|in ruins)\b"
)
_TURN_PHRASES = re.compile(
    r"\b(?:(?:broke|broken|split|breaking) up|new job|(?:start|starts|started|got) (?:a|the|my|his|her) job"
    r"|(?:fell|fallen|falling|am) in love|(?:move|moved|moving) (?:to|in with|out|away|abroad)"
    r"|(?:left|leaving|leave) home"
    r"|(?:broke|broken) (?:my|his|her) (?:arm|leg|wrist|hip|back|neck|ankle|foot|hand|collarbone)"
    r"|(?:bought|sold|buy|sell|built) (?:an?|the|my|our|his|her) (?:\w+ )?(?:house|flat|home|farm|farmhouse|apartment)"
    r"|set up (?:my|his|her|our) own|(?:opened|founded) (?:my|our|his|her|an?)|(?:am|was|were|been) chosen)\b"
)
_KIN = """husband wife mother father mum mom dad parent son daughter child children baby brother sister
        partner grandmother grandfather grandma grandpa twins"""


def how_much_it_changes(text: str) -> int:
    """The least importance for it, 0 if it tells of no such event."""
    stems, lower = frozenset(tokens(text)), text.lower()
    own = bool(stems & _stems(_KIN))
    if stems & _stems(_LIFE) or _LIFE_PHRASES.search(lower):
        return LIFE_EVENT + own
    return TURN + own if stems & _stems(_TURNS) or _TURN_PHRASES.search(lower) else 0
