"""A recipe as a form, with environments as rows; or its file's text; and a host's name."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from annotator.accounts.actions import LONGEST_DAYS
from annotator.reproduction import recipes
from annotator.reproduction.recipe_parts import Environment, Oracle
from annotator.web.errors import BadInput, Gathering

KINDS = [
    ("contrast", "Contrast: the bug shows in some environments and not in others"),
    ("differential", "Differential: environments are compared with one another, the majority is the reference"),
]
EXPECT = [("bug", "the bug"), ("no_bug", "no bug")]
COMPARED = [("stdout", "standard output"), ("json", "the JSON on standard output"), ("metric", "a figure")]
FLAGS = ("timeout", "out_of_memory", "nan_in_output", "infinity_in_output")
LIMITS = ("seconds", "memory_mb", "gpus", "gpu_memory_mb")
ORACLE_LINES = ("stdout_matches", "stderr_matches", "exit_code", "exception")
LONG = 600_000


def line(label: str, **more: Any) -> forms.CharField:
    """Whether it is needed, and what may stand in it, the recipe says."""
    wide = {"spellcheck": "false", "autocomplete": "off", **more.pop("attrs", {})}
    return forms.CharField(label=label, required=False, widget=forms.TextInput(attrs=wide), **more)


def figure(label: str, **more: Any) -> forms.CharField:
    return line(label, attrs={"inputmode": "decimal"}, max_length=40, **more)


def lines(label: str, *, rows: int, example: str = "", **more: Any) -> forms.CharField:
    attrs = {"rows": rows, "placeholder": example, "spellcheck": "false", "class": "mono"}
    return forms.CharField(label=label, required=False, strip=False, widget=forms.Textarea(attrs=attrs), **more)


class EnvironmentForm(forms.Form):
    """One row. An empty one is left out."""

    name = line("Name", max_length=200)
    python = line("Python", max_length=300, attrs={"placeholder": "3.8", "size": "6"})
    requirements = lines("Requirements", rows=3, example="numpy==1.18.0", max_length=LONG)
    expect = forms.ChoiceField(label="Expects", choices=EXPECT, required=False)
    image = line("Image", max_length=500)
    variables = lines("Variables", rows=2, example="NAME=value", max_length=LONG)
    setup = lines("Set-up commands", rows=2, max_length=LONG)

    def is_empty(self) -> bool:
        sent = self.cleaned_data
        return not any(str(sent.get(key) or "").strip() for key in sent if key != "expect")

    def has_more(self) -> bool:
        """Whether what is folded away holds something."""
        return any(self[key].value() or self[key].errors for key in ("image", "variables", "setup"))

    def where(self, place: int) -> str:
        name = self.cleaned_data["name"].strip()
        return f"environment “{name}”" if name else f"environments, number {place}"

    def document(self, each: Gathering, *, place: int, is_contrast: bool) -> dict[str, Any]:
        """`place` among those that are filled, from 1."""
        sent = self.cleaned_data
        told: dict[str, Any] = {key: sent[key].strip() for key in ("name", "python", "image") if sent[key].strip()}
        told |= {key: _lines(sent[key]) for key in ("requirements", "setup") if _lines(sent[key])}
        if variables := each(_variables, self.where(place), _lines(sent["variables"])):
            told["variables"] = variables
        return told | ({"expect": sent["expect"]} if is_contrast and sent["expect"] else {})


EnvironmentRows = forms.formset_factory(
    EnvironmentForm, extra=0, max_num=recipes.MOST_ENVIRONMENTS, absolute_max=recipes.MOST_ENVIRONMENTS + 10
)


def _lines(text: str) -> list[str]:
    return [piece.strip() for piece in text.splitlines() if piece.strip()]


def _variables(where: str, listed: list[str]) -> dict[str, str]:
    found = {}
    for one in listed:
        key, sign, value = one.partition("=")
        if not sign:
            raise BadInput(f"{where}: variables are written NAME=value, one a line.")
        found[key.strip()] = value.strip()
    return found


class ScriptForm(forms.Form):
    """What the two ways to write a recipe share."""

    script_text = lines("Script", rows=12, max_length=LONG)
    script_file = forms.FileField(label="Or take it from a file", required=False)  # see with_files
    why = forms.CharField(label="Why it changes", required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def say(self, problem: BadInput) -> None:
        """Put each thing that is wrong beside the field that holds it."""
        raise NotImplementedError

    def script(self) -> str:
        return recipes.checked_script(self.cleaned_data["script_text"])


class RecipeForm(ScriptForm):
    name = line("Name", max_length=400)
    kind = forms.ChoiceField(label="What it does", choices=KINDS, widget=forms.RadioSelect, required=False)
    script_name = line("Its file's name", max_length=400)
    repeats = figure("Repeats", help_text="Of each environment.")
    seed = figure("First seed", help_text="Each further repeat takes the next.")
    stdout_matches = line("Standard output matches", max_length=2000, help_text="A regular expression: NaN: [1-9]")
    stderr_matches = line("Standard error matches", max_length=2000)
    exit_code = figure("Exit code is")
    exception = line("It raises", max_length=400, help_text="The exception's name: ValueError")
    timeout = forms.BooleanField(label="It does not come to an end in time", required=False)
    out_of_memory = forms.BooleanField(label="It runs out of memory", required=False)
    nan_in_output = forms.BooleanField(label="The output has NaN", required=False)
    infinity_in_output = forms.BooleanField(label="The output has an infinity", required=False)
    metric_name = line("The figure named", max_length=400, help_text="As the script prints it: loss 0.25 or loss: 0.25")
    metric_above = figure("is above")
    metric_below = figure("or below")
    compare = forms.ChoiceField(label="Compared is", choices=COMPARED, required=False)
    metric = line("The figure's name", max_length=400)
    tolerance = figure("Figures are the same within", help_text="Of the larger one, at least of 1. Empty: 0.")
    seconds = figure("Seconds")
    memory_mb = figure("Memory, MB")
    gpus = figure("GPUs", help_text="0 or 1")
    gpu_memory_mb = figure("Free GPU memory, MB")

    def __init__(self, sent: Any = None, *, start: recipes.Recipe, script: str = "") -> None:
        initial = {**initial_of(start), "script_text": script}
        super().__init__(sent, initial=initial)
        self.start = start
        rows = [environment_initial(one) for one in start.environments]
        self.rows = EnvironmentRows(sent, initial=rows, prefix="e")

    def is_valid(self) -> bool:
        fine = super().is_valid()
        return self.rows.is_valid() and fine

    def recipe(self) -> recipes.Recipe:
        """Raises BadInput with all that is wrong; `say` finds its places."""
        each = Gathering()
        found = each(recipes.from_document, self.document(each))
        each.refuse()
        return found

    def document(self, each: Gathering) -> dict[str, Any]:
        sent = self.cleaned_data
        is_contrast = sent["kind"] != "differential"
        told = {key: sent[key].strip() for key in ("name", "repeats", "seed") if sent[key].strip()}
        told |= {"script": sent["script_name"].strip(), "kind": sent["kind"] or "contrast"}
        filled = [row for row in self.rows if not row.is_empty()]
        told["environments"] = [
            row.document(each, place=place, is_contrast=is_contrast) for place, row in enumerate(filled, 1)
        ]
        told |= {"oracle": self._oracle()} if is_contrast else self._compared()
        usual = self.start.limits.document()
        told["limits"] = usual | {key: sent[key].strip() for key in LIMITS if sent[key].strip()}
        if self.start.repository or self.start.number:
            told["bug"] = {"repository": self.start.repository or None, "number": self.start.number}
        return told

    def _oracle(self) -> dict[str, Any]:
        sent = self.cleaned_data
        told: dict[str, Any] = {key: sent[key].strip() for key in ORACLE_LINES if sent[key].strip()}
        told |= {key: True for key in FLAGS if sent[key]}
        metric = {key: sent[f"metric_{key}"].strip() for key in ("name", "above", "below")}
        return told | (
            {"metric": {key: value for key, value in metric.items() if value}} if any(metric.values()) else {}
        )

    def _compared(self) -> dict[str, Any]:
        sent = self.cleaned_data
        return {key: sent[key].strip() for key in ("compare", "metric", "tolerance") if sent[key].strip()}

    def say(self, problem: BadInput) -> None:
        placed = [(self._row_of(one), one) for one in problem.all]  # first: an error takes its field's value away
        for row, one in placed:
            if row:
                row.add_error(key_of(one, row.fields, "name"), one)
            else:
                self.add_error(field_of(one, self.fields), one)

    def _row_of(self, problem: str) -> EnvironmentForm | None:
        filled = [row for row in self.rows if not row.is_empty()]
        if found := re.match(r"environments, number (\d+)", problem):
            return filled[int(found[1]) - 1]
        if found := re.match(r"environment “(.+?)”", problem):
            return next((row for row in filled if row.cleaned_data["name"].strip() == found[1]), None)
        return None


def key_of(problem: str, fields: Mapping[str, Any], default: str) -> str:
    """The first word after the place that names a field."""
    return next((word for word in re.findall(r"\w+", problem.lower()) if word in fields), default)


def field_of(problem: str, fields: Mapping[str, Any]) -> str | None:
    """The field that a refusal speaks of: “oracle, exit_code: …” or “name: …”. None: it is said above all of them."""
    if problem.startswith("The script"):
        return "script_text"
    place, colon, _ = problem.partition(":")
    keys = [key.strip() for key in place.split(",")] if colon else []
    if keys[:2] == ["oracle", "metric"]:
        return f"metric_{keys[2]}" if len(keys) > 2 else "metric_above"
    if keys == ["oracle"]:
        return "stdout_matches"
    if keys == ["script"]:
        return "script_name"
    if problem.startswith("Say why"):
        return "why"
    return keys[-1] if keys and keys[-1] in fields else None


class YamlForm(ScriptForm):
    yaml = lines("Recipe", rows=24, max_length=LONG)
    yaml_file = forms.FileField(label="Or take it from a file", required=False)  # see with_files
    field_order = ["yaml", "yaml_file", "script_text", "script_file", "why"]

    def recipe(self) -> recipes.Recipe:
        return recipes.read(self.cleaned_data["yaml"])

    def say(self, problem: BadInput) -> None:
        for one in problem.all:
            place = field_of(one, {})
            self.add_error(place if place in ("script_text", "why") else "yaml", one)


def with_files(sent: QueryDict, files: Mapping[str, Any]) -> QueryDict:
    """What was sent, with uploaded files as the texts that they hold: so a form that comes back shows them."""
    filled = sent.copy()
    for field, place in (("yaml_file", "yaml"), ("script_file", "script_text")):
        if file := files.get(field):
            filled[place] = text_in(file)
    if files.get("script_file") and not filled.get("script_name", "").strip():
        filled["script_name"] = files["script_file"].name
    return filled


def text_in(file: "UploadedFile[Any]") -> str:
    if (file.size or 0) > LONG:
        raise BadInput(f"The file {file.name} has more than {LONG:,} bytes: shorten it.")
    try:
        return bytes(file.read()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"The file {file.name} is not UTF-8 text: save it as UTF-8.") from None


# --- a recipe as initial values


def initial_of(recipe: recipes.Recipe) -> dict[str, Any]:
    limits = recipe.limits.document()
    return {
        "name": recipe.name,
        "kind": recipe.kind,
        "script_name": recipe.script,
        "repeats": str(recipe.repeats),
        "seed": str(recipe.seed),
        "compare": recipe.compare,
        "metric": recipe.metric,
        "tolerance": f"{recipe.tolerance:g}" if recipe.tolerance else "",
        **_oracle_initial(recipe.oracle or Oracle()),
        **{key: f"{limits[key]:g}" for key in LIMITS},
    }


def _oracle_initial(oracle: Oracle) -> dict[str, Any]:
    metric = oracle.metric
    bounds = {"above": metric.above, "below": metric.below} if metric else {}
    return {
        **{key: getattr(oracle, key) for key in (*ORACLE_LINES, *FLAGS)},
        "metric_name": metric.name if metric else "",
        **{f"metric_{key}": "" if value is None else f"{value:g}" for key, value in bounds.items()},
    }


def environment_initial(one: Environment) -> dict[str, Any]:
    return {
        "name": one.name,
        "python": one.python,
        "requirements": "\n".join(one.requirements),
        "expect": one.expect or "bug",
        "image": one.image,
        "variables": "\n".join(f"{name}={value}" for name, value in one.variables.items()),
        "setup": "\n".join(one.setup),
    }


class HostForm(forms.Form):
    name = forms.CharField(label="Name", max_length=60, help_text="Small letters, digits and dashes: gpu-2")
    days = forms.IntegerField(
        label="Its key ends after days", initial=LONGEST_DAYS, min_value=1, max_value=LONGEST_DAYS
    )
