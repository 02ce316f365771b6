"""One turn as the side panel shows it: what was perceived, what came to mind and why, what was done and written. Pure.

Everything in a card is read from the turn's trace, nothing is computed again: the page can't disagree with the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, tzinfo
from typing import Any

from simuverse.agents.chat import Purpose
from simuverse.agents.trace import ModelCall, Recollection, TurnTrace
from simuverse.agents.turn import Observation, Reflection, ToolCall
from simuverse.dashboard.wording import age, when, why_cut
from simuverse.memory.clock import local, time_zone
from simuverse.memory.records import Candidate, Factor, FoundBy, Memory, MemoryQuery, Relevance, Score, Source
from simuverse.report import conditions

Card = dict[str, Any]


def card(trace: TurnTrace) -> Card:
    """``trace`` as plain data for JSON."""
    now = now_of(trace)
    return {
        "agent": trace.agent,
        "tick": trace.tick,
        "turn": trace.observation.turn,
        "clock": when(now, now),
        "situation": _situation(trace.observation),
        "recollection": _recollection(trace),
        "decision": {
            "call": sentence_of(trace.decision.call),
            "reflection": _reflection(trace.decision.turn.reflection),
            "failed": trace.decision.failed,
            "problems": trace.decision.problems,
        },
        "outcome": {
            "ok": trace.outcome.ok,
            "code": trace.outcome.code,
            "sentence": trace.outcome.sentence,
            "said": None if trace.outcome.said is None else trace.outcome.said.text,
        },
        "remembered": {
            "mode": trace.remembered.mode,
            "written": [_memory(memory, now) for memory in trace.remembered.written],
            "merged": [_memory(memory, now) for memory in trace.remembered.merged],
            "past": [_memory(memory, now) for memory in trace.remembered.past],
            "refused": trace.remembered.refused,
            "problems": trace.remembered.problems,
            "failed": trace.remembered.failed,
            "kept_raw": trace.remembered.raw,
            "evicted": [memory.summary for memory in trace.remembered.evicted],
        },
        "calls": [_call(call, trace.recollection) for call in trace.calls],
        "milliseconds": {
            "recollect": trace.timings.recollect * 1000,
            "decide": trace.timings.decide * 1000,
            "act": trace.timings.act * 1000,
            "remember": trace.timings.remember * 1000,
        },
    }


def now_of(trace: TurnTrace) -> datetime:
    """When the turn was, by the clock that its times are shown by."""
    return local(trace.observation.time, time_zone(trace.recollection.zone))


def sentence_of(call: ToolCall) -> str:
    """A call in one line: ``move_to target=red_ball``."""
    return " ".join((call.tool, *(f"{name}={value}" for name, value in call.arguments.items())))


def acted_on(memory: Memory, call: ToolCall) -> bool:
    """Whether a deed names something that the memory is about: a sign, not a proof, that one led to the other.

    Talk doesn't count, as whom one talks to is in most memories; nor does what one did oneself: that told one nothing.
    """
    if call.tool == "say" or memory.provenance.source is Source.OWN_ACTION:
        return False
    text = " ".join((memory.summary, *memory.keywords, memory.critical_information)).casefold()
    return any(len(value) > 2 and value.casefold() in text for value in call.arguments.values())


def _situation(observation: Observation) -> Card:
    return {
        "location": observation.location,
        "heard": [{"speaker": u.speaker, "to": u.to, "text": u.text} for u in observation.heard],
        "seen": observation.seen,
        "carrying": observation.carrying,
        "answer": observation.answer,
        "intentions": list(observation.intentions),
    }


def _recollection(trace: TurnTrace) -> Card:
    recollection, now = trace.recollection, now_of(trace)
    by_id = {candidate.memory.id: candidate for candidate in recollection.candidates}
    highest = max((candidate.score.total for candidate in recollection.candidates), default=0.0)
    became = {one.memory: f"{one.fate} this time; {one.tally.describe()}" for one in trace.remembered.became}
    return {
        "mode": recollection.mode,
        "considered": recollection.considered,
        "queries": [
            _query(number, query, time_zone(recollection.zone))
            for number, query in enumerate(recollection.queries, start=1)
        ],
        "flashbacks": [
            {
                **_memory(flashback.memory, now),
                **_weighed(flashback.score, flashback.found_by, by_id.get(flashback.memory.id), highest),
                "rank": flashback.rank,
                "chain": _chain(flashback.memory, trace),
                "acted_on": acted_on(flashback.memory, trace.decision.call),
                "became": became.get(flashback.memory.id),
            }
            for flashback in recollection.flashbacks
        ],
        "runners_up": [
            {
                **_memory(candidate.memory, now),
                **_weighed(candidate.score, candidate.found_by, candidate, highest),
                "cut": candidate.cut,
                "missed_by": candidate.missed_by,
                "why": why_cut(candidate),
            }
            for candidate in recollection.runners_up
        ],
        "silence": _silence(recollection),
        "problems": recollection.problems,
    }


def _silence(recollection: Recollection) -> str | None:
    """Why nothing came back; None if something did."""
    if recollection.flashbacks:
        return None
    if recollection.mode == "off":
        return "Memory is switched off."
    if recollection.problems:
        return recollection.problems[0]
    best = next(iter(recollection.runners_up), None)
    if best is None:
        return "No memory was found." if recollection.queries else "There was nothing to ask about."
    return f"The nearest was “{best.memory.summary}” — {why_cut(best)}."


def _memory(memory: Memory, now: datetime) -> Card:
    return {
        "id": str(memory.id),
        "summary": memory.summary,
        "category": memory.category,
        "keywords": memory.keywords,
        "critical": memory.critical_information,
        "importance": memory.importance,
        "source": memory.provenance.describe(),
        "when": when(memory.created_at, now),
        "age": age(memory.created_at, now),
        "location": memory.location,
        "flags": memory.flags,
        "marks": _marks(memory, now),
    }


def _marks(memory: Memory, now: datetime) -> list[str]:
    """How it stands to others: whether it holds no more, replaced one, was told again, or may only say one again."""
    told = len(memory.provenance.messages)
    marks = {
        "anchored": memory.anchored,
        f"past since {when(memory.superseded_at, now)}" if memory.superseded_at else "past": not memory.current
        and memory.superseded_by is not None,
        "in place of an earlier one": memory.supersedes is not None,
        "may say again what is known": memory.restates is not None,
        f"told in {told} messages": told > 1,
    }
    return [mark for mark, holds in marks.items() if holds]


def _weighed(score: Score, found_by: Sequence[FoundBy], candidate: Candidate | None, highest: float) -> Card:
    factors = {"relevance": score.relevance, "importance": score.importance, "recency": score.recency}
    return {
        "score": {
            "preset": score.preset,
            "total": score.total,
            "highest": highest,
            "factors": [_factor(name, factor) for name, factor in factors.items()],
        },
        "found_by": [{**_figures(found), "query": found.query + 1} for found in found_by],
        "matched": None if candidate is None else candidate.matched,
        "signals": {} if candidate is None else _signals(candidate.relevance),
    }


def _factor(name: str, factor: Factor) -> Card:
    return {"name": name, "raw": factor.raw, "scaled": factor.scaled, "weight": factor.weight, "part": factor.part}


def _signals(relevance: Relevance) -> dict[str, float]:
    """What relevance is made of, without what had no part in it."""
    parts = {field.name: getattr(relevance, field.name) for field in fields(relevance)}
    return {name: part for name, part in parts.items() if part}


def _figures(value: FoundBy) -> Card:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _query(number: int, query: MemoryQuery, zone: tzinfo) -> Card:
    return {
        "number": number,
        "type": query.search_type,
        "text": query.text,
        "keywords": query.keywords,
        "conditions": list(conditions(query, zone)),
    }


def _chain(memory: Memory, trace: TurnTrace) -> list[dict[str, str]]:
    """From how it was learnt to what was done with it in mind, a link each.

    A seed was never written down in the run, so that link is missing.
    """
    now = now_of(trace)
    provenance = memory.provenance
    learnt = {
        Source.SAID_BY: f"told by {provenance.speaker}",
        Source.TOLD: f"overheard: {provenance.speaker} to {provenance.listener}",
        Source.SEED: "known from before",
    }.get(provenance.source, provenance.describe())
    written = {"link": "remembered", "text": "remembered", "when": age(memory.created_at, now)}
    return [
        {"link": "learnt", "text": learnt, "when": when(memory.created_at, now)},
        *([] if provenance.source is Source.SEED else [written]),
        {"link": "recalled", "text": "came back", "when": when(now, now)},
        {"link": "acted", "text": sentence_of(trace.decision.call), "when": "" if trace.outcome.ok else "refused"},
    ]


def _reflection(reflection: Reflection) -> dict[str, str]:
    return {f.name: getattr(reflection, f.name) for f in fields(reflection) if getattr(reflection, f.name)}


def _call(call: ModelCall, recollection: Recollection) -> Card:
    injected = recollection.as_xml() if call.purpose is Purpose.TURN and recollection.flashbacks else ""
    return {
        "purpose": call.purpose,
        "model": call.model,
        "attempt": call.attempt,
        "temperature": call.temperature,
        "messages": [{"role": message.role, "parts": _marked(message.text, injected)} for message in call.messages],
        "reply": call.reply,
        "problem": call.problem,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "calls": call.calls,
        "milliseconds": call.seconds * 1000,
    }


def _marked(text: str, injected: str) -> list[Card]:
    """``text`` in parts, those that flashbacks were put into a prompt as marked."""
    if not injected:
        return [{"text": text, "flashback": False}]
    parts: list[Card] = []
    for number, between in enumerate(text.split(injected)):
        if number:
            parts.append({"text": injected, "flashback": True})
        if between:
            parts.append({"text": between, "flashback": False})
    return parts
