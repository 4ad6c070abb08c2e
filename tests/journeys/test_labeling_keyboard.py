"""Labelling in a real browser, by keyboard: a whole afternoon's acts in one sitting."""

import gzip

from playwright.sync_api import Page, expect

from annotator.labeling.models import FurtherBug
from tests.journeys.acts import PASSWORD, with_password
from tests.journeys.desk import chosen, keys, save, turn_at

SHORT = {"width": 1366, "height": 650}


def test_twenty_bugs_are_labelled_by_keys_alone(at_desk, rating):
    page = at_desk()
    posts: list[str] = []
    page.on(
        "request",
        lambda request: request.method == "POST" and not request.url.endswith("/draft/") and posts.append(request.url),
    )
    for _ in range(14):
        keys(page, "r 2 . 1 s 2 t 3 l 3 u")
        save(page)
    keys(page, "n 1")  # not a bug, first reason
    save(page)
    keys(page, "x 2")  # skipped, second reason
    save(page)
    before = page.title()
    keys(page, "w")  # later
    expect(page).not_to_have_title(before)
    keys(page, "m")
    page.keyboard.type("The cache leaks as well")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("1 further bug noted")).to_be_visible()
    for _ in range(3):
        keys(page, "r 5 s 1 t 1 l 0")
        save(page)
    keys(page, "r 7 s 1 t 1 l 1")  # the parked one, at the end
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Nothing waits for you in this round now.")).to_be_visible()
    expect(page.locator("#progress")).to_be_hidden()
    keys(page, "z")  # from the end, too, the last one opens again
    expect(page.get_by_text("answered", exact=True)).to_be_visible()
    assert len(posts) == 22  # one for each save, skip, later and note: saving and the next bug are one request
    assert chosen(turn_at(0)) == {
        "root_cause": "Tensor type issue",
        "symptom": "Incorrect Functionality",
        "stage": "Training",
        "level": "Operation Implementation",
        "verdict": "bug",
    }
    assert turn_at(0).confidence == "unsure"
    assert chosen(turn_at(14)) == {"verdict": "not a bug"}
    assert turn_at(15).state == "skipped"
    assert chosen(turn_at(17))["level"] == "not applicable"
    assert chosen(turn_at(16))["root_cause"] == "Incorrect Assignment"
    assert FurtherBug.objects.get().note == "The cache leaks as well"


def test_after_a_refused_save_the_next_key_answers_what_is_open(at_desk, rating):
    page = at_desk()
    keys(page, "r 5 t 3 l 1")  # the symptom stays open
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Symptom has no answer yet")).to_be_visible()
    expect(page.locator('.fct[data-name="Symptom"] input').first).to_be_focused()
    keys(page, "1")
    save(page)
    stored = chosen(turn_at(0))
    assert (stored["root_cause"], stored["symptom"]) == ("API Incompatibility", "Crash")


def test_each_key_goes_on_and_a_point_narrows_the_facet_answered_last(at_desk, rating):
    page = at_desk()
    keys(page, "2")
    expect(page.locator('.fct.on[data-name="Symptom"]')).to_be_visible()
    narrower = page.locator(".opt.held .sub label").first
    expect(narrower).to_be_visible()  # in sight still, though the next question has the keys
    keys(page, "s")
    expect(page.locator(".opt.held")).to_have_count(0)
    keys(page, ". 1 2 . 3 3 1 . 4")
    save(page)
    assert chosen(turn_at(0)) == {
        "root_cause": "Tensor type issue",
        "symptom": "Incorrect model structure",
        "stage": "Training",
        "level": "Utility API",
        "verdict": "bug",
    }
    keys(page, "s 1 . 1")  # nothing is narrower than a crash: no other question is answered instead
    expect(page.locator("#answer input:checked[name^=f-]")).to_have_count(1)


def test_every_degree_of_confidence_has_its_key_and_can_be_taken_back(at_desk, rating):
    page = at_desk()
    expect(page.locator("#confidence kbd")).to_have_text("U")
    for key, value in (("u", "unsure"), ("u", "fairly"), ("u", "sure"), ("u", ""), ("Shift+U", "sure")):
        page.keyboard.press(key)
        checked = page.locator("#confidence input:checked")
        assert (checked.get_attribute("value") if checked.count() else "") == value
    keys(page, "5 1 1 1")
    save(page)
    assert turn_at(0).confidence == "sure"


def test_evidence_is_pinned_by_key_and_undone_by_key(at_desk, rating):
    page = at_desk()
    while not page.locator(".diff").count():
        keys(page, "r 1 s 1 t 1 l 1")
        save(page)
    position = int(page.locator("#progress progress").get_attribute("value")) - 1
    keys(page, "j j j j p")
    expect(page.locator("#pins li")).to_have_count(1)
    expect(page.locator("tr.pinned .tile")).to_have_text("1")
    keys(page, "z")
    expect(page.locator("#pins li")).to_have_count(0)
    keys(page, "p r 1 s 1 t 1 l 1")
    save(page)
    pin = turn_at(position).evidence.get()
    assert (pin.kind, pin.place, pin.quote) == ("line", "core/sum.py:2", "total = full.zeros(4)")
    keys(page, "z")  # nothing to undo on the new page: back to the bug before
    expect(page.locator("#pins li")).to_have_count(1)
    expect(page.get_by_text("answered", exact=True)).to_be_visible()


def enter(page: Page, pressed: str) -> None:
    """Keys of a popover, and Enter: it answers with the next bug."""
    before = page.title()
    keys(page, pressed)
    expect(page.locator("[popover]:popover-open")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).not_to_have_title(before)


