"""Reactions of redundant mechanisms: of all that hold it together, the least, over all joint rows at body level.

Redundant constraints leave the multipliers λ of Jᵀ λ = f open by the null space of Jᵀ; a solver's choice
depends on its coordinates and on the order of its rows. Here J has a row for every lock of every joint,
tree joints included, over the twists of the bodies, and λ is the solution of least norm, torques divided
by a characteristic length. So the choice is the same in both coordinates and keeps a mechanism's symmetry.
How many rows say something new is known from when the world was built; at a singular position they are fewer.

A reaction R of a joint is split, about M's origin, into what its locks and what its freedoms transmit: the
wrench pairs of locks and freedoms together span all wrenches. Only the locks' part is open.

    J Jᵀ = L Lᵀ                 Cholesky, the row of which most is left first (system/rank.py)
    others = X kept             X L_kept = L_others
    C = [-Xᵀ, 1]                its columns span what Jᵀ does not see, of kept and of other rows
    λ ← λ - C (1 + X Xᵀ)⁻¹ Cᵀ λ
"""

from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..author.joints import LOCK_X
from ..engine.constrain.frames import Pair, freedom_pair
from ..engine.constrain.locks import lock
from ..engine.spatial import ONE, ZERO, angular, f64, linear, spatial, vec3, vec6
from ..engine.state import WorkArrays
from ..engine.system import SystemArrays
from ..engine.system.rank import NEAR
from ..engine.system.slots import CLOSURE
from ..engine.system.tree import FreeJoint, span
from .reading import Reading

if TYPE_CHECKING:
    from .bench import Bench

NEAR_ZERO = wp.constant(wp.float64(NEAR))
WIDEST = wp.constant(wp.float64(1e-3))  # pivot that counts as zero at most, however far the joints are open
TAKES_PART = wp.constant(wp.float64(1e-6))  # a component in which forces in balance have less is not open
TILTED = wp.constant(wp.float64(10.0))  # nor one in which they have so many times the play of the bearings


@wp.struct
class Rows:
    """Locks and freedoms of all joints, joint by joint, locks first; and room to work, [.., world]."""

    start: wp.array(dtype=wp.int32)  # [joint + 1] first row
    index: wp.array(dtype=wp.int32)  # [joint] in the system
    code: wp.array(dtype=wp.int32)  # [row]
    lock_of: wp.array(dtype=wp.int32)  # [lock] row
    owner: wp.array(dtype=wp.int32)  # [lock] joint
    ends: wp.array2d(dtype=wp.int32)  # [joint, 2] bodies, -1: ground
    inward: wp.array2d(dtype=wp.int32)  # [tree joint, 3] joint, body and parent, from the tips to the roots
    rank: wp.array(dtype=wp.int32)  # [world] of the locks, as built
    couplings: wp.array(dtype=wp.int32)  # [1] 1: there are some, which may hold what closures hold
    tolerance: wp.array(dtype=f64)  # [1] `redundancy`
    length: wp.array(dtype=f64)  # [1] by which torques are divided [m]
    error: wp.array2d(dtype=f64)  # [lock, world] position errors [m, rad]
    # room
    pair: wp.array2d(dtype=vec6)  # [row] turn and slide
    point: wp.array2d(dtype=vec3)  # [joint] M's origin
    multiplier: wp.array2d(dtype=f64)  # [row] [N, N m]
    row: wp.array2d(dtype=vec6)  # [2 · lock + end] of J, in like units
    size: wp.array2d(dtype=f64)  # [lock] at least 1
    left: wp.array2d(dtype=f64)  # [lock] square of what those before leave of it
    order: wp.array2d(dtype=wp.int32)  # [lock] kept ones, then others
    L: wp.array2d(dtype=f64)  # [lock · locks + column] then X in the rows of others
    S: wp.array2d(dtype=f64)  # [other · locks + other] Cholesky factor of 1 + X Xᵀ
    z: wp.array2d(dtype=f64)  # [other]
    unbalanced: wp.array2d(dtype=vec6)  # [body]
    share: wp.array2d(dtype=vec6)  # [joint] of one set of forces in balance by themselves


