"""The round's table for a paper: CSV and LaTeX."""

import csv
import io
from collections.abc import Iterable, Sequence

from annotator.agreement.entries import Entry
from annotator.agreement.numbers import short
from annotator.web.spreadsheets import safe_row

NOT_COMPUTABLE = "not computable"
REASONS = ("not_a_bug_both", "not_a_bug_one", "skipped", "unanswered", "not_dealt")
FIGURES = ("observed", "expected", "kappa", "se", "kappa_linear", "kappa_quadratic", "ac1", "pabak")
OTHERS = ("alpha_jaccard", "alpha_masi", "exact_match", "fleiss", "alpha")
COLUMNS = (
    ["round", "facet", "raters", "blindness", "basis", "n", "excluded"]
    + [f"excluded_{reason}" for reason in REASONS]
    + list(FIGURES[:4])
    + ["ci_low", "ci_high"]
    + list(FIGURES[4:])
    + list(OTHERS)
    + ["reason", "warnings", "gate_coefficient", "gate_bound", "gate_method", "gate_result"]
)
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def as_csv(entries: Iterable[Entry]) -> str:
    """One line an entry, numbers unrounded; names that a spreadsheet would run begin with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(safe_row(_line(entry)[name] for name in COLUMNS) for entry in entries)
    return out.getvalue()


def _line(entry: Entry) -> dict[str, object]:
    ci, gate = entry.get("ci") or (None, None), entry["gate"]
    line: dict[str, object] = {key: entry.get(key) for key in ("round", "facet", "n", "excluded", "blindness", "basis")}
    line |= {key: entry.get(key) for key in (*FIGURES, *OTHERS, "reason")}
    line |= {f"excluded_{reason}": entry.get("excluded_by", {}).get(reason, 0) for reason in REASONS}
    line |= {f"gate_{key}": gate[key] for key in ("coefficient", "bound", "method", "result")}
    line |= {
        "raters": " ".join(entry["raters"]),
        "warnings": " ".join(entry.get("warnings", ())),
        "ci_low": ci[0],
        "ci_high": ci[1],
    }
    if "kappa" in entry and entry["kappa"] is None:
        line["kappa"] = NOT_COMPUTABLE
    return line


def as_latex(entries: Sequence[Entry], *, caption: str) -> str:
    """A booktabs table of the pairs."""
    rows = [_latex_row(entry) for entry in entries if len(entry["raters"]) == 2]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            f"  \\caption{{{escaped(caption)}}}",
            "  \\begin{tabular}{llrrrrrr}",
            "    \\toprule",
            "    Facet & Raters & $n$ & Excluded & Observed & $\\kappa$ & 95\\,\\% CI & AC1 \\\\",
            "    \\midrule",
            *rows,
            "    \\bottomrule",
            "  \\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


def _latex_row(entry: Entry) -> str:
    ci = entry["ci"]
    cells = [
        escaped(entry["facet_name"]),
        escaped(", ".join(entry["raters"])),
        str(entry["n"]),
        str(entry["excluded"]),
        _number(entry["observed"]),
        NOT_COMPUTABLE if entry["kappa"] is None else _number(entry["kappa"]),
        f"[{_number(ci[0])}, {_number(ci[1])}]" if ci else "--",
        _number(entry["ac1"]),
    ]
    return f"    {' & '.join(cells)} \\\\"


def _number(value: float | None) -> str:
    return "--" if value is None else short(value).replace("−", "$-$")


def escaped(text: str) -> str:
    return "".join(SPECIAL.get(sign, sign) for sign in text)
