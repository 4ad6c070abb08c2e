"""What GitHub counts before a harvest is started: the one question that is put to it inside a web request."""

from django.utils import timezone

from annotator.clients.github.errors import Broken, Limited, NotAllowed, Unreachable
from annotator.clients.github.windows import Count, Window
from annotator.collection import tokens
from annotator.collection.access import access_for
from annotator.collection.placing import period_of
from annotator.collection.wanted import Wanted
from annotator.studies.models import Study
from annotator.web.errors import BadInput

MOST_REPOSITORIES = 20  # in one search


def count_hits(*, study: Study, wanted: Wanted, host: str) -> Count:
    """Before words are looked for, which a harvest does itself. One search, with a short time to answer."""
    from annotator.clients.github.counting import count_at_once  # loads PyGithub, which few web requests need

    if wanted.listed:
        return Count(len(wanted.listed))
    if len(wanted.repositories) > MOST_REPOSITORIES:
        raise BadInput(f"GitHub counts at most {MOST_REPOSITORIES} repositories at once. A harvest takes more.")
    access = access_for(study, host)
    queries = [wanted.query(name) for name in wanted.repositories]
    try:
        counted = count_at_once(access.url, access.keys(), queries, Window(*period_of(wanted, timezone.now())))
    except Limited as limited:
        raise BadInput(f"GitHub takes no search before {limited.until:%H:%M:%S} UTC. Count again then.") from None
    except NotAllowed as refused:
        digests = dict(zip(access.named(), access.digests, strict=True))
        for name in refused.keys:
            tokens.mark_refused(study=study, host=host, digest=digests[name])
        raise BadInput(f"{str(refused).rstrip('.')}.") from None
    except Unreachable:
        raise BadInput(
            "GitHub did not answer in time. A harvest asks again by itself; start it all the same."
        ) from None
    except Broken as broken:
        raise BadInput(f"GitHub does not search that: {str(broken).rstrip('.')}.") from None
    return counted