@wp.func
def about(wrench: vec6, old: vec3, new: vec3) -> vec6:
    """A wrench about another point."""
    return spatial(angular(wrench) + wp.cross(old - new, linear(wrench)), linear(wrench))


@wp.func
def among_pairs(rows: wp.ref[Rows], j: int, reaction: vec6, w: int):
    """P Pᵀ of fewer than six pairs, filled up by ones, and P R."""
    A = wp.identity(n=6, dtype=f64)
    y = vec6()
    first = rows.start[j]
    for a in range(rows.start[j + 1] - first):
        for b in range(rows.start[j + 1] - first):
            A[a, b] = wp.dot(rows.pair[first + a, w], rows.pair[first + b, w])
        y[a] = wp.dot(rows.pair[first + a, w], reaction)
    return A, y


@wp.func(inline=False)
def split(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], rows: wp.ref[Rows], j: int, w: int):
    """Pairs of a joint's locks and freedoms P, and its reaction in them: Pᵀ λ = R, λ = P (PᵀP)⁻¹ R.

    A distance has a lock and no freedoms, its pairs do not span all wrenches: λ = (P Pᵀ)⁻¹ P R there.
    """
    A = wp.matrix(shape=(6, 6), dtype=f64)
    k = rows.index[j]
    few = rows.start[j + 1] - rows.start[j] < 6
    for r in range(rows.start[j], rows.start[j + 1]):
        pair = Pair()
        if rows.code[r] >= LOCK_X:
            held, _ = lock(m, x, k, rows.code[r], ZERO, w)
            pair = held
        else:
            pair = freedom_pair(m, x, k, rows.code[r], w)
        rows.point[j, w] = pair.point
        p = spatial(pair.turn, pair.slide)
        rows.pair[r, w] = p
        for a in range(6):
            for b in range(6):
                A[a, b] = A[a, b] + p[a] * p[b]
    y = x.reaction[k, w]
    if few:
        A, y = among_pairs(rows, j, y, w)
    for a in range(6):  # Cholesky, and L y = R
        for b in range(a):
            for c in range(b):
                A[a, b] = A[a, b] - A[a, c] * A[b, c]
            A[a, b] = A[a, b] / A[b, b]
            A[a, a] = A[a, a] - A[a, b] * A[a, b]
            y[a] = y[a] - A[a, b] * y[b]
        A[a, a] = wp.sqrt(A[a, a])
        y[a] = y[a] / A[a, a]
    for back in range(6):
        a = 5 - back
        for b in range(a + 1, 6):
            y[a] = y[a] - A[b, a] * y[b]
        y[a] = y[a] / A[a, a]
    for r in range(rows.start[j], rows.start[j + 1]):
        if few:
            rows.multiplier[r, w] = y[r - rows.start[j]]
        else:
            rows.multiplier[r, w] = wp.dot(rows.pair[r, w], y)


@wp.func
def scale_of(rows: wp.ref[Rows], r: int, w: int) -> f64:
    """Rows without a force part count in N m: over the length they are forces."""
    slide = linear(rows.pair[r, w])
    if slide[0] == ZERO and slide[1] == ZERO and slide[2] == ZERO:
        return rows.length[0]
    return ONE


@wp.func(inline=False)
def fill_rows(x: wp.ref[WorkArrays], rows: wp.ref[Rows], w: int) -> f64:
    """J over the bodies' twists, in like units, and its sizes; returns the largest opening of a lock.

    Body equations are in like units too, so that the rank does not depend on the choice of metre.
    """
    widest = ZERO
    for i in range(rows.lock_of.shape[0]):
        r = rows.lock_of[i]
        j = rows.owner[i]
        scale = scale_of(rows, r, w)
        turn = angular(rows.pair[r, w])
        slide = linear(rows.pair[r, w])
        square = ZERO
        for end in range(2):
            body = rows.ends[j, end]
            f = vec6()
            if body >= 0:
                arm = rows.point[j, w] - x.p_WB[body, w]
                f = (scale * f64(2 * end - 1)) * spatial((turn + wp.cross(arm, slide)) / rows.length[0], slide)
            rows.row[2 * i + end, w] = f
            square += wp.dot(f, f)
        rows.size[i, w] = wp.max(wp.sqrt(square), ONE)
        rows.left[i, w] = square / (rows.size[i, w] * rows.size[i, w])
        opening = wp.abs(rows.error[i, w])
        if scale == ONE:
            opening /= rows.length[0]
        widest = wp.max(widest, opening)
    return widest


