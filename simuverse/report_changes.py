"""What was changed in memories, as text for people. PURE: the command line prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo

from simuverse.memory.audit import Change
from simuverse.memory.clock import shown_time
from simuverse.memory.editing import Erased
from simuverse.memory.history import taken_back
from simuverse.report import memory_line


def change(made: Change, zone: tzinfo = UTC) -> str:
    """What a change that was made just now was, and how it is undone."""
    return "\n".join(
        (f"change {made.number}: {made.kind}", *_before_and_after(made, zone), f"undo it with: undo {made.number}")
    )


def erased(done: Erased) -> str:
    lines = [f"change {done.change.number}: erased {_ids(done.change.ids)}"]
    if done.change.along:
        lines.append(f"and what rested on that alone or was made of it: {_ids(done.change.along)}")
    if done.bereft:
        lines.append(f"these lost a part of what they rested on, and are flagged: {_ids([m.id for m in done.bereft])}")
    return "\n".join(lines)


def history(changes: Sequence[Change], everything: Sequence[Change], zone: tzinfo = UTC) -> str:
    """Oldest first.

    Args:
        everything: all changes of the owner, to know what was undone.
    """
    gone = taken_back(everything)
    return "\n".join(line for one in changes for line in _lines(one, zone, undone=one.number in gone))


def _lines(one: Change, zone: tzinfo, *, undone: bool) -> Iterator[str]:
    who = f"{one.by} {one.name}".strip()
    undoes = f" of change {one.undoes}" if one.undoes is not None else ""
    marks = "".join(
        f", {mark}"
        for mark, set_ in (
            (one.state, one.state != "done"),
            ("undone since", undone),
            ("its words were erased", one.redacted),
        )
        if set_
    )
    why = f": {one.why}" if one.why else ""
    yield f"{one.number:>4}  {shown_time(one.at, zone)}  {who}  {one.kind}{undoes}{marks}{why}"
    if one.before or one.after:
        yield from _before_and_after(one, zone)
    elif one.ids:
        yield f"      {_ids([*one.ids, *one.along])}"


def _before_and_after(one: Change, zone: tzinfo) -> Iterator[str]:
    yield from (f"    - {memory_line(memory, zone)}" for memory in one.before)
    yield from (f"    + {memory_line(memory, zone)}" for memory in one.after)


def _ids(ids: Sequence[object]) -> str:
    return ", ".join(map(str, ids))
