"""Changes to one owner's memories that someone asks for, each written down and each but one to be taken back.

::

    editor = MemoryEditor(mind.collection, mind.embedder, mind.clock, AuditLog.beside(Path("jade.db")))
    change = await editor.forget([memory.id], why="said in jest")
    await editor.undo(change.number)

A change is written into the record first, then made, then settled. What a crash leaves half done is finished, or found
never to have begun, before the next change or look into the history; until then a memory may be there twice, and none
is missing. Erasing alone can't be taken back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol
from uuid import UUID

from simuverse.errors import CheckFailed, SimuverseError, UsageError
from simuverse.memory.audit import Actor, AuditLog, Change, Kind
from simuverse.memory.changing import RecordedChanges, accessed_as, by_id, same, write_anew
from simuverse.memory.clock import Clock
from simuverse.memory.dependents import EVIDENCE_ERASED, Doomed, doomed
from simuverse.memory.embedding import Embedder
from simuverse.memory.erasing import Eraser, tells, wordings
from simuverse.memory.history import later_changes, standing
from simuverse.memory.merging import merged
from simuverse.memory.records import Category, Memory, MemoryFilter
from simuverse.memory.rewording import rewritten
from simuverse.memory.store import MemoryCollection

EVER = MemoryFilter(include_superseded=True, include_forgotten=True)


class Copies(Protocol):
    """A place beside the store that may hold the words of memories, such as the record of a run."""

    async def erase(self, memories: Sequence[Memory]) -> None:
        """Takes them out, in every version given.

        Raises:
            SimuverseError: it can't; what is there may be changed in part, but the memories must stay where they are.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Erased:
    """What an erasure did.

    Args:
        texts: the erased words, to look for them elsewhere.
        restating: memories of the same owner that say them too: nothing tells that they rest on what was erased.
        bereft: memories that rested on an erased one too, and lost that evidence.
    """

    change: Change
    texts: tuple[str, ...]
    restating: tuple[Memory, ...]
    bereft: tuple[Memory, ...]


