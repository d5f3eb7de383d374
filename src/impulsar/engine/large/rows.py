"""Rows of joints and what they respond, a thread a joint, a block or a body.

Kernels are made for a sort of joints (`Sort`), so that what is the same for all of them is no data. What a thread finds
is kept in registers until it is whole: loops over rows are written out by Warp, and no index into it is data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from ..constrain.accelerations import acceleration_along
from ..constrain.frames import Pair, place_frames
from ..constrain.locks import lock_between
from ..spatial import HALF, ONE, ZERO, f64, mat33, vec3, zero3
from ..state import WorkArrays
from ..system import SystemArrays
from .arrays import LargeArrays, freedom_of, no_twist, respond, respond_dry, table, wrench_at
from .laws import LawArrays, slot_pair
from .plan import Plan

NONE = wp.constant(-1)
WIDE, REGISTERS = ("fill_diagonal", "fill_beside"), 128  # kernels that would take more, and half as many threads a time


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


@dataclass(frozen=True)
class Sort:
    """What kernels are made for: n rows a joint; the codes of their locks where all joints are of one kind, so that
    compilers see them; whether something may act in freedoms, and whether bodies may have added mass."""

    rows: int
    codes: tuple[int, ...] | None
    acting: bool
    wet: bool

    @property
    def module(self) -> str:
        """Name of the module that has the kernels, which are compiled together."""
        codes = "any" if self.codes is None else "_".join(str(code) if code >= 0 else "n" for code in self.codes)
        return f"{__name__}.{self.rows}.{codes}.{'acting' if self.acting else 'locks'}{'.wet' if self.wet else ''}"

    def code_of(self) -> wp.Function:
        """The code of a row's lock, -1: none."""
        if self.codes is None:

            def code_of(a: wp.ref[LargeArrays], j: int, r: int) -> int:
                return a.lock[a.joint_kind[j], r]

        else:
            codes = wp.types.vector(self.rows, wp.int32)(*self.codes)

            def code_of(a: wp.ref[LargeArrays], j: int, r: int) -> int:
                return codes[r]

        return wp.func(code_of, module=self.module, inline=True)

    def freedom_at(self) -> wp.Function:
        """The freedom of a row, -1: none."""
        if self.acting:

            def freedom_at(a: wp.ref[LargeArrays], j: int, r: int) -> int:
                return freedom_of(a, j, r)

        else:

            def freedom_at(a: wp.ref[LargeArrays], j: int, r: int) -> int:
                return NONE

        return wp.func(freedom_at, module=self.module, inline=True)


@dataclass(frozen=True)
class Known:
    """What is known of a sort's rows, as functions for its kernels."""

    n: int
    code_of: wp.Function
    freedom_at: wp.Function
    is_row: wp.Function
    respond: wp.Function


def known_of(sort: Sort) -> Known:
    """Functions of a sort, in its module."""
    code_of, freedom_at = sort.code_of(), sort.freedom_at()

    def is_row(a: wp.ref[LargeArrays], j: int, r: int) -> bool:
        if code_of(a, j, r) >= 0:
            return True
        f = freedom_at(a, j, r)
        if f >= 0:
            return a.on[f] != 0
        return False

    row = wp.func(is_row, module=sort.module, inline=True)
    return Known(sort.rows, code_of, freedom_at, row, respond if sort.wet else respond_dry)


def make_place_rows(known: Known) -> Callable:
    n, code_of, freedom_at = known.n, known.code_of, known.freedom_at

    def place_rows(m: SystemArrays, x: WorkArrays, a: LargeArrays, l: LawArrays):
        """Wrench pairs of all rows at the present poses."""
        j = wp.tid()
        frames = place_frames(m, x, j, 0)
        point = frames.p_WM
        for r in range(n):
            turn = zero3()
            slide = zero3()
            code = code_of(a, j, r)
            if code >= 0:
                pair, _ = lock_between(m, frames, j, code, ZERO, 0)
                turn = pair.turn
                slide = pair.slide
            else:
                f = freedom_at(a, j, r)
                if f >= 0:
                    own = slot_pair(m, x, l.slot[f])
                    turn = own.turn
                    slide = own.slide
                    point = own.point
            a.turn[r, j] = turn
            a.slide[r, j] = slide
        a.point[j] = point

    return place_rows


