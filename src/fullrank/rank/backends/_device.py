"""PyTorch, the device that a ranking runs on, and full precision while it runs.

Every other module of the backend takes ``torch`` from here: it is None where PyTorch is not
installed, so that all modules can be imported, and ``device_of`` says so.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fullrank.core.errors import SpecError

torch: Any
try:
    torch = importlib.import_module("torch")
except ImportError:
    torch = None

Tensor = Any
Device = Any


def device_of(name: str | None) -> Device:
    """The device of a name; CUDA where there is one, else the CPU, for None.

    Raises:
        SpecError: no PyTorch, no such device, or one without float64, which canonical scores need
            (Apple's ``mps``).
    """
    if torch is None:
        raise SpecError(
            "backend='torch' needs PyTorch, which is not installed; run "
            "pip install 'fullrank[neural]', or leave backend= out: the CPU needs no PyTorch"
        )
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, dtype=torch.float64, device=device).cpu()
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise SpecError(
            f"device={name!r} can't be used for a ranking, which needs float64 there: {reason}; "
            "leave device= out for CUDA where there is one, else the CPU"
        ) from error
    return device


@contextmanager
def full_precision(device: Device) -> Iterator[None]:
    """Float32 products in float32 for as long as this lasts, whatever is set globally.

    TF32 and bfloat16 products, which ``torch.set_float32_matmul_precision`` and its kin allow, and
    ``torch.autocast`` would break the error bound of the screening. These settings but autocast's
    are those of the process; they are put back at the end.
    """
    with torch.no_grad(), torch.autocast(device.type, enabled=False), _float32_products():
        yield


@contextmanager
def _float32_products() -> Iterator[None]:
    if not hasattr(torch.backends.cuda.matmul, "fp32_precision"):  # before PyTorch 2.9
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)
        return
    places = (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)
    before = [place.fp32_precision for place in places]
    try:
        for place in places:
            place.fp32_precision = "ieee"
        yield
    finally:
        for place, setting in zip(places, before, strict=True):
            place.fp32_precision = "none"  # as the backend is set, if that is what it was
            if place.fp32_precision != setting:
                place.fp32_precision = setting