class MemoryEditor:
    """Changes the memories of one owner.

    All methods raise :class:`UsageError` for what makes no sense, an anchored memory among it, and then nothing is
    changed; :class:`StoreError` and :class:`EmbedderError` where the change could not be made.

    Args:
        by: who changes. Only an operator sets and takes anchors, erases, and undoes what an operator did.
        name: which one, for the record.
        copies: places that an erasure clears too.
    """

    def __init__(
        self,
        collection: MemoryCollection,
        embedder: Embedder,
        clock: Clock,
        audit: AuditLog,
        *,
        by: Actor = "operator",
        name: str = "",
        copies: Sequence[Copies] = (),
    ) -> None:
        self.collection = collection
        self.audit = audit
        self._clock = clock
        self._by: Actor = by
        self._name = name
        self._copies = copies
        self._changes = RecordedChanges(collection, embedder, clock, audit, by=by, name=name)

    async def forget(self, ids: Sequence[UUID], *, why: str = "") -> Change:
        """Hides them from every search; they are kept, and can be brought back by :meth:`undo`."""
        async with self._changing():
            before = [memory for memory in await self._free(ids, "forgotten") if memory.forgotten_at is None]
            if not before:
                raise UsageError("nothing to forget: these memories are forgotten already")
            now = self._clock.now()
            return await self._changes.make(
                "forget", [m.id for m in before], before, [m.forgotten(at=now) for m in before], why
            )

    async def rewrite(
        self,
        id: UUID,
        summary: str | None = None,
        *,
        keywords: Sequence[str] | None = None,
        critical_information: str | None = None,
        importance: int | None = None,
        category: Category | None = None,
        why: str = "",
    ) -> Change:
        """Another wording, or other particulars, of one memory; its source stays, and a flag says who edited it.

        The old wording is found no more. So with a new summary, unless they are given, only those keywords stay that
        are in it, and critical information only if all of it is.
        """
        async with self._changing():
            [old] = await self._free([id], "rewritten")
            new = rewritten(
                old,
                summary,
                keywords=keywords,
                critical_information=critical_information,
                importance=importance,
                category=category,
                by=self._by,
            )
            return await self._changes.make("rewrite", [id], [old], [new], why)

    async def merge(self, ids: Sequence[UUID], *, summary: str | None = None, why: str = "") -> Change:
        """One memory in place of several, as :func:`simuverse.memory.merging.merged` makes it.

        The several stay as its evidence, superseded by it.
        """
        async with self._changing():
            before = await self._free(list(dict.fromkeys(ids)), "merged")
            if len(before) < 2:
                raise UsageError("a merge needs two memories or more")
            _require_current(before, "merged")
            if summary is not None and not summary.strip():
                raise UsageError("the merged memory's wording is blank")
            one = merged(before, summary=summary and summary.strip(), by=self._by)
            now = self._clock.now()
            past = [memory.superseded(by=one.id, at=now) for memory in before]
            return await self._changes.make("merge", [one.id], before, [one, *past], why)

    async def supersede(self, old: UUID, *, by: UUID, why: str = "") -> Change:
        """A fact that changed: the old memory is kept as past, and ``by`` is what holds now."""
        async with self._changing():
            if old == by:
                raise UsageError(f"memory {old} can't supersede itself")
            past, present = await self._free([old, by], "superseded")
            _require_current([past, present], "superseded")
            if present.supersedes is not None:
                raise UsageError(f"memory {by} supersedes {present.supersedes} already")
            after = [past.superseded(by=by, at=self._clock.now()), replace(present, supersedes=old)]
            return await self._changes.make("supersede", [old, by], [past, present], after, why)

    async def separate(self, ids: Sequence[UUID], *, why: str = "") -> Change:
        """They restate nothing: each is recalled and counted by itself, and rests on none of its group any more."""
        async with self._changing():
            before = [memory for memory in await self._free(ids, "separated") if memory.restates is not None]
            if not before:
                raise UsageError("nothing to separate: these memories aren't linked to what they may restate")
            after = [await self._by_itself(memory) for memory in before]
            return await self._changes.make("separate", [memory.id for memory in before], before, after, why)

    async def anchor(self, ids: Sequence[UUID], *, why: str = "") -> Change:
        """Holds them: they never fade and are never merged, evicted or rewritten."""
        return await self._set_anchor(ids, True, why)

    async def unanchor(self, ids: Sequence[UUID], *, why: str = "") -> Change:
        return await self._set_anchor(ids, False, why)

    async def undo(self, number: int | None = None, *, why: str = "") -> Change:
        """Takes a change back: all that it touched is as it was, times of access excepted.

        Args:
            number: of the change; by default the latest that stands. An undo can be undone too, by its number.
        """
        async with self._changing():
            changes = await self.audit.changes(self.collection.owner)
            change = standing(changes, number)
            if change.by == "operator" != self._by:
                raise UsageError(f"change {change.number} is an operator's; only an operator undoes it")
            later = later_changes(changes, change)
            if later:
                raise UsageError(
                    f"change {change.number} can't be undone before change {later[-1]}, which is about the same "
                    f"memories: undo change {later[-1]} first"
                )
            current = by_id(await self.collection.get(sorted(change.touched)))
            after = by_id(change.after)
            for one in sorted(change.touched):
                if not same(current.get(one), after.get(one)):
                    raise UsageError(
                        f"change {change.number} can't be undone: memory {one} was changed since without a record"
                    )
            made = after.keys() - {memory.id for memory in change.before}
            if made:
                await self._require_unused(made, current.keys())
            restored = [accessed_as(memory, current.get(memory.id)) for memory in change.before]
            return await self._changes.make(
                "undo", change.ids, list(current.values()), restored, why, undoes=change.number
            )

    async def erase(self, ids: Sequence[UUID], *, why: str = "") -> Erased:
        """Removes memories for good, from the store, the record of changes and the copies.

        What rests on them alone goes along, and so does what they were merged into: then the others of that merge are
        current again. What rests on others too loses this evidence, and is flagged.

        Raises:
            CheckFailed: the store says that it is done, and still has one.
        """
        if self._by != "operator":
            raise UsageError("only an operator erases for good; `forget` hides")
        async with self._changing():
            await self._free(ids, "erased")
            going = await self._doomed(ids)
            self._require_free(going.gone.values(), "erased")
            along = tuple(sorted(going.gone.keys() - set(ids)))
            texts = wordings(await self._versions(going.gone))
            change = await self.audit.intend(
                Change(
                    owner=self.collection.owner,
                    kind="erase",
                    by=self._by,
                    name=self._name,
                    at=self._clock.now(),
                    why="" if _says(why, texts) else why,
                    ids=tuple(dict.fromkeys(ids)),
                    along=along,
                )
            )
            try:
                await self._erase_copies(going)
            except SimuverseError:
                await self.audit.settle(change, "abandoned")
                raise
            await self._erase_kept(going)
            change = await self.audit.settle(change, "done")
            eraser = Eraser([], texts=texts)
            restating = tuple(memory for memory in going.others if eraser.finds(memory))
            return Erased(change=change, texts=texts, restating=restating, bereft=going.bereft)

    async def history(self, id: UUID | None = None) -> list[Change]:
        """Every change of this owner's memories, or of one memory, oldest first."""
        changes = await self.audit.changes(self.collection.owner)
        if any(change.state == "pending" for change in changes):
            async with self._changing():
                changes = await self.audit.changes(self.collection.owner)
        return [change for change in changes if id is None or id in change.touched]

    # --- what all changes share -------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _changing(self) -> AsyncGenerator[None]:
        """One change at a time, and none on top of one that was cut short."""
        async with self.audit.held():
            for change in await self.audit.changes(self.collection.owner):
                if change.state == "pending":
                    await self._recover(change)
            yield

    async def _recover(self, change: Change) -> None:
        """Finishes a change that was cut short once any of it was made; else notes that it never began."""
        if change.kind == "erase":
            going = await self._doomed(change.ids)
            await self._erase_copies(going)
            bereft = [memory.id for memory in (*going.changed, *going.others) if EVIDENCE_ERASED in memory.flags]
            await write_anew(self.collection, {*going.gone, *bereft})
            await self._erase_kept(going)
            await self.audit.settle(change, "done")
            return
        if change.kind == "delete":
            there = await self.collection.count(filter=EVER)
            await self.audit.settle(change, "abandoned" if there else "done")
            return
        await self._changes.finish(change)

    async def _set_anchor(self, ids: Sequence[UUID], anchored: bool, why: str) -> Change:
        async with self._changing():
            before = [memory for memory in await self._existing(ids) if memory.anchored != anchored]
            if not before:
                raise UsageError(f"these memories are {'anchored already' if anchored else 'not anchored'}")
            after = [replace(memory, anchored=anchored) for memory in before]
            kind: Kind = "anchor" if anchored else "unanchor"
            return await self._changes.make(kind, [memory.id for memory in before], before, after, why)

    async def _by_itself(self, memory: Memory) -> Memory:
        restated = {one.id for one in await self.collection.get(memory.evidence) if one.group == memory.group}
        evidence = tuple(one for one in memory.evidence if one not in restated)
        return replace(memory, restates=None, evidence=evidence)

    # --- what may be changed ----------------------------------------------------------------------------------------

    async def _existing(self, ids: Sequence[UUID]) -> list[Memory]:
        found = by_id(await self.collection.get(ids))
        for wanted in ids:
            if wanted not in found:
                raise UsageError(f"{self.collection.owner} has no memory {wanted}. `list` shows the ids")
        return list(found.values())

    async def _free(self, ids: Sequence[UUID], done: str) -> list[Memory]:
        """Those that exist; none of them is anchored."""
        found = await self._existing(ids)
        self._require_free(found, done)
        return found

    def _require_free(self, memories: Collection[Memory], done: str) -> None:
        for memory in memories:
            if memory.anchored:
                raise UsageError(
                    f"memory {memory.id} is anchored, so it isn't {done}. An operator takes the anchor away first: "
                    f"unanchor {memory.id}"
                )

    async def _require_unused(self, made: Collection[UUID], touched: Collection[UUID]) -> None:
        """Nothing else rests on what an undo would remove."""
        async for entry in self.collection.scan():
            memory = entry.memory
            links = {*memory.evidence, memory.supersedes, memory.superseded_by, memory.restates}
            if memory.id not in touched and links & set(made):
                raise UsageError(
                    f"memory {memory.id} rests on {min(made)}, which this undo would remove; erase it first"
                )

    # --- erasing ----------------------------------------------------------------------------------------------------

    async def _doomed(self, ids: Sequence[UUID]) -> Doomed:
        return doomed([entry.memory async for entry in self.collection.scan()], ids)

    async def _versions(self, gone: Mapping[UUID, Memory]) -> list[Memory]:
        """As they are and as they ever were."""
        changes = await self.audit.changes(self.collection.owner)
        recorded = [memory for change in changes for memory in (*change.before, *change.after)]
        return [*gone.values(), *(memory for memory in recorded if memory.id in gone)]

    async def _erase_copies(self, going: Doomed) -> None:
        """While the words are still in the store, so that an erasure that is cut short can be done again."""
        versions = await self._versions(going.gone)
        if versions:
            for copy in self._copies:
                await copy.erase(versions)

    async def _erase_kept(self, going: Doomed) -> None:
        texts = wordings(await self._versions(going.gone))

        def concerned(change: Change) -> bool:
            memories = (*change.before, *change.after)
            return (
                not change.touched.isdisjoint(going.gone)
                or any(tells(memory, texts) or not going.gone.keys().isdisjoint(memory.evidence) for memory in memories)
                or _says(change.why, texts)
            )

        await self.audit.redact(lambda change: change.kind not in ("erase", "delete") and concerned(change))
        await self.collection.update(going.changed)
        await self.collection.erase(sorted(going.gone))
        left = await self.collection.get(sorted(going.gone))
        if left:
            raise CheckFailed(f"memory {left[0].id} is still there after its erasure; erase it again")


def _require_current(memories: Sequence[Memory], done: str) -> None:
    for memory in memories:
        if not memory.current:
            why = "forgotten" if memory.forgotten_at is not None else "past"
            raise UsageError(f"memory {memory.id} is {why}, so it can't be {done}")


def _says(text: str, texts: Collection[str]) -> bool:
    return any(one.casefold() in text.casefold() for one in texts)
