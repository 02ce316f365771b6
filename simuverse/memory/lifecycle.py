"""The end of an owner's memories as a whole."""

from __future__ import annotations

from simuverse.errors import CheckFailed, UnknownAgent
from simuverse.memory.audit import Actor, AuditLog, Change
from simuverse.memory.clock import Clock
from simuverse.memory.store import MemoryStore


async def delete_owner(
    store: MemoryStore, owner: str, audit: AuditLog, clock: Clock, *, by: Actor = "operator", why: str = ""
) -> Change:
    """Erases an owner with all memories, anchored ones too, and their words from the record of changes.

    Raises:
        UnknownAgent: there is no such owner.
        CheckFailed: the store says that it is done, and the owner is still there.
    """
    async with audit.held():
        owners = await store.owners()
        if owner not in owners:
            raise UnknownAgent(
                f"there is no agent {owner} in {store.description}. Agents: {', '.join(owners) or 'none'}"
            )
        change = await audit.intend(Change(owner=owner, kind="delete", by=by, at=clock.now(), why=why, ids=()))
        await audit.redact(lambda one: one.owner == owner and one.kind not in ("erase", "delete"))
        await store.erase(owner)
        if owner in await store.owners():
            raise CheckFailed(f"{owner} is still in {store.description} after having been erased; delete it again")
        return await audit.settle(change, "done")
