"""Motion by inertia alone: how SIMGC carries the velocities of a tree from one pose to the next.

Between impulses a body keeps its momenta, whatever its spin. Velocity products (Coriolis, centrifugal and
gyroscopic forces) say the same for an infinitesimal step; taken at the start of a finite one they feed
energy to all that turns. So a tree has none, but is taken apart and joined again:

    before the drift   P_i, L_i of the bodies;  P, L and kinetic energy T of the whole tree
    drift              q ← q ⊕ h (v + v'); a tree that turns as a whole does so by its mean spin (`coast`)
    after it           M(q) v = Jᵀ [L_i, P_i]      a projection in the mass norm, which only loses energy
                       P, L of a free tree as before, its centre of mass straight on;
                       L about its pivot of a tree on a ball joint
                       T as before: motion relative to the whole is scaled

L_i is half the body's own in space, which is right for a free body and lets nutation grow, and half that
of a body that coasts by itself within the turn its joints give it, which lets it decay; where a body turns
by more than FAST in a step, all of it the latter. The energy T due after the drift is that before it, less

    - what springs and hands hold beyond k (d + h u)² / 2, for which they were solved: their ends move on
      arcs. Where that is more than T, the drift is shortened.
    - h/2 times the change of the power of the weights: a kick and a drift keep T + V + h/2 · power.

and with what closures took in the step's solve: they do no work, but turn within the step.

Inertia then does no work, whatever h. A tree whose turning axes are all parallel keeps explicit velocity
products (Mikhaylyuk 2017 eq. 7) in steps up to FINE and where the mechanism has no rows: that costs less than
half, and loses more energy.
"""

import warp as wp

from ..constrain import kinds
from ..coordinates.inertia import body_mass, gyroscopic, momentum, moved_inertia, turning_inertia
from ..coordinates.tree import FAST, accelerate, articulate, coast, drift, kinematics, row_velocity
from ..spatial import HALF, ONE, ZERO, angular, carry_twist, f64, linear, mat33, spatial, vec3, vec6, zero3
from ..state import StateArrays, WorkArrays
from ..system import SystemArrays
from ..system.arrays import ALONE, JOINED, LEVEL, ON_BALL, WHOLE

FINE = wp.constant(wp.float64(1e-3))  # step up to which a planar tree keeps explicit velocity products [s]
GIVEN_BACK = wp.constant(wp.float64(0.1))  # of the energy in a step; beyond it closures have met with an impact
RIGIDLY = wp.constant(wp.float64(1.1))  # T over that of the locked tree below which it turns as a whole
SHORTEST = wp.constant(wp.float64(0.001))  # part of a drift
RIGID = wp.constant(wp.float64(1e-10))  # share of the energy below which nothing moves relative to the whole


@wp.struct
class Whole:
    """A tree taken as one: mass, centre, and about `point` its inertia and angular momentum."""

    mass: f64
    centre: vec3
    point: vec3
    inertia: mat33
    P: vec3
    L: vec3
    kinetic: f64


@wp.func(inline=False)
def measure_whole(
    m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], V: wp.array2d(dtype=vec6), tree: int, w: int
) -> Whole:
    """A tree with twists V: about its pivot where it hangs on a ball joint, else about its centre of mass."""
    start = m.tree_body[tree]
    whole = Whole()
    whole.mass = ZERO
    whole.kinetic = ZERO
    whole.inertia = mat33()
    whole.P = zero3()
    whole.L = zero3()
    point = x.p_WB[start, w]
    if m.tree_motion[tree] == ON_BALL:
        point = m.p_PF[start, w]
    first = zero3()  # moment of mass about the point
    for i in range(start, m.tree_body[tree + 1]):
        mass = body_mass(m, i, w)
        d = x.p_WB[i, w] - point
        omega = angular(V[i, w])
        own = momentum(m, x, i, V[i, w], w)
        P = linear(own)
        L = angular(own)
        whole.mass = whole.mass + mass
        first += mass * d
        whole.inertia = whole.inertia + turning_inertia(x, i, w) + moved_inertia(mass, d)
        whole.P = whole.P + P
        whole.L = whole.L + L + wp.cross(d, P)
        whole.kinetic = whole.kinetic + HALF * (wp.dot(omega, L) + wp.dot(P, P) / mass)
    arm = first / whole.mass
    whole.centre = point + arm
    whole.point = point
    if m.tree_motion[tree] != ON_BALL:
        whole.point = whole.centre
        whole.inertia = whole.inertia - moved_inertia(whole.mass, arm)
        whole.L = whole.L - wp.cross(arm, whole.P)
    return whole


