"""The second mind: brings memories back before a turn and writes them down after it.

Each half has two modes. *Deliberate*: a model writes the queries, and the memory, as XML. *Reflex*: rules do, with no
call at all. What goes wrong here never costs the character its turn: it is in the result, and the turn goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from simuverse import prompts
from simuverse.agents import reflex
from simuverse.agents.aftermath import seen_to
from simuverse.agents.asking import ask
from simuverse.agents.chat import ChatModel, Purpose, conversation
from simuverse.agents.judging import Judged, judged_by_model
from simuverse.agents.noting import Noted, noted_by_model
from simuverse.agents.prompt_sentences import prompt_sentences
from simuverse.agents.reflex import Note
from simuverse.agents.trace import Mode, ModelCall, Recollection, Remembered
from simuverse.agents.turn import Observation, Persona, Utterance, encodable, turn_of
from simuverse.agents.unwritten import NOTHING_RECALLED, Exchange, Unwritten, UnwrittenLog
from simuverse.agents.xml import (
    parse_queries,
    render_exchange,
    render_persona,
    render_situation,
)
from simuverse.errors import EmbedderError, StoreError
from simuverse.memory.analysis import query_terms
from simuverse.memory.audit import AuditLog
from simuverse.memory.capacity import Capacity
from simuverse.memory.clock import Clock, zone_name
from simuverse.memory.embedding import Embedder
from simuverse.memory.intake import Intake, Taken
from simuverse.memory.judged import judged, to_judge
from simuverse.memory.ledger import Ledger
from simuverse.memory.outbox import backlog_of
from simuverse.memory.recall import Recalled, RecallSettings, recall
from simuverse.memory.records import Hit, Memory, MemoryQuery, Provenance, SearchType, Source, memory_id
from simuverse.memory.store import MemoryCollection, SearchRequest
from simuverse.memory.then import asks_about_then
from simuverse.memory.when_asked import in_time

TEMPERATURE = 0.1
"""Of the subconscious, whoever it belongs to: it extracts, it doesn't play a part."""

_PLACES = 32
"""Memories of one turn that are looked for before it is tried again: more than any turn leaves."""

