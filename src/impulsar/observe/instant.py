"""The instant: exact accelerations of the bodies, and what changes their momenta, whatever the method.

They are those with which `direct` would go on from the present state: of the constrained equations with every force
of this moment, motors that are locked or at their bounds, hands, loads, friction that sticks or slides, limits that
are touched (engine/integrate/settle.py). Contacts give what they gave in the last step. An input that jumps right now
has jumped; one that is a Python callable goes on as in the last step. An impact is not seen: the value is that of just
after it, with the velocities of before. A motor that is off its target gives what `direct` would give to bring it back;
those of methods of first order are on theirs to that order.

Nothing is computed before it is asked for, and the bench stays as it is: the kernel works on a copy of its state.
"""

from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..engine.constrain import kinds, motor
from ..engine.constrain.frames import follow_loops
from ..engine.constrain.topology import list_rows
from ..engine.coordinates.inertia import inertial_wrench
from ..engine.coordinates.tree import kinematics
from ..engine.device import announce_compilation
from ..engine.integrate.evaluate import choose_feedback, evaluate
from ..engine.integrate.settle import find_modes, outward, settle
from ..engine.integrate.substeps import SNAP
from ..engine.methods.direct import Direct
from ..engine.options import Option
from ..engine.solve.saturate import ball_is_weak
from ..engine.spatial import ONE, ZERO, angular, f64, linear, spatial, vec6
from ..engine.state import State, StateArrays, WorkArrays, allocate_work
from ..engine.system import SystemArrays
from ..engine.system.channels import (
    CALLABLE_STEPS,
    channel,
    channel_acceleration,
    channel_rate,
    just_before,
    snap_to_knot,
)
from .reading import Reading
from .samples import copy_kernel

if TYPE_CHECKING:
    from .bench import Bench

NEARLY = wp.constant(wp.float64(1e-3))  # so near to its target a motor of a method of first order is on it [of 1]


@wp.func(inline=False)
def trust_motors(m: wp.ref[SystemArrays], s: wp.ref[StateArrays], x: wp.ref[WorkArrays], t: f64, w: int):
    """Motors that a step of first order has brought to their targets, to its order, are on them."""
    for i in range(m.bilateral.shape[0]):
        r = m.bilateral[i]
        if kinds.is_drive(x, r, w) and x.feedback[r, w] > ZERO:
            c = m.slot_channel[r]
            error, miss = motor.miss(m, s, x, r, t, w)
            rate = channel_rate(m, c, t, w)
            change = ZERO  # of the target's velocity in a step, which a position's is behind by half of
            if motor.is_servo(x, r, w):
                change = wp.abs(m.h[0] * channel_acceleration(m, c, t, w))
            else:
                rate = channel(m, c, t, w)
            if wp.abs(miss) <= NEARLY * (ONE + wp.abs(rate)) + change:
                if wp.abs(error) <= NEARLY * (ONE + wp.abs(channel(m, c, t, w))):
                    x.feedback[r, w] = ZERO


@wp.kernel(enable_backward=False)
def instant_kernel(
    # model
    m: SystemArrays,
    options: wp.array(dtype=f64),  # of `direct`, whatever the method is
    before: wp.array(dtype=wp.int32),  # [1] 1: inputs just before this moment
    touched: wp.array(dtype=wp.int32),  # [1] where there is contact, else [0]
    lag: wp.array(dtype=wp.int32),  # [1] 1: motors of the method are on their targets to its first order
    # state in, spent
    s: StateArrays,
    x: WorkArrays,
    # out
    mode: wp.array2d(dtype=wp.int32),  # [slot, world]
    acceleration: wp.array2d(dtype=vec6),  # [body, world] [rad/s², m/s²]
    resultant: wp.array2d(dtype=vec6),  # rate of change of the momenta about the centre of mass [N m, N]
):
    """Accelerations of the present state."""
    w = wp.tid()
    m.options = options
    m.contacts_act = touched
    t = snap_to_knot(m, s.time[0, w], SNAP * m.nominal_h[0], w)
    if before[0] != 0:
        t = just_before(t)
    list_rows(m, x, w)
    kinematics(m, s, x, ZERO, w)
    follow_loops(m, s, x, w)
    for r in range(m.slot_kind.shape[0]):
        s.mode[r, w] = ZERO  # found anew below, whatever the method
    unsmooth = find_modes(m, s, x, mode, w)
    choose_feedback(m, s, x, t, False, w)
    if lag[0] != 0:
        trust_motors(m, s, x, t, w)
    evaluate(m, s, x, t, 0, w)
    if unsmooth > 0 or ball_is_weak(m, x, w):
        settle(m, s, x, mode, w)
    outward(m, x, w)
    for i in range(m.parent.shape[0]):
        A = x.acceleration[i, w]
        A = spatial(angular(A), linear(A) + m.gravity[0, w])
        acceleration[i, w] = A
        resultant[i, w] = inertial_wrench(m, x, i, A, w)


