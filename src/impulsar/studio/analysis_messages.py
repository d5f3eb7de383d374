"""What is asked of the studio by HTTP about a mechanism, and answered: analyses, sweeps, whole turns."""

from dataclasses import dataclass, field
from typing import Any, Literal

from .messages import AnyEdit, Point, Vector


@dataclass(frozen=True, kw_only=True)
class AnalysisRequest:
    """An analysis of the world as it is now, made on a copy.

    motions, of `inverse`: the speed of each coordinate that is driven [rad/s, m/s], null: as it was recorded; none at
    all: what has a motor, as it was recorded. duration [s] is that of motions by speed.
    """

    kind: Literal["mobility", "statics", "modes", "inverse"]
    motions: dict[str, float | None] = field(default_factory=dict)
    duration: float = 1.0


@dataclass(frozen=True, kw_only=True)
class AnalysisRow:
    """A line of a table, and the part that it is about, where there is one."""

    cells: list[Any]  # texts and numbers
    kind: str = ""  # body, joint, coupling
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class AnalysisTable:
    """Rows below a head."""

    title: str
    head: list[str]  # of the columns, with units
    rows: list[AnalysisRow]


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A vibration, and poses of it: position and orientation of each body, from one end of its swing to the other."""

    frequency: float  # [rad/s]
    growth: float  # [1/s]
    damping_ratio: float
    where: str  # bodies that move most
    poses: list[Vector]  # 7 per body, in the order of AnalysisReply.bodies


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Values at the times of its AnalysisReply."""

    label: str
    unit: str
    values: Vector


@dataclass(frozen=True, kw_only=True)
class AnalysisReply:
    """What an analysis found: in words, as tables, as curves over time; what a page may do with it."""

    ok: bool
    text: str
    tables: list[AnalysisTable] = field(default_factory=list)
    edit: AnyEdit | None = None  # of `statics`: brings the bodies to rest there
    bodies: list[str] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    times: Vector = field(default_factory=list)  # of the curves [s]
    curves: list[Curve] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class SweepRequest:
    """Run copies of the model from its start, one for each value of a parameter, and measure a signal of each."""

    path: str  # of SetParameter; of a motor its joint
    values: Vector
    signal: str
    measure: Literal["largest", "least", "mean", "rms", "last", "range"]
    duration: float  # of each run [s]
    of: Literal["parameter", "motor"] = "parameter"
    group: str | None = None  # of a motor in a joint with several


@dataclass(frozen=True, kw_only=True)
class SweepPoint:
    """A line of the answer to a SweepRequest, which comes run by run; a client that leaves ends it."""

    value: float
    result: float | None  # null: why is in `text`
    unit: str
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class CurveRequest:
    """Dimensions of a planar linkage for which a point of it draws a curve, while one hinge turns."""

    drive: str  # the hinge
    body: str  # whose point it is
    at: Vector  # in its frame [m]
    points: list[Vector]  # of the curve, in the world [m]
    ground: bool = True  # pins on the ground may move too
    whole: bool = True  # of a four-bar: the driven link turns right round


@dataclass(frozen=True, kw_only=True)
class CurveDesign:
    """A line of the answer to a CurveRequest, whenever a better linkage is found; a client that leaves ends it."""

    error: float | None  # rms distance over the size of the curve; null: none yet, or why not is in `text`
    evaluations: int
    curve: Vector = field(default_factory=list)  # of the point in a whole turn: x, y and z one behind the other [m]
    edit: AnyEdit | None = None  # makes the linkage of the session this one
    done: bool = False
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class TurnRequest:
    """Where points go in a whole turn of the mechanism from where it is now."""

    points: list[Point]


@dataclass(frozen=True, kw_only=True)
class TurnReply:
    """Paths: x, y and z one behind the other; of a crank that goes round, or else of the next seconds."""

    ok: bool
    text: str
    closed: bool
    paths: list[Vector]