@wp.func
def turn_root(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], tree: int, spin: vec3, speed: vec3, w: int
):
    """Add a rigid motion of the whole tree: spin about, and velocity of, its point. Its root is free or a ball."""
    root = m.tree_body[tree]
    k = m.tree_dof[tree]
    R_FW = wp.transpose(m.R_PF[root, w])
    if m.tree_motion[tree] == WHOLE:
        velocity = R_FW * speed
        for j in range(3):
            s.v[k + j, w] = s.v[k + j, w] + velocity[j]
        k += 3
    turn = R_FW * spin
    for j in range(3):
        s.v[k + j, w] = s.v[k + j, w] + turn[j]


@wp.func
def root_point(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], root: int, w: int) -> vec3:
    """Origin of the frame M of a tree's root joint."""
    return x.p_WB[root, w] + wp.quat_rotate(x.q_WB[root, w], m.p_CM[root, w])


@wp.func
def tree_twists(
    m: wp.ref[SystemArrays],
    x: wp.ref[WorkArrays],
    v: wp.array2d(dtype=f64),
    V: wp.array2d(dtype=vec6),
    tree: int,
    w: int,
):
    """Twists V of a tree's bodies at joint velocities v, in the present geometry."""
    for i in range(m.tree_body[tree], m.tree_body[tree + 1]):
        parent = m.parent[i]
        twist = vec6()
        if parent >= 0:
            twist = carry_twist(V[parent, w], x.r[i, w])
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            twist += v[k, w] * x.S[k, w]
        V[i, w] = twist


@wp.func
def is_joined(m: wp.ref[SystemArrays], tree: int) -> bool:
    """Is a tree joined anew after every drift? One with parallel axes not in a fine step without any rows."""
    if m.tree_motion[tree] == LEVEL:
        return m.live_slots[0] > 0 or m.h[0] > FINE
    return m.tree_motion[tree] >= JOINED


@wp.func
def leave_out_products(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], sign: f64, w: int):
    """Leave velocity products out of a kick of the trees that are joined anew (sign 1), and clear up (-1)."""
    for tree in range(m.tree_motion.shape[0]):
        if is_joined(m, tree):
            for i in range(m.tree_body[tree], m.tree_body[tree + 1]):
                x.wrench[i, w] = x.wrench[i, w] + sign * gyroscopic(m, x, i, w)
                x.bias[i, w] = vec6()


