"""Colours of figures: those of the pages' light theme, told apart whatever colours a reader sees."""

from typing import Final

SERIES: Final = ("#2e68d4", "#986111", "#08422d", "#c6306e", "#522058", "#70767f", "#af7ca0", "#7d944d")
GREYS: Final = ("#1b1c1e", "#6b6e74", "#a3a6ab", "#d9dadc")
HEAT: Final = ("#f6f6f4", "#dfe8f8", "#b9cdf0", "#86a8e2", "#3d6cc0", "#2351b8")
GREY_HEAT: Final = ("#ffffff", "#e6e6e6", "#c4c4c4", "#9a9a9a", "#5e5e5e", "#333333")
INK, PAPER, LINE = "#1b1c1e", "#ffffff", "#e4e4e0"
EASILY_TOLD: Final = 4  # series that need no more than a legend; of more, a heat map says which is which


def series(count: int, colours: str) -> list[str]:
    """The first so many. There are no more: whoever has more takes a heat map."""
    return list((GREYS if colours == "grey" else SERIES)[:count])


def most(colours: str) -> int:
    return len(GREYS if colours == "grey" else SERIES)


def heat(colours: str) -> list[str]:
    return list(GREY_HEAT if colours == "grey" else HEAT)


def luminance(colour: str) -> float:
    """Relative, 0..1 (WCAG 2.2)."""
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better there."""
    return max((INK, PAPER), key=lambda ink: contrast(ink, colour))


HATCHES: Final = (
    "M0 0H8V8H0Z", "M-2 2L2 -2M0 8L8 0M6 10L10 6", "M0 4H8", "M-2 6L2 10M0 0L8 8M6 -2L10 2", "M4 0V8", "M0 4H8M4 0V8",
    "M4 3A1 1 0 1 0 4 5A1 1 0 1 0 4 3", "M-2 2L2 -2M0 8L8 0M6 10L10 6M-2 6L2 10M0 0L8 8M6 -2L10 2",
)  # fmt: skip


def hatched(svg: str, colours: list[str]) -> str:
    """The same picture with a pattern of its own in place of each flat colour: it survives a printer without colours."""
    patterns = "".join(
        f'<pattern id="hatch-{place}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<path d="M0 0H8V8H0Z" fill="{PAPER}"/>'
        f'<path d="{HATCHES[place]}" fill="{colour if place == 0 else "none"}" stroke="{colour}" stroke-width="1.6"/></pattern>'
        for place, colour in enumerate(colours)
    )
    for place, colour in enumerate(colours):
        svg = svg.replace(f'fill="{colour}"', f'fill="url(#hatch-{place})" stroke-opacity="1"')
    start = svg.index(">") + 1
    return f"{svg[:start]}<defs>{patterns}</defs>{svg[start:]}"
