"""Line plots as SVG, without a plotting library: panels side by side, values from 0 to 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#7f7f7f", "#98df8a")
_WIDTH, _HEIGHT, _MARGIN, _TOP = 300, 220, 50, 60


@dataclass(frozen=True)
class Panel:
    """One plot: the name of the axis, its ticks, and at each tick one value for each line."""

    axis: str
    ticks: Sequence[str]
    values: Sequence[Sequence[float]]


def line_plot(title: str, lines: Sequence[str], panels: Sequence[Panel]) -> str:
    """Draw panels side by side as an SVG document.

    Args:
        title: the heading.
        lines: the names of the lines.
        panels: the panels, from left to right.
    """
    width, height = _MARGIN + len(panels) * (_WIDTH + _MARGIN), _TOP + _HEIGHT + 60
    font = 'font-family="sans-serif" font-size="12"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {font}>',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{_MARGIN}" y="20" font-size="15">{escape(title)}</text>']
    for number, name in enumerate(lines):
        x = _MARGIN + number * 160
        parts.append(f'<line x1="{x}" x2="{x + 25}" y1="38" y2="38" stroke="{COLOURS[number]}" stroke-width="3"/>'
                     f'<text x="{x + 30}" y="42">{escape(name)}</text>')
    for number, panel in enumerate(panels):
        parts += _panel(panel, _MARGIN + number * (_WIDTH + _MARGIN))
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, left: int) -> list[str]:
    bottom = _TOP + _HEIGHT
    xs = [left + (i + 0.5) * _WIDTH / len(panel.ticks) for i in range(len(panel.ticks))]
    parts = []
    for step in range(6):
        y = bottom - step * _HEIGHT / 5
        parts.append(f'<line x1="{left}" x2="{left + _WIDTH}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                     f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{step / 5:.1f}</text>')
    parts += [f'<text x="{x:.0f}" y="{bottom + 18}" text-anchor="middle">{escape(tick)}</text>'
              for x, tick in zip(xs, panel.ticks, strict=True)]
    parts.append(f'<text x="{left + _WIDTH / 2}" y="{bottom + 40}" text-anchor="middle">{escape(panel.axis)}</text>')
    for colour, line in zip(COLOURS, zip(*panel.values, strict=True), strict=False):
        points = [(x, bottom - value * _HEIGHT) for x, value in zip(xs, line, strict=True)]
        path = " ".join(f"{x:.0f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.0f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return parts
