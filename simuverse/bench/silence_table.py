"""``simuverse bench silence`` as text for people. PURE."""

from __future__ import annotations

from simuverse.bench.recall import SHIPPED
from simuverse.bench.silence import SilenceBench


def silence_table(measured: SilenceBench) -> str:
    lines = [
        f"embedder {measured.embedder}; of 100: answers kept of those that come with the gate open; anything recalled",
        "for own questions, for those of other dialogues with this one's names, for messages about something else",
    ]
    for source in measured.sources:
        lines.append(f"\n{source.source}: {source.answered} answered of {source.own}; {source.foreign}; {source.far}")
        lines.append(f"how sure the answered are beside the foreign, area under the ROC curve: {source.area:.3f}")
        lines.append(f"{'sure from':>9} {'kept':>6} {'own':>6} {'foreign':>7} {'far':>6}")
        for one in source.curve:
            kept, own, foreign, far = (100 * share for share in (one.kept, one.own, one.foreign, one.far))
            shipped = "  shipped" if one.min_sure == SHIPPED.min_sure else ""
            lines.append(f"{one.min_sure:>9.2f} {kept:>6.1f} {own:>6.1f} {foreign:>7.1f} {far:>6.1f}{shipped}")
    return "\n".join(lines)
