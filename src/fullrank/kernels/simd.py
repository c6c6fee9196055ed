"""Vector loops that Numba does not find by itself, written in LLVM's own vectors.

Counters of a branch-free loop end up as 64-bit integers in Numba and halve or quarter the speed of
a comparison; vectors of a fixed width do not. LLVM splits them to what the processor has (SSE,
AVX2, AVX-512, NEON), so one source serves all. Rows are padded to whole vectors of ``LANES``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic as _intrinsic

LANES = 16
"""Float32 numbers in a vector; lengths of rows are multiples of it."""

_F32, _F64 = ir.FloatType(), ir.DoubleType()
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_FLOATS, _COUNTS = ir.VectorType(_F32, LANES), ir.VectorType(_I32, LANES)
_HALF = LANES // 2

cgutils: Any = _cgutils  # without types of its own


def intrinsic(generate: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's ``intrinsic``, called in kernels without the ``typingctx`` of its definition."""
    if TYPE_CHECKING:
        return generate
    return _intrinsic(generate)


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Pointer to the first element of a C-contiguous array."""
    return cgutils.create_struct_proxy(kind)(context, builder, value=array).data


def _load(builder: Any, pointer: Any, index: Any, vector: Any) -> Any:
    place = builder.bitcast(builder.gep(pointer, [index]), vector.as_pointer())
    value = builder.load(place)
    value.align = 4
    return value


def _splat(builder: Any, value: Any) -> Any:
    """Vector with ``value`` in every lane."""
    blank = ir.Constant(_FLOATS, ir.Undefined)
    first = builder.insert_element(blank, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, blank, ir.Constant(_COUNTS, [0] * LANES))


def _sum(builder: Any, vector: Any) -> Any:
    """Sum of the lanes of counts."""
    kind = ir.FunctionType(_I32, [_COUNTS])
    name = f"llvm.vector.reduce.add.v{LANES}i32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [vector])


def _least(builder: Any, vector: Any) -> Any:
    """Least of the lanes of signed numbers."""
    kind = ir.FunctionType(_I32, [_COUNTS])
    name = f"llvm.vector.reduce.smin.v{LANES}i32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [vector])


def _add_where(builder: Any, counter: Any, condition: Any) -> None:
    """Count the lanes where the condition holds: true is -1 as a signed number."""
    ones = builder.sext(condition, _COUNTS)
    builder.store(builder.sub(builder.load(counter), ones), counter)


def _counter(builder: Any) -> Any:
    place = cgutils.alloca_once(builder, _COUNTS)
    builder.store(ir.Constant(_COUNTS, [0] * LANES), place)
    return place


@intrinsic
def count_pair(typingctx: Any, row: Any, start: Any, n: Any, hi: Any, lo: Any, out: Any) -> Any:
    """``(row, start, n, hi, lo, out)``: compare a row with two limits.

    Writes to ``out`` (int32) how many of ``row[start:start + n]`` are above ``hi``, and how many
    are not below ``lo``. ``n`` is in whole vectors.
    """
    signature = types.void(row, types.int64, types.int64, types.float32, types.float32, out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, start, n, hi, lo, out = args
        scores = _data(context, builder, signature.args[0], row)
        counts = _data(context, builder, signature.args[5], out)
        high, low = _splat(builder, hi), _splat(builder, lo)
        above, reached = _counter(builder), _counter(builder)
        step = ir.Constant(_I64, LANES)
        with cgutils.for_range_slice(builder, start, builder.add(start, n), step, _I64) as (c, _):
            x = _load(builder, scores, c, _FLOATS)
            _add_where(builder, above, builder.fcmp_ordered(">", x, high))
            _add_where(builder, reached, builder.fcmp_ordered(">=", x, low))
        for j, counter in enumerate((above, reached)):
            total = _sum(builder, builder.load(counter))
            builder.store(total, builder.gep(counts, [ir.Constant(_I64, j)]))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_above_4(
    typingctx: Any, row: Any, start: Any, n: Any, limits: Any, t: Any, counts: Any, nearest: Any
) -> Any:
    """``(row, start, n, limits, t, counts, nearest)``: compare a row with four limits.

    For ``j`` of 0 to 3, write to ``counts[j]`` (int32) how many of ``row[start:start + n]`` are not
    below ``limits[t + j]``, and to ``nearest[j]`` (int32) the bits of the float32 difference to the
    limit of the greatest one below it, less the sign; -1 if there is none. ``n`` is in whole
    vectors. One comparison and one difference each: processors compare only one vector a cycle.
    """
    signature = types.void(row, types.int64, types.int64, limits, types.int64, counts, nearest)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, start, n, limits, t, counts, nearest = args
        kinds = signature.args
        scores = _data(context, builder, kinds[0], row)
        given = _data(context, builder, kinds[3], limits)
        states = []
        for j in range(4):
            place = builder.gep(given, [builder.add(t, ir.Constant(_I64, j))])
            least = cgutils.alloca_once(builder, _COUNTS)
            builder.store(ir.Constant(_COUNTS, [-1] * LANES), least)
            states.append((_splat(builder, builder.load(place)), _counter(builder), least))
        step = ir.Constant(_I64, LANES)
        with cgutils.for_range_slice(builder, start, builder.add(start, n), step, _I64) as (c, _):
            x = _load(builder, scores, c, _FLOATS)
            for limit, counter, least in states:
                _add_where(builder, counter, builder.fcmp_ordered(">=", x, limit))
                # The bits of negative floats, read as signed numbers, grow as they fall; those of
                # others are not negative. So the least is that of the difference nearest below 0.
                bits = builder.bitcast(builder.fsub(x, limit), _COUNTS)
                before = builder.load(least)
                lower = builder.icmp_signed("<", bits, before)
                builder.store(builder.select(lower, bits, before), least)
        for j, (_, counter, least) in enumerate(states):
            at = [ir.Constant(_I64, j)]
            total = _sum(builder, builder.load(counter))
            builder.store(total, builder.gep(_data(context, builder, kinds[5], counts), at))
            bits = builder.and_(_least(builder, builder.load(least)), ir.Constant(_I32, 0x7FFFFFFF))
            builder.store(bits, builder.gep(_data(context, builder, kinds[6], nearest), at))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_from(typingctx: Any, row: Any, start: Any, n: Any, limit: Any) -> Any:
    """``(row, start, n, limit)``: how many of ``row[start:start + n]`` are not below the limit."""
    signature = types.int64(row, types.int64, types.int64, types.float32)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, start, n, limit = args
        scores = _data(context, builder, signature.args[0], row)
        vector, counter = _splat(builder, limit), _counter(builder)
        step = ir.Constant(_I64, LANES)
        with cgutils.for_range_slice(builder, start, builder.add(start, n), step, _I64) as (c, _):
            x = _load(builder, scores, c, _FLOATS)
            _add_where(builder, counter, builder.fcmp_ordered(">=", x, vector))
        return builder.sext(_sum(builder, builder.load(counter)), _I64)

    return signature, generate


@intrinsic
def count_bad(typingctx: Any, row: Any, start: Any, n: Any) -> Any:
    """``(row, start, n)``: how many of ``row[start:start + n]`` are NaN or +inf."""
    signature = types.int64(row, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, start, n = args
        scores = _data(context, builder, signature.args[0], row)
        infinite = _splat(builder, ir.Constant(_F32, float("inf")))
        counter = _counter(builder)
        step = ir.Constant(_I64, LANES)
        with cgutils.for_range_slice(builder, start, builder.add(start, n), step, _I64) as (c, _):
            x = _load(builder, scores, c, _FLOATS)
            _add_where(builder, counter, builder.fcmp_unordered(">=", x, infinite))
        return builder.sext(_sum(builder, builder.load(counter)), _I64)

    return signature, generate


@intrinsic
def lanes_from(typingctx: Any, row: Any, start: Any, limit: Any) -> Any:
    """``(row, start, limit)``: bits of the lanes of one vector that are not below the limit."""
    signature = types.int64(row, types.int64, types.float32)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, start, limit = args
        x = _load(builder, _data(context, builder, signature.args[0], row), start, _FLOATS)
        lanes = builder.fcmp_ordered(">=", x, _splat(builder, limit))
        return builder.zext(builder.bitcast(lanes, ir.IntType(LANES)), _I64)

    return signature, generate


@intrinsic
def lanes_between(typingctx: Any, row: Any, start: Any, lo: Any, hi: Any) -> Any:
    """``(row, start, lo, hi)``: bits of the lanes that are neither below lo nor above hi."""
    signature = types.int64(row, types.int64, types.float32, types.float32)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, start, lo, hi = args
        x = _load(builder, _data(context, builder, signature.args[0], row), start, _FLOATS)
        lanes = builder.and_(
            builder.fcmp_ordered(">=", x, _splat(builder, lo)),
            builder.fcmp_ordered("<=", x, _splat(builder, hi)),
        )
        return builder.zext(builder.bitcast(lanes, ir.IntType(LANES)), _I64)

    return signature, generate


@intrinsic
def lowest_bit(typingctx: Any, bits: Any) -> Any:
    """Place of the lowest set bit of an int64 that is not 0."""
    signature = types.int64(types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return signature, generate


@intrinsic
def bits_of(typingctx: Any, score: Any) -> Any:
    """The bits of a float32 as int32."""
    signature = types.int32(types.float32)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _I32)

    return signature, generate


@intrinsic
def float_of(typingctx: Any, bits: Any) -> Any:
    """The float32 of int32 bits."""
    signature = types.float32(types.int32)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _F32)

    return signature, generate


@intrinsic
def dot_of_whole(typingctx: Any, left: Any, i: Any, right: Any, j: Any, n: Any) -> Any:
    """``(left, i, right, j, n)``: float64 dot product of ``left[i:i + n]`` and ``right[j:j + n]``.

    ``n`` is in half vectors. For factors on the grid of ``kernels.grid`` every partial sum is
    exact, so that the order of the sum does not matter.
    """
    signature = types.float64(left, types.int64, right, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, i, right, j, n = args
        a = _data(context, builder, signature.args[0], left)
        b = _data(context, builder, signature.args[2], right)
        narrow, wide = ir.VectorType(_F32, _HALF), ir.VectorType(_F64, _HALF)
        total = cgutils.alloca_once(builder, wide)
        builder.store(ir.Constant(wide, [0.0] * _HALF), total)
        step, zero = ir.Constant(_I64, _HALF), ir.Constant(_I64, 0)
        with cgutils.for_range_slice(builder, zero, n, step, _I64) as (c, _):
            x = builder.fpext(_load(builder, a, builder.add(i, c), narrow), wide)
            y = builder.fpext(_load(builder, b, builder.add(j, c), narrow), wide)
            builder.store(builder.fadd(builder.load(total), builder.fmul(x, y)), total)
        lanes = builder.load(total)
        result = ir.Constant(_F64, 0.0)
        for lane in range(_HALF):
            part = builder.extract_element(lanes, ir.Constant(_I32, lane))
            result = builder.fadd(result, part)
        return result

    return signature, generate
