"""What a sheet's columns are taken for at first."""

from annotator.intake.columns import Facet
from annotator.intake.guessing import guess, guess_header_rows
from annotator.intake.sheets import read_grid, read_sheet

SCENARIO = Facet("scenario", "Scenario", labels=("Wrong shape", "Wrong calculation"))
COMPONENT = Facet("component", "Component", labels=("Layer", "Engine"))
IMPACT = Facet("impact", "Impact", labels=("1", "2"))


def guessed(text: str, *facets: Facet) -> dict[str, tuple[str, str]]:
    grid = read_grid(text.encode(), filename="s.csv")
    sheet = read_sheet(grid, header_rows=guess_header_rows(grid.records))
    found = guess(sheet, list(facets), []).columns
    return {f"#{place + 1}": (chosen.meaning, chosen.whose) for place, chosen in found.items()}


def test_what_is_final_below_a_reviewers_name_is_final() -> None:
    head = (
        ",Reviewer 1,,Reviewer 2,,,,Impact,\nURL,Scenario,Component,Scenario,Component,Final Scenario,Final Component"
    )
    row = "https://github.com/o/r/issues/{0},Shape,base layer,Shape,layer,Shape,engine (hidden),1,2\n"
    text = f"{head},Final,Reviewer A\n" + row.format(1) + row.format(2)
    assert guessed(text, SCENARIO, COMPONENT, IMPACT) == {
        "#1": ("item.url", ""),
        "#2": ("rater:scenario", "reviewer-1"),
        "#3": ("rater:component", "reviewer-1"),
        "#4": ("rater:scenario", "reviewer-2"),
        "#5": ("rater:component", "reviewer-2"),
        "#6": ("final:scenario", ""),
        "#7": ("final:component", ""),
        "#8": ("final:impact", ""),
        "#9": ("rater:impact", "reviewer-a"),
    }


def test_a_column_that_is_named_like_a_question_is_its_final_label() -> None:
    assert guessed("id,Component\nx,anything\ny,else\n", COMPONENT)["#2"] == ("final:component", "")


def test_columns_that_share_a_questions_name_are_a_raters_each() -> None:
    found = guessed("id,component,component,note\nx,Layer,Engine,n\ny,Layer,Layer,\n", COMPONENT)
    assert (found["#2"], found["#3"]) == (("rater:component", "rater-a"), ("rater:component", "rater-b"))
