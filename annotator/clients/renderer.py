"""Pictures from Vega-Lite specifications and from each other, the same bytes each time. Only for workers and commands.

The library is large, and it numbers things in an order of chance. In a PDF, fonts are put in the order of their names
here, and all objects in the order in which the page leads to them; in an SVG, ids in the order in which they are met.
"""

import re
import zlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import vl_convert

OBJECT = re.compile(rb"(\d+) 0 obj\n")
LENGTH = re.compile(rb"/Length (\d+)")
REFERENCE = re.compile(rb"(\d+) 0 R\b")
FONTS = re.compile(rb"/Font <<(.*?)>>", re.DOTALL)
FONT = re.compile(rb"/(fo\d+) (\d+) 0 R")
NAME = re.compile(rb"/BaseFont /(\S+)")
RESOURCES = re.compile(rb"(?<=/Pattern <<)((?:\s*/po\d+ \d+ 0 R)+)(?=\s*>>)")
RESOURCE = re.compile(rb"/po(\d+) \d+ 0 R")
IDS = re.compile(r'(?<=id=")(clip|gradient_)\d+(?=")')
VEGA_LITE: Final = "5.20"
PNG_SCALE: Final = 2.0  # pixels a unit: sharp at the width of a column


class Object(NamedTuple):
    head: bytes  # its dictionary
    stream: bytes | None


def svg_of(spec: Mapping[str, Any]) -> str:
    """Of a Vega-Lite specification that holds its own data: nothing is fetched."""
    svg = vl_convert.vegalite_to_svg(dict(spec), vl_version=VEGA_LITE, allowed_base_urls=[])
    for place, found in enumerate(dict.fromkeys(match[0] for match in IDS.finditer(svg))):
        svg = re.sub(rf"\b{found}\b", f"part-{place}", svg)
    return svg


def png_of(svg: str) -> bytes:
    return bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE))


def pdf_of(svg: str) -> bytes:
    return in_order(bytes(vl_convert.svg_to_pdf(svg)))


def in_order(pdf: bytes) -> bytes:
    """The same document, whatever order its fonts were met in."""
    start, trailer = pdf.rpartition(b"xref\n")[0].rpartition(b"xref\n")[0], pdf.rpartition(b"trailer\n")[2]
    objects = named_in_order({number: listed_in_order(one) for number, one in read(start).items()})
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


def listed_in_order(one: Object) -> Object:
    """Patterns have names in the order of their use, and are listed in one of chance."""

    def sort(found: re.Match[bytes]) -> bytes:
        entries = sorted(RESOURCE.finditer(found[0]), key=lambda entry: int(entry[1]))
        return b"\n      " + b"\n      ".join(entry[0] for entry in entries)

    return one._replace(head=RESOURCES.sub(sort, one.head))


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
