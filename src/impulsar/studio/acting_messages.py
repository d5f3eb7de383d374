"""What the studio tells of what acts: hands, loads and motors."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

Vector = list[float]
AnyValue = Annotated[Any, "Value | null"]  # null: a callable, which is no data


@dataclass(frozen=True, kw_only=True)
class Hand:
    """A hand that holds a body at a point of its frame."""

    name: str
    body: str
    at: Vector
    stiffness: float
    damping: float
    angular_stiffness: float  # 0, and damping 0: it does not turn
    angular_damping: float


@dataclass(frozen=True, kw_only=True)
class Load:
    """A load that acts; `force` and `torque` as given: 3 numbers, or a profile as in scene files, or null."""

    name: str
    body: str
    at: Vector
    frame: Literal["world", "body"]
    force: AnyValue
    torque: AnyValue


@dataclass(frozen=True, kw_only=True)
class Motor:
    """A motor, its gains and gear those of its own side."""

    joint: str
    group: str
    quantity: Literal["speed", "position", "torque"]
    value: AnyValue  # a number, 3 numbers of a ball, a profile as in scene files, or null for a callable
    unit: str
    max_torque: float | None  # null: no bound
    kp: float | None  # of a servo, else null
    kv: float | None
    gear: float
