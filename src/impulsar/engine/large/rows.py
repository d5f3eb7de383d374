"""Rows of joints and what they respond, a thread a joint, a block or a body; kernels for n rows a joint."""

from collections.abc import Callable
from functools import cache

import warp as wp

from ..constrain.accelerations import joint_acceleration
from ..constrain.frames import Pair
from ..constrain.locks import lock
from ..spatial import HALF, ONE, ZERO, f64, mat33, vec3, zero3
from ..state import WorkArrays
from ..system import SystemArrays
from .arrays import LargeArrays, acts, freedom_of, no_twist, respond, table, whole, wrench_at
from .laws import LawArrays, slot_pair

NONE = wp.constant(-1)


@wp.func
def row_on(a: wp.ref[LargeArrays], x: wp.ref[WorkArrays], j: int, r: int, body: int):
    """The wrench of a row on its second body, about the centre of mass of `body`."""
    return wrench_at(a.turn[r, j], a.slide[r, j], a.point[j] - x.p_WB[body, 0])


@wp.func
def row_pair(a: wp.ref[LargeArrays], m: wp.ref[SystemArrays], j: int, r: int) -> Pair:
    """A row as the pair that it acts by."""
    pair = Pair()
    pair.first = m.first[j]
    pair.second = m.second[j]
    pair.point = a.point[j]
    pair.turn = a.turn[r, j]
    pair.slide = a.slide[r, j]
    return pair


@wp.func
def row_rate(a: wp.ref[LargeArrays], m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], j: int, r: int):
    """J v of a row, at the twists of the bodies."""
    rate = ZERO
    if m.second[j] >= 0:
        rate += wp.dot(row_on(a, x, j, r, m.second[j]), x.twist[m.second[j], 0])
    if m.first[j] >= 0:
        rate -= wp.dot(row_on(a, x, j, r, m.first[j]), x.twist[m.first[j], 0])
    return rate


def make_place_rows(n: int) -> Callable:
    def place_rows(m: SystemArrays, x: WorkArrays, a: LargeArrays, l: LawArrays):
        """Wrench pairs of all rows at the present poses."""
        j = wp.tid()
        point = zero3()
        for r in range(n):
            code = a.lock[a.joint_kind[j], r]
            turn = zero3()
            slide = zero3()
            if code != NONE:
                pair, _ = lock(m, x, j, code, ZERO, 0)
                turn = pair.turn
                slide = pair.slide
                point = pair.point
            else:
                f = freedom_of(a, j, r)
                if f >= 0:
                    own = slot_pair(m, x, l.slot[f])
                    turn = own.turn
                    slide = own.slide
                    point = own.point
            a.turn[r, j] = turn
            a.slide[r, j] = slide
        a.point[j] = point

    return place_rows


def make_measure_errors(n: int) -> Callable:
    def measure_errors(m: SystemArrays, x: WorkArrays, a: LargeArrays, b: table):
        """Minus the position errors at the present poses; the rows stay where they are."""
        j = wp.tid()
        for r in range(n):
            code = a.lock[a.joint_kind[j], r]
            error = ZERO
            if code != NONE:
                _, off = lock(m, x, j, code, ZERO, 0)
                error = off
            else:
                f = freedom_of(a, j, r)
                if f >= 0:
                    error = a.off[f]
            b[r, j] = -error

    return measure_errors


def make_measure_rates(n: int) -> Callable:
    def measure_rates(m: SystemArrays, x: WorkArrays, a: LargeArrays, l: LawArrays, b: table):
        """Minus J v, of freedoms less what is asked of them."""
        j = wp.tid()
        for r in range(n):
            rate = ZERO
            if acts(a, j, r):
                rate = row_rate(a, m, x, j, r)
                f = freedom_of(a, j, r)
                if f >= 0:
                    rate += a.asked[f] + a.softness[f] * l.impulse[f]
            b[r, j] = -rate

    return measure_rates


def make_measure_accelerations(n: int) -> Callable:
    def measure_accelerations(m: SystemArrays, x: WorkArrays, a: LargeArrays, b: table):
        """Minus the rows' accelerations, at those that the bodies have without the joints."""
        j = wp.tid()
        for r in range(n):
            code = a.lock[a.joint_kind[j], r]
            value = ZERO
            if code != NONE:
                value = joint_acceleration(m, x, j, code, row_pair(a, m, j, r), 0)
            b[r, j] = -value

    return measure_accelerations