@wp.func(inline=False)
def let_go(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], tree: int, lost: f64, h: f64, w: int
):
    """Before the drift of a tree that is joined anew: momenta of its bodies and of the whole, and the energy due.

    What closures took is due, too, as far as it may be the turning of their constraints: they do no work.
    """
    start = m.tree_body[tree]
    motion = m.tree_motion[tree]
    tree_twists(m, x, s.v, x.twist_end, tree, w)
    whole = measure_whole(m, x, x.twist_end, tree, w)
    centre = whole.centre + (h / whole.mass) * whole.P
    if motion == WHOLE and m.live_slots[0] > 0:  # what split impulses move
        tree_twists(m, x, x.v_pseudo, x.twist_pseudo, tree, w)
        for i in range(start, m.tree_body[tree + 1]):
            centre += (h * body_mass(m, i, w) / whole.mass) * linear(x.twist_pseudo[i, w])
    x.carried[2 * start, w] = spatial(whole.L, whole.P)
    most = GIVEN_BACK * whole.kinetic
    x.carried[2 * start + 1, w] = spatial(centre, vec3(whole.kinetic + wp.clamp(lost, -most, most), ZERO, ZERO))
    for i in range(start, m.tree_body[tree + 1]):
        spin = angular(x.twist_end[i, w])
        own = momentum(m, x, i, x.twist_end[i, w], w)
        L = angular(own)
        _, mean = coast(turning_inertia(x, i, w), L, spin, h)
        share = HALF
        if h * wp.length(spin) > FAST:
            share = ONE
        x.spun[i, w] = share * wp.quat_rotate_inv(x.q_WB[i, w], mean + mean - L)
        x.kept[i, w] = spatial((ONE - share) * L, linear(own))
    if motion >= ON_BALL:
        spin = wp.inverse(whole.inertia) * whole.L
        mean_spin, _ = coast(whole.inertia, whole.L, spin, h)
        more = mean_spin - spin
        rigid = HALF * (wp.dot(spin, whole.L) + wp.dot(whole.P, whole.P) / whole.mass)
        if motion == ON_BALL:
            rigid = HALF * wp.dot(spin, whole.L)
        if whole.kinetic > RIGIDLY * rigid:
            more = zero3()
        turn_root(m, s, x, tree, more, wp.cross(more, root_point(m, x, start, w) - whole.point), w)


@wp.func(inline=False)
def join(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], tree: int, strained: f64, h: f64, w: int
):
    """After the drift: velocities x.qdd, joined from the bodies' momenta, with the tree's own momenta and energy."""
    start = m.tree_body[tree]
    motion = m.tree_motion[tree]
    kept = x.carried[2 * start, w]
    energy = wp.max(x.carried[2 * start + 1, w][3] - strained, ZERO)
    now = measure_whole(m, x, x.acceleration, tree, w)
    spin = zero3()
    spin_now = zero3()
    rigid = ZERO
    rigid_now = ZERO
    if motion >= ON_BALL:
        inverse = wp.inverse(now.inertia)
        spin = inverse * angular(kept)
        spin_now = inverse * now.L
        rigid = HALF * wp.dot(spin, angular(kept))
        rigid_now = HALF * wp.dot(spin_now, now.L)
    if motion == WHOLE:
        rigid += HALF * wp.dot(linear(kept), linear(kept)) / now.mass
        rigid_now += HALF * wp.dot(now.P, now.P) / now.mass
    inner = now.kinetic - rigid_now
    scale = ONE
    if inner > RIGID * energy:
        scale = wp.sqrt(wp.max(energy - rigid, ZERO) / inner)
        # a kick and a drift keep T + V + h/2 · power of the weights, and inertia changes that power
        P = scale * now.P
        if motion == ON_BALL:
            P += now.mass * wp.cross(spin - scale * spin_now, now.centre - now.point)
        if motion == WHOLE:
            P = linear(kept)
        gained = wp.dot(m.gravity[0, w], P) - x.carried[2 * start + 1, w][4]
        scale = wp.sqrt(wp.max(energy - rigid - HALF * h * gained, ZERO) / inner)
    whole = ONE
    # energy comes before momentum where a hand did not do the work it was solved for, or the step resolves nothing
    if rigid > energy and (strained > ZERO or h * wp.length(spin) > FAST):
        turning = HALF * wp.dot(spin, angular(kept))
        whole = wp.sqrt(wp.max(energy - rigid + turning, ZERO) / turning)
    for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
        s.v[k, w] = scale * x.qdd[k, w]
    if motion >= ON_BALL:
        more = whole * spin - scale * spin_now
        arm = root_point(m, x, start, w) - now.point
        speed = (linear(kept) - scale * now.P) / now.mass + wp.cross(more, arm)
        turn_root(m, s, x, tree, more, speed, w)
    for i in range(start, m.tree_body[tree + 1]):
        x.wrench[i, w] = vec6()
    if motion == WHOLE:  # the centre of mass goes straight
        shift = wp.transpose(m.R_PF[start, w]) * (angular(x.carried[2 * start + 1, w]) - now.centre)
        c = m.coordinate_start[start]
        for j in range(3):
            s.q[c + j, w] = s.q[c + j, w] + shift[j]


