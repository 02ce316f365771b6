"""The way into one owner's memories, for tests of what becomes of drafts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from simuverse.memory.audit import AuditLog
from simuverse.memory.clock import ManualClock
from simuverse.memory.editing import MemoryEditor
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.intake import Intake, Taken
from simuverse.memory.recall import Recalled, RecallSettings, recall
from simuverse.memory.records import Category, Memory, MemoryFilter, MemoryQuery, Provenance, Source, memory_id

NOON = datetime(2026, 3, 18, 12, tzinfo=UTC)
FERRY = "The ferry leaves the pier at half past four."


@dataclass
class Gate:
    """The way into one owner's memories, with what it takes to look at them afterwards."""

    intake: Intake
    embedder: WordLlamaEmbedder
    audit: AuditLog
    clock: ManualClock
    told: int = 0

    async def tell(
        self,
        text: str,
        *,
        by: str | None = "Mira",
        after: timedelta = timedelta(),
        shown: tuple[Memory, ...] = (),
        importance: int = 4,
        keywords: tuple[str, ...] = (),
    ) -> Taken:
        """Someone says it; ``Ada`` is the owner, None nobody."""
        self.told += 1
        self.clock.set(NOON + after)
        return await self.intake.take([self.draft(text, by, importance, keywords)], shown=shown)

    def draft(self, text: str, by: str | None, importance: int = 4, keywords: tuple[str, ...] = ()) -> Memory:
        messages = (f"m{self.told:03}",)
        if by is None:
            provenance = Provenance(source=Source.OBSERVED)
        elif by == "Ada":
            provenance = Provenance(source=Source.OWN_ACTION, messages=messages)
        else:
            provenance = Provenance(source=Source.SAID_BY, speaker=by, messages=messages)
        return Memory(
            id=memory_id("Ada", "told", self.told),
            owner="Ada",
            summary=text if by is None else f"{by}: {text}",
            category=Category.CONVERSATION,
            importance=importance,
            keywords=keywords,
            created_at=self.clock.now(),
            last_accessed_at=self.clock.now(),
            provenance=provenance,
        )

    async def current(self) -> list[str]:
        return sorted(memory.summary for memory in await self.intake.collection.recent(100))

    def editor(self) -> MemoryEditor:
        return MemoryEditor(self.intake.collection, self.embedder, self.clock, self.audit)


OPEN = RecallSettings(min_sure=-1, min_cosine=-1, runners_up=50)


async def ask(
    gate: Gate,
    question: str,
    *,
    filter: MemoryFilter | None = None,
    shown: tuple[UUID, ...] = (),
    settings: RecallSettings = OPEN,
) -> Recalled:
    query = MemoryQuery(text=question, filter=filter or MemoryFilter())
    return await recall(
        [query],
        collection=gate.intake.collection,
        embedder=gate.embedder,
        now=NOON + timedelta(days=40),
        settings=settings,
        shown=shown,
    )
