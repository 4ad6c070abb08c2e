"""What raters found to be no bug leaves, and the next of the reserve come."""

import pytest

from annotator.adjudication.finals import Final, import_finals
from annotator.codebook.models import Category, Facet
from annotator.overview.bugs.replacing import changes, denied, replace_denied
from annotator.overview.rounds import choosing
from annotator.overview.rounds.closing import close_round
from annotator.sampling.actions import add_bugs, draw_sample, leave, take_up
from annotator.sampling.models import Bug, TopUp
from annotator.sampling.queries import parts
from annotator.sampling.rules import Rule
from annotator.web.errors import Refused
from tests.contract.interface import Interface
from tests.factories import answer, make_round
from tests.integration.sampling.conftest import fill_pool

PAGE = "/frameworks/sampling/replace/"


@pytest.fixture
def sample(study, lee):
    fill_pool(study, {"axon/axon": 12, "lumen/lumen": 8})
    sample = draw_sample(study=study, name="Main sample", rule=Rule(kind="equal", count=4), seed=1, by=lee)
    take_up(sample=sample, by=lee)
    return sample


def say(study, bugs, verdict):
    """Settle the verdict on these."""
    facet = Facet.objects.get(codebook__study=study, key=Facet.VERDICT)
    label = Category.objects.get(facet=facet, name=verdict, parent=None)
    import_finals(study=study, rows=[Final(bug.pk, facet.pk, [label.pk]) for bug in bugs], by=None)


def by_number(*numbers):
    return list(Bug.objects.filter(number__in=numbers).order_by("number"))


def test_those_whose_settled_verdict_says_so_leave_and_are_replaced(study, sample, lee):
    say(study, by_number(1, 2, 3), "not a bug")
    say(study, by_number(4), "bug")
    (change,) = changes(study)
    assert [bug.number for bug in change.leaving] == [1, 2, 3]
    foreseen = [(one.left.number, one.place.item.reference) for one in change.replacements]
    assert foreseen == [(1, "axon/axon#5"), (3, "axon/axon#6"), (2, "lumen/lumen#5")]
    left, made = replace_denied(study=study, by=lee)
    assert [(bug.number, bug.left_reason) for bug in left] == [(n, "not_a_bug") for n in (1, 2, 3)]
    assert [(one.left.number, one.came.item.reference) for one in made] == foreseen
    assert {part.staying for part in parts(sample)} == {4}
    with pytest.raises(Refused, match="No bug waits to be replaced"):
        replace_denied(study=study, by=lee)


def test_what_left_before_is_replaced_with_them(study, sample, lee):
    leave(bugs=by_number(5), reason="duplicate", note="Of bug 7.", by=lee)
    say(study, by_number(1), "not a bug")
    left, made = replace_denied(study=study, by=lee)
    assert len(left) == 1
    assert [one.left.number for one in made] == [5, 1]


def test_of_an_open_round_nothing_is_known(study, sample, alice, bob, lee):
    round_ = make_round(study, bugs=by_number(1, 2), raters=[alice, bob], by=lee)
    for rater in (alice, bob):
        answer(round_, by_number(1)[0], rater, {}, not_a_bug="new feature")
    assert not denied(study).exists()
    assert changes(study) == []
    close_round(round_=round_, by=lee)
    assert [bug.number for bug in denied(study)] == [1]


def test_what_is_being_labelled_again_waits(study, sample, alice, bob, lee):
    say(study, by_number(1, 2), "not a bug")
    make_round(study, bugs=by_number(1), raters=[alice, bob], by=lee, kind="relabel")
    assert [bug.number for bug in denied(study)] == [2]


def test_a_bug_of_no_sample_leaves_without_a_successor(study, sample, lee):
    (bug,) = add_bugs(study=study, places=[(by_number(1)[0].item, 2)], by=lee)
    other = fill_pool(study, {"corvid/corvid": 1})
    (alone,) = add_bugs(study=study, places=[(other[0], 1)], by=lee)
    say(study, [bug, alone], "not a bug")
    sampled, rest = changes(study)
    assert (sampled.sample, len(sampled.leaving), sampled.replacements) == (sample, 1, ())  # it was beyond the quota
    assert (rest.sample, [one.number for one in rest.leaving]) == (None, [alone.number])
    assert replace_denied(study=study, by=lee)[1] == []


def test_what_left_is_offered_to_no_round(study, sample, lee):
    leave(bugs=by_number(1), reason="withdrawn", note="Too large.", by=lee)
    for source in (choosing.FREE, choosing.ALL):
        assert 1 not in {bug.number for bug in choosing.choose(study, choosing.Wanted(source=source))}


# --- the page


def test_the_lead_sees_which_and_does_it_in_one_step(client, study, sample, lee):
    client.force_login(lee)
    assert b"No bug waits to be replaced." in client.get(PAGE).content
    say(study, by_number(1, 2), "not a bug")
    shown = client.get(PAGE)
    assert (shown.context["leaving"], shown.context["coming"]) == (2, 2)
    assert b"2 bugs leave, the next 2 of the reserve come." in shown.content
    assert b"axon/axon#5" in shown.content
    response = client.post(PAGE, follow=True)
    assert b"2 left. 2 replaced: now bug 9, 10." in response.content
    assert TopUp.objects.count() == 2
    assert client.post(PAGE).status_code == 409


def test_it_is_the_leads_alone(client, study, sample, alice, charlie):
    client.force_login(alice)
    assert {client.get(PAGE).status_code, client.post(PAGE).status_code} == {403}
    client.force_login(charlie)
    assert {client.get(PAGE).status_code, client.post(PAGE).status_code} == {404}


def test_over_rest(study, sample, lee, alice):
    say(study, by_number(1), "not a bug")
    lead, address = Interface(lee), "studies/frameworks/replacements/"
    assert lead.get(address) == [
        {"sample": 1, "leaving": [1], "replacements": [{"left": 1, "position": 9, "reference": "axon/axon#5"}]}
    ]
    done = lead.post(address)
    assert (done["left"], [one["came"] for one in done["top_ups"]]) == ([1], [9])
    Interface(alice).ask("get", address, status=403)
