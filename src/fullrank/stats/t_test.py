"""The paired t test by user."""

from __future__ import annotations

from numpy.typing import ArrayLike

from fullrank.stats.pairs import Pairs, Significance, trivial

_NAME = "paired t by user"


def paired_t(a: ArrayLike, b: ArrayLike, users: ArrayLike | None = None) -> Significance:
    """Test that the mean difference is 0, by its standard error over users.

    ``t = mean / se`` with ``n_users - 1`` degrees of freedom; with one query a user it is the
    textbook test (Student 1908), with several the standard error is that of a ratio of sums over
    users. If all users differ by the same amount, rounding aside, there is no spread to divide
    by, and the test refuses: see ``sign_flip``.

    Args:
        a: float64 ``[q]``, NaN where undefined.
        b: float64 ``[q]``, matched with ``a`` by query.
        users: integer codes ``[q]``; None if each query is a user of its own.

    Example:
        >>> print(paired_t([0.5, 0.7, 0.2, 0.9], [0.4, 0.4, 0.3, 0.5]))
        paired t by user: p = 0.213 (3 degrees of freedom)
    """
    return t_of(Pairs.of(a, b, users))


def t_of(pairs: Pairs) -> Significance:
    """``paired_t`` of pairs."""
    found = trivial(pairs, _NAME)
    if found is not None:
        return found
    state = pairs.clusters.state
    if state.n_users == 1:
        return Significance(_NAME, None, note="one user shows no spread: t has no meaning")
    if pairs.clusters.flat:
        note = f"all {state.n_users:,} users differ by the same {state.value:g}: t has no meaning"
        return Significance(_NAME, None, note=note)
    from scipy.special import stdtr

    t = state.value / state.standard_error
    p = 2 * float(stdtr(state.n_users - 1, -abs(t)))
    return Significance(_NAME, p, t, note=f"{state.n_users - 1:,} degrees of freedom")