@wp.func
def product(rows: wp.ref[Rows], i: int, k: int, w: int) -> f64:
    """Of two rows, each of at most size 1."""
    value = ZERO
    for a in range(2):
        body = rows.ends[rows.owner[i], a]
        for b in range(2):
            if body >= 0 and rows.ends[rows.owner[k], b] == body:
                value += wp.dot(rows.row[2 * i + a, w], rows.row[2 * k + b, w])
    return value / (rows.size[i, w] * rows.size[k, w])


@wp.func(inline=False)
def factor(rows: wp.ref[Rows], near: f64, w: int) -> int:
    """L of the strongest rows; returns how many are kept. rows.order has these first, then the others."""
    n = rows.lock_of.shape[0]
    L = rows.L  # local: the compiler keeps its address in a register
    for i in range(n):
        rows.order[i, w] = i
    most = rows.rank[w]
    by_construction = int(0)  # with couplings
    kept = int(0)
    done = bool(False)
    for k in range(n):
        if not done:
            at = k
            for c in range(k + 1, n):
                if rows.left[rows.order[c, w], w] > rows.left[rows.order[at, w], w]:
                    at = c
            i = rows.order[at, w]
            rows.order[at, w] = rows.order[k, w]
            rows.order[k, w] = i
            square = rows.left[i, w]
            if rows.couplings[0] != 0 and square > rows.tolerance[0] * rows.tolerance[0]:
                by_construction += 1
            if square <= near * near or k >= wp.max(most, by_construction):
                done = True
            else:
                pivot = wp.sqrt(square)
                L[i * n + k, w] = pivot
                for c in range(k + 1, n):
                    o = rows.order[c, w]
                    value = product(rows, i, o, w)
                    for p in range(k):
                        value -= L[i * n + p, w] * L[o * n + p, w]
                    value /= pivot
                    L[o * n + k, w] = value
                    rows.left[o, w] = rows.left[o, w] - value * value
                kept += 1
    return kept


@wp.func(inline=False)
def make_others(rows: wp.ref[Rows], kept: int, w: int):
    """X of the others in the rows that are kept, in place of their rows of L, in true sizes."""
    n = rows.lock_of.shape[0]
    L = rows.L
    for c in range(kept, n):
        o = rows.order[c, w]
        for back in range(kept):
            k = kept - 1 - back
            value = L[o * n + k, w] / L[rows.order[k, w] * n + k, w]
            L[o * n + k, w] = value
            for p in range(k):  # the row of L that is kept is done with
                L[o * n + p, w] = L[o * n + p, w] - value * L[rows.order[k, w] * n + p, w]
        for k in range(kept):
            L[o * n + k, w] = L[o * n + k, w] * rows.size[o, w] / rows.size[rows.order[k, w], w]


@wp.func
def scaled(rows: wp.ref[Rows], i: int, w: int) -> f64:
    """Multiplier of a lock as a force."""
    r = rows.lock_of[i]
    return rows.multiplier[r, w] / scale_of(rows, r, w)


@wp.func(inline=False)
def solve_others(rows: wp.ref[Rows], kept: int, w: int):
    """z = (1 + X Xᵀ)⁻¹ Cᵀ λ."""
    n = rows.lock_of.shape[0]
    L = rows.L
    S = rows.S
    others = n - kept
    for a in range(others):
        o = rows.order[kept + a, w]
        y = scaled(rows, o, w)
        for k in range(kept):
            y -= L[o * n + k, w] * scaled(rows, rows.order[k, w], w)
        for b in range(a + 1):
            value = ZERO
            if a == b:
                value = ONE
            other = rows.order[kept + b, w]
            for k in range(kept):
                value += L[o * n + k, w] * L[other * n + k, w]
            for c in range(b):
                value -= S[a * n + c, w] * S[b * n + c, w]
            if a == b:
                S[a * n + a, w] = wp.sqrt(value)
            else:
                S[a * n + b, w] = value / S[b * n + b, w]
                y -= S[a * n + b, w] * rows.z[b, w]
        rows.z[a, w] = y / S[a * n + a, w]
    for back in range(others):
        a = others - 1 - back
        value = rows.z[a, w]
        for b in range(a + 1, others):
            value -= S[b * n + a, w] * rows.z[b, w]
        rows.z[a, w] = value / S[a * n + a, w]


