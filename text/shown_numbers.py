"""Numbers and cells of results as people write them: with grouped digits and a unit, never with an exponent."""

from decimal import Decimal

_UNGROUPED = 10_000
"""Numbers below it have no separators: four digits are often a year."""
_EXACT_DECIMALS = 6
_DECIMALS = 4
_DIGITS = 15
"""The digits that a float has for sure; further ones come from the binary form."""
_BEFORE = frozenset("$€£¥₹")
"""Units that stand before their number."""


def format_count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as "2 facts"; `many` is the plural if it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def show_number(value: float, unit: str = "") -> str:
    """Return a number as people write it, with its unit: 3750 g, 3,507,950, $12.50, 12.5%, 0.8633.

    Up to six decimals are shown as they are; longer ones are rounded to four, or to four digits below 1.
    """
    exact = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{_DIGITS}g}")
    if not exact.is_finite():
        return str(value)
    decimals = -int(exact.normalize().as_tuple().exponent)
    if decimals > _EXACT_DECIMALS:
        decimals = max(_DECIMALS, _DECIMALS - 1 - exact.adjusted())
    grouping = "," if abs(exact) >= _UNGROUPED else ""
    figures = f"{exact:{grouping}.{max(decimals, 0)}f}"
    figures = figures.rstrip("0").rstrip(".") if "." in figures else figures
    if unit in _BEFORE:
        return f"-{unit}{figures[1:]}" if figures.startswith("-") else f"{unit}{figures}"
    return f"{figures}%" if unit == "%" else f"{figures} {unit}".rstrip()


def show_value(value: object, unit: str = "") -> str:
    """Return a value of a result, as JSON has it, as people write it: a number, date, text, truth value or list."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return show_number(value, unit)
    return "; ".join(map(show_value, value)) if isinstance(value, list | tuple) else str(value)
