"""What becomes of a draft on its way into a store: refused, merged, put in another's place, linked, or just stored.

A draft that surely says no more than what came to mind this turn, or than the prompt, is refused. So is one's own
speech that says again what one knows, and what the same voice says twice within a day: that refreshes the memory there
is. Wordings of one thing by one voice are merged. A fact that changed takes the place of the old one, which is kept as
past. What is only likely a restatement is stored, and linked to what it seems to restate: a group, of which a recall
shows one. No model is asked, and whatever changes a memory that is there is in the record of changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from simuverse.errors import StoreError
from simuverse.memory.analysis import matched_share
from simuverse.memory.audit import AuditLog, Change
from simuverse.memory.changed_facts import replaced_by
from simuverse.memory.changing import RecordedChanges, same
from simuverse.memory.clock import Clock
from simuverse.memory.drafts import (
    EXEMPT,
    Known,
    in_part,
    is_deed,
    is_own,
    is_own_of_shown,
    is_the_draft_of_its_id,
    linked,
    may_take_in,
    on_another_day,
    refusal,
    requests_for,
    statement_to_compare,
)
from simuverse.memory.echoes import Echo, compared
from simuverse.memory.embedding import Embedder, Vectors
from simuverse.memory.graded_events import raised
from simuverse.memory.merging import absorbed
from simuverse.memory.records import Hit, Memory
from simuverse.memory.retelling import may_retell, tells_something_else
from simuverse.memory.statements import Statement, said, same_voice, speaker_of, statement_of
from simuverse.memory.store import Entry, MemoryCollection, Vector
from simuverse.memory.word_vectors import WordVectors

_PROMPT_NEAR = 0.5
"""Share of a draft's words that a sentence of a prompt must hold to be compared with it."""

