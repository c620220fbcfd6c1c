"""Mails (eml): their headers, all parts with text, and the mails that they forward and quote."""

import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser

from ..reading import Content, Limits, UnreadableError, decode
from .web_pages import read_html

_DEEPEST = 10  # the most mails within each other that are read
_WEIGHTS = {"text/plain": 2, "text/html": 1}  # HTML with twice the words has a part of the mail that plain text has not
_REPLACED = "\ufffd"  # what a decoder writes for bytes that are not in its encoding
_QUOTED = re.compile(r"(?:\A|(?<=\n)[ \t]*\n)(?P<who>(?!>)[^\n]{1,300}(?:\n(?!>)[^\n]{1,300})?)(?=\n{1,2}>)|"
                     r"^(?P<line>-{3,} ?[^\n-]{4,60} ?-{3,})$|^>", re.MULTILINE)
"""The beginning of an earlier mail below an answer: the line that says who wrote it, or a line between dashes."""
_MARK = re.compile(r"^(?:> ?)+", re.MULTILINE)
_MOSTLY = 0.8  # the smallest share of quoted lines in an earlier mail; with fewer, it is answered line by line


def read_eml(data: bytes, _: Limits) -> Content:
    """Read the texts of a mail in order; the subject is the title."""
    head, gap, body = data.partition(b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n")
    if not head.isascii():  # the parser takes names in UTF-8, and loses the letters of others
        head = _decode_detected(head).encode()
    mail = BytesParser(EmailMessage, policy=policy.default).parsebytes(head + gap + body)
    names = [name for part in mail.walk() if part is not mail and (name := part.get_filename())]
    omitted: list[str] = []  # the attachments without text
    text = "\n\n".join(part.strip() for part in _part_texts(mail, omitted, _DEEPEST) if part.strip())
    return Content(text, str(mail.get("subject") or ""), {**_mail_header(mail), "attachments": ", ".join(names)},
                   omitted=f"attachments: {', '.join(omitted)}" if omitted else "")


def _mail_header(mail: Message) -> dict[str, str]:
    """Return author, recipients and date of a mail; the date as written if it cannot be parsed."""
    sent = mail.get("date")
    date = getattr(sent, "datetime", None)
    about = {"author": mail.get("from"), "to": mail.get("to"), "cc": mail.get("cc"),
             "date": date.date().isoformat() if date else sent}
    return {name: str(value) for name, value in about.items() if value}


def _part_texts(part: Message, omitted: list[str], depth: int) -> Iterator[str]:
    """Yield the texts of a mail's part and its inner parts; add the names or types of unread ones to `omitted`."""
    kind, payload = part.get_content_type(), part.get_payload()
    inner_parts = [inner for inner in payload if isinstance(inner, Message)] if isinstance(payload, list) else []
    if kind == "message/rfc822" and part.is_multipart() and depth:  # a mail inside, not too deep
        for mail in inner_parts:
            fields = (f"{name.capitalize()}: {value}" for name, value in _mail_header(mail).items())
            yield "\n".join([f"# {mail.get('subject') or 'Forwarded mail'}", "", *fields])
            yield from _part_texts(mail, omitted, depth - 1)
    elif part.is_multipart() and kind != "message/rfc822":
        chosen = inner_parts
        if kind == "multipart/alternative":  # the form with the most words, the last of equal ones
            chosen = [max(reversed(inner_parts), key=_word_count)]
        for inner in chosen:
            yield from _part_texts(inner, omitted, depth)
        # Files inside the forms of the text that are not chosen, such as pictures in the HTML.
        for form in [form for form in inner_parts if form not in chosen]:
            omitted += filter(None, (file.get_filename() for file in form.walk()))
    elif part.get_content_maintype() == "multipart":  # its boundary is missing
        yield str(payload)
    elif kind in _WEIGHTS:
        if name := part.get_filename():
            yield f"# {name}"
        yield _part_text(part)
    else:  # a picture and the like, or a mail that is too deep
        omitted.append(part.get_filename() or kind)


def _word_count(form: Message) -> int:
    """Return the number of words in a form of a mail, weighted by `_WEIGHTS`."""
    return sum(_WEIGHTS.get(part.get_content_type(), 0) * len(_part_text(part).split()) for part in form.walk()
               if part.get_content_maintype() == "text")


def _part_text(part: Message) -> str:
    """Return the text of a part; where its declared encoding is unknown or wrong, the encoding is detected."""
    try:
        text = str(part.get_content()) if isinstance(part, EmailMessage) else ""
    except LookupError:  # an unknown encoding
        text = _REPLACED
    if _REPLACED in text:
        text = _decode_detected(bytes(part.get_payload(decode=True) or b""))
    if part.get_content_subtype() == "html":
        return read_html(f'<meta charset="utf-8">{text}'.encode(errors="replace")).text
    return _set_quoted_mail_apart(text.replace("\r\n", "\n"))


def _decode_detected(data: bytes) -> str:
    """Return a text in any encoding; what cannot be decoded is `_REPLACED`, so that the rest of the mail is read."""
    try:
        return decode(data)
    except UnreadableError:
        return data.decode("utf-8", "replace")


def _set_quoted_mail_apart(text: str) -> str:
    """Return a text with the earlier mail that it quotes under a heading, because others wrote it."""
    found = _QUOTED.search(text)
    if found is None:
        return text
    # Lines above the quotation that do not end as "Ada wrote:" belong to the answer, which is between quoted lines.
    is_answer = found["who"] is not None and not found["who"].rstrip().endswith((":", "："))
    introduction = found["who"] or found["line"] or ""
    name = " ".join(introduction.strip("- :：").split())
    begin = found.end() - len(introduction or found[0])  # the match may begin with an empty line
    earlier_mail = text[begin + len(introduction):].strip()
    lines = [line for line in earlier_mail.split("\n") if line.strip()]
    is_quoted = found["line"] is not None or sum(line.startswith(">") for line in lines) >= _MOSTLY * len(lines)
    if is_answer or not is_quoted:
        return text
    return f"{text[:begin].rstrip()}\n\n# Earlier mail{f': {name}' if name else ''}\n\n{_MARK.sub('', earlier_mail)}"