def test_enter_in_a_popover_does_what_the_popover_is_for(at_desk, rating):
    page = at_desk()
    keys(page, "r 5 s 1 t 1 l 1")  # complete: saving would be taken
    page.locator("#why").fill("Only the text changed.")
    page.keyboard.press("Escape")
    enter(page, "n 4")
    keys(page, "r 5 s 1 t 1 l 1")
    enter(page, "x 3")
    keys(page, "r 5 s 1 t 1 l 1 n")
    page.keyboard.press("Enter")  # no reason yet: neither this nor a bug
    expect(page.locator("#pop-not")).to_be_visible()
    assert (chosen(turn_at(0)), turn_at(0).note) == ({"verdict": "not a bug"}, "Only the text changed.")
    assert (turn_at(1).state, turn_at(1).skip_reason) == ("skipped", "Text or diff is incomplete")
    assert turn_at(2).state == "todo"


def test_without_script_enter_in_a_popover_does_what_the_popover_is_for(at_desk, rating):
    page = at_desk(scripts=False)
    for button, reason in (("Not a bug", "documentation"), ("Skip", "Text or diff is incomplete")):
        page.get_by_role("button", name=button).first.click(force=True)
        field = page.get_by_role("radio", name=reason)
        field.check(force=True)
        with page.expect_navigation():
            field.press("Enter")
    assert chosen(turn_at(0)) == {"verdict": "not a bug"}
    assert (turn_at(1).state, turn_at(1).skip_reason) == ("skipped", "Text or diff is incomplete")


def outside(page: Page) -> list[str]:
    """What one must see while labelling, and cannot: choices, the definition, the button that saves."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('.opt > label, .fct.on .opt:has(:checked) .detail, [data-save]')]
            .filter((el) => { const b = el.getBoundingClientRect(); return b.top < 0 || b.bottom > innerHeight || b.right > innerWidth; })
            .map((el) => el.textContent)"""
    )
    return found


def test_z_after_a_skip_or_later_offers_that_bug_again(at_desk, rating):
    page = at_desk()
    keys(page, "5 1 1 1")
    save(page)
    for act in ("skip", "later"):
        left = page.title()
        if act == "skip":
            enter(page, "x 3")
        else:
            keys(page, "w")
            expect(page).not_to_have_title(left)
        keys(page, "z")
        expect(page).to_have_title(left)
        page.goto("/frameworks/rounds/1/label/")
        expect(page).not_to_have_title(left)


def test_all_facets_and_the_definition_are_in_sight(at_desk, rating):
    page = at_desk()
    keys(page, "r 2")
    for size in (page.viewport_size, SHORT):
        page.set_viewport_size(size)
        assert outside(page) == [], f"out of sight at {size}"
    assert page.locator(".fcts-in").evaluate("el => el.scrollHeight - el.clientHeight") == 0


def test_every_definition_and_its_narrower_choices_are_shown_whole(at_desk, rating):
    page = at_desk()
    cut = page.locator(".detail").evaluate_all(
        "all => all.filter((el) => el.scrollHeight > el.clientHeight).map((el) => el.textContent)"
    )
    assert cut == []
    body = page.locator("#panel").evaluate("el => el.scrollHeight - el.clientHeight")
    assert body == 0, f"the panel scrolls by {body} px"


def test_a_message_above_pushes_nothing_out_of_sight(at_desk, rating, alice):
    page = at_desk()
    person = with_password(alice)
    page.context.clear_cookies(name="sessionid")
    page.goto("/accounts/login/?next=/frameworks/rounds/1/label/")
    page.get_by_label("Username").fill(person.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".messages")).to_be_visible()
    keys(page, "r 2")
    assert outside(page) == []
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0


def test_keys_do_nothing_while_typing_or_when_switched_off(at_desk, rating):
    page = at_desk()
    page.locator("#why").click()
    page.keyboard.type("r2 s1 z n x")
    assert page.locator("#answer input:checked[name^=f-]").count() == 0
    page.keyboard.press("Escape")
    keys(page, "?")
    page.get_by_label("Single-key shortcuts on").uncheck()
    page.keyboard.press("Escape")
    keys(page, "r 2")
    assert page.locator("#answer input:checked[name^=f-]").count() == 0


def test_search_finds_a_category_and_enter_chooses_it(at_desk, rating):
    page = at_desk()
    keys(page, "r /")
    page.keyboard.type("numer")
    page.keyboard.press("Enter")
    expect(page.locator(".fct output").first).to_have_text("Numerical Issue")


def test_without_script_every_act_is_a_plain_form(at_desk, rating):
    page = at_desk(scripts=False)
    title = page.title()
    for name in ("Type Issue", "Crash", "Installation", "not applicable"):
        page.locator(".opt > label").filter(has=page.get_by_text(name, exact=True)).click(
            force=True
        )  # without script no frame says that it is still
    with page.expect_navigation():
        page.get_by_role("button", name="Save & next").click(force=True)
    assert page.title() != title
    assert chosen(turn_at(0))["symptom"] == "Crash"


def test_the_page_is_accessible_and_fits_a_phone(at_desk, rating, accessible, fits):
    page = at_desk()
    accessible(page)
    fits(page)
    page.goto("/frameworks/rounds/1/mine/")
    accessible(page)
    fits(page)


def test_the_page_is_light(at_desk, rating):
    page = at_desk()
    page.wait_for_load_state("networkidle")
    names = page.evaluate(
        """() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
            .map((entry) => entry.name)"""
    )
    assert len(names) <= 12, names
    bodies = {name: page.context.request.get(name).body() for name in names}
    # As it goes over the wire: files under /static/ are served compressed, pages as they are.
    sizes = {name: len(gzip.compress(body)) if "/static/" in name else len(body) for name, body in bodies.items()}
    assert sum(sizes.values()) <= 150_000, sizes
