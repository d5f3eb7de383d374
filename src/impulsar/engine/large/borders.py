"""What a part of a large world hands to others and takes from them: states of bodies, columns of tables.

state   [body, 13]   p_WB [m], q_WB xyzw, twist [rad/s, m/s]
"""

import numpy as np
import warp as wp

from ..spatial import ZERO, f64, mat33, quat, vec3, vec6
from ..state import WorkArrays
from .arrays import table, whole
from .bench import LargeBench

POSE, TWIST = wp.constant(1), wp.constant(2)  # what is put, as bits
WIDTH = 13

twists = wp.array2d(dtype=vec6)


@wp.kernel(enable_backward=False)
def take_states(x: WorkArrays, which: whole, out: table):
    """States of some bodies."""
    t = wp.tid()
    body = which[t]
    p = x.p_WB[body, 0]
    q = x.q_WB[body, 0]
    V = x.twist[body, 0]
    for k in range(3):
        out[t, k] = p[k]
    for k in range(4):
        out[t, 3 + k] = q[k]
    for k in range(6):
        out[t, 7 + k] = V[k]


@wp.kernel(enable_backward=False)
def put_states(x: WorkArrays, which: whole, given: table, parts: int):
    """Poses, twists or both of some bodies."""
    t = wp.tid()
    body = which[t]
    if (parts & POSE) != 0:
        x.p_WB[body, 0] = vec3(given[t, 0], given[t, 1], given[t, 2])
        x.q_WB[body, 0] = quat(given[t, 3], given[t, 4], given[t, 5], given[t, 6])
    if (parts & TWIST) != 0:
        V = vec6()
        for k in range(6):
            V[k] = given[t, 7 + k]
        x.twist[body, 0] = V


@wp.kernel(enable_backward=False)
def take_twists(values: twists, which: whole, out: table):
    """Some of one twist a body."""
    t = wp.tid()
    for k in range(6):
        out[t, k] = values[which[t], 0][k]


@wp.kernel(enable_backward=False)
def put_twists(values: twists, which: whole, given: table):
    t = wp.tid()
    V = vec6()
    for k in range(6):
        V[k] = given[t, k]
    values[which[t], 0] = V


@wp.kernel(enable_backward=False)
def take_columns(values: table, which: whole, out: table):
    """Some columns of a table, [column, row]."""
    t = wp.tid()
    for k in range(values.shape[0]):
        out[t, k] = values[k, which[t]]


@wp.kernel(enable_backward=False)
def put_columns(values: table, which: whole, given: table):
    t = wp.tid()
    for k in range(values.shape[0]):
        values[k, which[t]] = given[t, k]


@wp.kernel(enable_backward=False)
def blank_columns(values: table, which: whole):
    t = wp.tid()
    for k in range(values.shape[0]):
        values[k, which[t]] = ZERO


@wp.kernel(enable_backward=False)
def farthest(x: WorkArrays, since: wp.array(dtype=vec3), distances: wp.array(dtype=f64)):
    """The longest way from where the bodies share, share + shares, ... were [m]."""
    share = wp.tid()
    found = ZERO
    body = share
    while body < since.shape[0]:
        found = wp.max(found, wp.length(x.p_WB[body, 0] - since[body]))
        body += distances.shape[0]
    distances[share] = found


@wp.kernel(enable_backward=False)
def scale_answers(given: wp.array2d(dtype=mat33), factor: wp.array(dtype=f64), out: wp.array2d(dtype=mat33)):
    """Answers of bodies to impulses (arrays.py), times a factor each."""
    body = wp.tid()
    for k in range(3):
        value = mat33()
        if factor[body] > ZERO:
            value = factor[body] * given[k, body]
        out[k, body] = value


def scaled_answers(bench: LargeBench, factor: np.ndarray, out: wp.array) -> None:
    """Have answers to impulses scaled whenever added mass is found anew; 0: a body does not answer."""
    factors = wp.array(factor, dtype=f64, device=bench.device)
    scale = bench.launcher(scale_answers, bench.bodies, [bench.a.answer, factors, out])
    wet = bench.wet
    assert wet is not None
    immerse = wet.immerse

    def both() -> None:
        immerse()
        scale()

    wet.immerse = both


class Border:
    """Some bodies of a bench, and their states as a table of the host."""

    def __init__(self, x: WorkArrays, which: object, device: str):
        self.x, self.device = x, device
        self.which = wp.array(which, dtype=wp.int32, device=device)
        self.size = self.which.size
        self._table = wp.zeros((self.size, WIDTH), f64, device=device)
        self._small = wp.zeros((self.size, 6), f64, device=device)

    def take(self):
        """States [body, 13]."""
        if self.size:
            wp.launch(take_states, self.size, inputs=[self.x, self.which, self._table], device=self.device)
        return self._table.numpy().copy()

    def put(self, states, parts: int = 3) -> None:
        if self.size:
            self._table.assign(states)
            wp.launch(put_states, self.size, inputs=[self.x, self.which, self._table, parts], device=self.device)

    def take_twists(self, values: wp.array):
        if self.size:
            wp.launch(take_twists, self.size, inputs=[values, self.which, self._small], device=self.device)
        return self._small.numpy().copy()

    def put_twists(self, values: wp.array, given) -> None:
        if self.size:
            self._small.assign(given)
            wp.launch(put_twists, self.size, inputs=[values, self.which, self._small], device=self.device)


class Columns:
    """Some columns of a table, as [column, row] of the host."""

    def __init__(self, values: wp.array, which: object):
        self.values, device = values, values.device
        self.which = wp.array(which, dtype=wp.int32, device=device)
        self.size, self.device = self.which.size, device
        self._table = wp.zeros((self.size, values.shape[0]), f64, device=device)

    def take(self):
        if self.size:
            wp.launch(take_columns, self.size, inputs=[self.values, self.which, self._table], device=self.device)
        return self._table.numpy().copy()

    def put(self, given) -> None:
        if self.size:
            self._table.assign(given)
            wp.launch(put_columns, self.size, inputs=[self.values, self.which, self._table], device=self.device)

    def blank(self) -> None:
        if self.size:
            wp.launch(blank_columns, self.size, inputs=[self.values, self.which], device=self.device)
