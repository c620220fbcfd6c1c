"""Which numbers of a claim its evidence does not have: models add up and count wrongly, and are sure of it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ...schemas.retrieval import Claim, Passage, Quote
from ...text.quantities import figures_of, find_numbers, parse_number
from ...text.relative_dates import relative_dates

_FIGURES = re.compile(r"\d+(?:[.,]\d+|[\u00a0\u202f'’ ]\d{3}(?!\d))*")
_FORMS = [(re.compile(rf"\d+(?:{re.escape(group)}\d{{3}})*(?:{re.escape(mark)}\d+)?"), group, mark)
          for group, mark in ((",", "."), (".", ","))]
"""The form of figures with a mark between thousands and one before the decimals."""
_SPACES = re.compile(r"[\u00a0\u202f'’ ]")
_MOST_COUNTED = 20
"""Up to this number a claim may count what it lists, or name a day of a month, without its being written anywhere."""
_SCALES = (1, 100, 1000, 10_000, 1_000_000, 100_000_000, 1_000_000_000)
"""A share may be written as a percentage, and a large number in thousands, millions, 万, 亿 or billions."""


def unstated_number(claim: Claim, items: Sequence[Passage], question: str = "") -> str:
    """Return the first number of a claim that neither the items that it quotes nor the question has; "" if all do.

    Separators, rounding and scales may differ: 17,630 is 17.630, 17630.04 and 17.63 thousand.
    """
    figures = [figure for figure in _FIGURES.findall(claim.text)
               if not (figure.isdecimal() and int(figure) <= _MOST_COUNTED)]
    if not figures:
        return ""
    texts = [question]
    for quote, item in quoted_items(claim, items):  # all that a reader of it sees, and the query of a computed one
        texts += [quote.words, item.statement, item.text, item.title, item.heading, item.about, item.document,
                  item.basis.query if item.basis else "", *(place.text for place in item.places),
                  *(one.meant for one in relative_dates(item.text, item.said_on))]
    stated = {value for text in texts for figure in _FIGURES.findall(text) for value, _ in _read_figure(figure)}
    missing = [figure for figure in figures if not _is_stated(figure, stated)]
    if not missing:
        return ""
    # Numbers that are written in words or with a scale: "twenty-three", "1.2 million", "三十".
    normal_forms = (parse_number(text[start:end]) for text in texts for start, end in find_numbers(text, counts=True))
    in_words = {float(value) for normal in normal_forms if normal for value in figures_of(normal)[1]}
    return next((figure for figure in missing if not _is_stated(figure, in_words)), "")


def quoted_items(claim: Claim, items: Sequence[Passage]) -> Iterator[tuple[Quote, Passage]]:
    """Yield a claim's quotes, each with its item of the evidence; a model may name a number that no item has."""
    return ((quote, items[quote.item - 1]) for quote in claim.quotes if 1 <= quote.item <= len(items))


def _read_figure(figure: str) -> Iterator[tuple[float, int]]:
    """Yield what figures may be, each with its number of decimals: with a decimal point, then with a comma."""
    plain, readings = _SPACES.sub("", figure), set[tuple[float, int]]()
    for form, group, mark in _FORMS:
        if form.fullmatch(plain):
            number = plain.replace(group, "").replace(mark, ".")
            readings.add((float(number), len(number.partition(".")[2])))
    yield from sorted(readings) or ((float(part), 0) for part in re.findall(r"\d+", plain))


def _is_stated(figure: str, stated: Iterable[float]) -> bool:
    """Return True if one reading of figures is a stated number, as precisely as the figures are given."""
    stated = tuple(stated)
    return any(abs(value * scale - other) <= 0.5 * scale * 10.0 ** -decimals or
               abs(value - other * 100) <= 0.5 * 10.0 ** -decimals
               for value, decimals in _read_figure(figure) for other in stated for scale in _SCALES)
