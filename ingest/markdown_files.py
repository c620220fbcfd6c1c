"""Read Markdown: its front matter as metadata, and its text in the one form that later steps read."""

import html
import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from operator import attrgetter

import yaml

from ..text.cleaning import clean_text
from ..text.lexicon import WORDS
from ..text.section_lines import Heading, headings, is_placeholder, is_telling, lines_under
from .readers.web_pages import mark_tags, parse_html, read_grid
from .reading import END, NOTE, RAISED, Content, Limits, UnreadableError, count_sources, decode, write_raised

_LONGEST_HEAD = 200_000  # characters of front matter that are read as metadata; a longer one is text
_FRONT_MATTER = re.compile(r"(?P<fence>---|\+\+\+|```(?=toml|ya?ml))(?P<kind>[a-z]{0,4}+)[ \t]*+"
                           r"(?P<fields>(?:\n(?!(?P=fence)[ \t]*+(?:\n|\Z))[^\n]*+)*+)\n"
                           r"(?P=fence)[ \t]*+(?:\n|\Z)")
_TITLED = re.compile(r"\s*+#")
_TITLE_LINE = re.compile(r"\s*(?:\*\*[ \t]{0,3}(?P<bold>[^\n*]{3,120}?)[ \t]{0,3}\*\*|"
                         r"(?P<plain>(?![-*+>|!\[<#])[^\n:：]{3,120}?[^\s.。!！?？;；,，]))[ \t]*\n[ \t]*\n")
_NUMBERED = re.compile(r"\d{1,2}[.)、 ]|[一二三四五六七八九十]{1,3}、")
_CODE_OR_COMMENT = re.compile(r"`[^`\n]++`|<!--(?:(?!-->).)*+(?P<end>-->)?", re.DOTALL)
_UNDERLINED = re.compile(r"(?:\A|(?<=\n\n))(?! {4}|[ \t]*+(?:[-*+>|#]|```|~~~|\d+[.)]\s|\n))(?P<title>[^\n]{1,200})\n"
                         r" {0,3}(?P<line>=++|-{2,}+)[ \t]*+(?=\n|\Z)")
_NOTE = re.compile(r" {0,12}> ?\[!(?P<kind>[A-Za-z]{1,20})\][-+]?(?P<title>(?: [^\n]{0,200})?)")  # "> [!NOTE] Title"
_CODE = re.compile(r"(`[^`\n]*+`)")
_RAW = re.compile(r"`[^`\n]*+`\{=[a-z\d]{1,20}\}")  # Pandoc's parts in another format: `{{TOC}}`{=mediawiki}
# Links within a site. Links to the web stay, because their address is information.
_LINK = re.compile(r"!?\[(?P<words>[^\[\]\n]{0,500})\]\((?!\s?[a-z]{2,10}:)[^()\n]{0,1000}\)", re.IGNORECASE)
_WIKI_LINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{1,200}\|)?(?P<words>[^\[\]|\n]{1,200})\]\]")
_FOOTNOTE = re.compile(r"(?<=[^\W_])\[(\^[^\[\]\s]{1,18})\]")
_TAG = re.compile(r"(?<!\\)</?(?P<name>[A-Za-z][A-Za-z0-9]{0,20})(?:\s[^<>]{0,1000})?/?>")
_HARD_BREAK = re.compile(r"(?<=[^\\])\\$")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z]\w{1,30});")
_LARGEST_TABLE = 2_000_000  # characters; parsed, a table takes many times its memory
_TABLE = re.compile(r"<table[\s>](?:(?!</table>).)*+(?P<end></table>)?", re.IGNORECASE | re.DOTALL)
_PICTURE = re.compile(
    r"!\[[^\[\]\n]{0,500}\]\(\s?(?P<linked>[^()\s<>]{1,2000}|<[^<>\n]{1,2000}>)|"
    r"(?:!\[\[|^ {0,3}\[[^\[\]\n]{1,100}\]:\s{0,4})"
    r"(?P<named>[^\[\]|\n]{1,300}\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?|avif|heic))|"
    r"(?<!\\)<img\s(?:[^<>]{0,2000}\s)?src\s?=\s?(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>[^\s\"'>]+))",
    re.IGNORECASE | re.MULTILINE)


def read_markdown(data: bytes, _: Limits) -> Content:
    """Read a Markdown file: its front matter as metadata, and the text below it."""
    metadata, source = _split_front_matter(clean_text(decode(data)))
    text = clean_markdown(source)
    title_field = next((name for name in metadata if name.lower() == "title"), "")
    title = metadata.pop(title_field, "")
    if not title:
        title = _title_of_text(text, next(headings(text), None))
    elif not isinstance(title, str) or is_placeholder(title):  # such as a date, as a blog has it
        title = next((heading.title for heading in headings(text) if heading.level == 1), "")
    unread = ""
    long_head = None if metadata else _FRONT_MATTER.match(source)
    if long_head and long_head.end() > _LONGEST_HEAD:
        unread = (f"its front matter has {long_head.end():,} characters, and at most {_LONGEST_HEAD:,} are read as "
                  "metadata: it is read as text; shorten it")
    return Content(text, title, metadata, unread=unread, omitted=count_in_markdown(source))


def _title_of_text(text: str, first: Heading | None) -> str:
    """Return the title of a text by its first heading, or by a line above it: "PMC 例会" above "## 参会人员"; or ""."""
    if first is None:
        return ""
    opens_section = first.level > 1 or _NUMBERED.match(first.title)
    above = _TITLE_LINE.match(text) if opens_section else None
    if above and above.end() <= first.start:
        return " ".join((above["bold"] or above["plain"]).split())
    is_below_prose = text[:first.start].rstrip().endswith((".", "。"))  # and so the heading of a section alone
    if first.level == 1 or (is_telling(first.title) and not is_below_prose):
        return first.title
    return next((heading.title for heading in headings(text) if heading.level == 1), "")


