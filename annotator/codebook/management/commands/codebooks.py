"""manage.py codebooks"""

from typing import Any

from annotator.codebook import presets
from annotator.codebook.document import Document
from annotator.web.command import Command as Base


class Command(Base):
    help = "List the shipped codebooks, their facets and categories."

    def answer(self, **options: Any) -> list[dict[str, Any]]:
        return [summary(slug, presets.preset(slug)) for slug in presets.slugs()]

    def show(self, result: Any) -> None:
        for book in result:
            self.stdout.write(f"{book['slug']}: {book['title']}")
            for facet in book["facets"]:
                self.stdout.write(f"  {facet['id']} ({len(facet['categories'])}): {', '.join(facet['categories'])}")


def summary(slug: str, document: Document) -> dict[str, Any]:
    return {
        "slug": slug,
        "title": document.title,
        "source": document.source,
        "facets": [
            {
                "id": facet.id,
                "name": facet.title,
                "kind": facet.kind,
                "answers": facet.answers,
                "optional": facet.optional,
                "categories": [category.name for category in facet.categories],
            }
            for facet in document.facets
        ],
    }
