"""The page of distributions: its numbers, its links, its files, and who gets in."""

import csv
import io
import re

import pytest

from annotator.overview.rounds.closing import close_round
from tests.factories import answer

PAGE = "/frameworks/analysis/"


@pytest.fixture
def closed(main_round, bugs, alice, bob, lee):
    for place, bug in enumerate(bugs):
        for rater in (alice, bob):
            same = place < 4 or rater == bob
            answer(main_round, bug, rater, {"cause": "type" if same else "api", "stage": "training"})
    close_round(round_=main_round, by=lee)
    return main_round


def page(client, user, query=""):
    client.force_login(user)
    return client.get(PAGE + query)


def test_numbers_stand_beside_the_bars_and_lead_to_the_bugs(client, closed, ada):
    text = page(client, ada).content.decode()
    assert re.search(r'<rect class="f1"[^>]* width="316[.0]*"', text)
    assert "4 bugs, type" in text
    link = re.search(r'href="(/frameworks/bugs/\?cause=[0-9a-f]+)" aria-label="4 bugs, type"', text)
    listed = client.get(link[1])
    assert listed.status_code == 200
    assert len(re.findall(r'href="/frameworks/bugs/\d+/"', listed.content.decode())) >= 4
    assert "2 disputes wait for a decision" in " ".join(text.split())


def test_one_facet_across_another(client, closed, ada):
    text = page(client, ada, "?by=cause&across=stage").content.decode()
    assert "4 bugs, type, training" in text
    text = page(client, ada, "?by=cause&across=repository").content.decode()
    assert "4 bugs, type, (no repository)" in text


def test_other_labels_can_be_asked_for(client, closed, lee):
    text = page(client, lee, "?labels=alice").content.decode()
    assert "Blind labels of alice" in text
    assert re.search(r"api</th><td class=\"r num\">2</td>", text)


def test_without_final_labels_the_page_says_what_to_do(client, study, lee):
    text = page(client, lee).content.decode()
    assert "No final labels yet." in text
    assert "/frameworks/rounds/" in text


def test_each_table_is_a_csv(client, closed, ada):
    client.force_login(ada)
    rows = list(csv.reader(io.StringIO(client.get(f"{PAGE}table.csv?by=cause").content.decode(), newline="")))
    assert rows == [["facet", "category", "bugs", "with_narrower"], ["cause", "type", "4", ""]]
    crossed = client.get(f"{PAGE}table.csv?by=cause&across=stage")
    assert crossed.content.decode().splitlines() == ["cause,stage,bugs", "type,training,4"]
    assert 'filename="frameworks-final-cause-stage.csv"' in crossed.headers["Content-Disposition"]


@pytest.mark.parametrize("query", ["?by=colour&across=cause", "?labels=charlie", "?by=cause&across=colour"])
def test_what_cannot_be_shown_is_a_clear_page(client, closed, lee, query):
    response = page(client, lee, query)
    assert response.status_code == 400
    assert "colour" in response.content.decode() or "charlie" in response.content.decode()


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}table.csv"])
def test_a_stranger_finds_nothing(client, study, charlie, path):
    client.force_login(charlie)
    assert client.get(path).status_code == 404
    client.logout()
    assert client.get(path).status_code == 302


def test_an_open_round_changes_no_byte(client, main_round, bugs, alice, bob, ada):
    def told():
        return [
            re.sub(r'value="[A-Za-z0-9]{64}"|X-CSRFToken": "[^"]+"', "", page(client, user, query).content.decode())
            for user in (alice, ada)
            for query in ("", "?labels=unanimous", "?labels=bob")
        ]

    before = told()
    answer(main_round, bugs[0], bob, {"cause": "type", "stage": "training"})
    assert told() == before


def test_whose_labels_stays_chosen_from_tab_to_tab(client, closed, ada):
    text = page(client, ada, "?labels=unanimous&level=top&by=cause").content.decode()
    assert 'href="/frameworks/analysis/tables/cross/?labels=unanimous&amp;level=top"' in text
    further = page(client, ada, "tables/trend/?labels=unanimous").content.decode()
    assert 'href="/frameworks/analysis/?labels=unanimous"' in further


def test_a_warning_of_a_test_is_told_in_words(client, closed, ada):
    text = page(client, ada, "tables/cross/?by=cause&across=stage").content.decode()
    assert "Chi-square</b>: not told, one of the two has a single category" in text
    together = page(client, ada, "tables/association/").content.decode()
    assert "single_category: one of the two has a single category." in together