@wp.func
def change_lock(rows: wp.ref[Rows], i: int, change: f64, chosen: wp.array2d(dtype=vec6), w: int):
    """Change the force of a lock in its joint's reaction."""
    r = rows.lock_of[i]
    j = rows.owner[i]
    chosen[j, w] = chosen[j, w] + (change * scale_of(rows, r, w)) * rows.pair[r, w]


@wp.func
def add_share(rows: wp.ref[Rows], i: int, force: f64, w: int):
    """What a lock adds to its joint's share, torques as forces."""
    r = rows.lock_of[i]
    j = rows.owner[i]
    p = (force * scale_of(rows, r, w)) * rows.pair[r, w]
    rows.share[j, w] = rows.share[j, w] + spatial(angular(p) / rows.length[0], linear(p))


@wp.func(inline=False)
def mark_open(rows: wp.ref[Rows], kept: int, sure: wp.array2d(dtype=vec6), w: int):
    """Components that forces in balance by themselves may have any value in.

    Each of the other rows has one set of such forces: 1 in itself and -X in those that are kept. A component of a
    joint's reaction is open where a set has a share in it.
    """
    n = rows.lock_of.shape[0]
    least = wp.max(TAKES_PART, TILTED * rows.tolerance[0])  # axes that are tilted by the play of bearings are parallel
    for a in range(n - kept):
        o = rows.order[kept + a, w]
        for j in range(rows.index.shape[0]):
            rows.share[j, w] = vec6()
        add_share(rows, o, ONE, w)
        for k in range(kept):
            add_share(rows, rows.order[k, w], -rows.L[o * n + k, w], w)
        for j in range(rows.index.shape[0]):
            for c in range(6):
                if wp.abs(rows.share[j, w][c]) > least:
                    known = sure[j, w]
                    known[c] = ZERO
                    sure[j, w] = known


@wp.func(inline=False)
def balance(x: wp.ref[WorkArrays], rows: wp.ref[Rows], chosen: wp.array2d(dtype=vec6), w: int):
    """Let the tree joints take what the change of choice leaves unbalanced at a pose with gaps."""
    for b in range(x.p_WB.shape[0]):
        rows.unbalanced[b, w] = vec6()
    for j in range(rows.index.shape[0]):
        change = chosen[j, w] - x.reaction[rows.index[j], w]
        for end in range(2):
            body = rows.ends[j, end]
            if body >= 0:
                f = about(change, rows.point[j, w], x.p_WB[body, w])
                rows.unbalanced[body, w] = rows.unbalanced[body, w] + f64(2 * end - 1) * f
    for t in range(rows.inward.shape[0]):
        j = rows.inward[t, 0]
        body = rows.inward[t, 1]
        parent = rows.inward[t, 2]
        sign = ONE
        if rows.ends[j, 1] != body:
            sign = -ONE
        f = rows.unbalanced[body, w]
        chosen[j, w] = chosen[j, w] - sign * about(f, x.p_WB[body, w], rows.point[j, w])
        if parent >= 0:
            rows.unbalanced[parent, w] = rows.unbalanced[parent, w] + about(f, x.p_WB[body, w], x.p_WB[parent, w])


