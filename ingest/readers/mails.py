"""Mails (eml): their headers, all parts with text, and the mails that they forward."""

from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser

from ..reading import Content, Limits
from .web_pages import read_html

_DEEPEST = 10  # the most mails within each other that are read
_TEXTS = frozenset({"text/plain", "text/html"})


def read_eml(data: bytes, _: Limits) -> Content:
    """Read the texts of a mail in order; the subject is the title.

    If a mail has its text in several forms, the plain text is read, or else the HTML. Attached texts and forwarded
    mails are read under a heading; other attachments are only named.
    """
    mail = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    names = [name for part in mail.walk() if part is not mail and (name := part.get_filename())]
    omitted: list[str] = []
    text = "\n\n".join(part.strip() for part in _texts(mail, omitted, _DEEPEST) if part.strip())
    return Content(text, str(mail.get("subject") or ""), {**_header(mail), "attachments": ", ".join(names)},
                   omitted=f"attachments: {', '.join(omitted)}" if omitted else "")


def _header(mail: Message) -> dict[str, str]:
    """Return author, recipients and date of a mail; the date as written if it cannot be parsed."""
    sent = mail.get("date")
    date = getattr(sent, "datetime", None)
    about = {"author": mail.get("from"), "to": mail.get("to"), "cc": mail.get("cc"),
             "date": date.date().isoformat() if date else sent}
    return {name: str(value) for name, value in about.items() if value}


def _texts(part: Message, omitted: list[str], depth: int) -> Iterator[str]:
    """Yield the texts of a mail's part and its inner parts; add the names or types of unread ones to `omitted`."""
    kind, payload = part.get_content_type(), part.get_payload()
    inner_parts = [inner for inner in payload if isinstance(inner, Message)] if isinstance(payload, list) else []
    if kind == "message/rfc822" and part.is_multipart() and depth:
        for mail in inner_parts:
            fields = (f"{name.capitalize()}: {value}" for name, value in _header(mail).items())
            yield "\n".join([f"# {mail.get('subject') or 'Forwarded mail'}", "", *fields])
            yield from _texts(mail, omitted, depth - 1)
    elif part.is_multipart() and kind != "message/rfc822":
        chosen = [_best(inner_parts)] if kind == "multipart/alternative" else inner_parts
        for inner in chosen:
            yield from _texts(inner, omitted, depth)
        # Files inside the forms of the text that are not chosen, such as pictures in the HTML.
        omitted += (name for form in inner_parts if form not in chosen for file in form.walk()
                    if (name := file.get_filename()))
    elif part.get_content_maintype() == "multipart":  # its boundary is missing
        yield str(payload)
    elif kind in _TEXTS:
        name = part.get_filename()
        if name:
            yield f"# {name}"
        yield _text(part)
    else:
        omitted.append(part.get_filename() or kind)


def _best(forms: list[Message]) -> Message:
    """Return the first form with plain text, or else the first with HTML, or else the last, which senders prefer."""
    for kind in ("text/plain", "text/html"):
        for form in forms:
            if any(part.get_content_type() == kind and _text(part).strip() for part in form.walk()):
                return form
    return forms[-1]


def _text(part: Message) -> str:
    """Return the text of a part; in an unknown encoding, it is decoded as UTF-8 as far as possible."""
    try:
        text = str(part.get_content()) if isinstance(part, EmailMessage) else ""
    except LookupError:  # an unknown encoding
        text = bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")
    if part.get_content_subtype() == "html":
        return read_html(f'<meta charset="utf-8">{text}'.encode(errors="replace")).text
    return text