_FEWEST = 3
"""Words that a text must have to be linked: "Way to go!" is said of anything."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_LEANING = re.compile(
    r"(?:and|but|so|because|then|he|she|it|they|this|that|these|those|his|her|its|their|there)\b", re.IGNORECASE
)
"""Begins a sentence that can't be understood without the one before it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """What became of some drafts.

    Args:
        written: stored, whole or in part.
        refused: why one wasn't, a sentence each.
        merged: memories that took one in, as they are since.
        past: memories that one took the place of, as they are since.
    """

    written: tuple[Memory, ...] = ()
    refused: tuple[str, ...] = ()
    merged: tuple[Memory, ...] = ()
    past: tuple[Memory, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Plan:
    """What is to be done for all drafts of a turn together."""

    adds: list[Entry] = field(default_factory=list[Entry])
    merges: list[tuple[Memory, Entry]] = field(default_factory=list[tuple[Memory, Entry]])
    replaced: list[tuple[Memory, Memory, str]] = field(default_factory=list[tuple[Memory, Memory, str]])
    refreshed: list[Memory] = field(default_factory=list[Memory])
    refused: list[str] = field(default_factory=list[str])


class Intake:
    """Takes one owner's drafts in.

    Args:
        prompts: sentences that are in the owner's prompts at all times, and so are no news.
    """

    def __init__(
        self,
        collection: MemoryCollection,
        embedder: Embedder,
        clock: Clock,
        audit: AuditLog,
        *,
        prompts: Sequence[str] = (),
    ) -> None:
        self.collection = collection
        self._embedder = embedder
        self._table = embedder if isinstance(embedder, WordVectors) else None
        self._audit = audit
        self._clock = clock
        self._prompts = tuple(said(sentence, by=collection.owner) for sentence in dict.fromkeys(prompts))
        self._prompt_vectors: dict[str, Vector] = {}

    async def take(self, drafts: Sequence[Memory], *, shown: Sequence[Memory] = ()) -> Taken:
        """Args:
            drafts: as they would be stored. One that is there already stays as it is there.
            shown: what came to mind in the same turn.

        Raises:
            StoreError, EmbedderError: they couldn't be stored, or only some of them; to try again does no harm.
        """
        wanted = {draft.id: draft for draft in drafts}
        there = {memory.id: memory for memory in await self._kept(wanted) if is_the_draft_of_its_id(memory, wanted)}
        new = [draft for draft in drafts if draft.id not in there]
        # A try that was cut short may have stored what takes another's place, and no more.
        compared_ = [*new, *(memory for memory in there.values() if memory.supersedes is None)]
        plan = _Plan()
        if compared_:
            vectors = await self._embedder.embed([memory.summary for memory in (*compared_, *shown)])
            known = self._known(shown, vectors[len(compared_) :])
            found = await self._nearest(compared_, vectors)
            for draft, vector, near in zip(compared_, vectors, found, strict=False):
                others = (*known, *near, *_pending(plan))
                if draft.id in there:
                    self._replaces(draft, statement_of(draft), [one for one in others if one.is_another(draft)], plan)
                else:
                    await self._decide(await raised(draft, vector, self._embedder), vector, others, plan)
        return await self._carry_out(plan, drafts, there)

    async def _kept(self, wanted: Mapping[UUID, Memory]) -> list[Memory]:
        """None while the store can't be read: adding then fails too, or waits and leaves as it is what is there."""
        try:
            return await self.collection.get([*wanted])
        except StoreError:
            return []

    # --- what is known ----------------------------------------------------------------------------------------------

    def _known(self, shown: Sequence[Memory], vectors: Vectors) -> list[Known]:
        return [
            Known(memory=memory, statement=statement_of(memory), vector=vector, shown=True)
            for memory, vector in zip(shown, vectors, strict=True)
        ]

    async def _nearest(self, drafts: Sequence[Memory], vectors: Vectors) -> list[list[Known]]:
        """Of the memories there are, past and hidden ones excepted, the nearest; for one's own words, also prompts.

        What others say happened, even where a prompt has it as its example.
        """
        requests = [requests_for(draft, vector) for draft, vector in zip(drafts, vectors, strict=False)]
        try:
            found = iter(await self.collection.search_all([request for some in requests for request in some]))
        except StoreError:
            # A memory that can wait until the store is back is rather kept without a look at others than lost.
            found = iter([list[Hit]() for some in requests for _ in some])
        near: list[list[Known]] = []
        for draft, some in zip(drafts, requests, strict=True):
            hits = {hit.memory.id: hit for _ in some for hit in next(found)}
            near.append(
                [
                    Known(memory=hit.memory, statement=statement_of(hit.memory), vector=None, cosine=hit.cosine)
                    for hit in hits.values()
                ]
            )
            if is_own(draft):
                near[-1] += await self._from_prompts(statement_of(draft))
        return near

    async def _from_prompts(self, draft: Statement) -> list[Known]:
        near = [one for one in self._prompts if matched_share(tuple(draft.stems), one.stems) >= _PROMPT_NEAR]
        missing = [one.text for one in near if one.text not in self._prompt_vectors]
        if missing:
            vectors = await self._embedder.embed(missing)
            self._prompt_vectors.update(zip(missing, vectors, strict=True))
        return [Known(memory=None, statement=one, vector=self._prompt_vectors[one.text], shown=True) for one in near]

    # --- deciding ---------------------------------------------------------------------------------------------------

    async def _decide(self, draft: Memory, vector: Vector, known: Sequence[Known], plan: _Plan) -> None:
        entry = Entry(memory=draft, vector=vector)
        if draft.provenance.source in EXEMPT or is_deed(draft):
            plan.adds.append(entry)
            return
        statement = statement_of(draft)
        compared_ = ((one, self._compared(draft, statement, vector, one)) for one in known)
        echoes = [(one, echo) for one, echo in compared_ if echo is not None]
        sure = [one for one, echo in echoes if echo.is_sure(of_own=is_own_of_shown(draft, one))]
        if self._told_again(entry, statement, sure, plan) or self._told_more(entry, statement, known, plan):
            return
        if self._replaces(draft, statement, known, plan):
            plan.adds.append(entry)
            return
        quotes = statement.speaker != speaker_of(draft)
        parts = [statement.text] if quotes else [part for part in _SENTENCE.split(statement.text) if part.strip()]
        if len(parts) > 1 and await self._kept_in_part(draft, parts, known, plan):
            return
        plan.adds.append(replace(entry, memory=self._linked(draft, statement, vector, known, echoes)))

    def _compared(self, draft: Memory, statement: Statement, vector: Vector, known: Known) -> Echo | None:
        if on_another_day(draft, statement, known):
            return None
        statement = statement_to_compare(draft, statement)
        return compared(statement, known.statement, cosine=known.cosine_to(vector), table=self._table)

    def _told_again(self, entry: Entry, statement: Statement, sure: Sequence[Known], plan: _Plan) -> bool:
        """Whether it is nothing but an echo, which is refused, or refreshes what the same voice has told."""
        draft = entry.memory
        for one in sure:
            if one.memory is not None and may_take_in(one, draft):
                plan.merges.append((one.memory, entry))
                if one.shown:
                    plan.refused.append(refusal(draft, one))
                return True
        of_themselves = statement.of_speaker and statement.speaker == speaker_of(draft)
        for one in sure:
            if is_own(draft) or (one.shown and not of_themselves):
                self._refuse(draft, one, plan)
                return True
        return False

    def _told_more(self, entry: Entry, statement: Statement, known: Sequence[Known], plan: _Plan) -> bool:
        """Whether it tells what the same voice has told, in more words, and nothing that must not be merged."""
        for one in known:
            if one.memory is None or one.shown or not may_take_in(one, entry.memory):
                continue
            back = compared(one.statement, statement, cosine=one.cosine_to(entry.vector), table=self._table)
            alike = (statement.particulars, statement.names) == (one.statement.particulars, one.statement.names)
            forth = self._compared(entry.memory, statement, entry.vector, one)
            if alike and back is not None and back.is_sure() and forth is not None and forth.is_likely():
                plan.merges.append((one.memory, entry))
                return True
        return False

    def _refuse(self, draft: Memory, known: Known, plan: _Plan) -> None:
        plan.refused.append(refusal(draft, known))
        if known.memory is not None:
            plan.refreshed.append(known.memory)

    def _replaces(self, draft: Memory, statement: Statement, known: Sequence[Known], plan: _Plan) -> bool:
        old = {
            one.memory.id: (one.memory, found.why)
            for one in known
            if one.memory is not None
            and one.memory.current
            and not one.memory.anchored
            and same_voice(draft, one.memory)
            and one.memory.created_at <= draft.created_at
            and (found := replaced_by(one.statement, statement)) is not None
        }
        plan.replaced += [(memory, draft, why) for memory, why in old.values()]
        return bool(old)

    async def _kept_in_part(self, draft: Memory, parts: Sequence[str], known: Sequence[Known], plan: _Plan) -> bool:
        """Whether some sentences of it are nothing but echoes, so that the others are a draft alone, or none."""
        if not any(one.shown or is_own(draft) for one in known):
            return False
        pieces = [in_part(draft, part) for part in parts]
        vectors = await self._embedder.embed([piece.summary for piece in pieces])
        # What was found is near to the whole draft, not to a part of it.
        known = [one for one in known if one.vector is not None]
        found = await self._nearest(pieces, vectors)
        by = speaker_of(draft)
        echoed = [
            self._echoed(draft, said(part, by=by), vector, (*known, *near))
            for part, vector, near in zip(parts, vectors, found, strict=True)
        ]
        sources = [one for one in echoed if one is not None]
        if not sources:
            return False
        if len(sources) == len(parts):
            self._refuse(draft, sources[0], plan)
            return True
        left = [part for part, one in zip(parts, echoed, strict=True) if one is None]
        if any(_LEANING.match(part) for part in left):
            return False
        only = in_part(draft, " ".join(left))
        vectors = await self._embedder.embed([only.summary])
        [near] = await self._nearest([only], vectors)
        await self._decide(only, vectors[0], (*known, *near), plan)
        return True

    def _echoed(self, draft: Memory, part: Statement, vector: Vector, known: Sequence[Known]) -> Known | None:
        for one in known:
            if not one.shown and (one.memory is None or not is_own(draft)):
                continue
            echo = self._compared(draft, part, vector, one)
            if echo is not None and echo.is_sure(of_own=is_own_of_shown(draft, one)):
                return one
        return None

    def _linked(
        self,
        draft: Memory,
        statement: Statement,
        vector: Vector,
        known: Sequence[Known],
        echoes: Sequence[tuple[Known, Echo]],
    ) -> Memory:
        """With a link to what it may restate, or tells more of; and no more important than that."""
        if len(statement.words) + len(statement.particulars) < _FEWEST:
            return draft
        likely = [
            (echo.score, one.memory)
            for one, echo in echoes
            if one.memory is not None
            and echo.is_likely(of_own=(of_own := is_own_of_shown(draft, one)))
            and not (of_own and self._table and tells_something_else(statement, one.statement, self._table))
        ]
        likely = likely or self._retold(draft, statement, vector, known)
        if likely:
            return linked(draft, max(likely, key=lambda each: (each[0], str(each[1].id)))[1])
        for one in known:
            if one.memory is None or not (one.shown or same_voice(draft, one.memory)):
                continue
            if one.statement.asks != statement.asks:
                continue  # an answer says more than its question, and is what is asked for
            back = compared(one.statement, statement, cosine=one.cosine_to(vector), table=self._table)
            if back is not None and back.is_sure():
                return linked(draft, one.memory, importance=False)
        return draft

    def _retold(
        self, draft: Memory, statement: Statement, vector: Vector, known: Sequence[Known]
    ) -> list[tuple[float, Memory]]:
        """What came to mind this turn and one may say in other words, with how near it is."""
        if self._table is None:
            return []
        own = statement_to_compare(draft, statement)
        return [
            (cosine, one.memory)
            for one in known
            if one.memory is not None and is_own_of_shown(draft, one) and not on_another_day(draft, statement, one)
            if may_retell(own, one.statement, cosine=(cosine := one.cosine_to(vector)), table=self._table)
        ]

    # --- doing ------------------------------------------------------------------------------------------------------

    async def _carry_out(self, plan: _Plan, drafts: Sequence[Memory], there: dict[UUID, Memory]) -> Taken:
        if plan.adds:
            await self.collection.add(plan.adds)
        now = self._clock.now()
        if plan.refreshed:
            await self.collection.touch([memory.id for memory in plan.refreshed], now)
        merged: dict[UUID, Memory] = {}
        past: list[Memory] = []
        written = there | {entry.memory.id: entry.memory for entry in plan.adds}
        if plan.merges or plan.replaced:
            async with self._audit.held():
                for memory, entry in plan.merges:
                    one = await self._merge(memory.id, entry)
                    (merged if one.id == memory.id else written)[one.id] = one
                for old, new, why in plan.replaced:
                    pair = await self._supersede(old.id, written[new.id], why)
                    if pair is not None:
                        past.append(pair[0])
                        written[pair[1].id] = pair[1]
        return Taken(
            written=tuple(written[draft.id] for draft in drafts if draft.id in written),
            refused=tuple(plan.refused),
            merged=tuple(merged.values()),
            past=tuple(past),
        )

    async def _merge(self, id: UUID, entry: Entry) -> Memory:
        """What took the draft in, or the draft itself where that is gone since it was found.

        An undo brings back the memory as it was, and the draft beside it.
        """
        memory = next(iter(await self.collection.get([id])), None)
        if memory is None or not memory.current or memory.anchored:
            await self.collection.add([entry])
            return entry.memory
        one = absorbed(memory, entry.memory)
        if same(one, memory):
            await self.collection.update([one])  # told again in the same words: that isn't a change on record
            return one
        change = await self._audit.intend(
            Change(
                owner=self.collection.owner,
                kind="merge",
                by="rules",
                at=self._clock.now(),
                why="the same was told again",
                ids=(id,),
                before=(memory, entry.memory),
                after=(one,),
            )
        )
        worded = one.summary != memory.summary
        await self.collection.update([Entry(memory=one, vector=entry.vector) if worded else one])
        await self._audit.settle(change, "done")
        return one

    async def _supersede(self, id: UUID, new: Memory, why: str) -> tuple[Memory, Memory] | None:
        """The old one and the new one as they are since; None where the old one is gone or past already."""
        old = next(iter(await self.collection.get([id])), None)
        if old is None or not old.current or old.anchored:
            return None
        past = old.superseded(by=new.id, at=new.created_at)
        present = replace(new, supersedes=old.id) if new.supersedes is None else new
        changes = RecordedChanges(self.collection, self._embedder, self._clock, self._audit, by="rules", name="")
        await changes.make("supersede", [old.id, new.id], [old, new], [past, present], why)
        return past, present


def _pending(plan: _Plan) -> Iterable[Known]:
    """What is to be stored of the same turn."""
    for entry in plan.adds:
        yield Known(memory=entry.memory, statement=statement_of(entry.memory), vector=entry.vector)