def make_measure_errors(known: Known) -> Callable:
    n, code_of, freedom_at = known.n, known.code_of, known.freedom_at

    def measure_errors(m: SystemArrays, x: WorkArrays, a: LargeArrays, b: table):
        """Minus the position errors at the present poses; the rows stay where they are."""
        j = wp.tid()
        frames = place_frames(m, x, j, 0)
        for r in range(n):
            error = ZERO
            code = code_of(a, j, r)
            if code >= 0:
                _, off = lock_between(m, frames, j, code, ZERO, 0)
                error = off
            else:
                f = freedom_at(a, j, r)
                if f >= 0:
                    error = a.off[f]
            b[r, a.column[j]] = -error

    return measure_errors


def make_measure_rates(known: Known) -> Callable:
    n, freedom_at, is_row = known.n, known.freedom_at, known.is_row
    vector = wp.types.vector(n, f64)

    def measure_rates(m: SystemArrays, x: WorkArrays, a: LargeArrays, l: LawArrays, b: table):
        """Minus J v, of freedoms less what is asked of them."""
        j = wp.tid()
        rates = vector()
        for side in range(2):
            body = m.second[j]
            sign = ONE
            if side == 1:
                body = m.first[j]
                sign = -ONE
            if body >= 0:
                V = sign * x.twist[body, 0]
                for r in range(n):
                    rates[r] = rates[r] + wp.dot(row_on(a, x, j, r, body), V)
        for r in range(n):
            rate = ZERO
            if is_row(a, j, r):
                rate = rates[r]
                f = freedom_at(a, j, r)
                if f >= 0:
                    rate += a.asked[f] + a.softness[f] * l.impulse[f]
            b[r, a.column[j]] = -rate

    return measure_rates


def make_measure_accelerations(known: Known) -> Callable:
    n, code_of = known.n, known.code_of
    vector = wp.types.vector(n, f64)

    def measure_accelerations(m: SystemArrays, x: WorkArrays, a: LargeArrays, b: table):
        """Minus the rows' accelerations, at those that the bodies have without the joints."""
        j = wp.tid()
        found = vector()
        for r in range(n):
            code = code_of(a, j, r)
            if code >= 0:
                found[r] = acceleration_along(m, x, j, code, row_pair(a, m, j, r), 0)
        for r in range(n):
            b[r, a.column[j]] = -found[r]

    return measure_accelerations


