"""Which changes of a record stand, and which can be taken back. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from simuverse.errors import UsageError
from simuverse.memory.audit import Change


def taken_back(changes: Sequence[Change]) -> set[int]:
    """Numbers of the changes that an undo took back and that weren't brought back since.

    Args:
        changes: of one owner, oldest first.
    """
    gone: set[int] = set()
    by_number = {change.number: change for change in changes}
    for change in changes:
        if change.kind == "undo" and change.state == "done" and change.undoes is not None:
            gone.add(change.undoes)
            undone = by_number.get(change.undoes)
            while undone is not None and undone.undoes is not None:
                # To undo an undo brings back what that took back; to undo this again takes it back again.
                gone ^= {undone.undoes}
                undone = by_number.get(undone.undoes)
    return gone


def standing(changes: Sequence[Change], number: int | None) -> Change:
    """The change to take back: the one of that number, or the latest that stands and is no undo.

    Raises:
        UsageError: there is none, or it can't be taken back; the message says why.
    """
    gone = taken_back(changes)
    if number is None:
        for change in reversed(changes):
            if (
                change.state == "done"
                and change.kind not in ("undo", "erase", "delete")
                and not change.redacted
                and change.number not in gone
            ):
                return change
        raise UsageError("there is no change to undo")
    found = next((change for change in changes if change.number == number), None)
    if found is None:
        raise UsageError(f"there is no change {number}. `history` shows them")
    if found.kind in ("erase", "delete"):
        raise UsageError(f"change {number} erased for good; that can't be undone")
    if found.redacted:
        raise UsageError(f"change {number} can't be undone: a memory that it touched was erased since")
    if found.state != "done":
        raise UsageError(f"change {number} was never made, so there is nothing to undo")
    if number in gone:
        raise UsageError(f"change {number} was undone already")
    return found


def later_changes(changes: Sequence[Change], change: Change) -> list[int]:
    """Numbers of the later changes of the same memories that stand: they are undone first.

    Even where the memories happen to be as ``change`` left them, as after an anchor set, taken and set again.
    """
    gone = taken_back(changes)
    return [
        later.number
        for later in changes
        if later.number > change.number
        and later.state == "done"
        and later.kind not in ("undo", "erase", "delete")
        and not later.redacted
        and later.number not in gone
        and not later.touched.isdisjoint(change.touched)
    ]
