"""Clamps on speed and on the force of hands: explicit options of a world, off by default, told when they act.

Both act between steps. Speed: where a body is faster than allowed, all velocities of its world are scaled
down together, which the joints allow, and the kinetic energy lost is booked. Force: a hand's target slips
after the body, so that stiffness · stretch + damping · speed is at most what is allowed when the step begins;
the energy that the spring loses is booked too. So the books close, and a force is exceeded by no more than
what the body's motion within one step adds.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..author.errors import ModelError
from ..author.profiles import Component
from ..author.rotations import rotate
from ..engine.system.channels import CONSTANT

if TYPE_CHECKING:
    from .runner import Runner


class Clamps:
    """What a world may not exceed: speed [m/s] of any body's centre, force [N] of any hand."""

    def __init__(self, max_speed: float | None, max_hand_force: float | None):
        for what, value, unit in (("max_speed", max_speed, "m/s"), ("max_hand_force", max_hand_force, "N")):
            if value is not None and not (
                isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
            ):
                raise ModelError(f"{what} is {value!r}, expected a number > 0 [{unit}], or None")
        self.max_speed, self.max_hand_force = max_speed, max_hand_force
        self.acted: list[str] = []  # since the call of `step` began

    def __bool__(self) -> bool:
        return self.max_speed is not None or self.max_hand_force is not None

    def before(self, runner: "Runner") -> None:
        """Let the targets of hands slip."""
        if self.max_hand_force is None:
            return
        for hand, name in enumerate(runner.system.hand_names):
            if name and self._slip(runner, hand):
                self._tell(f"hand '{name}'")

    def _slip(self, runner: "Runner", hand: int) -> bool:
        """Bring a hand's target within reach of the body, now and for the step; True if it was not."""
        system, state, work = runner.system, runner.state, runner.work
        body = int(system.arrays.hand_body.numpy()[hand])
        slot = system.hand_slots(hand).start
        k, c = (np.broadcast_to(system.parameter(n)[slot], runner.worlds) for n in ("slot_a", "slot_b"))
        arm = rotate(work.q_WB.numpy()[body], system.arrays.hand_point.numpy()[hand])
        tip, twist = work.p_WB.numpy()[body] + arm, work.twist.numpy()[body]
        speed = np.linalg.norm(twist[:, 3:] + np.cross(twist[:, :3], arm), axis=1)
        room = np.maximum(self.max_hand_force - c * speed, 0.0)
        reach = np.where(k > 0.0, room / np.where(k > 0.0, k, 1.0), np.inf)
        now = state.read("hand_target")[3 * hand : 3 * hand + 3].T.copy()
        first = int(system.arrays.hand_channel.numpy()[hand])
        items = system.channels.items[first : first + 3]
        wish = np.stack([self._value(runner, first + k, item) for k, item in enumerate(items)], axis=1)
        here, there = _within(tip, now, reach), _within(tip, wish, reach)
        lost = 0.5 * k * (((now - tip) ** 2).sum(axis=1) - ((here - tip) ** 2).sum(axis=1))
        targets = state.read("hand_target").copy()
        targets[3 * hand : 3 * hand + 3] = here.T
        state.write("hand_target", targets)
        state.write("clamped", state.read("clamped") + lost)
        kinds, values = system.arrays.channel_kind.numpy(), system.arrays.channel_a.numpy()
        kinds[first : first + 3] = CONSTANT
        values[first : first + 3] = there.T
        if not system.arrays.channel_kind.device.is_cpu:
            system.arrays.channel_kind.assign(kinds)
            system.arrays.channel_a.assign(values)
        return bool((here != now).any() or (there != wish).any())

    def _value(self, runner: "Runner", channel: int, item: Any) -> np.ndarray:
        """Where a channel of a hand's target will be at the end of the step, in every runner."""
        t = runner.time + runner.dt
        if isinstance(item, Component):
            item = runner.system.channels.sample(channel, item, t)
        return np.broadcast_to(np.asarray(item(t) if callable(item) else item, float).ravel(), (runner.worlds,))

    def after(self, runner: "Runner") -> None:
        """Scale down what is too fast."""
        if self.max_speed is None:
            return
        speeds = np.linalg.norm(runner.work.twist.numpy()[..., 3:], axis=2)  # [body, world]
        fastest = speeds.max(axis=0)
        if not (fastest > self.max_speed).any():
            return
        for body in np.unique(np.argmax(speeds, axis=0)[fastest > self.max_speed]):
            self._tell(f"speed of body '{runner.system.tree.bodies[body]}'")
        kinetic = runner.work.energy.numpy()[0].copy()
        runner.state.write("v", runner.state.read("v") * np.minimum(1.0, self.max_speed / np.maximum(fastest, 1e-300)))
        runner.refresh()
        runner.state.write("clamped", runner.state.read("clamped") + kinetic - runner.work.energy.numpy()[0])

    def _tell(self, what: str) -> None:
        if what not in self.acted:
            self.acted.append(what)


def _within(tip: np.ndarray, target: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """The target, or the point towards it that is in reach [world, 3]."""
    way = target - tip
    far = np.linalg.norm(way, axis=1)
    share = np.where(far > reach, reach / np.maximum(far, 1e-300), 1.0)
    return np.where(share[:, None] < 1.0, tip + share[:, None] * way, target)
