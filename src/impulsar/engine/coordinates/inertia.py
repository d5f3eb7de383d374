"""Inertia of a body: the only place that knows what it is made of.

About the centre of mass, in world axes, with V = [w, v], A its plain derivative and momentum [L, P] = I V:

    I = [[I_W, 0], [0, m 1]]        I A + gyroscopic = applied        kinetic energy V · I V / 2

where the gyroscopic wrench is what the momentum of a body that turns asks for besides I A. In general, and of a rigid
body, whose P is along v,

    gyroscopic = [w × L + v × P, w × P] - I [0, w × v] = [w × I_W w, 0]

Added mass, I + I_a with a full I_a turned as `turn_inertia` turns I_W, enters here: in `spatial_inertia`, `momentum`,
`gyroscopic` by the general form, `twice_kinetic`, and in `weight` not at all. Gravity is an acceleration of the ground
(`accelerate`), which makes all of I heavy: the weight of I_a, -I_a [0, g], is to be taken off among the forces. Where
a body is taken alone its inertia is a mass and a matrix: `free_answer` and `drift` by `spins_free`, and SIMGC's trees
that are joined anew by `tree_motion` (system/build.py). A body with added mass is to have neither, and is then moved
by `articulate`, which takes any I. The armature a of a freedom adds a to D in `articulate`, to the diagonal of
`joint_inertia`, and a v² to twice the kinetic energy.
"""

import numpy as np
import warp as wp

from ..spatial import ZERO, angular, f64, linear, mat33, rotate_inertia, spatial, vec3, vec6, zero3
from ..state import WorkArrays
from ..system import System, SystemArrays


@wp.func
def turn_inertia(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, R_WB: mat33, w: int):
    """The inertia of body i in world axes, where it is turned by R_WB."""
    x.I_W[i, w] = rotate_inertia(R_WB, m.inertia[i, w])


@wp.func
def spatial_inertia(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, w: int):
    """Blocks ww, wv, vv of I."""
    mass = m.mass[i, w]
    return x.I_W[i, w], mat33(), mat33(mass, ZERO, ZERO, ZERO, mass, ZERO, ZERO, ZERO, mass)


@wp.func
def momentum(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, V: vec6, w: int) -> vec6:
    """I V: angular momentum about the centre of mass, and linear momentum."""
    return spatial(x.I_W[i, w] * angular(V), m.mass[i, w] * linear(V))


@wp.func
def gyroscopic(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, w: int) -> vec6:
    """What the momentum of body i asks for by its present twist alone."""
    w_B = angular(x.twist[i, w])
    return spatial(wp.cross(w_B, x.I_W[i, w] * w_B), zero3())


@wp.func
def inertial_wrench(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, A: vec6, w: int) -> vec6:
    """What it takes to accelerate body i by A."""
    return momentum(m, x, i, A, w) + gyroscopic(m, x, i, w)


@wp.func
def twice_kinetic(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, V: vec6, w: int) -> f64:
    """V · I V [J]."""
    return m.mass[i, w] * wp.dot(linear(V), linear(V)) + wp.dot(angular(V), x.I_W[i, w] * angular(V))


@wp.func
def body_mass(m: wp.ref[SystemArrays], i: int, w: int) -> f64:
    """What is heavy of body i [kg]."""
    return m.mass[i, w]


@wp.func
def weight(m: wp.ref[SystemArrays], i: int, w: int) -> vec6:
    """Wrench of gravity on body i."""
    return spatial(zero3(), m.mass[i, w] * m.gravity[0, w])


@wp.func
def invert_free(x: wp.ref[WorkArrays], i: int, w: int):
    """What `free_answer` needs of a single free body."""
    x.I_inv[i, w] = wp.inverse(x.I_W[i, w])


@wp.func
def free_answer(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, f: vec6, w: int) -> vec6:
    """I⁻¹ f of a single free body."""
    return spatial(x.I_inv[i, w] * angular(f), linear(f) / m.mass[i, w])


@wp.func
def turning_inertia(x: wp.ref[WorkArrays], i: int, w: int) -> mat33:
    """Of a body taken alone: about its centre of mass, world axes [kg m²]."""
    return x.I_W[i, w]


@wp.func
def own_inertia(m: wp.ref[SystemArrays], i: int, w: int) -> mat33:
    """The same in body axes."""
    return m.inertia[i, w]


@wp.func
def moved_inertia(mass: f64, d: vec3) -> mat33:
    """Inertia of a point mass at d."""
    s = mass * wp.dot(d, d)
    return mat33(s, ZERO, ZERO, ZERO, s, ZERO, ZERO, ZERO, s) - mass * wp.outer(d, d)


def momenta(system: System, work: WorkArrays) -> np.ndarray:
    """`momentum` of every body at its present twist, on the host [body, world, 6]."""
    V = work.twist.numpy()
    spin = np.einsum("bwij,bwj->bwi", work.I_W.numpy(), V[..., :3])
    return np.concatenate([spin, system.parameter("mass")[..., None] * V[..., 3:]], axis=-1)
