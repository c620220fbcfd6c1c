"""Dates and quantities in a text, as values for attributes."""

import re
from dataclasses import dataclass
from typing import Literal

_MONTH = (r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
          r"Jan\.?|Feb\.?|Mar\.?|Apr\.?|Jun\.?|Jul\.?|Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?)")
_YEAR = r"(?:1\d{3}|20\d{2})"
_RANGE = r"\s?[–—-]\s?"
_HAN_DIGIT = "[〇零一二三四五六七八九]"
_DATE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?:\sof)?\s{_MONTH},?\s{_YEAR}\b"
    rf"|\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s{_YEAR}\b"
    rf"|\b{_MONTH},?\s{_YEAR}\b"
    rf"|\b{_YEAR}-\d{{2}}-\d{{2}}\b"
    rf"|(?:公元前?)?\d{{1,4}}\s?年(?:度|代|间)?(?:\s?\d{{1,2}}\s?月(?:份|\s?\d{{1,2}}\s?日)?)?"
    rf"|{_HAN_DIGIT}{{4}}年(?:[一二三四五六七八九十]{{1,2}}月(?:[一二三四五六七八九十]{{1,3}}日)?)?"
    r"|[一二三四五六七八九十]{1,3}世纪(?:[初末中]|[一二三四五六七八九]十年代)?|\d{1,2}世纪(?:[初末中]|\d0年代)?"
    r"|\b\d{1,4}\s(?:BCE|BC|AD|CE)\b|\bAD\s\d{1,4}\b"
    rf"|(?:\bc(?:irca|a)?\.\s?)?(?<![\d.,$€£¥#-]){_YEAR}s?(?:{_RANGE}(?:{_YEAR}|\d\d))?(?![\d,.]\d|\d|%)\b"
    r"(?!\s?(?:km|kilomet|met|feet|ft|miles?|people|inhabitants|residents|square|hectares|employees|students|"
    r"million|billion|thousand|kg|tonnes|tons|mm|cm|m\b))"
)
_SCALE = r"(?:\s?(?:thousand|million|billion|trillion|bn|mn)\b)?"
_UNIT = (r"(?:\s?(?:%|percent|per\scent|°[CF]|km²|km2|sq\.?\skm|sq\.?\smi|square\s(?:kilomet(?:re|er)s?|miles?|"
         r"met(?:re|er)s?|feet)|kilomet(?:re|er)s?|met(?:re|er)s?|cent?imet(?:re|er)s?|miles?|feet|foot|inches|"
         r"hectares?|acres?|km|cm|mm|ft|m|kg|mg|kilograms?|grams?|tonnes?|tons?|litres?|liters?|"
         r"people|inhabitants|residents|employees|minutes|hours|days|years|euros|dollars|pounds|yuan|yen)(?!\w))?")
_HAN_UNIT = (r"(?:美元|港元|港币|欧元|日元|英镑|人民币|元|％|%|个百分点|平方公里|平方千米|平方米|公里|千米|"
             r"厘米|米|吨|公斤|千克|毫克|克|公顷|亩|人次|人|家|名|倍|项|万股|股|万件|辆|台|套|册|字|天|小时|分钟|摄氏度|℃)?")
_NUMBER = re.compile(
    r"(?:(?:US|HK|C|A)?[$€£¥₹]|\b(?:USD|RMB|EUR|GBP|HKD)\s?)?(?<![A-Za-z0-9.])"
    r"(?:\d{1,3}(?:[,，]\d{3})+|\d+)(?:\.\d+)?"
    rf"(?:\s?[多余]?[百千万亿兆]+(?:多|余)?{_HAN_UNIT}|{_SCALE}{_UNIT}{_HAN_UNIT})"
)
_HAN_NUMBER = re.compile(rf"[一二三四五六七八九十百千两]+[百千万亿]+[多余]?{_HAN_UNIT}")

Kind = Literal["date", "number"]
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("date", _DATE), ("number", _NUMBER), ("number", _HAN_NUMBER))


@dataclass(frozen=True, slots=True)
class Value:
    """A date or quantity: characters `start` to `end` of the chunk."""

    start: int
    end: int
    text: str
    kind: Kind


def find_values(text: str) -> list[Value]:
    """The dates and quantities of a text, in order; where both would fit, a date.

    Args:
        text: any text.

    Returns:
        Values that do not overlap; `text` is verbatim, with its currency, scale and unit.
    """
    values: list[Value] = []
    taken = bytearray(len(text))
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if not any(taken[match.start() : match.end()]):
                values.append(Value(match.start(), match.end(), match.group(), kind))
                taken[match.start() : match.end()] = b"\x01" * len(match.group())
    return sorted(values, key=lambda value: value.start)
