"""Take the README's pictures from a running demo: `.venv/bin/python -m ops.pictures http://127.0.0.1:8000`."""

import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs/pictures"
LARGEST = 120_000  # bytes
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
LABELING = "/demo/rounds/3/bugs/5/"
KEYS = {LABELING: "r1s2t2l3"}  # what the rater has answered so far
PICTURES = {  # name: who looks, where
    "home": ("cedar", "/demo/"),
    "labeling": ("alder", LABELING),
    "agreement": ("cedar", "/demo/agreement/2/"),
    "adjudication": ("maple", "/demo/adjudication/"),
    "codebook": ("cedar", "/demo/codebook/"),
    "bugs": ("fern", "/demo/bugs/?round=2"),
    "analysis": ("cedar", "/demo/analysis/tables/cross/?by=root_cause&across=repository&level=top"),
    "reproduction": ("cedar", "/demo/reproduction/1/"),
}


def main(base: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        for name, (user, path) in PICTURES.items():
            picture = indexed(take(browser, base, user=user, path=path))
            (FOLDER / f"{name}.png").write_bytes(picture)
            print(f"{name}.png: {len(picture):,} bytes")
            if len(picture) > LARGEST:
                sys.exit(f"{name}.png is larger than {LARGEST:,} bytes.")
        browser.close()


def take(browser: Browser, base: str, *, user: str, path: str) -> bytes:
    page = browser.new_page(viewport={"width": 1366, "height": 768}, color_scheme="light")
    page.goto(f"{base}/accounts/login/?next={path}")
    page.fill("[name=login]", user)
    page.fill("[name=password]", "concord-demo")
    page.click("main button[type=submit]")
    page.goto(f"{base}{path}", wait_until="networkidle")  # again, without the greeting
    for key in KEYS.get(path, ()):
        page.keyboard.press(key)
    picture = page.screenshot()
    page.close()
    return picture


# --- a PNG of 256 colours, a third of the size: screens have few


def indexed(png: bytes) -> bytes:
    width, height, channels, raw = read(png)
    rows = unfiltered(raw, width * channels, channels, height)
    pixels = [[bytes(row[at : at + 3]) for at in range(0, width * channels, channels)] for row in rows]
    palette = [colour for colour, _ in Counter(pixel for row in pixels for pixel in row).most_common(256)]
    nearest = {colour: place for place, colour in enumerate(palette)}
    lines = bytearray()
    for row in pixels:
        lines.append(0)
        for pixel in row:
            if pixel not in nearest:
                nearest[pixel] = min(range(len(palette)), key=lambda place: distance(palette[place], pixel))
            lines.append(nearest[pixel])
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(bytes(lines), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, body) for name, body in parts)


def distance(one: bytes, other: bytes) -> int:
    return sum((x - y) ** 2 for x, y in zip(one, other, strict=True))


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def read(png: bytes) -> tuple[int, int, int, bytes]:
    """Width, height, bytes a pixel, and the filtered lines of an 8-bit colour PNG."""
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    if depth != 8 or colour not in (2, 6):
        sys.exit("The browser gave a picture that is not 8-bit colour.")
    body, at = b"", 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            body += png[at + 8 : at + 8 + size]
        at += size + 12
    return width, height, 3 if colour == 2 else 4, zlib.decompress(body)


def unfiltered(raw: bytes, size: int, step: int, height: int) -> Iterator[bytearray]:
    before = bytearray(size)
    for number in range(height):
        start = number * (size + 1)
        kind, line = raw[start], bytearray(raw[start + 1 : start + 1 + size])
        for at in range(size) if kind else ():
            left = line[at - step] if at >= step else 0
            corner = before[at - step] if at >= step else 0
            line[at] = (line[at] + predicted(kind, left, before[at], corner)) & 255
        yield line
        before = line


def predicted(kind: int, left: int, up: int, corner: int) -> int:
    """The five filters of the PNG specification."""
    if kind in (1, 2):
        return left if kind == 1 else up
    if kind == 3:
        return (left + up) // 2
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