@wp.kernel(enable_backward=False)
def least_norm_kernel(
    # model
    m: SystemArrays,
    rows: Rows,
    # state in
    x: WorkArrays,
    # out
    chosen: wp.array2d(dtype=vec6),  # [joint, world] torque and force on the second body, at M's origin
    sure: wp.array2d(dtype=vec6),  # by component, 0: a choice
):
    """Reactions of least norm.

    Joints that are open by ε turn each row by as much. Singular values change by no more than the norm of that,
    √rows · ε for each end of a row: dependent rows have pivots of that size.
    """
    w = wp.tid()
    n = rows.lock_of.shape[0]
    for j in range(rows.index.shape[0]):
        split(m, x, rows, j, w)
        chosen[j, w] = x.reaction[rows.index[j], w]
        sure[j, w] = vec6(ONE, ONE, ONE, ONE, ONE, ONE)
    near = f64(2.0) * wp.sqrt(f64(n)) * fill_rows(x, rows, w)
    kept = factor(rows, wp.clamp(near, NEAR_ZERO, WIDEST), w)
    if kept < n:
        make_others(rows, kept, w)
        solve_others(rows, kept, w)
        for k in range(kept):
            change = ZERO
            for a in range(n - kept):
                change += rows.L[rows.order[kept + a, w] * n + k, w] * rows.z[a, w]
            change_lock(rows, rows.order[k, w], change, chosen, w)
        for a in range(n - kept):
            change_lock(rows, rows.order[kept + a, w], -rows.z[a, w], chosen, w)
        mark_open(rows, kept, sure, w)
        balance(x, rows, chosen, w)


class LeastNorm:
    """Chooses the reactions of a system with loops."""

    def __init__(self, bench: "Bench"):
        system, work = bench.system, bench.work
        joints, worlds, device = list(system.model.joints.values()), system.counts.worlds, system.device
        codes = [[*joint.kind.locks, *joint.kind.freedoms] for joint in joints]
        starts = np.cumsum([0, *map(len, codes)])
        owners = [j for j, joint in enumerate(joints) for _ in joint.kind.locks]
        lock_of = [int(starts[j]) + k for j, joint in enumerate(joints) for k in range(len(joint.kind.locks))]
        tree, number = span(system.model), {joint.name: j for j, joint in enumerate(joints)}
        inward = [
            (number[joint.name], system.body_index[body], system.body_index[tree.bodies[parent]] if parent >= 0 else -1)
            for body, parent, joint in zip(tree.bodies, tree.parents, tree.carriers, strict=True)
            if not isinstance(joint, FreeJoint)
        ][::-1]
        closures = [r for r, slot in enumerate(system.slots) if slot.kind == CLOSURE]
        own = [joint for joint in system.tree.carriers if not isinstance(joint, FreeJoint)]
        held = sum(len(joint.kind.locks) for joint in own)  # no slots stand for joints of the tree
        ranks = held + system.parameter("basis")[closures].sum(axis=0).astype(int)
        rows, n = Rows(), len(owners)
        for name, values in {
            "start": starts,
            "index": [system.joint_index[joint.name] for joint in joints],
            "code": [code for own in codes for code in own],
            "lock_of": lock_of,
            "owner": owners,
            "ends": [[system.body_index.get(name, -1) for name in (joint.first, joint.second)] for joint in joints],
            "inward": np.array(inward, int).reshape(-1, 3),
            "rank": np.broadcast_to(ranks, worlds),
            "couplings": [int(bool(system.model.couplings))],
        }.items():
            data = np.ascontiguousarray(values, np.int32)
            setattr(rows, name, wp.array(data, dtype=wp.int32, device=device, shape=data.shape))
        rows.tolerance = wp.array([system.redundancy], dtype=f64, device=device)
        rows.length = wp.array([system.length], dtype=f64, device=device)
        rows.error = bench.readout.lock_array
        room = {"pair": starts[-1], "point": len(joints), "multiplier": starts[-1], "row": 2 * n, "size": n, "left": n}
        room |= {"order": n, "L": n * n, "S": n * n, "z": n, "unbalanced": system.counts.bodies, "share": len(joints)}
        for name, size in room.items():
            dtype = Rows.vars[name].type.dtype  # type: ignore[attr-defined]
            setattr(rows, name, wp.zeros((int(size), worlds), dtype=dtype, device=device))
        out = [wp.zeros((len(joints), worlds), dtype=dtype, device=device) for dtype in (vec6, vec6)]
        self._readout, self.chosen = bench.readout, out[0]
        self._reading = Reading(least_norm_kernel, worlds, [system.arrays, rows, work], out)

    def readings(self) -> list[Reading]:
        """Its launches, for who goes on with the choice on the device."""
        return [self._readout.lock_reading, self._reading]

    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all joints in the author's order [joint, world, torque and force], and which of it is determinate."""
        self._readout.lock_errors()  # for the kernel
        chosen, sure = self._reading.read()
        return chosen, sure != 0
