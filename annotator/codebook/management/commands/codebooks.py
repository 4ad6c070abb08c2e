"""manage.py codebooks"""

from typing import Any

from annotator.codebook import presets
from annotator.web.command import Command as Base


class Command(Base):
    help = "List the shipped codebooks, their facets and categories."

    def answer(self, **options: Any) -> list[dict[str, Any]]:
        return [presets.summary(slug) for slug in presets.slugs()]

    def show(self, result: Any) -> None:
        for book in result:
            self.stdout.write(f"{book['slug']}: {book['title']}")
            for facet in book["facets"]:
                self.stdout.write(f"  {facet['id']} ({len(facet['categories'])}): {', '.join(facet['categories'])}")