@wp.func(inline=False)
def expect_stretch(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, h: f64, w: int):
    """Stretches at the end of the step: d + h u, for which springs and hands were solved, and d without a drift."""
    t = s.time[0, w]
    for a in range(rows):
        r = x.active[a, w]
        if kinds.is_line(m, x, r, w):
            still = kinds.stretch(m, s, x, r, w) - kinds.target_step(m, s, x, r, t, h, w)
            x.stretch_still[r, w] = still
            x.stretch_due[r, w] = still + h * row_velocity(m, x, s.v, r, w)


@wp.func
def counts_with(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, w: int) -> int:
    """The tree with which a slot's energy counts: the first that it touches, single bodies last."""
    touched = x.row_trees[4 * r, w]
    if m.tree_motion[touched] <= ALONE and x.row_trees[4 * r + 1, w] >= 0:
        touched = x.row_trees[4 * r + 1, w]
    return touched


@wp.func
def belongs(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], r: int, tree: int, w: int) -> bool:
    """Is a slot a spring or a hand of this tree?"""
    return kinds.is_line(m, x, r, w) and counts_with(m, x, r, w) == tree


@wp.func(inline=False)
def unexpected(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, tree: int, h: f64, w: int
):
    """Elastic energy of a tree's springs and hands beyond that for which they were solved: after the drift, without."""
    energy = ZERO
    still = ZERO
    t = s.time[0, w]
    for a in range(rows):
        r = x.active[a, w]
        if belongs(m, x, r, tree, w):
            wanted = x.stretch_due[r, w]
            found = kinds.stretch_after(m, s, x, r, t, h, w)
            energy += HALF * kinds.stiffness(m, x, r, w) * (found * found - wanted * wanted)
            still += (
                HALF * kinds.stiffness(m, x, r, w) * (x.stretch_still[r, w] * x.stretch_still[r, w] - wanted * wanted)
            )
    return energy, still


@wp.func(inline=False)
def take_back_losses(
    m: wp.ref[SystemArrays],
    s: wp.ref[StateArrays],
    x: wp.ref[WorkArrays],
    rows: int,
    tree: int,
    missing: f64,
    h: f64,
    w: int,
):
    """Dampers of a tree's springs and hands did not take what the shortened drift did not make: off their books."""
    t = s.time[0, w]
    total = ZERO
    for a in range(rows):
        r = x.active[a, w]
        if belongs(m, x, r, tree, w):
            total += line_loss(m, s, x, r, t, h, w)
    if total > ZERO:
        share = wp.min(missing / total, ONE)
        for a in range(rows):
            r = x.active[a, w]
            if belongs(m, x, r, tree, w):
                s.loss[r, w] = s.loss[r, w] - share * line_loss(m, s, x, r, t, h, w)


@wp.func
def line_loss(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], r: int, t: f64, h: f64, w: int
) -> f64:
    """What was booked for the damper of a spring or a hand in this step."""
    moved = kinds.target_step(m, s, x, r, t, h, w)
    end = x.stretch_due[r, w] - x.stretch_still[r, w]  # h u
    mean = HALF * (end / h + row_velocity(m, x, x.v_old, r, w))
    return kinds.damping(m, x, r, w) * (end - moved) * (mean - moved / h)


@wp.func
def before_drift(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, h: f64, w: int
) -> bool:
    """Take what the bodies keep over the drift; False where no tree is joined anew."""
    joins = bool(False)
    for tree in range(m.tree_motion.shape[0]):
        if is_joined(m, tree):
            joins = True
    if joins:
        expect_stretch(m, s, x, rows, h, w)
    for tree in range(m.tree_motion.shape[0]):
        if is_joined(m, tree):
            lost = closure_loss(m, s, x, rows, tree, w)
            let_go(m, s, x, tree, lost, h, w)
    return joins