__all__ = ["Exchange", "Retried", "SubconsciousAgent"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Retried:
    """An exchange that was tried again.

    Args:
        there: it was in the store already.
    """

    unwritten: Unwritten
    there: bool
    remembered: Remembered


class SubconsciousAgent:
    """One owner's memory at work.

    Args:
        collection: the owner's.
        model: writes queries and memories; None works by rule.
        persona: whose second mind this is, for the model's prompts; by default one with no more than the name.
        unwritten: where exchanges are kept until they are written down; by default in memory.
        audit: the record of what is changed in memories that are there already; by default in memory.
        ledger: where it is counted what becomes of flashbacks; by default in memory.
        capacity: memories to keep at most; 0: as many as there are.
        judge: whether a model, where there is one, judges what comes to mind in place of the gate: a second call
            before the turn.
    """

    def __init__(
        self,
        *,
        collection: MemoryCollection,
        embedder: Embedder,
        clock: Clock,
        model: ChatModel | None = None,
        persona: Persona | None = None,
        settings: RecallSettings | None = None,
        unwritten: UnwrittenLog | None = None,
        audit: AuditLog | None = None,
        ledger: Ledger | None = None,
        capacity: int = 0,
        judge: bool = False,
    ) -> None:
        self.owner = collection.owner
        self.embedder = embedder
        self.clock = clock
        self.model = model
        self.persona = persona or Persona(name=self.owner, description=f"I am {self.owner}.")
        self.settings = settings or RecallSettings()
        self.unwritten = unwritten or UnwrittenLog()
        self.audit = audit or AuditLog.beside(None)
        self.ledger = ledger or Ledger()
        self.capacity = capacity
        self.judge = judge
        self._zone = zone_name(self.settings.zone)
        self._intake = Intake(collection, embedder, clock, self.audit, prompts=prompt_sentences(self.persona))
        self._shown: deque[frozenset[UUID]] = deque(maxlen=max(self.settings.cool_down, 1))
        self._sighted: set[str] = set()
        self._asked = False
        self._delivered = backlog_of(collection).delivered
        self._opened = clock.now()
        self._texts = 0

    @property
    def collection(self) -> MemoryCollection:
        """What both halves work on."""
        return self._intake.collection

    @collection.setter
    def collection(self, collection: MemoryCollection) -> None:
        self._intake.collection = collection

    @property
    def mode(self) -> Mode:
        return "reflex" if self.model is None else "deliberate"

    async def recollect(
        self, situation: Observation | str, *, said_by: str = "someone", stateful: bool = True
    ) -> Recollection:
        """What comes to mind.

        Args:
            situation: an observation, or a message from ``said_by`` that is about to be answered.
            stateful: whether being recalled counts as an access. An interview leaves no mark.
        """
        observation = (
            self._heard(situation, said_by=said_by, to=self.owner) if isinstance(situation, str) else situation
        )
        queries, calls, problems = await self._queries(observation)
        queries = tuple(_of_then(query, observation) for query in queries)
        queries = tuple(
            in_time(query, now=observation.time, zone=self.settings.zone, owner=self.owner) for query in queries
        )
        recalled = Recalled()
        try:
            if queries and self.judge and self.model is not None:
                found = await self._recall(queries, observation, to_judge(self.settings))
                judgement = await self._judgement(found, observation, self.model)
                calls, problems = (*calls, *judgement.calls), [*problems, *judgement.problems]
                if judgement.belonging is not None:
                    recalled = judged(found, judgement.belonging, self.settings)
                else:
                    recalled = await self._recall(queries, observation, self.settings)
            elif queries:
                recalled = await self._recall(queries, observation, self.settings)
        except (StoreError, EmbedderError) as error:
            problems.append(f"nothing could be recalled: {error}")
        ids = [flashback.memory.id for flashback in recalled.flashbacks]
        if stateful:
            self._shown.append(frozenset((*ids, *(flashback.memory.group for flashback in recalled.flashbacks))))
        if stateful and ids:
            try:
                await self.collection.touch(ids, observation.time)
            except StoreError as error:
                problems.append(f"what came to mind could not be marked as recalled: {error}")
        return Recollection(
            mode=self.mode,
            queries=queries,
            flashbacks=recalled.flashbacks,
            candidates=recalled.candidates,
            considered=recalled.considered,
            zone=self._zone,
            calls=calls,
            problems=tuple(problems),
        )

    async def remember(
        self,
        what: Exchange | str,
        *,
        said_by: str | None = None,
        to: str | None = None,
        source: Source = Source.OBSERVED,
        recollection: Recollection | None = None,
    ) -> Remembered:
        """Writes down what is worth it, or nothing.

        Args:
            what: a turn, or a text.
            said_by: who said the text, to the owner unless ``to`` names someone else.
            source: where an unsaid text comes from.
            recollection: what had come to mind before the text, so that it isn't stored again.
        """
        if isinstance(what, Exchange):
            return await self._remember(what, unsaid=None)
        what = encodable(what)
        exchange = Exchange(
            observation=self._heard(what, said_by=said_by, to=to or self.owner),
            recollection=recollection or NOTHING_RECALLED,
        )
        if said_by is not None:
            return await self._remember(exchange, unsaid=None)
        provenance = Provenance(source=source, turn=exchange.observation.turn)
        return await self._remember(exchange, unsaid=Note(draft=reflex.statement(what), provenance=provenance))

    async def retry(self) -> tuple[Retried, ...]:
        """Tries to write down every exchange that isn't yet, oldest first, each as if it were then.

        Its memories get the ids, time and source that they would have had. One that is in the store already, as the
        process ended just then, is left as it is.

        Raises:
            StoreError: what is kept can't be read.
        """
        tried: list[Retried] = []
        for one in await self.unwritten.all(self.owner):
            there = await self.collection.get([memory_id(one.owner, one.turn, place) for place in range(_PLACES)])
            if there:
                await self.unwritten.drop(one.first)
            remembered = Remembered(mode=self.mode) if there else await self._write_down(one)
            tried.append(Retried(unwritten=one, there=bool(there), remembered=remembered))
        return tuple(tried)

    async def search(self, query: MemoryQuery, *, limit: int = 10) -> list[Hit]:
        """What a query finds, best first, for people: nothing is weighed, gated or marked as accessed.

        Raises:
            StoreError, EmbedderError: it couldn't be searched.
        """
        vector = None
        if query.search_type is not SearchType.KEYWORD:
            vector = (await self.embedder.embed([query.semantic_text], kind="query"))[0]
        return await self.collection.search(
            SearchRequest(
                search_type=query.search_type,
                terms=query_terms(query.keyword_text),
                vector=vector,
                filter=query.filter,
                limit=limit,
            )
        )

    async def _recall(
        self, queries: Sequence[MemoryQuery], observation: Observation, settings: RecallSettings
    ) -> Recalled:
        return await recall(
            queries,
            collection=self.collection,
            embedder=self.embedder,
            now=observation.time,
            settings=settings,
            shown=self._recently_shown(),
        )

    async def _judgement(self, found: Recalled, observation: Observation, model: ChatModel) -> Judged:
        if not found.flashbacks:
            return Judged(belonging=frozenset())
        return await judged_by_model(
            found.flashbacks,
            observation,
            model=model,
            persona=self.persona,
            zone=self.settings.zone,
            temperature=TEMPERATURE,
        )

    async def _queries(
        self, observation: Observation
    ) -> tuple[tuple[MemoryQuery, ...], tuple[ModelCall, ...], list[str]]:
        if self.model is None:
            return reflex.queries(observation), (), []
        asked = await ask(
            self.model,
            lambda text, _attempt: parse_queries(text),
            purpose=Purpose.QUERIES,
            messages=conversation(
                prompts.fill("queries", persona=render_persona(self.persona)),
                prompts.fill("queries_input", situation=render_situation(observation, self.settings.zone)),
            ),
            temperature=TEMPERATURE,
            seed=observation.seed,
            agent=self.owner,
        )
        if asked.value is not None:
            return asked.value.queries, asked.calls, list(asked.value.notes)
        return (
            reflex.queries(observation),
            asked.calls,
            [f"the observation itself was the query, as no usable one was written: {asked.problem}"],
        )

    async def _remember(self, exchange: Exchange, *, unsaid: Note | None) -> Remembered:
        sights = self._new_sights(exchange.observation)
        one = Unwritten(
            owner=self.owner,
            persona=self.persona,
            exchange=exchange,
            unsaid=unsaid,
            sights=tuple(sights),
            asked=self._asked,
        )
        if self.model is None and unsaid is None:
            self._asked = _ends_in_question(exchange, before=self._asked)
        remembered = await self._write_down(one)
        if not remembered.failed:
            self._sighted.update(sights)
        return await self._seen_to(self._with_backlog(remembered), exchange)

    async def _seen_to(self, remembered: Remembered, exchange: Exchange) -> Remembered:
        bound: Capacity | None = None
        if self.capacity:
            bound = Capacity(
                self.capacity,
                collection=self.collection,
                embedder=self.embedder,
                clock=self.clock,
                audit=self.audit,
            )
        return await seen_to(remembered, exchange, owner=self.owner, ledger=self.ledger, capacity=bound)

    def _with_backlog(self, remembered: Remembered) -> Remembered:
        """And with what waits for the store, and what has gone out since the turn before."""
        backlog = backlog_of(self.collection)
        delivered, self._delivered = backlog.delivered - self._delivered, backlog.delivered
        problems = (*remembered.problems, *filter(None, (backlog.sentence,)))
        return replace(remembered, waiting=backlog.waiting, delivered=delivered, problems=problems)

    async def _write_down(self, one: Unwritten) -> Remembered:
        """Keeps the exchange, stores what is worth it, and lets go of the exchange; what fails leaves it kept."""
        exchange, observation = one.exchange, one.exchange.observation
        problems: list[str] = []
        by_rule = None if self.model is not None else self._noted_by_rule(one)
        if by_rule is None or by_rule:
            await self._keep(one, problems)
        noted = await self._noted_by_model(one) if by_rule is None else Noted(notes=by_rule)
        problems += noted.problems
        notes = noted.notes or ()
        failed = noted.notes is None
        taken = Taken()
        try:
            shown = [flashback.memory for flashback in exchange.recollection]
            taken = await self._intake.take(self._drafts(notes, observation), shown=shown)
        except (StoreError, EmbedderError) as error:
            problems.append(f"{len(notes)} memories could not be stored: {error}")
            failed = True
        if failed:
            await self._keep(replace(one, problem=problems[-1]), problems)
        elif by_rule is None or by_rule:
            await self._let_go(one, problems)
        return Remembered(
            mode=self.mode,
            written=taken.written,
            refused=(*noted.refused, *taken.refused),
            merged=taken.merged,
            past=taken.past,
            failed=failed,
            raw=self._raw(exchange) if failed else "",
            calls=noted.calls,
            problems=tuple(problems),
        )

    def _noted_by_rule(self, one: Unwritten) -> Sequence[Note]:
        if one.unsaid is not None:
            return (one.unsaid,)
        exchange = one.exchange
        return reflex.notes(
            self.owner, exchange.observation, exchange.call, exchange.outcome, sights=one.sights, asked=one.asked
        )

    async def _noted_by_model(self, one: Unwritten) -> Noted:
        assert self.model is not None
        return await noted_by_model(
            one,
            model=self.model,
            collection=self.collection,
            exchange=self._raw(one.exchange),
            zone=self.settings.zone,
            temperature=TEMPERATURE,
        )

    async def _keep(self, one: Unwritten, problems: list[str]) -> None:
        """Where that fails, there is the record of the turn."""
        try:
            await self.unwritten.keep(one)
        except StoreError as error:
            problems.append(f"what happened could not be kept for another try: {error}")

    async def _let_go(self, one: Unwritten, problems: list[str]) -> None:
        try:
            await self.unwritten.drop(one.first)
        except StoreError as error:
            problems.append(f"what is written down is still kept for another try: {error}")

    def _drafts(self, notes: Sequence[Note], observation: Observation) -> list[Memory]:
        return [
            Memory.from_draft(
                note.draft,
                id=memory_id(self.owner, observation.turn, ordinal),
                owner=self.owner,
                at=observation.time,
                provenance=note.provenance,
                location=observation.location,
                episode=observation.episode,
                position=observation.position,
                evidence=note.evidence,
            )
            for ordinal, note in enumerate(notes)
        ]

    def _raw(self, exchange: Exchange) -> str:
        return render_exchange(exchange.observation, exchange.call, exchange.outcome, self.owner, self.settings.zone)

    def _recently_shown(self) -> frozenset[UUID]:
        return frozenset[UUID]().union(*self._shown) if self.settings.cool_down else frozenset()

    def _new_sights(self, observation: Observation) -> list[str]:
        """The nearest thing noticed that is new, or has changed, since this mind was opened."""
        return [sight for sight in observation.noticed if sight not in self._sighted][:1]

    def _heard(self, text: str, *, said_by: str | None, to: str) -> Observation:
        """A text as an observation of its own, with a turn id that no other text of this owner has."""
        now = self.clock.now()
        self._texts += 1
        turn = turn_of(text, at=now, number=self._texts)
        spoken = () if said_by is None else (Utterance(id=f"{turn}/heard", speaker=said_by, text=text, to=to),)
        return Observation(
            turn=turn,
            time=now,
            heard=spoken,
            seen=() if spoken else (text,),
            episode=self._opened.isoformat(),
            position=self._texts,
        )


def _of_then(query: MemoryQuery, observation: Observation) -> MemoryQuery:
    """Among what is past too, where it, or what it was made of, asks how things were."""
    asked = (query.text, *(utterance.text for utterance in observation.heard[-1:]))
    if not any(map(asks_about_then, asked)):
        return query
    return replace(query, filter=replace(query.filter, include_superseded=True))


def _ends_in_question(exchange: Exchange, *, before: bool) -> bool:
    """Whether the last thing said by the end of it was a question; ``before``: by its beginning."""
    said = exchange.outcome.said if exchange.outcome is not None else None
    spoken = (*exchange.observation.heard, *filter(None, (said,)))
    return reflex.is_question(spoken[-1].text) if spoken else before
