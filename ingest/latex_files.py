r"""Read LaTeX: the title, authors and date as metadata, and the text from `\begin{document}` on.

What stands above is the preamble, which is no text: it loads packages and sets options.
"""

import re
from collections.abc import Callable, Iterator

from ..text.cleaning import clean_text, one_line
from ..text.dates import parse_date
from .decoding import decode
from .reading import Content, Limits

_COMMENT = re.compile(r"(?<!\\)%[^\n]*+(?:\n[ \t]*+)?")
_BEGIN, _END = "\\begin{document}", "\\end{document}"
_OPTIONS = r"\*?\s*+(?:\[[^\[\]]*+\]\s*+)?(?=\{)"
_FIELD = re.compile(rf"\\(?P<name>title|author|affil|date){_OPTIONS}")
_HEADING = re.compile(rf"\\(?P<name>part|chapter|section|subsection|subsubsection){_OPTIONS}")
_NOTE = re.compile(rf"\\(?:thanks|footnote|inst|textsuperscript|[vh]space|label){_OPTIONS}")
"""Commands whose argument is no part of a title or a name."""
_LEVELS = {"part": "#", "chapter": "#", "section": "##", "subsection": "###", "subsubsection": "####"}
_AND, _BREAK = re.compile(r"\\(?:and|And|AND)\b"), re.compile(r"\\\\(?:\[[^\[\]]*+\])?")
_MARKUP = re.compile(r"\\href\s*+\{[^{}]*+\}|\$\^[^$]*+\$|\\[A-Za-z]++\*?|\\(?=[&%$#_{}])|[{}]")
_ITEM = re.compile(r"(?<!\s)\s*+\\item\b\s*+(?:\[[^\[\]]*+\]\s*+)?")
_LONGEST = 5_000  # characters of an argument; a longer one lacks its closing brace


def read_latex(data: bytes, _: Limits) -> Content:
    r"""Read a LaTeX file; one without `\begin{document}`, such as a chapter, is all text.

    Raises:
        UnreadableError: the bytes are not text, or their encoding cannot be detected.
    """
    source = _COMMENT.sub("", clean_text(decode(data)))
    begin = source.find(_BEGIN)
    body = source[begin + len(_BEGIN):].partition(_END)[0] if begin >= 0 else source
    fields: dict[str, list[str]] = {name: [] for name in ("title", "author", "affiliation", "date", "note")}
    for found, argument, _end in _arguments(source, _FIELD) if begin >= 0 else ():
        for part in _AND.split(_replace(argument, _NOTE, lambda *_found: " ")):
            first, *others = (_plain(line) for line in _BREAK.split(part))
            if found["name"] == "author":  # their address stands below their name
                fields["author"].append(first)
                fields["affiliation"] += others
                continue
            whole = " ".join([first, *others])
            is_note = found["name"] == "date" and not parse_date(whole)  # people write below their names what they like
            fields["note" if is_note else found["name"].replace("affil", "affiliation")].append(whole)
    text = _replace(_replace(body, _FIELD, lambda *_found: ""), _HEADING, lambda found, argument: (
        f"\n{_LEVELS[found['name']]} {_plain(argument)}\n"))
    return Content(_ITEM.sub("\n- ", text), one_line(" ".join(fields.pop("title"))),
                   {name: list(filter(None, values)) for name, values in fields.items()})


def _arguments(text: str, command: re.Pattern[str]) -> Iterator[tuple[re.Match[str], str, int]]:
    """Yield each place of a command, with its argument in braces and where that ends."""
    at = 0
    while found := command.search(text, at):
        at, depth = found.end(), 0
        for end in range(at, min(at + _LONGEST, len(text))):
            depth += 0 if text[end - 1] == "\\" else {"{": 1, "}": -1}.get(text[end], 0)
            if depth == 0:
                yield found, text[at + 1:end], end + 1
                at = end
                break


def _replace(text: str, command: re.Pattern[str], write: Callable[[re.Match[str], str], str]) -> str:
    """Return a text with what `write` gives for each place of a command and its argument."""
    parts, begin = list[str](), 0
    for found, argument, end in _arguments(text, command):
        parts += [text[begin:found.start()], write(found, argument)]
        begin = end
    return "".join([*parts, text[begin:]])


def _plain(words: str) -> str:
    return one_line(_MARKUP.sub("", words.replace("~", " "))).strip(" ,")
