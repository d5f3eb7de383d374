"""Fluids: what a model's bodies move in, with a free surface, a current and waves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .checks import flag, is_number, not_negative, number, show
from .errors import ModelError
from .names import check_name
from .profiles import Value, check_value
from .shapes import Mesh, Shape, Surface

if TYPE_CHECKING:
    from .model import Model
    from .parts import Body

SHORTEST = 1e-6  # period of waves [s]
DEEP = 200.0  # wave number times depth beyond which water is deep to the last bit


@dataclass(eq=False)
class Fluid:
    """A fluid at rest but for its current and waves, below its surface: height along "up", against gravity [m].

    Bodies with volume are in it, or those named in `bodies`, but for those in `without`.
    """

    name: str
    density: float = 1000.0  # [kg/m³]
    viscosity: float = 1e-3  # dynamic [Pa s]
    surface: float = 0.0  # height of its surface at rest; inf: it is everywhere [m]
    current: Value = (0.0, 0.0, 0.0)  # velocity, the same everywhere [m/s]
    drag: float | None = None  # coefficient of the quadratic drag of every shape; None: by shape and direction
    added_mass: bool = True  # whether fluid is accelerated with the bodies
    bodies: tuple[str, ...] | None = None  # those that it acts on; None: all that have volume
    without: tuple[str, ...] = ()  # but for these
    wave_amplitude: float = 0.0  # [m]
    wave_number: float = 0.0  # [rad/m]
    wave_direction: float = 0.0  # from x towards y, where z is up [rad]
    wave_phase: float = 0.0  # [rad]
    depth: float = math.inf  # of the fluid, of which waves depend [m]

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field."""
        owner = f"fluid '{check_name('fluid', self.name)}'"
        self.density = not_negative(owner, "density", self.density, "kg/m³")
        self.viscosity = not_negative(owner, "viscosity", self.viscosity, "Pa s")
        self.surface = number(owner, "surface", self.surface, "a height [m], or inf", lambda x: x > -math.inf)
        check_value(owner, "current", self.current, 3)
        self.drag = None if self.drag is None else not_negative(owner, "drag", self.drag, "1")
        self.added_mass = flag(owner, "added_mass", self.added_mass)
        self.bodies = None if self.bodies is None else _names(owner, "bodies", self.bodies)
        self.without = _names(owner, "without", self.without)
        self.wave_amplitude = not_negative(owner, "wave_amplitude", self.wave_amplitude, "m")
        self.wave_number = not_negative(owner, "wave_number", self.wave_number, "rad/m")
        self.wave_direction = number(owner, "wave_direction", self.wave_direction)
        self.wave_phase = number(owner, "wave_phase", self.wave_phase)
        self.depth = number(owner, "depth", self.depth, "a depth > 0 [m], or inf", lambda x: x > 0)
        if self.wave_amplitude > 0 and not self.wave_number > 0:
            raise ModelError(f"{owner}: has wave_amplitude without a wave_number; give it, or wave_period")
        if self.wave_amplitude > 0 and math.isinf(self.surface):
            raise ModelError(f"{owner}: has waves but no surface; give its height")

    def holds(self, body: "Body") -> bool:
        """Whether it acts on a body."""
        named = self.bodies is None or body.name in self.bodies
        return named and body.name not in self.without and any(has_volume(shape) for shape in body.shapes)


