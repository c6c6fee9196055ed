"""Full ranking by plain sorting, the slow way."""

from __future__ import annotations

import numpy as np

from fullrank.core.ranked import UNRANKED


def rank_row(scores, catalogue, history, targets, eligible=None):
    """Ranks of one query's targets: list of (best, worst), and the number of candidates."""
    allowed = {c for c in range(len(scores)) if catalogue[c]}
    if eligible is not None:
        allowed &= {int(e) for e in eligible}
    allowed -= {int(h) for h in history}
    out = []
    for t in targets:
        if int(t) not in allowed or scores[t] == -np.inf:
            out.append((UNRANKED, UNRANKED))
            continue
        higher = sum(1 for c in allowed if scores[c] > scores[t])
        level = sum(1 for c in allowed if scores[c] == scores[t])
        out.append((higher + 1, higher + level))
    return out, len(allowed - {int(t) for t in targets if scores[t] == -np.inf})
