"""Plots of a report as SVG, without a plotting library: bars with intervals, and points on two axes."""

from collections.abc import Sequence
from html import escape
from itertools import accumulate
from typing import NamedTuple

from .report import BenchReport, Figure

_ROW, _NAMES, _WIDTH, _EDGE = 22, 150, 420, 70
_FONT = 'font-family="system-ui, sans-serif" font-size="12"'
_BLUE, _GREY, _BLACK = "#4878a8", "#ddd", "#333"


class Plot(NamedTuple):
    """A drawing with its title."""

    title: str
    svg: str


def plots(report: BenchReport) -> list[Plot]:
    """Draw the plots of a report: accuracy, recall, tokens of a question, tokens of construction."""
    drawings = [
        ("Accuracy, %", _bars([(row.arm, row.accuracy) for row in report.rows if row.accuracy])),
        ("Recall of gold documents at 5, %", _bars([
            (row.arm, row.recall["5"]) for row in report.rows if row.recall])),
        ("Accuracy by tokens of a question", _points([
            (row.arm, row.prompt_tokens + row.completion_tokens, row.accuracy.value) for row in report.rows
            if row.accuracy and row.calls])),
        *((f"Tokens of construction by documents, schema {schema}", _curve(base.by_document))
          for schema, base in report.bases.items())]
    return [Plot(title, svg) for title, svg in drawings if svg]


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'role="img" {_FONT}>{"".join(parts)}</svg>')


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_BLACK}">{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, colour: str = _BLACK) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}"/>'


def _bars(rows: Sequence[tuple[str, Figure]]) -> str:
    """Draw shares in % as bars with their intervals; "" without rows."""
    parts = [_line(_NAMES + share * _WIDTH / 100, 0, _NAMES + share * _WIDTH / 100, len(rows) * _ROW, _GREY)
             for share in range(0, 101, 20)]
    for number, (name, value) in enumerate(rows):
        middle = number * _ROW + _ROW / 2
        low, end, high = (_NAMES + share * _WIDTH / 100 for share in (value.low, value.value, value.high))
        parts += [_text(_NAMES - 6, middle + 4, name, "end"),
                  f'<rect x="{_NAMES}" y="{middle - 7:.1f}" width="{end - _NAMES:.1f}" height="14" fill="{_BLUE}"/>',
                  _line(low, middle, high, middle), _line(low, middle - 4, low, middle + 4),
                  _line(high, middle - 4, high, middle + 4),
                  _text(_NAMES + _WIDTH + 6, middle + 4, f"{value.value:.1f}")]
    return _svg(_NAMES + _WIDTH + _EDGE, len(rows) * _ROW, parts) if rows else ""


def _points(rows: Sequence[tuple[str, float, float]]) -> str:
    """Draw named points: a number from 0 across, a share in % upwards; "" without rows."""
    height, most = 240, max((across for _, across, _ in rows), default=0) or 1
    parts = _axes(height, f"{most:.0f} tokens", "100 %")
    for name, across, share in rows:
        x, y = _EDGE + across / most * _WIDTH, height - share / 100 * (height - 20)
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_BLUE}"/>', _text(x + 6, y - 4, name)]
    return _svg(_EDGE + _WIDTH + _NAMES, height + 20, parts) if rows else ""


def _curve(amounts: Sequence[int]) -> str:
    """Draw the cumulative sum of amounts; "" if it is 0."""
    sums = list(accumulate(amounts))
    if not sums or not sums[-1]:
        return ""
    height = 240
    points = " ".join(f"{_EDGE + number / len(sums) * _WIDTH:.1f},{height - total / sums[-1] * (height - 20):.1f}"
                      for number, total in enumerate([0, *sums]))
    return _svg(_EDGE + _WIDTH + _EDGE, height + 20, [
        *_axes(height, f"{len(sums)} documents", str(sums[-1])),
        f'<polyline points="{points}" fill="none" stroke="{_BLUE}" stroke-width="2"/>'])


def _axes(height: float, across: str, upwards: str) -> list[str]:
    return [_line(_EDGE, 20, _EDGE, height), _line(_EDGE, height, _EDGE + _WIDTH, height),
            _text(_EDGE - 6, 24, upwards, "end"), _text(_EDGE - 6, height, "0", "end"),
            _text(_EDGE + _WIDTH, height + 16, across, "end")]
