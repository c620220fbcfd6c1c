"""Changes of bytes as chance makes them, and as somebody who knows the format does."""

import io
import random
import zipfile

_TELLING = (b"\x00", b"\xff" * 4, b"-1", b"99999999999", b"1e999", b"<", b">", b'"', b"]]>", b"&a;", b"{", b"[" * 200,
            b"\r\n" * 20, b" " * 2000, "\u202e\u0000".encode(), b"%s%n", b"../../x", b"<!--", b"=", b"\\u", b"\x1b[2J")
"""What tends to be read in another way than it was meant."""


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The bytes with one to four changes; in a zip also those of its parts, under the right checksums."""
    if data[:2] == b"PK" and draw.random() < 0.8:
        return _repacked(data, draw)
    for _ in range(draw.randint(1, 4)):
        data = _changed(data, draw)
    return data


def _changed(data: bytes, draw: random.Random) -> bytes:
    if not data:
        return draw.randbytes(draw.randint(1, 100))
    start = draw.randrange(len(data))
    end = min(len(data), start + draw.choice((1, 2, 8, 100, 1000)))
    match draw.randrange(7):
        case 0:  # a flipped bit
            return data[:start] + bytes([data[start] ^ (1 << draw.randrange(8))]) + data[start + 1:]
        case 1:  # cut off
            return data[:start]
        case 2:  # a part is missing
            return data[:start] + data[end:]
        case 3:  # a part is repeated
            return data[:end] + data[start:end] * draw.choice((1, 3, 50)) + data[end:]
        case 4:  # a part is something else
            return data[:start] + draw.randbytes(end - start) + data[end:]
        case 5:
            return data[:start] + draw.choice(_TELLING) + data[start:]
        case _:  # two parts change places
            middle = draw.randint(start, len(data))
            return data[:start] + data[middle:] + data[start:middle]


def _repacked(data: bytes, draw: random.Random) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        names = given.namelist()
        hit = set(draw.sample(names, min(len(names), draw.randint(1, 3))))
        for name in names:
            content = given.read(name)
            if name in hit:
                if draw.random() < 0.1:
                    continue
                for _ in range(draw.randint(1, 4)):
                    content = _changed(content, draw)
            made.writestr(name, content)
    return buffer.getvalue()
