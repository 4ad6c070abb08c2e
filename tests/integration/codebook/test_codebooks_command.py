"""manage.py codebooks"""

import json
from typing import Any

from django.core.management import call_command


def test_lists_the_presets_as_one_json_document(capsys: Any) -> None:
    call_command("codebooks", "--json")
    found = {book["slug"]: book for book in json.loads(capsys.readouterr().out)}
    main = found["dl-framework-bugs"]
    assert [facet["id"] for facet in main["facets"]] == ["root_cause", "symptom", "stage", "level"]
    assert "Dependent Module Issue" in main["facets"][0]["categories"]
    assert main["facets"][3]["categories"][-1] == "Environment-Dependent Processing"
    assert len(found) == 20


def test_lists_them_for_people(capsys: Any) -> None:
    call_command("codebooks")
    assert "silent-bugs: Silent bugs" in capsys.readouterr().out