class Fluids:
    """The call of Model that adds a fluid."""

    def fluid(
        self,
        name: str,
        density: float = 1000.0,
        viscosity: float = 1e-3,
        surface: float | None = 0.0,
        current: Value = (0.0, 0.0, 0.0),
        drag: float | bool | None = None,
        added_mass: bool = True,
        bodies: Sequence[str] | None = None,
        without: Sequence[str] = (),
        wave_amplitude: float = 0.0,
        wave_number: float = 0.0,
        wave_direction: float = 0.0,
        wave_phase: float = 0.0,
        depth: float = math.inf,
        wave_period: float | None = None,
    ) -> Fluid:
        """Fill the space below the height `surface` [m] (None: all of it) with a fluid of `density` [kg/m³] and
        `viscosity` [Pa s] that flows with `current` [m/s], a vector of numbers or profiles.

        `drag`: None or True for coefficients by shape and direction, a number for one of all shapes, False for none,
        of viscosity neither. Bodies with volume are in it, or those in `bodies`, but for those in `without`. Linear
        waves of `wave_amplitude` [m] by `wave_number` [rad/m] or `wave_period` [s], running along `wave_direction`
        [rad] from x towards y, of water of `depth` [m]; their crest is at the origin at time 0 if `wave_phase` is 0.
        """
        model = cast("Model", self)
        owner = model.claim("fluid", name)
        if wave_period is not None:
            if not (is_number(wave_number) and wave_number == 0):
                raise ModelError(f"{owner}: has wave_number and wave_period; give one of them")
            wave_number = number_of_waves(owner, wave_period, float(np.linalg.norm(model.gravity)), depth)
        if drag is False:
            viscosity = 0.0
        part = Fluid(
            name,
            density,
            viscosity,
            math.inf if surface is None else surface,
            current,
            None if drag is None or drag is True else float(drag) if drag is False else drag,
            added_mass,
            None if bodies is None else _names(owner, "bodies", bodies),
            _names(owner, "without", without),
            wave_amplitude,
            wave_number,
            wave_direction,
            wave_phase,
            depth,
        )
        part.check()
        check_fluid(model, part)
        model.fluids[name] = part
        return part


def _names(owner: str, what: str, given: object) -> tuple[str, ...]:
    """Names of bodies, each once."""
    items = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else None
    names = [getattr(item, "name", item) for item in items or ()]
    if items is None or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ModelError(f"{owner}: {what} is {show(given)}, expected names of bodies, each once")
    return tuple(names)


def has_volume(shape: Shape) -> bool:
    """Whether a shape displaces a fluid."""
    return not isinstance(shape, Surface) or (isinstance(shape, Mesh) and not shape.open)


def check_fluid(model: "Model", fluid: Fluid) -> None:
    """Raise `ModelError` at a body that there is not, has no volume, or has the added mass of another fluid."""
    owner = f"fluid '{fluid.name}'"
    for name in (*(fluid.bodies or ()), *fluid.without):
        body = model.find_body(owner, name)
        if body is model.ground:
            raise ModelError(f"{owner}: names 'ground', which does not move; leave it out")
    for name in fluid.bodies or ():
        if not any(has_volume(shape) for shape in model.bodies[name].shapes):
            raise ModelError(f"{owner}: body '{name}' has no shape with volume; give it one, or leave it out")
    for other in model.fluids.values() if fluid.added_mass else ():
        if other.name != fluid.name and other.added_mass:
            both = [body.name for body in model.bodies.values() if fluid.holds(body) and other.holds(body)]
            if both:
                told = f"{owner}: has body '{both[0]}' with added mass, which is in fluid '{other.name}' with its own"
                raise ModelError(f"{told}; give one of them added_mass=False, or without={both[0]!r}")


def number_of_waves(owner: str, period: object, gravity: float, depth: float) -> float:
    """k of ω² = g k tanh k d, by Newton's method [rad/m]."""
    depth = number(owner, "depth", depth, "a depth > 0 [m], or inf", lambda x: x > 0)
    expected = f"a number from {SHORTEST:g} to {1 / SHORTEST:g} [s]"
    omega = 2 * math.pi / number(owner, "wave_period", period, expected, lambda x: SHORTEST <= x <= 1 / SHORTEST)
    if not gravity > 0:
        raise ModelError(f"{owner}: wave_period is {show(period)}, but there is no gravity; give wave_number")
    deep = omega**2 / gravity
    if math.isinf(depth) or deep * depth > DEEP:
        return deep
    k = deep / math.sqrt(math.tanh(deep * depth))
    for _ in range(50):
        t = math.tanh(k * depth)
        k -= (gravity * k * t - omega**2) / (gravity * (t + k * depth * (1 - t * t)))
    return k


def without_body(fluid: Fluid, name: str, to: str | None = None) -> dict[str, Any]:
    """What changes of a fluid where a body is gone, or has another name; empty where it does not name it."""
    found: dict[str, Any] = {}
    for what in ("bodies", "without"):
        names = getattr(fluid, what)
        if names is not None and name in names:
            found[what] = tuple(other if other != name else to for other in names if other != name or to is not None)
    return found
