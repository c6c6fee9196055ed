"""Arrays that many share and none may change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of an array; the caller's own stays writeable."""
    view: NDArray[Any] = np.asarray(array).view()
    view.flags.writeable = False
    return view
