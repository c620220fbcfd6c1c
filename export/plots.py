"""Plots of the communities as SVG, drawn here so that a page needs nothing from elsewhere.

Styles are classes of the page's sheet; texts that the page translates carry `data-t`.
"""

import math
from collections import Counter
from collections.abc import Sequence

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 460, 240, 46, 40, 16
_RIGHT = _WIDTH - 12
_FLOOR = _HEIGHT - _BOTTOM


def size_histogram(sizes: Sequence[int]) -> str:
    """How many communities have 1, 2 to 3, 4 to 7, ... members: bars with their numbers, from one size to the next.

    Args:
        sizes: of each community the number of its members, at least 1.
    """
    bins = Counter(size.bit_length() for size in sizes)
    last, most = max(bins, default=1), max(bins.values(), default=1)
    step = (_RIGHT - _LEFT) / last
    bars = []
    for number in range(1, last + 1):
        count = bins[number]
        x, height = _LEFT + (number - 1) * step, (_FLOOR - _TOP - 12) * count / most
        bars.append(f'<rect class="bar" x="{x + 1:.1f}" y="{_FLOOR - height:.1f}" width="{step - 2:.1f}" '
                    f'height="{height:.1f}"/>'
                    f'<text class="mid" x="{x + step / 2:.1f}" y="{_FLOOR - height - 3:.1f}">{count}</text>'
                    f'<text class="mid" x="{x:.1f}" y="{_FLOOR + 13}">{2 ** (number - 1)}</text>')
    said = "; ".join(f"{2 ** (n - 1)}-{2 ** n - 1}: {bins[n]}" for n in sorted(bins))
    return _svg("Number of communities by number of members", said, "".join(bars) + _axis_names("size", "count"))


def cohesion_scatter(points: Sequence[tuple[int, float]]) -> str:
    """Cohesion against size (on a logarithmic scale), a dot for each community.

    Args:
        points: of each community the number of its members, at least 1, and its cohesion.
    """
    low = min(0.0, *(cohesion for _, cohesion in points)) if points else 0.0
    high = max(1.5, *(cohesion for _, cohesion in points)) if points else 1.5
    decades = max(1, math.ceil(math.log10(max((size for size, _ in points), default=10))))
    across, up = (_RIGHT - _LEFT) / decades, (_FLOOR - _TOP) / (high - low)
    ticks = [f'<text class="mid" x="{_LEFT + n * across:.1f}" y="{_FLOOR + 13}">{10 ** n}</text>'
             for n in range(decades + 1)]
    for tick in (0.0, 0.5, 1.0, 1.5):
        y = _FLOOR - (tick - low) * up
        ticks.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>'
                     f'<text class="end" x="{_LEFT - 5}" y="{y + 4:.1f}">{tick}</text>')
    # Dots on the same pixel are one: the plot stays small however many communities there are.
    places = sorted({(round(_LEFT + math.log10(size) * across), round(_FLOOR - (cohesion - low) * up))
                     for size, cohesion in points})
    dots = "".join(f'<circle class="dot" cx="{x}" cy="{y}" r="3"/>' for x, y in places)
    return _svg("Cohesion of communities against number of members", f"{len(points)} communities",
                "".join(ticks) + dots + _axis_names("size", "cohesion"))


_AXES = {"size": "members", "count": "communities", "cohesion": "cohesion"}


def _axis_names(x: str, y: str) -> str:
    return (f'<path class="axis" d="M{_LEFT} {_TOP}V{_FLOOR}H{_RIGHT}"/>'
            f'<text class="mid" x="{(_LEFT + _RIGHT) / 2}" y="{_HEIGHT - 8}" data-t="{x}">{_AXES[x]}</text>'
            f'<text x="4" y="11" data-t="{y}">{_AXES[y]}</text>')


def _svg(title: str, said: str, content: str) -> str:
    return (f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}. {said}">'
            f"{content}</svg>")