def _split_front_matter(text: str) -> tuple[dict[str, object], str]:
    """Return the fields of a text's front matter, and the rest of the text; all of it if it has none that is valid."""
    found = _FRONT_MATTER.match(text, 0, _LONGEST_HEAD)
    try:
        if found is not None:
            end, is_code = found.end(), found["fence"] == "```"
            fields = read_head_fields("+++" if found["kind"] == "toml" else found["fence"], found["fields"])
            if is_code and not _TITLED.match(text, end):  # an example
                return {}, text
        elif text.startswith("{"):  # the JSON of Hugo has no fence
            fields, end = json.JSONDecoder().raw_decode(text[:_LONGEST_HEAD])
        else:
            return {}, text
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, text
    # Words behind an object in the same line show that it is part of the text.
    is_alone = found is not None or not text[end:].partition("\n")[0].strip()
    return (fields, text[end:]) if isinstance(fields, dict) and is_alone else ({}, text)


def read_head_fields(fence: str, text: str) -> dict[str, object] | None:
    """Return the fields of YAML or TOML; None if it is not a mapping."""
    if fence != "+++":
        # Every scalar stays a string: YAML would turn some into numbers or dates. It takes no tab behind a colon.
        mapping = yaml.load(text.replace(":\t", ": "), yaml.BaseLoader)  # noqa: S506
        return {str(name): value for name, value in mapping.items()} if isinstance(mapping, dict) else None
    return tomllib.loads(text)


def clean_markdown(text: str) -> str:
    r"""Return a Markdown text, whose only line break is `\n`, without its markup.

    It loses comments, HTML tags, links within its site and marks of notes. Underlined headings become `#` headings,
    HTML tables become pipe tables, and a note begins with its title, or its kind if it has none. Code and tags with
    unknown names stay as they are.
    """
    def heading(found: re.Match[str]) -> str:
        return f"{'#' if '=' in found['line'] else '##'} {found['title'].strip()}"

    parts = list[str]()
    for part, is_code in _split_fences(text):
        if is_code:
            parts.append(part)
            continue
        lines = _TABLE.sub(_pipe_table, _without_comments(part)).split("\n")
        plain = "\n".join(_HARD_BREAK.sub("", _clean_line(line)) for line in lines)
        parts.append(_UNDERLINED.sub(heading, plain))
    return "\n".join(parts)


def _split_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, each with whether it is fenced code."""
    for is_code, lines in groupby(lines_under(text, ""), attrgetter("is_code")):
        yield "\n".join(line.text for line in lines), is_code


def _without_comments(text: str) -> str:
    """Return a text without HTML comments; what looks like a comment inside code marks stays, as an open one does."""
    return _CODE_OR_COMMENT.sub(lambda found: "" if found["end"] else found[0], text)


def _clean_line(line: str) -> str:
    """Return a line without tags and links outside its code; a line that begins a note becomes its title."""
    if "[!" in line and (found := _NOTE.fullmatch(line)):
        return f"{line[:line.index('>')]}> {found['title'].strip() or found['kind'].lower().capitalize()}:"
    if not any(mark in line for mark in ("<", "](", "[[", "&", "[^", "{=")):
        return line
    line = _RAW.sub("", line)
    parts = (part if at % 2 else _plain_text(part) for at, part in enumerate(_CODE.split(line)))  # odd ones are code
    return write_raised("".join(parts).rstrip())


def _plain_text(words: str) -> str:
    """Return a text without links within the site and HTML tags, and with letters in place of entities (`&amp;`)."""
    def replacement(tag: re.Match[str]) -> str:
        name = tag["name"].lower()
        if name == "sup":
            return END if tag[0].startswith("</") else RAISED
        if name in WORDS["tags within lines"]:
            return ""
        return " " if name in WORDS["tags of blocks"] else tag[0]

    for link in (_LINK, _WIKI_LINK):
        words = link.sub(lambda found: found["words"], words)
    words = _FOOTNOTE.sub(rf"{NOTE}[\1]{END}", words)
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), _TAG.sub(replacement, words))


def _pipe_table(found: re.Match[str]) -> str:
    """Return a pipe table for an HTML table; as it is, if it is for layout, one row or column, huge, or broken."""
    table, rows = found[0], list[list[str]]()
    is_for_layout = table.lower().count("<table") > 1  # it has others inside
    if found["end"] and not is_for_layout and len(table) <= _LARGEST_TABLE:
        with suppress(UnreadableError):
            soup = parse_html(table)
            mark_tags(soup)
            rows = [[cell.replace("|", "\\|") for cell in row] for row in read_grid(soup)]
    width = max(map(len, rows), default=0)
    if len(rows) < 2 or width < 2:  # noqa: PLR2004
        return table
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
    return "\n".join(["", "", lines[0], f"|{' --- |' * width}", *lines[1:], "", ""])


def count_in_markdown(text: str) -> str:
    """Return the number of pictures in a Markdown text in words ("2 pictures"), or "" for none."""
    words = "\n".join(_CODE.sub(" ", _without_comments(part)) for part, is_code in _split_fences(text) if not is_code)
    # The last group that matched is the picture's address, in one of the forms that Markdown has for it.
    return count_sources(str(picture[picture.lastgroup or 0]).strip("<>") for picture in _PICTURE.finditer(words))
