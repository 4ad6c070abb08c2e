"""Hypothesis strategies: tables, votes and sets as raters leave them behind."""

from hypothesis import strategies as st

from annotator.stats.tables import Table

NAMES = tuple("ABCDEF")
pairs = st.integers(2, len(NAMES)).flatmap(
    lambda k: st.lists(st.tuples(st.sampled_from(NAMES[:k]), st.sampled_from(NAMES[:k])), min_size=1, max_size=60)
)
tables = pairs.map(Table.of_pairs)


def spelt_out(table: Table) -> tuple[list[str], list[str]]:
    """The two raters' answers, bug by bug."""
    both = [(a, b) for a, b, count in table.filled() for _ in range(count)]
    return [a for a, _ in both], [b for _, b in both]
