"""Tyres: what a model says of each, the published coefficients that they begin with, and the call that adds one.

Magic Formula: Pacejka, Tyre and Vehicle Dynamics, 2nd ed. 2006, §4.3, with the set of table A3.1, 205/60R15 at 2.2 bar,
nominal load 4000 N; relaxation lengths by the formulas of PAC2002. Brush: its chapter 3, with a parabolic pressure.
Names are the book's. The laws themselves are in engine/forces/tyre_law.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

import numpy as np

from .checks import Vector, flag, not_negative, number, positive, show, vector
from .errors import ModelError
from .parts import NOT_NEGATIVE, PARTS, POSITIVE, Body, Parameter, PartKind, Point, check_name
from .rotations import rotation_matrix
from .variables import takes_expressions

if TYPE_CHECKING:
    from .model import Model

Place = Vector | tuple[str, Vector]  # as in `model`

MAGIC, BRUSH = "magic", "brush"
SETS: dict[str, dict[str, float]] = {
    MAGIC: {
        # along, pure slip
        **{"pCx1": 1.685, "pDx1": 1.210, "pDx2": -0.037, "pEx1": 0.344, "pEx2": 0.095, "pEx3": -0.020, "pEx4": 0.0},
        **{"pKx1": 21.51, "pKx2": -0.163, "pKx3": 0.245, "pHx1": -0.002, "pHx2": 0.002, "pVx1": 0.0, "pVx2": 0.0},
        # across, pure slip
        **{"pCy1": 1.193, "pDy1": -0.990, "pDy2": 0.145, "pDy3": -11.23},
        **{"pEy1": -1.003, "pEy2": -0.537, "pEy3": -0.083, "pEy4": -4.787},
        **{"pKy1": -14.95, "pKy2": 2.130, "pKy3": -0.028, "pKy4": 2.0, "pKy5": 0.0, "pKy6": -0.92, "pKy7": -0.24},
        **{"pHy1": 0.003, "pHy2": -0.001, "pVy1": 0.045, "pVy2": -0.024, "pVy3": -0.532, "pVy4": 0.039},
        # combined slip
        **{"rBx1": 12.35, "rBx2": -10.77, "rBx3": 0.0, "rCx1": 1.092, "rHx1": 0.007},
        **{"rBy1": 6.461, "rBy2": 4.196, "rBy3": -0.015, "rBy4": 0.0, "rCy1": 1.081, "rHy1": 0.009},
        **{"rVy1": 0.053, "rVy2": -0.073, "rVy3": 0.517, "rVy4": 35.44, "rVy5": 1.9, "rVy6": -10.71},
        # aligning moment
        **{"qBz1": 8.964, "qBz2": -1.106, "qBz3": -0.842, "qBz5": -0.227, "qBz9": 18.47, "qBz10": 0.0, "qCz1": 1.180},
        **{"qDz1": 0.100, "qDz2": -0.001, "qDz3": 0.007, "qDz4": 13.05},
        **{"qDz6": -0.008, "qDz7": 0.0, "qDz8": -0.296, "qDz9": -0.009},
        **{"qEz1": -1.609, "qEz2": -0.359, "qEz3": 0.0, "qEz4": 0.174, "qEz5": -0.896},
        **{"qHz1": 0.007, "qHz2": -0.002, "qHz3": 0.147, "qHz4": 0.004},
        **{"sz1": 0.043, "sz2": 0.001, "sz3": 0.731, "sz4": -0.238},
        # relaxation lengths
        **{"pTx1": 1.85, "pTx2": 0.000109, "pTx3": 0.101, "pTy1": 1.9, "pTy2": 2.25},
        # below `slow` [m/s] deflections are damped as if by so many seconds of their own rate, fading
        **{"slow": 2.5, "settling": 0.03},
    },
    BRUSH: {
        "friction": 1.0,  # 1
        "tread": 15.0,  # slip stiffness over the nominal load, alike along and across: 2 c_p a² / F_z0
        "half_length": 0.05,  # of the contact [m]
        "slow": 2.5,
        "settling": 0.03,
    },
}
SHIFTS = (  # what makes a tyre pull to a side, or roll by itself: left out unless it is asked for
    *("pHx1", "pHx2", "pVx1", "pVx2", "pHy1", "pHy2", "pVy1", "pVy2", "pEy3", "rHx1", "rHy1", "rBy3", "rVy1", "rVy2"),
    *("qHz1", "qHz2", "qDz6", "qDz7", "qEz4", "sz1", "sz2"),
)
LIVE = {  # parameters by name: unit, rule
    "radius": ("m", POSITIVE),
    "stiffness": ("N/m", POSITIVE),
    "damping": ("N s/m", NOT_NEGATIVE),
    "load": ("N", POSITIVE),
    "grip": ("1", NOT_NEGATIVE),
    "rolling": ("1", NOT_NEGATIVE),
    "relaxation_along": ("m", NOT_NEGATIVE),
    "relaxation_across": ("m", NOT_NEGATIVE),
}


@dataclass(eq=False)
class Tyre:
    """A tyre on a wheel: a spring and damper towards the road, and forces of the slip on it.

    Its deflections along and across the rolling direction are states of their own.
    """

    name: str
    wheel: str
    p_BQ: np.ndarray  # middle of the wheel, in the wheel's frame [m]
    p_BA: np.ndarray  # a point of the axle one metre to the left, for who looks along the rolling direction [m]
    radius: float  # without load [m]
    width: float  # [m]
    stiffness: float  # towards the road [N/m]
    damping: float = 0.0  # likewise [N s/m]
    load: float = 4000.0  # nominal, by which the coefficients are scaled [N]
    grip: float = 1.0  # times the friction of the coefficients, and that of the road's material
    rolling: float = 0.01  # rolling resistance over load
    relaxation_along: float = 0.0  # relaxation length [m]; 0: by the formula
    relaxation_across: float = 0.0
    law: str = MAGIC
    coefficients: dict[str, float] = field(default_factory=dict)  # those that differ from the law's set
    shifts: bool = False

    def check(self) -> None:
        """Raise `ModelError` at the first wrong field; make arrays of sequences."""
        owner = f"tyre '{check_name('tyre', self.name)}'"
        self.p_BQ = vector(owner, "at", self.p_BQ, "m")
        self.p_BA = vector(owner, "a point of the axle", self.p_BA, "m")
        if not abs(np.linalg.norm(self.p_BA - self.p_BQ) - 1.0) < 1e-6:
            raise ModelError(f"{owner}: its axle goes from {show(self.p_BQ)} to {show(self.p_BA)}, expected one metre")
        for what in ("radius", "width", "stiffness", "load"):
            setattr(self, what, positive(owner, what, getattr(self, what), "N" if what == "load" else "m, N/m"))
        for what in ("damping", "grip", "rolling", "relaxation_along", "relaxation_across"):
            setattr(self, what, not_negative(owner, what, getattr(self, what), LIVE[what][0]))
        if self.law not in SETS:
            raise ModelError(f"{owner}: law is {show(self.law)}, expected one of: {', '.join(SETS)}")
        if not isinstance(self.coefficients, Mapping):
            raise ModelError(f"{owner}: coefficients are {show(self.coefficients)}, expected numbers by name")
        self.coefficients = {
            _known(owner, self.law, key): number(owner, f"coefficient {key}", value)
            for key, value in self.coefficients.items()
        }
        for what in ("slow", "friction", "tread", "half_length"):
            if what in self.coefficients:
                positive(owner, f"coefficient {what}", self.coefficients[what], "SI")
        self.shifts = flag(owner, "shifts", self.shifts)

    @property
    def all_coefficients(self) -> dict[str, float]:
        """Its coefficients by name: those of its law, its own, and without shifts none of these."""
        found = SETS[self.law] | self.coefficients
        return found if self.shifts else found | {key: 0.0 for key in SHIFTS if key in found}


def _known(owner: str, law: str, key: object) -> str:
    if not isinstance(key, str) or key not in SETS[law]:
        close = get_close_matches(key if isinstance(key, str) else "", SETS[law], n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(SETS[law])}"
        raise ModelError(f"{owner}: the {law} law has no coefficient {show(key)}; {hint}")
    return key


PARTS["tyre"] = PartKind(
    Tyre,
    "tyres",
    {"wheel": "body"},
    tuple(Parameter(name, unit, f"tyre_{name}", rule=rule) for name, (unit, rule) in LIVE.items()),
    (Point("p_BQ", "at", "wheel", "tyre_middle"), Point("p_BA", "axle_end", "wheel", "tyre_axle_end")),
    slot=14,
)


class Tyres:
    """The call of Model that adds tyres."""

    @takes_expressions
    def tyre(
        self,
        name: str,
        wheel: Body | str,
        axle: Vector = (0.0, 1.0, 0.0),
        radius: float = 0.3,
        width: float = 0.2,
        stiffness: float = 2e5,
        damping: float = 500.0,
        coefficients: Mapping[str, float] | None = None,
        relaxation: tuple[float, float] | None = None,
        rolling: float = 0.01,
        shifts: bool = False,
        law: str = MAGIC,
        load: float = 4000.0,
        grip: float = 1.0,
        at: Place | None = None,
        axle_end: Place | None = None,
        relaxation_along: float = 0.0,
        relaxation_across: float = 0.0,
    ) -> Tyre:
        """Put a tyre on a wheel, about the world point `at` [m] (default: its centre of mass) and the direction
        `axle`, which leads to the left for who looks where the wheel rolls to.

        radius, width [m], stiffness [N/m] and damping [N s/m] towards the road: all obstacles are. Forces of slip by
        `law`, "magic" (Pacejka's Magic Formula) or "brush", with `coefficients` that differ from its set, scaled to
        the nominal `load` [N] and times `grip`. relaxation: lengths along and across [m], None: by the load. rolling:
        resistance over load. shifts=True: with the terms by which a real tyre pulls to a side. Instead of `axle` a
        point of it may be given, `axle_end`, and instead of `relaxation` both lengths, 0: by the load.
        """
        model = cast("Model", self)
        owner = model.claim("tyre", name)
        body = model.moving(owner, wheel)
        p_WQ = body.position if at is None else model.point(owner, "at", at)
        way = vector(owner, "axle", axle, "1")
        if axle_end is not None:
            way = model.point(owner, "axle_end", axle_end) - p_WQ
        far = float(np.linalg.norm(way))
        if not far > 0:
            raise ModelError(f"{owner}: axle is {show(axle)}, which is no direction; give one")
        p_BQ = body.point(np.asarray(p_WQ, float))
        p_BA = p_BQ + rotation_matrix(body.orientation).T @ (way / far)
        along, across = (relaxation_along, relaxation_across) if relaxation is None else relaxation
        part = Tyre(
            *(name, body.name, p_BQ, p_BA, radius, width, stiffness, damping, load, grip, rolling, along, across),
            *(law, dict(coefficients or {}), shifts),
        )
        part.check()
        model.tyres[name] = part
        return part
