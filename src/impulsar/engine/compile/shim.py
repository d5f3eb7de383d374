"""What the engine's functions use of Warp, on symbols. Formulas and their order are those of Warp's own headers."""

import math
from typing import Any

import warp as wp

from .graph import UNARY, Scalar, Untraceable, apply, refer
from .symbols import Array, Quaternion, Record, divide, matrix, total, vector

QUATERNIONS = (wp.quatd, wp.quatf)


def cross(a: Array, b: Array) -> Array:
    return vector(3)(
        a.c[1] * b.c[2] - a.c[2] * b.c[1], a.c[2] * b.c[0] - a.c[0] * b.c[2], a.c[0] * b.c[1] - a.c[1] * b.c[0]
    )


def dot(a: Array, b: Array) -> Any:
    return total([x * y for x, y in zip(a.c, b.c, strict=True)])


def length(a: Array) -> Any:
    return apply("sqrt", dot(a, a))


def normalize(a: Array) -> Array:
    size = length(a)
    if size > 0.0:
        return a / size
    return a.like([0.0] * len(a.c)) if a.kind != "quaternion" else a.like([0.0, 0.0, 0.0, 1.0])


def outer(a: Array, b: Array) -> Array:
    return matrix(len(a.c), len(b.c))(*[x * y for x in a.c for y in b.c])


def transpose(a: Array) -> Array:
    rows, columns = a.shape
    return matrix(columns, rows)(*[a.c[i * columns + j] for j in range(columns) for i in range(rows)])


def diag(a: Array) -> Array:
    n = len(a.c)
    return matrix(n, n)(*[a.c[i] if i == j else 0.0 for i in range(n) for j in range(n)])


def inverse(a: Array) -> Array:
    """Of a 3 x 3 matrix by its adjugate; zeros where it has none."""
    if a.shape != (3, 3):
        raise Untraceable(f"wp.inverse of a matrix of shape {a.shape}")
    m = a
    det = dot(vector(3)(*a.c[:3]), cross(vector(3)(*a.c[3:6]), vector(3)(*a.c[6:])))
    if det == 0.0:
        return matrix(3, 3)()
    b = matrix(3, 3)()
    b[0, 0] = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    b[1, 0] = m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
    b[2, 0] = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
    b[0, 1] = m[0, 2] * m[2, 1] - m[0, 1] * m[2, 2]
    b[1, 1] = m[0, 0] * m[2, 2] - m[0, 2] * m[2, 0]
    b[2, 1] = m[0, 1] * m[2, 0] - m[0, 0] * m[2, 1]
    b[0, 2] = m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]
    b[1, 2] = m[0, 2] * m[1, 0] - m[0, 0] * m[1, 2]
    b[2, 2] = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    return b * divide(1.0, det)


def quat_rotate(q: Array, v: Array, sign: float = 1.0) -> Array:
    x, y, z, w = q.c
    c = 2.0 * w * w - 1.0
    d = 2.0 * (x * v.c[0] + y * v.c[1] + z * v.c[2])
    turned = cross(vector(3)(x, y, z), v)
    return vector(3)(*[v.c[k] * c + q.c[k] * d + sign * (turned.c[k] * w * 2.0) for k in range(3)])


def quat_rotate_inv(q: Array, v: Array) -> Array:
    return quat_rotate(q, v, -1.0)


def quat_inverse(q: Array) -> Array:
    x, y, z, w = q.c
    return q.like([-x, -y, -z, w])


def quat_from_axis_angle(axis: Array, angle: Any) -> Array:
    half = angle * 0.5
    s = apply("sin", half)
    return Quaternion(axis.c[0] * s, axis.c[1] * s, axis.c[2] * s, apply("cos", half))


def _are_whole(*args: Any) -> bool:
    return all(isinstance(a, int) for a in args)


def largest(a: Any, b: Any) -> Any:
    return max(a, b) if _are_whole(a, b) else apply("max", a, b)


def smallest(a: Any, b: Any) -> Any:
    return min(a, b) if _are_whole(a, b) else apply("min", a, b)


def clamp(a: Any, low: Any, high: Any) -> Any:
    return smallest(largest(low, a), high)


def absolute(a: Any) -> Any:
    if isinstance(a, Array):
        return a.like([absolute(x) for x in a.c])
    return abs(a) if _are_whole(a) else apply("abs", a)


def sign(a: Any) -> Any:
    return -1.0 if a < 0.0 else 1.0


def where(test: bool, a: Any, b: Any) -> Any:
    return a if test else b


def isfinite(a: Any) -> bool:
    return a.graph.test_finite(refer(a)) if isinstance(a, Scalar) else math.isfinite(a)


def number(a: Any = 0.0) -> Any:
    """wp.float64(a)."""
    return a if isinstance(a, Scalar) else float(a)


def _of(op: str, count: int) -> Any:
    if count == 1:
        return lambda a: apply(op, a)
    return lambda a, b: apply(op, a, b)


FUNCTIONS: dict[str, Any] = {
    **{op: _of(op, 1) for op in UNARY if op not in ("neg", "abs")},
    **{op: _of(op, 2) for op in ("atan2", "pow")},
    **{"cross": cross, "dot": dot, "length": length, "normalize": normalize, "outer": outer, "diag": diag},
    **{"transpose": transpose, "inverse": inverse, "quat_rotate": quat_rotate, "quat_rotate_inv": quat_rotate_inv},
    **{"quat_inverse": quat_inverse, "quat_from_axis_angle": quat_from_axis_angle, "max": largest, "min": smallest},
    **{"clamp": clamp, "abs": absolute, "sign": sign, "where": where, "isfinite": isfinite, "inf": math.inf},
    "length_sq": lambda a: dot(a, a),
    "cw_mul": lambda a, b: a.like([x * y for x, y in zip(a.c, b.c, strict=True)]),
    "float64": number,
    "int32": int,
    "int64": int,
}


class Shim:
    """Stands for the module `warp`."""

    def __getattr__(self, name: str) -> Any:
        found = FUNCTIONS.get(name)
        if found is None:
            found = type_of(getattr(wp, name, None))
        if found is None:
            raise Untraceable(f"wp.{name} has no counterpart on symbols")
        return found


SHIM = Shim()


def type_of(thing: Any) -> Any:
    """What stands for a type of Warp: a number's, a vector's, a matrix's, a quaternion's, a struct's; None: none."""
    if thing is wp.float64:
        return number
    if thing in (wp.int32, wp.int64, int):
        return int
    if type(thing).__name__ == "Struct" and hasattr(thing, "vars"):
        return _struct(thing)
    if not isinstance(thing, type) or not hasattr(thing, "_shape_"):
        return None
    if thing in QUATERNIONS:
        return Quaternion
    shape = thing._shape_
    return matrix(*shape) if len(shape) == 2 else vector(shape[0], getattr(thing, "_wp_scalar_type_", None) is wp.int32)


def _struct(struct: Any) -> Any:
    """What makes records of a struct, all zero."""
    kinds = {name: type_of(entry.type) for name, entry in struct.vars.items()}
    missing = [name for name, kind in kinds.items() if kind is None]
    if missing:
        raise Untraceable(f"struct {struct.key}: {', '.join(missing)} has a type without a counterpart on symbols")

    def make() -> Record:
        return Record({name: kind() for name, kind in kinds.items()})

    return make
