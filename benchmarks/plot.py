"""Lines over measured points, as an SVG that a page on light or dark ground can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 120, 44, 52
_COLOURS = ("#2563eb", "#c2410c", "#15803d", "#7e22ce")


@dataclass(frozen=True, kw_only=True)
class Line:
    """Args: points: x and y, both above 0, in order of x."""

    name: str
    points: Sequence[tuple[float, float]]


def plot(title: str, lines: Sequence[Line], *, x: str, y: str, logarithmic: bool = True) -> str:
    """Args:
    logarithmic: both axes; otherwise both start at 0.
    """
    xs = [point[0] for line in lines for point in line.points]
    ys = [point[1] for line in lines for point in line.points]
    across = _Axis(xs, _LEFT, _WIDTH - _RIGHT, logarithmic=logarithmic)
    up = _Axis(ys, _HEIGHT - _BOTTOM, _TOP, logarithmic=logarithmic)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>{escape(title)}</title>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="24" font-size="15" fill="#111827">{escape(title)}</text>',
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 12}" text-anchor="middle" fill="#374151">'
        f"{escape(x)}</text>",
        f'<text x="8" y="{_TOP - 6}" fill="#374151">{escape(y)}</text>',
    ]
    for tick in across.ticks:
        at = across.place(tick)
        drawn.append(f'<line x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{_HEIGHT - _BOTTOM}" stroke="#e5e7eb"/>')
        drawn.append(_text(at, _HEIGHT - _BOTTOM + 18, f"{tick:,g}", "middle"))
    for tick in up.ticks:
        at = up.place(tick)
        drawn.append(f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}" stroke="#e5e7eb"/>')
        drawn.append(_text(_LEFT - 8, at + 4, f"{tick:,g}", "end"))
    for line, colour in zip(lines, _COLOURS, strict=False):
        places = [(across.place(one), up.place(other)) for one, other in line.points]
        path = " ".join(f"{one:.1f},{other:.1f}" for one, other in places)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{one:.1f}" cy="{other:.1f}" r="3.5" fill="{colour}"/>' for one, other in places]
        last = places[-1]
        drawn.append(f'<text x="{last[0] + 10:.1f}" y="{last[1] + 4:.1f}" fill="{colour}">{escape(line.name)}</text>')
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#374151">{text}</text>'


class _Axis:
    """Where a value stands between two places of the picture."""

    def __init__(self, values: Sequence[float], first: float, last: float, *, logarithmic: bool) -> None:
        self._first, self._last, self._logarithmic = first, last, logarithmic
        if logarithmic:
            powers = range(floor(log10(min(values))), ceil(log10(max(values))) + 1)
            steps = [10.0**power * factor for power in powers for factor in (1, 2, 5)]
            low = max((step for step in steps if step <= min(values)), default=steps[0])
            high = min(step for step in steps if step >= max(values) and step > low)
            self.ticks = [step for step in steps if low <= step <= high]
            self._low, self._high = log10(low), log10(high)
        else:
            step = _round_step(max(values) / 4)
            self.ticks = [step * number for number in range(ceil(max(values) / step) + 1)]
            self._low, self._high = 0.0, self.ticks[-1]

    def place(self, value: float) -> float:
        at = log10(value) if self._logarithmic else value
        return self._first + (self._last - self._first) * (at - self._low) / (self._high - self._low)


def _round_step(step: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(step))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step)