def make_fill_diagonal(n: int) -> Callable:
    def fill_diagonal(m: SystemArrays, x: WorkArrays, a: LargeArrays, diagonal: table):
        """J M⁻¹ Jᵀ of each joint; 1 on the diagonal where it has no row."""
        j = wp.tid()
        for i in range(n):
            on_first = no_twist()
            on_second = no_twist()
            if m.first[j] >= 0:
                on_first = respond(a, x.q_WB[m.first[j], 0], m.first[j], row_on(a, x, j, i, m.first[j]))
            if m.second[j] >= 0:
                on_second = respond(a, x.q_WB[m.second[j], 0], m.second[j], row_on(a, x, j, i, m.second[j]))
            for k in range(i + 1):
                total = ZERO
                if m.first[j] >= 0:
                    total += wp.dot(row_on(a, x, j, k, m.first[j]), on_first)
                if m.second[j] >= 0:
                    total += wp.dot(row_on(a, x, j, k, m.second[j]), on_second)
                f = freedom_of(a, j, i)
                if i == k and f >= 0:
                    total += a.softness[f]
                if not acts(a, j, i) or not acts(a, j, k):
                    total = ZERO
                    if i == k:
                        total = ONE
                diagonal[i * (i + 1) // 2 + k, j] = total

    return fill_diagonal


def make_fill_beside(n: int) -> Callable:
    def fill_beside(
        m: SystemArrays, x: WorkArrays, a: LargeArrays, owner: whole, other: whole, filled: whole, beside: table
    ):
        """J M⁻¹ Jᵀ between joints on common bodies; blocks that are only filled in begin at zero."""
        block = wp.tid()
        j = owner[block]
        k = other[block]
        for entry in range(n * n):
            beside[entry, block] = ZERO
        if filled[block] != 0:
            return
        for side in range(4):
            body = m.second[j]
            sign = ONE
            if side % 2 == 1:
                body = m.first[j]
                sign = -ONE
            its = m.second[k]
            if side // 2 == 1:
                its = m.first[k]
                sign = -sign
            if body >= 0 and body == its:
                for c in range(n):
                    moved = respond(a, x.q_WB[body, 0], body, row_on(a, x, k, c, body))
                    if not acts(a, k, c):
                        moved = no_twist()
                    for i in range(n):
                        share = sign * wp.dot(row_on(a, x, j, i, body), moved)
                        if acts(a, j, i):
                            beside[i * n + c, block] = beside[i * n + c, block] + share

    return fill_beside


def make_apply(n: int) -> Callable:
    def apply(m: SystemArrays, x: WorkArrays, a: LargeArrays, b: table, changed: wp.array2d(dtype=wp.spatial_vectord)):
        """M⁻¹ Jᵀ b added to one twist a body: joints at a body in order."""
        body = wp.tid()
        pushed = no_twist()
        for place in range(a.body_first[body], a.body_first[body + 1]):
            j = a.body_joint[place]
            sign = ONE
            if j < 0:
                j = -1 - j
                sign = -ONE
            turn = vec3()
            slide = vec3()
            for r in range(n):
                turn += b[r, j] * a.turn[r, j]
                slide += b[r, j] * a.slide[r, j]
            pushed += sign * wrench_at(turn, slide, a.point[j] - x.p_WB[body, 0])
        changed[body, 0] = changed[body, 0] + respond(a, x.q_WB[body, 0], body, pushed)

    return apply


def make_stiffen(n: int) -> Callable:
    def stiffen(m: SystemArrays, x: WorkArrays, a: LargeArrays, impulse: table, squares: wp.array(dtype=f64)):
        """The largest ω² h by which joint forces F at arms r turn bodies back, of the bodies share, share + shares, ...

        A body that turns by a small angle takes the points of its forces along: K = Σ (F · r) 1 - (F rᵀ + r Fᵀ) / 2,
        and no row of I⁻¹ K has a larger sum than ω².
        """
        share = wp.tid()
        found = ZERO
        body = share
        while body < x.p_WB.shape[0]:
            K = mat33()
            for place in range(a.body_first[body], a.body_first[body + 1]):
                j = a.body_joint[place]
                sign = ONE
                if j < 0:
                    j = -1 - j
                    sign = -ONE
                force = vec3()
                for r in range(n):
                    force += sign * impulse[r, j] * a.slide[r, j]
                q = x.q_WB[body, 0]
                arm = wp.quat_rotate_inv(q, a.point[j] - x.p_WB[body, 0])
                force = wp.quat_rotate_inv(q, force)
                K += wp.dot(force, arm) * wp.identity(3, f64) - HALF * (wp.outer(force, arm) + wp.outer(arm, force))
            turn = a.inverse[a.kind[body]] * K
            for i in range(3):
                found = wp.max(found, wp.abs(turn[i, 0]) + wp.abs(turn[i, 1]) + wp.abs(turn[i, 2]))
            body += squares.shape[0]
        squares[share] = found

    return stiffen


MAKERS = (
    make_place_rows,
    make_measure_errors,
    make_measure_rates,
    make_measure_accelerations,
    make_fill_diagonal,
    make_fill_beside,
    make_apply,
    make_stiffen,
)


@cache
def kernels(n: int) -> dict[str, wp.Kernel]:
    """Kernels for joints of at most n rows, by name."""
    made = [make(n) for make in MAKERS]
    return {one.__name__: wp.kernel(enable_backward=False, module="unique")(one) for one in made}
