"""Courtesies: what people say to be civil, and what no memory answers.

PURE. "Thanks a lot" stands in many a talk, so its words are found, and nothing that is found belongs to it. A text that
holds nothing but such phrases and function words asks for nothing.
"""

from __future__ import annotations

import re
from functools import cache

from simuverse.memory.analysis import content_words

LONGEST = 100
"""Characters from which a text is more than civil."""

_PHRASES = (
    # English
    "good (?:morning|afternoon|evening|night|day)|goodnight|hello(?: there)?|hi(?: there)?|hey(?: there)?",
    "greetings|how are (?:you|things)(?: doing)?(?: today)?|how do you do|how's it going|what's (?:up|new)",
    "nice to (?:meet|see) you|good to (?:meet|see) you|long time no see|welcome(?: back)?",
    "you're (?:very )?welcome|you are (?:very )?welcome|(?:many )?thanks(?: a lot| so much| again| anyway)?",
    "thank you(?: very much| so much| again| anyway)?|cheers|please|pardon(?: me)?|excuse me",
    "(?:i'm )?sorry(?: about that)?|no problem|no worries|not at all|my pleasure|good ?bye|bye(?: bye)?",
    "see you(?: later| soon| around| tomorrow)?|take care|farewell|so long|have a (?:good|nice) day|okay|ok",
    "all right|alright|right(?: then)?|fine|sure(?: thing)?|of course|certainly|absolutely|exactly|indeed",
    "sounds (?:good|great|fine)|great|nice|cool|wow|lovely|wonderful|awesome|perfect|well done|congratulations",
    "yay|really|i see|i know|i agree|got it|never ?mind|that's (?:that|right|true|fine|nice|great|funny)",
    "very funny|haha|lol|let me (?:think|see)|one (?:moment|second)|just a (?:moment|second|minute)|wait|hold on",
    "go on|come on|tell me more|(?:could|can) you repeat that|say that again|yes|yeah|yep|no|nope|maybe|perhaps",
    "well|ha|hm+|oh|ah|uh|um",
    # German
    "guten (?:morgen|tag|abend)|gute nacht|hallo|tschüss|auf wiedersehen|bis (?:bald|später|morgen)",
    "wie geht es (?:dir|ihnen)|wie geht's(?: dir)?|vielen dank|danke(?: schön| sehr)?|bitte(?: schön| sehr)?",
    "gern geschehen|kein problem|genau|ja|nein",
    # French
    "bonjour|bonsoir|bonne (?:nuit|journée|soirée)|salut|au revoir|à (?:bientôt|demain|plus tard)",
    "merci(?: beaucoup| bien)?|comment (?:ça va|vas-tu|allez-vous)|ça va(?: bien)?|de rien|s'il (?:te|vous) plaît",
    "d'accord|pardon|oui|non|désolée?",
    # Spanish
    "buen(?:os|as) (?:días|tardes|noches)|hola|adiós|hasta (?:luego|mañana|pronto)|(?:muchas )?gracias|de nada",
    "por favor|cómo (?:estás|está)|qué tal|claro(?: que sí)?|vale|perdón|lo siento|sí",
    # Italian and Portuguese
    "buon(?:giorno|asera|anotte)|ciao|arrivederci|a (?:presto|domani)|grazie(?: mille)?|prego|per favore",
    "come (?:stai|va)|bom dia|boa (?:tarde|noite)|olá|tchau|até (?:logo|amanhã|breve)|(?:muito )?obrigad[oa]",
    "de nada|tudo bem|desculpe",
)


@cache
def _courtesies() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(_PHRASES)})(?!\w)")


def asks_nothing(text: str) -> bool:
    """Whether it holds courtesies, and beside them no word that tells anything."""
    if len(text) > LONGEST:
        return False
    plain = text.casefold().replace("\u2019", "'")
    bare, courtesies = _courtesies().subn(" ", plain)
    # The whole text tells its language; what is left of it may be a function word of that.
    return courtesies > 0 and set(content_words(plain)).isdisjoint(content_words(bare))