def make_fill_diagonal(known: Known) -> Callable:
    n, freedom_at, is_row, respond = known.n, known.freedom_at, known.is_row, known.respond
    matrix = wp.types.matrix((n, n), f64)

    def fill_diagonal(m: SystemArrays, x: WorkArrays, a: LargeArrays, diagonal: table, scale: table):
        """J M⁻¹ Jᵀ of each joint; 1 on the diagonal where it has no row."""
        j = wp.tid()
        block = matrix()
        for side in range(2):
            body = m.second[j]
            if side == 1:
                body = m.first[j]
            if body >= 0:
                for i in range(n):
                    moved = respond(a, x.q_WB[body, 0], body, row_on(a, x, j, i, body))
                    for k in range(n):
                        if k <= i:
                            block[i, k] = block[i, k] + wp.dot(row_on(a, x, j, k, body), moved)
        for i in range(n):
            f = freedom_at(a, j, i)
            if f >= 0:
                block[i, i] = block[i, i] + a.softness[f]
            for k in range(n):
                if k <= i:
                    total = block[i, k]
                    if not is_row(a, j, i) or not is_row(a, j, k):
                        total = ZERO
                        if i == k:
                            total = ONE
                    diagonal[i * (i + 1) // 2 + k, a.column[j]] = total
                    if i == k:
                        scale[i, a.column[j]] = total * f64(a.looped[j])

    return fill_diagonal


def meetings(plan: Plan, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Blocks of A beside its diagonal, their two joints, and the bodies that these have in common, -1: no second one
    [5, block]."""
    at = np.flatnonzero(~plan.filled)
    at = at[np.argsort(plan.owner[at], kind="stable")]  # a joint's rows are read once for all its blocks
    j, k = plan.joint[plan.owner[at]], plan.joint[plan.other[at]]
    common = np.full((2, len(at)), -1)
    for mine, its in ((second, second), (first, second), (second, first), (first, first)):
        found = (mine[j] >= 0) & (mine[j] == its[k])
        common[np.where(common[0, found] < 0, 0, 1), np.flatnonzero(found)] = mine[j][found]
    return np.stack([at, j, k, *common])


def make_fill_beside(known: Known) -> Callable:
    n, is_row, respond = known.n, known.is_row, known.respond
    wrenches = wp.types.matrix((n, 6), f64)

    def fill_beside(m: SystemArrays, x: WorkArrays, a: LargeArrays, met: wp.array2d(dtype=wp.int32), beside: table):
        """J M⁻¹ Jᵀ between joints on common bodies; levels fill in the other blocks. met: as `meetings` has it."""
        t = wp.tid()
        at = met[0, t]
        j = met[1, t]
        k = met[2, t]
        which = int(3)
        while which < 5:
            body = met[which, t]
            if body >= 0:
                sign = ONE
                if m.second[j] != body:
                    sign = -sign
                if m.second[k] != body:
                    sign = -sign
                own = wrenches()
                for i in range(n):
                    wrench = row_on(a, x, j, i, body)
                    for part in range(6):
                        own[i, part] = wrench[part]
                for c in range(n):
                    moved = no_twist()
                    if is_row(a, k, c):
                        moved = sign * respond(a, x.q_WB[body, 0], body, row_on(a, x, k, c, body))
                    for i in range(n):
                        total = ZERO
                        if is_row(a, j, i):
                            for part in range(6):
                                total += own[i, part] * moved[part]
                        if which == 4:
                            total += beside[i * n + c, at]
                        beside[i * n + c, at] = total
            which += 1

    return fill_beside


def make_apply(known: Known) -> Callable:
    n, respond = known.n, known.respond
    vector, wrenches = wp.types.vector(n, f64), wp.types.matrix((n, 6), f64)

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
            column = a.column[j]
            impulse = vector()
            wrench = wrenches()
            for r in range(n):
                impulse[r] = b[r, column]
                for part in range(3):
                    wrench[r, part] = a.turn[r, j][part]
                    wrench[r, 3 + part] = a.slide[r, j][part]
            turn = vec3()
            slide = vec3()
            for r in range(n):
                turn += impulse[r] * vec3(wrench[r, 0], wrench[r, 1], wrench[r, 2])
                slide += impulse[r] * vec3(wrench[r, 3], wrench[r, 4], wrench[r, 5])
            pushed += sign * wrench_at(turn, slide, a.point[j] - x.p_WB[body, 0])
        changed[body, 0] = changed[body, 0] + respond(a, x.q_WB[body, 0], body, pushed)

    return apply


def make_stiffen(known: Known) -> Callable:
    n = known.n

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
                    force += sign * impulse[r, a.column[j]] * a.slide[r, j]
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
def kernels(sort: Sort) -> dict[str, wp.Kernel]:
    """Kernels of a sort, by name."""
    known = known_of(sort)
    made = [make(known) for make in MAKERS]
    tight = {"cuda_max_registers": REGISTERS}
    return {
        one.__name__: wp.kernel(enable_backward=False, module=sort.module, **(tight if one.__name__ in WIDE else {}))(
            one
        )
        for one in made
    }
