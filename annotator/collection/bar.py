"""The bar of a harvest: how its hits divide, as lengths of a drawing."""

from dataclasses import dataclass

from annotator.collection.progress import Progress

WIDTH = 900
LEAST = 3  # so that a single one is seen


@dataclass(frozen=True)
class Part:
    label: str
    count: int
    look: str  # its class in the style sheet
    show: str  # its list
    x: float = 0
    width: float = 0


def parts_of(progress: Progress) -> list[Part]:
    whole = progress.sum
    found = [
        Part("fetched", whole.fetched, "is-fetched", "fetched"),
        Part("unavailable", whole.unavailable, "is-gone", "unavailable"),
        Part("to fetch", whole.left, "is-left", "to_fetch"),
        Part("capped", whole.capped, "is-capped", ""),
    ]
    return laid_out([part for part in found if part.count or part.show == "fetched"])


def laid_out(parts: list[Part]) -> list[Part]:
    """Side by side over the whole width; what is not nothing can be seen."""
    total = sum(part.count for part in parts)
    if not total:
        return parts
    least = [max(LEAST, WIDTH * part.count / total) if part.count else 0.0 for part in parts]
    scale, x, out = WIDTH / sum(least), 0.0, []
    for part, width in zip(parts, least, strict=True):
        out.append(Part(part.label, part.count, part.look, part.show, round(x, 1), round(width * scale, 1)))
        x += width * scale
    return out
