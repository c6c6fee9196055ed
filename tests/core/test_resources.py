"""What a piece of work cost."""

import time

import numba

from fullrank.core.resources import measured


def _fresh():
    """A kernel that nobody has compiled."""

    @numba.njit
    def kernel(values):
        total = 0.0
        for value in values:
            total += value**2
        return total

    return kernel


def test_compiling_is_no_time_of_the_work():
    whole, out = time.perf_counter(), {}
    with measured(out, "outer"), measured(out, "inner"):
        _fresh()((1.0, 2.0))
        compiled = time.perf_counter() - whole
        time.sleep(0.02)
    for name in ("outer", "inner"):
        assert 0.02 <= out[f"{name}_seconds"] < 0.02 + compiled / 2
        assert 0 <= out[f"{name}_cpu_seconds"] < compiled / 2


def test_work_without_kernels_is_measured_whole():
    out = {}
    with measured(out, "nap"):
        time.sleep(0.02)
    assert out["nap_seconds"] >= 0.02
