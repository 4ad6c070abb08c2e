"""A rater's own disputes: keep, accept the other's, or propose a third."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotator.accounts.http import Request
from annotator.adjudication import actions, forms, queue
from annotator.adjudication.item import Item, item_of
from annotator.adjudication.models import Resolution, Stand
from annotator.adjudication.positions import ids
from annotator.adjudication.views import bug_in, facet_in, item_context
from annotator.codebook.models import Facet
from annotator.sampling.models import Bug
from annotator.studies.access import study_for
from annotator.studies.models import Role, Study
from annotator.web.errors import BadInput

Move = Stand.Move


@login_required
@require_GET
def mine(request: Request, slug: str) -> HttpResponse:
    """The disputes of the rater's own bugs, and the first on which a move is due."""
    study = study_for(request.user, slug, Role.RATER)
    due = queue.in_order(queue.own_waiting(study, request.user)) or queue.in_order(queue.own(study, request.user))
    return page(request, study, bug_in(study, due[0]) if due else None)


@login_required
@require_http_methods(["GET", "POST"])
def own(request: Request, slug: str, number: int) -> HttpResponse:
    """One of them; a move is answered with the next facet on which one is due, then with the next bug."""
    study = study_for(request.user, slug, Role.RATER)
    bug = bug_in(study, number)
    if not queue.own_bugs(study, request.user).filter(pk=bug.pk).exists():
        raise Http404("You have no such bug in a round that has closed.")
    if request.method == "GET":
        return page(request, study, bug)
    facet = facet_in(study, request.POST.get("facet", ""))
    order = queue.in_order(queue.own(study, request.user))
    try:
        _move(request, bug, facet)
    except BadInput as problem:
        return page(request, study, bug, facet=facet.key, problem=str(problem))
    messages.success(request, _outcome(bug, facet))
    due = queue.in_order(queue.own_waiting(study, request.user))
    following = queue.following(number, order=order, left=due)
    return redirect("adjudication:own", slug, following) if following else redirect("adjudication:mine", slug)


def _move(request: Request, bug: Bug, facet: Facet) -> None:
    choice, why = request.POST.get("choice", ""), request.POST.get("note", "")
    if choice == "keep":
        actions.take_stand(bug=bug, facet=facet, move=Move.KEEP, why=why, by=request.user)
    elif choice == "propose":
        label = forms.categories(facet, forms.read(request.POST).other)
        actions.take_stand(bug=bug, facet=facet, move=Move.PROPOSE, categories=label, why=why, by=request.user)
    else:
        item = item_of(bug, facet_key=facet.key)
        label = list(forms.label_of(item, forms.read(request.POST)))
        actions.take_stand(bug=bug, facet=facet, move=Move.ACCEPT, categories=label, why=why, by=request.user)


def _outcome(bug: Bug, facet: Facet) -> str:
    settled = Resolution.objects.current().filter(bug=bug, facet=facet, is_stale=False).exists()
    return (
        f"{facet.name} of {bug}: all confirmed, settled." if settled else f"{facet.name} of {bug}: your move is kept."
    )


def page(request: Request, study: Study, bug: Bug | None, *, facet: str = "", problem: str = "") -> HttpResponse:
    due_here = queue.due_on(bug, request.user) if bug else []
    wanted = facet or request.GET.get("facet", "") or (due_here or [""])[0]
    item = item_of(bug, facet_key=wanted) if bug else None
    filters = queue.Filters()
    own_open = queue.own(study, request.user)
    numbers = queue.in_order(own_open)[: queue.PAGE]
    context = item_context(request, study, item) | {
        "rows": queue.rows_of(study, filters, numbers),
        "due": set(queue.in_order(queue.own_waiting(study, request.user))),
        "chosen": forms.read(request.POST),
        "problem": problem,
        "me": request.user.pk,
        "mine": _mine(item, request),
        "moved": {tab.facet.key for tab in item.tabs if tab.is_open} - set(due_here) if item else set(),
    }
    return render(request, "adjudication/mine.html", context, status=422 if problem else 200)


def _mine(item: Item | None, request: Request) -> dict[str, object]:
    """The rater's own side of the item, and the labels of others that can be accepted."""
    if item is None or item.positions is None or item.facet is None:
        return {}
    label = item.positions.before(request.user.pk, item.facet.pk)
    return {
        "label": label,
        "stand": item.positions.stands.get((request.user.pk, item.facet.pk)),
        "picks": [pick for pick in item.picks if ids(pick.label) != ids(label)],
        "action": reverse("adjudication:own", args=[item.bug.study.slug, item.bug.number]),
    }
