"""The protocol of a large world's page: text frames are JSON with a `type`, binary ones are parts of the picture.

A client opens a WebSocket at `/large-line`. It is told, in this order and again on change:

    LargeScene    kinds of bodies with their shapes, and the blocks that bodies are in
    LargeStatus   the clock, and what is being built
    LargeBooks    energy, gaps, contacts and rates, about four times a second
    frames        binary, poses of some of the blocks (LARGE_HEADER), at most FRAME_BYTES each
    Reply, Notice as in `messages.py`

Bodies are numbered by the blocks they are in: those of block 0 come first. A block has up to BLOCK bodies of one kind
that were near each other at the start, in random order, so that the first few of them stand for all. Of a world of more
bodies than a frame holds, frames have blocks in turns: what the client's eye sees first, those that were sent longest
ago before others, and an eighth of each frame for what it does not see. So every body in sight comes within
ceil(bodies in sight / (7/8 of a frame's)) frames, and every other within ceil(all others / (1/8 of a frame's)), each of
them one block more or less. The frame's picture is of one moment, `still`; blocks that are not in it are as they were.

A client answers every frame that it has drawn by a LargeLook with the frame's number and where its eye is. No more than
IN_FLIGHT frames are on their way to it: who draws slowly gets fewer.

A frame is little-endian: the header; uint32 numbers of its blocks; of all their bodies in order uint32 pairs, a place
in the frame's box (x in bits 0 to 20, y in 21 to 41, z in 42 to 62, 0 at `low`, 2²¹ - 1 at `low` + `span`); then
uint32 orientations, three components of a unit quaternion xyzw in 10 bits each, -1/√2 at 0 and 1/√2 at 1023, the
lowest bits first, and in the highest 2 which component is left out, the largest, which is not negative.

HTTP: GET /large (the page); GET /api/large (LargeCatalogue); GET /api/large/shades?generation=N (a byte for every
body, by which colours tell where it began: along a mechanism, or how high); POST /api/large (LargeRequest; answers
Reply when the scene is being built).
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from .acting_messages import Vector
from .messages import Notice, Reply, SceneEntry, Shape

FRAME_BYTES = 512 * 2**10  # of a frame at most
BODY_BYTES = 12
BLOCK = 1024  # bodies
IN_FLIGHT = 2  # frames that a client has not answered
FRAMES_PER_SECOND = 30.0  # of a client at most
UNSEEN_SHARE = 1 / 8  # of a frame, for what the eye does not see
LARGE_MAGIC = 0x314C4D49  # "IML1"
LARGE_HEADER: tuple[tuple[str, str], ...] = (
    ("magic", "I"),
    ("generation", "I"),  # of the LargeScene it belongs to
    ("time", "d"),  # of the picture [s]
    ("wall", "d"),  # server's monotonic clock when the picture was taken [s]
    ("low_x", "d"),  # the box of places [m]
    ("low_y", "d"),
    ("low_z", "d"),
    ("span_x", "d"),
    ("span_y", "d"),
    ("span_z", "d"),
    ("step", "I"),  # steps since the start, modulo 2³²
    ("still", "I"),  # number of the picture, modulo 2³²
    ("number", "I"),  # of the frame, as this client counts them from 1
    ("blocks", "I"),
    ("bodies", "I"),
    ("seen", "I"),  # bodies in blocks that the eye may see, as was last looked
)

AnyEdit = Annotated[dict[str, Any], "Edit"]


@dataclass(frozen=True, kw_only=True)
class LargeKind:
    """Bodies that look alike."""

    name: str
    shapes: list[Shape]
    colour: str | None  # "#rrggbb"; null: by its place in the list and its block
    size: float  # of its least thickness [m]
    count: int


@dataclass(frozen=True, kw_only=True)
class LargeScene:
    """What there is to draw. `block_*` are lists over all blocks."""

    generation: int
    name: str
    scene: str  # of the catalogue, or a file
    parameters: dict[str, Any]
    bodies: int
    joints: int
    kinds: list[LargeKind]
    block_kinds: list[int]
    block_sizes: list[int]
    low: Vector  # of the box around all bodies at the start [m]
    high: Vector
    gravity: Vector
    planes: list[list[float]]  # unit normal of the side on which bodies are, offset along it
    obstacles: list[Shape]
    fluid: bool
    method: str
    device: str
    substeps: int
    touches: bool
    frame_bytes: int
    frame_bodies: int  # that a frame has room for
    frames_per_second: float
    type: Literal["large-scene"] = "large-scene"


@dataclass(frozen=True, kw_only=True)
class LargeStatus:
    """The clock, and what is being built."""

    paused: bool
    broken: bool  # the state was put back, time stands still
    slow: bool
    speed: float  # asked for
    dt: float
    building: str | None  # what is being built, for how long [s] it has been
    clients: int
    type: Literal["large-status"] = "large-status"


@dataclass(frozen=True, kw_only=True)
class LargeBooks:
    """How the world does. Energies in J, lengths in m, times in s."""

    time: float
    step: int
    kinetic: float
    potential: float
    works: dict[str, float]  # of a hand; of fluids: buoyancy, current, drag
    unbooked: float  # what kinetic and potential have gained since the start and no work explains
    closed: bool  # nothing else acts, so that this is an error; else it is of contact, friction, motors and loads too
    pull: float  # force of the hand [N]
    gap: float  # largest position error of a joint's row [m, rad]
    velocity_error: float  # largest |J v|
    contacts: int
    overlap: float
    overlap_share: float | None  # of the least size of a body that touches
    unsettled: int
    residual: float
    parts: float  # sub-steps of a step
    steps_per_second: float
    step_time: float  # wall time of a step [s]
    real_time_factor: float
    bytes_per_body: float
    type: Literal["large-books"] = "large-books"


@dataclass(frozen=True, kw_only=True)
class LargeCatalogue:
    """Scenes of large worlds, and what runs now."""

    scenes: list[SceneEntry]
    running: str | None
    most_bodies: int


@dataclass(frozen=True, kw_only=True)
class LargeRequest:
    """Open a scene of the catalogue."""

    name: str
    parameters: Annotated[dict[str, Any], "Record<string, unknown>"] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LargeControl:
    """pause, run; step (value: how many, default 1); speed (value: times real time, 0.001 to 100); reset (as it began);
    cancel (what is being built); hash (the reply's text is the digest of the state's bits)."""

    id: int
    action: Literal["pause", "run", "step", "speed", "reset", "cancel", "hash"]
    value: float | None = None
    type: Literal["large-control"] = "large-control"


@dataclass(frozen=True, kw_only=True)
class LargeEdit:
    """What a small world would take; a large one refuses it by name."""

    id: int
    edit: AnyEdit
    type: Literal["edit"] = "edit"


@dataclass(frozen=True, kw_only=True)
class LargePull:
    """Pull a body to a place of the world by a spring, or let go of it. Not answered; a refusal is a Notice.

    There is one hand: it is of the client that pulls first, until it lets go or leaves. Of a client's pulls that wait
    for the same step the newest counts.
    """

    id: int
    generation: int  # of the LargeScene that the number is of
    body: int  # its number by the blocks, -1: let go
    at: list[float] = field(default_factory=list)  # point in the body's frame [m]
    target: list[float] = field(default_factory=list)  # [m]
    type: Literal["large-pull"] = "large-pull"


@dataclass(frozen=True, kw_only=True)
class LargeLook:
    """A frame was drawn, and where the eye is. Not answered.

    Planes of what is seen: unit normals inwards and their offsets, n · x + d >= 0; none: everything is.
    """

    id: int
    frame: int  # number of the newest that was drawn, 0: none
    eye: list[float] = field(default_factory=list)
    planes: list[list[float]] = field(default_factory=list)
    type: Literal["large-look"] = "large-look"


LARGE_SENT = (LargeScene, LargeStatus, LargeBooks, Reply, Notice)
LARGE_RECEIVED = (LargeControl, LargeEdit, LargePull, LargeLook)
