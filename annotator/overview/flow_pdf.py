"""PDF of a picture, the same bytes each time. Only for workers and commands: the library is large.

The library numbers fonts, and what belongs to them, in an order of chance. Here they are put in the order of their
names, and all objects in the order in which the page leads to them.
"""

import re
import zlib
from typing import NamedTuple

import vl_convert

OBJECT = re.compile(rb"(\d+) 0 obj\n")
LENGTH = re.compile(rb"/Length (\d+)")
REFERENCE = re.compile(rb"(\d+) 0 R\b")
FONTS = re.compile(rb"/Font <<(.*?)>>", re.DOTALL)
FONT = re.compile(rb"/(fo\d+) (\d+) 0 R")
NAME = re.compile(rb"/BaseFont /(\S+)")


class Object(NamedTuple):
    head: bytes  # its dictionary
    stream: bytes | None


def pdf_of(svg: str) -> bytes:
    return in_order(bytes(vl_convert.svg_to_pdf(svg)))


def in_order(pdf: bytes) -> bytes:
    """The same document, whatever order its fonts were met in."""
    start, trailer = pdf.rpartition(b"xref\n")[0].rpartition(b"xref\n")[0], pdf.rpartition(b"trailer\n")[2]
    objects = named_in_order(read(start))
    (root, info) = (int(re.search(rb"/%s (\d+) 0 R" % key, trailer)[1]) for key in (b"Root", b"Info"))  # type: ignore[index]  # every PDF has both
    numbers: dict[int, int] = {}
    for first in (root, info):
        follow(first, objects, numbers)
    return written(objects, numbers)


def read(pdf: bytes) -> dict[int, Object]:
    found, at = {}, 0
    while match := OBJECT.search(pdf, at):
        end = pdf.index(b"endobj", match.end())
        begin = pdf.find(b"stream\n", match.end(), end)
        if begin < 0:
            found[int(match[1])] = Object(pdf[match.end() : end], None)
        else:
            head, begin = pdf[match.end() : begin], begin + len(b"stream\n")
            length = int(LENGTH.search(head)[1])  # type: ignore[index]  # every stream has one
            found[int(match[1])] = Object(head, pdf[begin : begin + length])
            end = pdf.index(b"endobj", begin + length)
        at = end
    return found


def named_in_order(objects: dict[int, Object]) -> dict[int, Object]:
    """fo0, fo1, … by the names of the fonts, on the page and in what is written on it."""
    number = next(n for n, one in objects.items() if b"/Type /Page\n" in one.head)
    page = objects[number].head
    fonts = FONTS.search(page)
    if fonts is None:
        return objects
    kept = sorted(FONT.findall(fonts[1]), key=lambda font: NAME.search(objects[int(font[1])].head)[1])  # type: ignore[index]  # every font has one
    new = {old: b"fo%d" % place for place, (old, _) in enumerate(kept)}
    entries = b"".join(b"/%s %s 0 R " % (new[old], target) for old, target in kept)
    contents = int(re.search(rb"/Contents (\d+) 0 R", page)[1])  # type: ignore[index]  # every page has one
    text = zlib.decompress(objects[contents].stream or b"")
    text = re.sub(rb"/(fo\d+)(?= )", lambda found: b"/" + new[found[1]], text)
    packed = zlib.compress(text, 9)
    head = LENGTH.sub(b"/Length %d" % len(packed), objects[contents].head)
    page = page[: fonts.start()] + b"/Font << " + entries + b">>" + page[fonts.end() :]
    return objects | {number: Object(page, None), contents: Object(head, packed)}


def follow(number: int, objects: dict[int, Object], numbers: dict[int, int]) -> None:
    """Number it and what it leads to, in the order of mention."""
    if number not in numbers:
        numbers[number] = len(numbers) + 1
        for target in REFERENCE.findall(objects[number].head):
            follow(int(target), objects, numbers)


def written(objects: dict[int, Object], numbers: dict[int, int]) -> bytes:
    out, places = bytearray(b"%PDF-1.7\n%\x80\x80\x80\x80\n"), []
    for old, number in numbers.items():
        head = REFERENCE.sub(lambda found: b"%d 0 R" % numbers[int(found[1])], objects[old].head)
        stream = objects[old].stream
        body = head if stream is None else head + b"stream\n" + stream + b"\nendstream\n"
        places.append(len(out))
        out += b"%d 0 obj\n%sendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    info = max(numbers.values())
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(places) + 1,
        info,
        start,
    )
    return bytes(out)
