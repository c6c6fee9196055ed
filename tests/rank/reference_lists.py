"""Lists to ranks in plain Python."""

from __future__ import annotations

from itertools import groupby


def ranks_of(rows, targets, seen=(), depth=None, by="rank"):
    """Ranks of one user's targets in a list of (item, rank or score): {item: (best, worst)}."""
    rows = sorted(rows, key=lambda row: row[1] if by == "rank" else -row[1])
    placed = []
    if by == "rank":
        removed = 0
        for item, rank in rows:
            if item in seen:
                removed += 1
            else:
                placed.append((item, rank - removed, rank - removed))
    else:
        kept = [row for row in rows if row[0] not in seen]
        place = 0
        for _, block in groupby(kept, key=lambda row: row[1]):
            block = list(block)
            placed += [(item, place + 1, place + len(block)) for item, _ in block]
            place += len(block)
    out, met = {}, set()
    for item, best, worst in placed:
        if depth is not None and best > depth:
            continue
        if item not in met and item in targets:
            out[item] = (best, worst)
        met.add(item)
    return out