class Instant:
    """Reads accelerations of a bench."""

    def __init__(self, bench: "Bench"):
        self._bench, system = bench, bench.system
        counts, device = system.counts, system.device
        announce_compilation(instant_kernel, device)
        self._state, self._work = State(counts, device), allocate_work(counts, device)
        self._options = wp.zeros_like(system.arrays.options)
        self._beat: float | None = 0.0
        self._lag = wp.zeros(1, dtype=wp.int32, device=device)
        self._before = wp.zeros(1, dtype=wp.int32, device=device)
        mode = wp.zeros((counts.slots, counts.worlds), dtype=wp.int32, device=device)
        out = [wp.zeros((counts.bodies, counts.worlds), dtype=vec6, device=device) for _ in range(2)]
        touched = wp.zeros(int(counts.contacts > 0), dtype=wp.int32, device=device)
        given = [system.arrays, self._options, self._before, touched, self._lag]
        inputs = [*given, self._state.arrays, self._work, mode]
        self._reading = Reading(instant_kernel, counts.worlds, inputs, out)
        self.acceleration: wp.array = out[0]  # [body, world] as it was read last

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations [body, world, turn and shift] [rad/s², m/s²], and wrenches that change the momenta [N m, N].

        On the CPU views, which the next reading overwrites.
        """
        bench = self._bench
        self.prepare()
        rows = self._state.layout.size  # of the system; a method's own follow
        if bench.state.array.device.is_cpu:
            np.copyto(self._state.numpy(), bench.state.numpy()[:rows])
        else:
            wp.copy(self._state.array, bench.state.array[:rows])
        acceleration, resultant = self._reading.read()
        return acceleration, resultant

    def prepare(self) -> None:
        """What the host has to do before a reading."""
        if self._bench.beat != self._beat:
            self._take_beat(self._bench.beat)
        if self._bench.system.channels.callables:
            self._reach()

    def readings(self) -> list[Reading]:
        """The same by launches alone, for who goes on with them on the device."""
        rows, state = self._state.layout.size, self._bench.state.array
        copy = Reading(copy_kernel, (rows, state.shape[1]), [state], [self._state.array])
        return [copy, self._reading]

    def _take_beat(self, beat: float | None) -> None:
        self._beat = beat
        options = np.zeros(self._options.shape[0])
        options[Option.impulse_step] = Direct.impulse_step if beat is None else beat
        self._options.assign(options)
        self._lag.fill_(int(beat is None))

    def _reach(self) -> None:
        """Have samples of the callables reach this moment; at their end the rate is that of before."""
        system = self._bench.system
        arrays, now = system.arrays, float(self._bench.state.read("time")[0, 0])
        first = int(arrays.table_start.numpy()[system.channels.callables[0][0]])
        times = arrays.table_time.numpy()[first : first + CALLABLE_STEPS + 1]
        if not times[0] <= now <= times[-1] or times[0] == times[-1]:
            system.channels.sample_callables(arrays, now, float(arrays.h.numpy()[0]), 1)
            times = arrays.table_time.numpy()[first : first + CALLABLE_STEPS + 1]
        self._before.fill_(int(now == times[-1]))
