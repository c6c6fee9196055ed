"""All cases, by what they are about."""

from __future__ import annotations

from tests.bad_input.cases_advise import ADVICE
from tests.bad_input.cases_bench import BENCH
from tests.bad_input.cases_data import DATA
from tests.bad_input.cases_estimates import ESTIMATES
from tests.bad_input.cases_lists import COMPARE, LISTS
from tests.bad_input.cases_samples import SAMPLES
from tests.bad_input.cases_splits import SPLITS
from tests.bad_input.cases_stores import STORES
from tests.bad_input.corpus import Case

CASES: dict[str, tuple[Case, ...]] = {
    "Files": DATA,
    "Recommendation lists": LISTS,
    "Comparisons": COMPARE,
    "Splits": SPLITS,
    "Samples": SAMPLES,
    "Advice": ADVICE,
    "Benchmark files": BENCH,
    "Stores and reports": STORES,
    "Sampled ranks and plans": ESTIMATES,
}