@wp.func(inline=False)
def closure_loss(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, tree: int, w: int
) -> f64:
    """Energy that closures and couplings of a tree took in the step's solve, -Σ p (u₋ + u₊) / 2.

    0 where a motor drives it: the motor gives back what they take, and books it.
    """
    lost = ZERO
    for a in range(rows):
        r = x.active[a, w]
        if kinds.is_drive(x, r, w):
            return ZERO
        if kinds.is_equation(x, r, w) and counts_with(m, x, r, w) == tree:
            u = row_velocity(m, x, s.v, r, w) + row_velocity(m, x, x.v_old, r, w)
            lost -= HALF * s.impulse[r, w] * u
    return lost


@wp.func
def is_strained(
    m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, h: f64, w: int
) -> bool:
    """Do springs or hands hold more energy after the drift than their trees can give?"""
    strained = bool(False)
    for tree in range(m.tree_motion.shape[0]):
        if is_joined(m, tree):
            energy = x.carried[2 * m.tree_body[tree] + 1, w][3]
            more, still = unexpected(m, s, x, rows, tree, h, w)
            if more > wp.max(energy, still):
                strained = True
    return strained


@wp.func(inline=False)
def drift_carefully(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], rows: int, h: f64, w: int):
    """Drift, shortened where springs cannot follow, and velocities after it from what the bodies kept."""
    for i in range(m.parent.shape[0]):
        x.a_WB[i, w] = -linear(x.twist[i, w]) / h
    for c in range(s.q.shape[0]):
        x.q_start[c, w] = s.q[c, w]
    for k in range(s.v.shape[0]):
        x.v_start[k, w] = s.v[k, w]
    drift(m, s, x, h, w)
    kinematics(m, s, x, ZERO, w)
    share = HALF
    while rows > 0 and share > SHORTEST and is_strained(m, s, x, rows, h, w):
        for c in range(s.q.shape[0]):
            s.q[c, w] = x.q_start[c, w]
        for k in range(s.v.shape[0]):
            s.v[k, w] = x.v_start[k, w]
        drift(m, s, x, share * h, w)
        kinematics(m, s, x, ZERO, w)
        share *= HALF
    for tree in range(m.tree_motion.shape[0]):
        if is_joined(m, tree):
            load_momenta(m, s, x, tree, w)
    articulate(m, x, w)
    accelerate(m, x, vec6(), 0, w)
    for tree in range(m.tree_motion.shape[0]):
        if is_joined(m, tree):
            strained, _ = unexpected(m, s, x, rows, tree, h, w)
            missing = strained - x.carried[2 * m.tree_body[tree] + 1, w][3]
            if missing > ZERO:
                take_back_losses(m, s, x, rows, tree, missing, h, w)
            join(m, s, x, tree, strained, h, w)
    kinematics(m, s, x, ZERO, w)
    for i in range(m.parent.shape[0]):
        x.a_WB[i, w] = x.a_WB[i, w] + linear(x.twist[i, w]) / h


@wp.func
def load_momenta(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], tree: int, w: int):
    """Bodies of a tree at rest with the momenta they kept as impulses on them: articulated, these give v.

    The power of their weights at the velocities of the drift goes to what the tree carries.
    """
    start = m.tree_body[tree]
    P = zero3()
    for i in range(start, m.tree_body[tree + 1]):
        P += linear(momentum(m, x, i, x.twist[i, w], w))
    kept = x.carried[2 * start + 1, w]
    x.carried[2 * start + 1, w] = spatial(angular(kept), vec3(kept[3], wp.dot(m.gravity[0, w], P), ZERO))
    for k in range(m.tree_dof[tree], m.tree_dof[tree + 1]):
        x.tau[k, w] = ZERO
    for i in range(m.tree_body[tree], m.tree_body[tree + 1]):
        body = x.kept[i, w]
        x.wrench[i, w] = spatial(angular(body) + wp.quat_rotate(x.q_WB[i, w], x.spun[i, w]), linear(body))
        x.twist[i, w] = vec6()
        x.bias[i, w] = vec6()
