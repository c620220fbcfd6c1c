"""Subtitles (srt, vtt) as sentences, each with its time and speaker."""

import html
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..text.cleaning import clean_text
from .decoding import decode
from .reading import Content, Limits, UnreadableError

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_CUE = re.compile(rf"[ \t]*+(?P<start>{_TIME})[ \t]*-->[ \t]*(?P<end>{_TIME})")
_SPEAKER = re.compile(r"<v(?:\.[^\s<>]{1,100})?\s(?P<name>[^<>\n]{1,100})>")
_TAG = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,100}\}")
_ENDS = (".", "!", "?", "…", "。", "！", "？", '."', '!"', '?"', ".”", "!”", "?”", "]", ")")
_LONGEST = 600
"""Characters from which a line ends although its sentence does not, as in subtitles without punctuation."""
_PAUSE = 4.0
"""Seconds without words after which another line begins."""


class _Cue(NamedTuple):
    start: float
    end: float
    speaker: str
    text: str


def read_subtitles(data: bytes, _: Limits) -> Content:
    """Read subtitles as lines such as "[00:01:02] Ida Lang: The bell rings.".

    A line is a sentence or more, with the time at which it begins and with its speaker, if the file names one. Numbers,
    notes, styles and markup are left out, and so is a line that the next cue shows again.

    Raises:
        UnreadableError: the bytes are not text, or there is no cue with a time.
    """
    text = clean_text(decode(data))
    if not text.strip():
        return Content("")
    cues = list(_cues(text.split("\n")))
    if not cues:
        raise UnreadableError("no line with the times of a subtitle (00:01:02,000 --> 00:01:04,000): save it again as "
                              "srt or vtt, or rename it to .txt")
    first = text.partition("\n")[0]
    title = first.removeprefix("WEBVTT").strip(" \t-") if first.startswith("WEBVTT") else ""
    return Content("\n".join(_sentences(cues)), title)


def _cues(lines: Iterable[str]) -> Iterator[_Cue]:
    """Yield the cues: the lines between one with times and the next blank line."""
    times: re.Match[str] | None = None
    words: list[str] = []
    for line in (*lines, ""):
        cue = _CUE.match(line)
        if times and (cue or not line.strip()):
            yield from _split_speakers(_seconds(times["start"]), _seconds(times["end"]), words)
            times, words = None, []
        if cue:
            times = cue
        elif times:
            words.append(line)


def _split_speakers(start: float, end: float, lines: list[str]) -> Iterator[_Cue]:
    """Yield a cue for each speaker in it."""
    speaker, words = "", list[str]()
    for line in lines:
        if found := _SPEAKER.match(line.strip()):
            if words:
                yield _Cue(start, end, speaker, "\n".join(words))
            speaker, words = " ".join(html.unescape(found["name"]).split()), []
        plain = " ".join(html.unescape(_TAG.sub("", line)).split())
        if plain:
            words.append(plain)
    if words:
        yield _Cue(start, end, speaker, "\n".join(words))


def _sentences(cues: list[_Cue]) -> Iterator[str]:
    begun, speaker, words, size, last = 0.0, "", list[str](), 0, 0.0
    shown: set[str] = set()
    for cue in cues:
        fresh = [line for line in cue.text.split("\n") if line not in shown]
        shown = set(cue.text.split("\n"))
        if words and (cue.speaker != speaker or cue.start - last > _PAUSE or size > _LONGEST
                      or words[-1].endswith(_ENDS)):
            yield _line(begun, speaker, words)
            words, size = [], 0
        if fresh and not words:
            begun, speaker = cue.start, cue.speaker
        words += fresh
        size += sum(map(len, fresh))
        last = cue.end
    if words:
        yield _line(begun, speaker, words)


def _line(begun: float, speaker: str, words: list[str]) -> str:
    whole = int(begun)
    time = f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"[{time}] {f'{speaker}: ' if speaker else ''}{' '.join(words)}"


def _seconds(time: str) -> float:
    *above, seconds = time.replace(",", ".").split(":")
    minutes = 0
    for part in above:
        minutes = minutes * 60 + int(part)
    return minutes * 60 + float(seconds)
