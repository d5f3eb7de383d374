"""Disc cams: how far they lift, and the outline that does.

A follower rests, rises by h over the angle β1, dwells, comes back over β2, and rests, as the cam turns by θ from the
middle of the rest; u = θ/β from 0 to 1, s the share of the lift:

    cycloidal    s = u - sin(2πu) / 2π             s'' = 2π sin 2πu        no jump in the acceleration
    harmonic     s = (1 - cos πu) / 2              s'' = π²/2 cos πu       jumps at the ends
    3-4-5        s = 10u³ - 15u⁴ + 6u⁵             s'' = 60u - 180u² + 120u³

Its outline in polar angles φ = -θ from the follower's direction, r the radius of the base circle and y the lift:

    flat      the support function is r + y, so that (r + y) e_r(φ) + y' e_φ(φ) with y' = dy/dθ turned round is the
              point that touches; convex where r + y + y'' > 0
    roller    of radius ρ: its centre is on the pitch curve (r + ρ + y) e_r, and the outline ρ inside that along its
              normal; without a cusp where the pitch curve's radius of curvature is above ρ, where it is convex
"""

import math
from dataclasses import dataclass

import numpy as np

from .checks import number, positive, show
from .errors import ModelError

LAWS = ("cycloidal", "harmonic", "3-4-5")
FOLLOWERS = ("flat", "roller")
LEAST = 1e-3  # angle of a rise [rad]


@dataclass(frozen=True)
class Lift:
    """How far a cam lifts its follower at every angle [m, rad]."""

    height: float
    rise: float
    dwell: float  # at the top
    fall: float
    law: str = "cycloidal"

    def check(self, owner: str) -> None:
        """Raise `ModelError` at the first wrong field."""
        positive(owner, "lift", self.height, "m")
        for what in ("rise", "fall"):
            number(owner, what, getattr(self, what), "an angle > 0 [rad]", lambda x: LEAST <= x < 2 * math.pi)
        number(owner, "dwell", self.dwell, "an angle >= 0 [rad]", lambda x: 0 <= x < 2 * math.pi)
        if not self.rest >= 0.0:
            told = math.degrees(2 * math.pi - self.rest)
            raise ModelError(f"{owner}: rise, dwell and fall are {told:.6g}° together, expected at most 360°")
        if self.law not in LAWS:
            raise ModelError(f"{owner}: law is {show(self.law)}, expected one of: {', '.join(LAWS)}")

    @property
    def rest(self) -> float:
        """The angle at the bottom, to rounding not below 0 [rad]."""
        left = 2 * math.pi - self.rise - self.dwell - self.fall
        return 0.0 if abs(left) < 1e-12 else left

    def _part(self, angle: float) -> tuple[float, float, float]:
        """u, its sense and the angle β of the part that the cam is in."""
        rest = (angle - self.rest / 2) % (2 * math.pi)
        if rest > self.rise + self.dwell:
            return (self.fall - min(rest - self.rise - self.dwell, self.fall)) / self.fall, -1.0, self.fall
        return min(rest, self.rise) / self.rise, 1.0, self.rise

    def value(self, angle: float) -> float:
        """y of a cam that has turned by `angle` [m]."""
        u, _, _ = self._part(angle)
        if self.law == "cycloidal":
            return self.height * (u - math.sin(2 * math.pi * u) / (2 * math.pi))
        if self.law == "harmonic":
            return self.height * (1 - math.cos(math.pi * u)) / 2
        return self.height * u * u * u * (10 - u * (15 - 6 * u))

    def slope(self, angle: float) -> float:
        """dy/dθ [m/rad]."""
        u, sign, beta = self._part(angle)
        if self.law == "cycloidal":
            return sign * self.height / beta * (1 - math.cos(2 * math.pi * u))
        if self.law == "harmonic":
            return sign * self.height / beta * math.pi / 2 * math.sin(math.pi * u)
        return sign * self.height / beta * 30 * (u * (1 - u)) ** 2

    def bend(self, angle: float) -> float:
        """d²y/dθ² [m/rad²]; 0 where it dwells."""
        u, _, beta = self._part(angle)
        if not 0.0 < u < 1.0:
            return 0.0
        if self.law == "cycloidal":
            return self.height / beta**2 * 2 * math.pi * math.sin(2 * math.pi * u)
        if self.law == "harmonic":
            return self.height / beta**2 * math.pi**2 / 2 * math.cos(math.pi * u)
        return self.height / beta**2 * 60 * u * (1 - u) * (1 - 2 * u)


def outline(owner: str, lift: Lift, base: float, roller: float | None, corners: int) -> np.ndarray:
    """Corners (n, 2) of a cam anticlockwise, the follower's direction along x at θ = 0; `roller` None: it is flat."""
    theta = -np.arange(corners) * 2 * math.pi / corners  # φ = -θ goes up
    y, slope, bend = (
        np.array([part(a % (2 * math.pi)) for a in theta]) for part in (lift.value, lift.slope, lift.bend)
    )
    out = np.stack([np.cos(-theta), np.sin(-theta)], axis=1)
    round_ = np.stack([-out[:, 1], out[:, 0]], axis=1)
    if roller is None:
        least = float((-y - bend).max())
        if not base > least:
            cure = f"give a base radius above {least:.4g} m, a smaller lift or larger angles"
            raise ModelError(f"{owner}: base is {show(base)} m, with which a flat follower's cam is not convex; {cure}")
        return (base + y)[:, None] * out - slope[:, None] * round_
    r = base + roller + y
    size = np.hypot(r, slope)
    curved = (r * r + 2 * slope * slope - r * bend) / size**3  # of the pitch curve, above 0 where it is convex
    sharp = float(curved.max())
    if not sharp * roller < 1.0:
        cure = "give a larger base radius, a smaller roller or lift, or larger angles"
        raise ModelError(
            f"{owner}: roller is {show(roller)} m, but its centre's path turns by {1 / sharp:.4g} m; {cure}"
        )
    normal = (r[:, None] * out + slope[:, None] * round_) / size[:, None]
    return r[:, None] * out - roller * normal
