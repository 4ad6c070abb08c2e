"""Why a coefficient is not there: the code that stands beside a null, and the sentence that explains it."""

from typing import Final

SINGLE_CATEGORY: Final = "single_category"
ONE_RATER: Final = "one_rater"
NO_OVERLAP: Final = "no_overlap"
N_BELOW_FLOOR: Final = "n_below_floor"
SET_VALUED: Final = "set_valued"
JOINT: Final = "joint"
RULE: Final = "rule"
FEW_EXPECTED: Final = "few_expected"
NO_VARIANCE: Final = "no_variance"  # the last two: why a coefficient has no interval
SHARED_BUGS: Final = "shared_bugs"

SENTENCES: Final[dict[str, str]] = {
    SINGLE_CATEGORY: "Only one category was used, so there is no chance agreement to correct for.",
    ONE_RATER: "Only one rater answered, so there is nothing to compare.",
    NO_OVERLAP: "No bug was answered by all of these raters.",
    N_BELOW_FLOOR: "Fewer bugs than the smallest number that the gate asks for.",
    SET_VALUED: "A bug can have several answers here: read alpha and the exact matches instead of kappa.",
    JOINT: "The raters decided this facet together, so their answers are not independent.",
    RULE: "This facet follows from the others by a rule, so nobody answered it.",
    FEW_EXPECTED: "Many cells are expected to hold fewer than five bugs: read the exact test instead.",
    NO_VARIANCE: "No interval: its variance is zero where nobody differed or a rater gave one category throughout.",
    SHARED_BUGS: "No interval: the pairs share bugs, so the sum of their tables has no standard error.",
}
