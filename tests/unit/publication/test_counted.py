"""What a release's final labels say of themselves: a label too many, a facet left open."""

from annotator.publication.batches import plain
from annotator.publication.checks import impossible_counts, missing_facets
from annotator.publication.columns import BUGS, FINALS, Table
from annotator.publication.writing import Written, write_table

BOOK = {"versions": [{"codebook": {"facets": [{"id": "cause"}, {"id": "part", "answers": "many"}]}}]}


def rows_under(columns, *rows):
    blank = {column.name: None if column.kind != "text" else "" for column in columns}
    return [plain(list(values)) for values in zip(*((blank | row).values() for row in rows), strict=True)]


def release_of(folder, finals, bugs=3):
    """Each label in a row group of its own."""
    labels = [{"bug": bug, "facet": facet, "category_uid": uid} for bug, facet, uid in finals]
    batches = [rows_under(FINALS, label) for label in labels]
    tables = [
        write_table(Table("bugs", BUGS, [rows_under(BUGS, *({"bug": n} for n in range(1, bugs + 1)))]), folder),
        write_table(Table("finals", FINALS, batches), folder),
    ]
    return Written(folder, tables, [], {"codebook.json": BOOK})


def test_labels_as_they_should_be_pass(tmp_path):
    release = release_of(tmp_path, [(1, "cause", "a"), (1, "part", "x"), (1, "part", "y"), (2, "cause", "a")])
    assert impossible_counts(release).passed
    assert missing_facets(release).passed


def test_a_second_label_where_a_facet_takes_one_keeps_the_release_back(tmp_path):
    found = impossible_counts(release_of(tmp_path, [(1, "cause", "a"), (2, "cause", "a"), (2, "cause", "b")]))
    assert (found.passed, found.must) == (False, True)
    assert "1 labels too many" in found.says


def test_more_labelled_bugs_than_there_are_keep_the_release_back(tmp_path):
    found = impossible_counts(release_of(tmp_path, [(1, "cause", "a"), (2, "cause", "a")], bugs=1))
    assert (found.passed, found.must) == (False, True)
    assert "more bugs than there are: cause" in found.says


def test_a_facet_without_label_is_told(tmp_path):
    found = missing_facets(
        release_of(tmp_path, [(1, "cause", "a"), (1, "part", ""), (2, "cause", ""), (2, "part", "")])
    )
    assert (found.passed, found.must) == (False, False)
    assert found.says == "Answered and not settled: part 2, cause 1."


def test_a_release_without_labels_passes(tmp_path):
    empty = Written(tmp_path, [], [], {"codebook.json": {"versions": []}})
    assert impossible_counts(empty).passed
    assert missing_facets(empty).passed
