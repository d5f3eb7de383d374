"""Inertia of a body: the only place that knows what it is made of.

About the centre of mass, in world axes, with V = [w, v], A its plain derivative and momentum [L, P] = I V:

    I = [[I_W, 0], [0, m 1]]        I A + gyroscopic = applied        kinetic energy V · I V / 2

where the gyroscopic wrench is what the momentum of a body that turns asks for besides I A. In general, and of a rigid
body, whose P is along v,

    gyroscopic = [w × L + v × P, w × P] - I [0, w × v] = [w × I_W w, 0]

In a fluid it is I + I_a (added_mass.py), a full I_a that is turned and immersed by `turn_inertia`, with the general
form of `gyroscopic`. What is heavy is m alone, but gravity is an acceleration of the ground (`accelerate`), which makes
all of I heavy: the weight of I_a, `added_weight`, is taken off among the forces. Where a body is taken alone its
inertia is a mass and a matrix: `free_answer` and `drift` by `spins_free`, and SIMGC's trees that are joined anew by
`tree_motion` (system/build.py). A body with added mass has neither, and is moved by `articulate`, which takes any I.

The armature a of a freedom adds a v² to twice the kinetic energy (`twice_rotors`), v the rate of the joint's
coordinate: so a to D in `articulate` and to the diagonal of `joint_inertia`, whatever the pose. It belongs to no body:
where a metric of the bodies' motion alone is wanted, `System.bare_arrays` has none.
"""

import numpy as np
import warp as wp

from ..spatial import ZERO, angular, f64, linear, mat33, rotate_inertia, spatial, vec3, vec6, zero3
from ..state import WorkArrays
from ..system import SystemArrays
from .added_mass import added_momentum, added_products, immerse


@wp.func
def turn_inertia(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, R_WB: mat33, w: int):
    """The inertia of body i in world axes, where it is turned by R_WB."""
    x.I_W[i, w] = rotate_inertia(R_WB, m.inertia[i, w])
    if m.wet_start.shape[0] > 0:
        immerse(m, x, i, R_WB, w)


@wp.func
def spatial_inertia(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, w: int):
    """Blocks ww, wv, vv of I."""
    mass = m.mass[i, w]
    ww = x.I_W[i, w]
    wv = mat33()
    vv = mat33(mass, ZERO, ZERO, ZERO, mass, ZERO, ZERO, ZERO, mass)
    if m.wet_start.shape[0] > 0:
        ww += x.A_ww[i, w]
        wv += x.A_wv[i, w]
        vv += x.A_vv[i, w]
    return ww, wv, vv


@wp.func
def momentum(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, V: vec6, w: int) -> vec6:
    """I V: angular momentum about the centre of mass, and linear momentum."""
    own = spatial(x.I_W[i, w] * angular(V), m.mass[i, w] * linear(V))
    if m.wet_start.shape[0] > 0:
        own += added_momentum(x, i, V, w)
    return own


@wp.func
def gyroscopic(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, w: int) -> vec6:
    """What the momentum of body i asks for by its present twist alone."""
    w_B = angular(x.twist[i, w])
    asked = spatial(wp.cross(w_B, x.I_W[i, w] * w_B), zero3())
    if m.wet_start.shape[0] > 0:
        asked += added_products(m, x, i, x.twist[i, w], w)
    return asked


@wp.func
def inertial_wrench(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, A: vec6, w: int) -> vec6:
    """What it takes to accelerate body i by A."""
    return momentum(m, x, i, A, w) + gyroscopic(m, x, i, w)


@wp.func
def twice_kinetic(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, V: vec6, w: int) -> f64:
    """V · I V [J]."""
    twice = m.mass[i, w] * wp.dot(linear(V), linear(V)) + wp.dot(angular(V), x.I_W[i, w] * angular(V))
    if m.wet_start.shape[0] > 0:
        twice += wp.dot(V, added_momentum(x, i, V, w))
    return twice


@wp.func
def twice_rotors(m: wp.ref[SystemArrays], v: wp.array2d(dtype=f64), i: int, w: int) -> f64:
    """What the armature of body i's joint adds to twice the kinetic energy at joint velocities v [J]."""
    twice = ZERO
    if m.armature.shape[0] > 0:
        for k in range(m.dof_start[i], m.dof_start[i + 1]):
            twice += m.armature[k, w] * v[k, w] * v[k, w]
    return twice


@wp.func
def body_mass(m: wp.ref[SystemArrays], i: int, w: int) -> f64:
    """What is heavy of body i [kg]."""
    return m.mass[i, w]


@wp.func
def weight(m: wp.ref[SystemArrays], i: int, w: int) -> vec6:
    """Wrench of gravity on body i."""
    return spatial(zero3(), m.mass[i, w] * m.gravity[0, w])


@wp.func
def added_weight(m: wp.ref[SystemArrays], x: wp.ref[WorkArrays], i: int, w: int) -> vec6:
    """What gravity as an acceleration of the ground does to the fluid about body i, which is not heavy."""
    return added_momentum(x, i, spatial(zero3(), m.gravity[0, w]), w)


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


def momenta(mass: np.ndarray, inertia: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """`momentum` of every body on the host, of arrays [body, world, ...] [body, world, 6]."""
    spin = np.einsum("bwij,bwj->bwi", inertia, twist[..., :3])
    return np.concatenate([spin, mass[..., None] * twist[..., 3:]], axis=-1)
