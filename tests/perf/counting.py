"""Count the instructions of each case; run by ``suite.py`` under callgrind.

Callgrind counts only between two requests that a program makes by an otherwise useless sequence of
instructions, so that start-up, compilation and the making of inputs cost little and count nothing.
Without valgrind the requests do nothing: such a run fills the cache of compiled kernels.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import mmap
from collections.abc import Callable

from cases import CASES, Piece

# valgrind.h, __SPECIAL_INSTRUCTION_PREAMBLE and VALGRIND_DO_CLIENT_REQUEST_EXPR for amd64:
# mov rax, rdi; xor edx, edx; rol rdi, 3; 13; 61; 51; xchg rbx, rbx; mov rax, rdx; ret
_CODE = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
_BASE = (ord("C") << 24) | (ord("T") << 16)  # callgrind.h, VG_USERREQ_TOOL_BASE('C', 'T')
ZERO_STATS, DUMP_STATS_AT, START, STOP = _BASE + 1, _BASE + 3, _BASE + 4, _BASE + 5

MORE = 0.2
"""The regression that must be seen: so much more of its work is counted beside each piece."""


def requester() -> Callable[..., int]:
    """A function that makes a client request of valgrind with up to five numbers."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_CODE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(start)

    def request(*numbers: int) -> int:
        block = (ctypes.c_uint64 * 6)(*numbers)
        assert page is not None, "the page with the code must live as long as the function"
        return call(ctypes.addressof(block))

    return request


def count(request: Callable[..., int], name: str, piece: Piece) -> None:
    """Count a piece that was called once before, as an event called ``name``."""
    piece()
    label = ctypes.create_string_buffer(name.encode())
    gc.collect()
    request(ZERO_STATS)
    request(START)
    piece()
    request(STOP)
    request(DUMP_STATS_AT, ctypes.addressof(label))


def call_twice(place: str) -> None:
    """Make a kernel do its work twice; ``place`` is ``module:name`` as the caller imports it."""
    module_name, _, name = place.partition(":")
    module = importlib.import_module(module_name)
    kernel = getattr(module, name)

    def twice(*arguments: object) -> object:
        kernel(*arguments)
        return kernel(*arguments)

    setattr(module, name, twice)


def main() -> None:
    """Count the cases and a fifth of each, and at last one of them with a kernel slowed down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--twice", nargs=2, metavar=("KERNEL", "CASE"), help="module:name of a kernel to call twice"
    )
    arguments = parser.parse_args()
    request = requester()
    gc.disable()
    for name, make in CASES.items():
        count(request, name, make(1.0))
        count(request, f"{name}: more", make(MORE))
    if arguments.twice:
        kernel, name = arguments.twice
        call_twice(kernel)
        count(request, f"{name}: twice", CASES[name](1.0))


if __name__ == "__main__":
    main()
