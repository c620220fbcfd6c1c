"""Read subtitles (srt, vtt) as lines of whole sentences, each with its time and speaker."""

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
"""The length in characters from which a line ends inside a sentence, for subtitles without punctuation."""
_PAUSE = 4.0
"""Seconds without words after which another line begins."""


class _Cue(NamedTuple):
    """A text that is shown for some time; times are in seconds, the speaker is "" if unknown."""

    start: float
    end: float
    speaker: str
    text: str


def read_subtitles(data: bytes, _: Limits) -> Content:
    """Read subtitles as lines such as "[00:01:02] Ida Lang: The bell rings.".

    Each line has one or more whole sentences, the time at which they begin, and their speaker if the file names one.
    Numbers, notes, styles and markup are left out. Text that a cue repeats from the one before it is left out, too.

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
    """Yield the cues of a file: a line with times, and the lines of text up to a blank line or to further times."""
    current_times: re.Match[str] | None = None  # None outside a cue
    words: list[str] = []
    for line in (*lines, ""):
        times = _CUE.match(line)
        if current_times and (times or not line.strip()):
            yield from _split_speakers(_seconds(current_times["start"]), _seconds(current_times["end"]), words)
            current_times, words = None, []
        if times:
            current_times = times
        elif current_times:
            words.append(line)


def _split_speakers(start: float, end: float, lines: list[str]) -> Iterator[_Cue]:
    """Yield the lines of a cue as one cue for each speaker, without markup."""
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
    """Join the texts of cues to lines, which end with a sentence, at a pause, with another speaker, or when long."""
    start, speaker, words, size, last_end = 0.0, "", list[str](), 0, 0.0
    previous: set[str] = set()
    for cue in cues:
        cue_lines = cue.text.split("\n")
        new_lines = [line for line in cue_lines if line not in previous]
        previous = set(cue_lines)
        if words and (cue.speaker != speaker or cue.start - last_end > _PAUSE or size > _LONGEST
                      or words[-1].endswith(_ENDS)):
            yield _line(start, speaker, words)
            words, size = [], 0
        if new_lines and not words:
            start, speaker = cue.start, cue.speaker
        words += new_lines
        size += sum(map(len, new_lines))
        last_end = cue.end
    if words:
        yield _line(start, speaker, words)


def _line(start: float, speaker: str, words: list[str]) -> str:
    """Return a line of the document's text, such as "[00:01:02] Ida Lang: The bell rings."."""
    seconds = int(start)
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"[{time}] {f'{speaker}: ' if speaker else ''}{' '.join(words)}"


def _seconds(time: str) -> float:
    """Return a time such as "00:01:02,500" in seconds; the hours may be missing."""
    *hours_and_minutes, seconds = time.replace(",", ".").split(":")
    minutes = 0
    for part in hours_and_minutes:
        minutes = minutes * 60 + int(part)
    return minutes * 60 + float(seconds)
