"""What clients ask a session for, and what they may not."""

import time as wall
from dataclasses import dataclass, field

from .. import edits
from ..author.errors import ModelError
from ..author.model import KINDS, Model
from ..io import edit_from_json
from . import messages as ms
from .frames import VECTORS
from .publisher import Client
from .wire import Received

MEANWHILE = ("speed", "steps_per_frame", "vectors")  # controls that do not touch the world, and so need not wait
PATIENT = ("mobility",)  # controls that the page sends by itself: they end nothing that a person asked for
MOST_PARTS = 1_000  # of a scene that a client asks for, and of shapes: built within about a second


@dataclass
class Asked:
    """A message in the inbox, with the edit in it once that has been read."""

    client: Client
    message: Received
    edit: edits.Edit | None = None
    refusal: str | None = None  # why there is none
    at: float = field(default_factory=wall.monotonic)  # wall time [s]

    def read(self) -> "Asked":
        """Read the edit, once; in the thread of who asks, because a large one takes time."""
        if isinstance(self.message, ms.EditMessage) and self.edit is None and self.refusal is None:
            try:
                self.edit = edit_from_json(self.message.edit)
            except ModelError as error:
                self.refusal = str(error)
        return self


@dataclass
class Steps:
    """Single steps that were asked for and take more than a turn."""

    asked: Asked
    left: int
    all: int


class Later(Exception):
    """The reply comes when what was asked for is done."""


def is_meanwhile(message: Received) -> bool:
    return isinstance(message, ms.Subscribe) or (isinstance(message, ms.Control) and message.action in MEANWHILE)


def is_patient(message: Received) -> bool:
    return isinstance(message, ms.Control) and message.action in PATIENT


def switched(action: str, message: ms.Control) -> tuple[tuple, edits.Edit]:
    """The load or motor that a message is about, and the edit that switches it on."""
    edit = edit_from_json(message.parameters or {})
    match edit:
        case edits.ApplyLoad(name=name):
            return ("load", name), edit
        case edits.SetMotor(joint=joint, group=group, motor=motor) if motor is not None:
            return ("motor", joint, group), edit
    raise ModelError(f"{action}: parameters are {type(edit).__name__}, expected ApplyLoad or SetMotor with a motor")


def vectors_of(message: ms.Control) -> list[str]:
    """The vectors that a client wants in its frames."""
    asked = (message.name or "").split()
    if unknown := set(asked) - set(VECTORS):
        raise ModelError(f"vectors: no {', '.join(sorted(unknown))}; there are {', '.join(VECTORS)}")
    return asked


def parts_of(model: Model) -> int:
    """How many parts and edits of its script a model has."""
    return sum(len(getattr(model, where)) for where in KINDS.values()) + len(model.script)


def check_size(model: Model) -> None:
    """Refuse what would keep everybody waiting while it is built."""
    parts = parts_of(model)
    shapes = sum(len(body.shapes) for body in (model.ground, *model.bodies.values()))
    if max(parts, shapes) > MOST_PARTS:
        told = f"has {parts} parts and {shapes} shapes, expected at most {MOST_PARTS} of each"
        raise ModelError(f"scene '{model.name}': {told}; start the studio with it instead")


def whole_of(what: str, value: float | None, default: int, most: int) -> int:
    count = default if value is None else value
    if count != int(count) or not 1 <= count <= most:
        raise ModelError(f"{what} is {value}, expected a whole number from 1 to {most}")
    return int(count)
