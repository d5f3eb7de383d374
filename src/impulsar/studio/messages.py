"""The studio's protocol: every message as a dataclass, and the layout of the binary frame.

`client/src/messages.ts` is generated from this file, `client/src/edits.ts` from the edits
(`python -m impulsar.studio.typescript`); a test holds them together.

A client opens a WebSocket at `/ws`. Text frames are JSON objects with a `type`; binary frames are
pictures of the world. All of it is SI, quaternions are xyzw, points of a part are in its body's frame.

Server to client, in this order after the connection is made:

    Scene       what there is to draw and to set. Again with a new `generation` when most of it changes;
                `topology` changes only when parts come, go or change type.
    Patch       what an edit changed of the Scene before it, with a new `generation`.
    Live        what holds and acts now: hands, loads, motors. Again with a new `revision` on change.
    Status      clock, method, history. Again on change.
    Books       the energy books entry by entry and the state of the solver, about four times a second.
    frames      binary, at most one per tick and always the newest: a slow client misses frames, never
                the order. A frame's `generation` and `revision` are those of the last Scene or Patch
                and of the last Live sent before it, so its blocks fit them.
    Reply       one for every EditMessage, Control and Subscribe, with its `id`; `ok` false and `text` in
                the engine's words if it was refused. Moves of one hand that wait for the same step are
                merged into the newest; the merged ones are answered with `merged` true.
    Notice      something a person should read: the world broke and was put back, the solver is too
                slow, another client changed the scene.

Client to server: EditMessage, Control, Subscribe. `id` is a number the client counts up, 1 to 2³² - 1.
An edit is `{"edit": "Grab", "hand": "pointer", "body": "link10", "at": [0, 0, 0], ...}`: the fields of the
dataclass in `impulsar.edits`, see docs/files.md. Message and rate limits are in `security.Limits`.

A binary frame is little-endian: the header (HEADER), then float32 blocks, then bytes:

    books     BOOKS, in order
    poses     7 per body in the order of Scene.bodies: position of the centre of mass, orientation
    hands     9 per hand in the order of Live.hands: point held, target, force on the body (world axes)
    loads     6 per load in the order of Live.loads: force, torque now (world axes)
    contacts  7 per contact: point, force on the second of two bodies or on one on an obstacle, 1 where it slides
    signals   1 per signal in the order of the client's Subscribe whose id is `subscription`
    marks     1 byte per signal: bit 0 set: a choice, because redundant constraints leave it open

Signals by name; NAME is a part's name as it is, axis is x, y, z or norm. They are the quantities of
`impulsar.observe.quantities`, which the Scene lists:

    body.NAME.{position,velocity,angular_velocity,acceleration,angular_acceleration,force,torque}.AXIS
    body.NAME.{orientation.{x,y,z,w},kinetic_energy}
    joint.NAME.{position,velocity,motor_torque}               of a joint with one freedom
    coordinate.NAME.{position,velocity,motor_torque}          of any freedom, by Group.coordinates
    joint.NAME.reaction.{force,torque}.AXIS                   on the second body
    spring.NAME.{length,force}    hand.NAME.force.AXIS    load.NAME.{force,torque}.AXIS    probe.NAME.AXIS
    energy.{kinetic,potential,elastic,total,work,loss,imbalance}    constraint_error
    iterations    step_time

Force and torque of a body are what changes its momenta: m·a and I·α + ω × I·ω, at the instant.

HTTP: GET / and the page's files; GET /api/scenes (SceneEntry[]); POST /api/scene-file (a scene file's
JSON as the body; becomes the world; answers Reply with id 0); POST /api/mesh?name=NAME.stl or .obj (the
file as the body; answers MeshReply, whose `shape` may stand in an Add edit); GET /api/journal;
GET /api/results.nc; GET /api/frame.png; GET /api/scene.json (the model as it is now). A refusal is a
status >= 400 with a Reply, ok false. Paths are relative to the page, which a notebook has under /t/TOKEN/.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

MAGIC = 0x31504D49  # "IMP1"

# Field, struct code. The two doubles come first after the magic and generation, so all are aligned.
HEADER: tuple[tuple[str, str], ...] = (
    ("magic", "I"),
    ("generation", "I"),  # of the Scene or Patch the frame belongs to
    ("time", "d"),  # [s]
    ("wall", "d"),  # server's monotonic clock when the frame was made [s]
    ("step", "I"),  # steps since the start, modulo 2³²
    ("flags", "I"),  # FLAGS
    ("revision", "I"),  # of the Live the frame belongs to
    ("applied", "I"),  # id of this client's newest edit or control whose effect the frame contains, 0: none yet
    ("subscription", "I"),  # id of the Subscribe that the signals belong to, 0: none
    ("bodies", "I"),
    ("hands", "I"),
    ("loads", "I"),
    ("contacts", "I"),
    ("signals", "I"),
    ("books", "I"),  # how many
)
FLAGS = {"paused": 1, "slow": 2, "broken": 4, "replaying": 8}  # slow: the solver cannot keep the speed asked for
BOOKS: tuple[tuple[str, str], ...] = (
    ("kinetic", "J"),
    ("potential", "J"),
    ("elastic", "J"),
    ("work", "J"),
    ("loss", "J"),
    ("imbalance", "J"),
    ("constraint_error", "m and rad"),
    ("iterations", "1"),  # of the steps since the last frame, per step
    ("substeps", "1"),
    ("step_time", "s"),  # wall time of a step, mean since the last frame
    ("step_budget", "s"),  # wall time a step may take at the speed asked for
    ("real_time_factor", "1"),  # simulated time over wall time, measured over about a second
    ("speed", "1"),  # asked for
)

LONGEST_SIGNAL = 280  # letters of a signal's name; a part whose name is longer has none that can be asked for
KINDS = (
    "bodies",
    "joints",
    "springs",
    "probes",
    "couplings",
    "obstacles",
    "elements",
)  # of parts, as a Scene lists them

Vector = list[float]
# JSON of the engine's own, and beside it the name that its TypeScript has in client/src/edits.ts.
AnyValue = Annotated[Any, "Value | null"]  # null: a callable, which is no data
AnyEdit = Annotated[dict[str, Any], "Edit"]
KeptEdit = Annotated[dict[str, Any], "ApplyLoad | SetMotor"]
Hull = Annotated[dict[str, Any], "ConvexHull"]
Parameters = Annotated[dict[str, Any], "Record<string, unknown> | ApplyLoad | SetMotor"]


# server to client -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A value that may be set: by SetParameter(path, value) where there is a path, else as `set_by` says."""

    name: str
    value: Any  # number, numbers, text, true/false or null (not there)
    unit: str = ""
    path: str | None = None
    set_by: Literal["SetParameter", "ChangeJoint", "none"] = "SetParameter"
    optional: bool = False  # null is "not given", and may be set


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A shape in its body's frame; `kind` says which of the sizes it has. A plane, z = 0 of its frame, has none."""

    kind: Literal["box", "sphere", "cylinder", "capsule", "cone", "hull", "plane", "mesh", "height-field"]
    offset: Vector
    orientation: Vector
    size: Vector | None = None  # box: edges along x, y, z; height field: along x, y
    radius: float | None = None  # of a cone its base's, at -length/2
    length: float | None = None  # along z; of a capsule without its half balls
    points: list[Vector] | None = None  # hull, mesh
    triangles: list[list[int]] | None = None  # hull, mesh: corners, anticlockwise seen from outside
    heights: list[Vector] | None = None  # height field: by x, then by y
    material: str | None = None  # its own; null: its body's, or obstacle's


@dataclass(frozen=True, kw_only=True)
class Body:
    name: str
    mass: float
    shapes: list[Shape]
    material: str | None  # of the shapes without one of their own; null: they are pictures
    parameters: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class Group:
    """A named freedom of a joint, or the three of a ball, with its features."""

    name: str
    kind: Literal["slide", "angle", "ball"]
    unit: str
    force_unit: str
    coordinates: list[str]  # names for signals, in the order of the freedoms
    features: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class Joint:
    """Frame F on `first` and frame M on `second` ("ground" is the world); z is the axis, x the second axis."""

    name: str
    joint_type: str
    first: str
    second: str
    p_PF: Vector
    q_PF: Vector
    p_CM: Vector
    q_CM: Vector
    length: float | None
    pitch: float | None
    groups: list[Group]


@dataclass(frozen=True, kw_only=True)
class Spring:
    name: str
    first: str
    second: str
    at_first: Vector
    at_second: Vector
    parameters: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class Probe:
    name: str
    body: str
    at: Vector


@dataclass(frozen=True, kw_only=True)
class Coupling:
    name: str
    coordinate_a: str
    coordinate_b: str
    parameters: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """A shape of the ground, in a frame that SetParameter places: NAME.position, NAME.orientation."""

    name: str
    position: Vector
    orientation: Vector
    shape: Shape
    material: str | None  # null: the shape's, or it is a picture


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a body, in its frame."""

    body: str
    at: Vector


@dataclass(frozen=True, kw_only=True)
class Element:
    """A part of a kind that has no message of its own, as the table of part kinds has it."""

    name: str
    kind: str
    refers: dict[str, str]  # names of the parts that it is of, by field
    points: list[Point]
    parameters: list[Parameter]


@dataclass(frozen=True, kw_only=True)
class JointKind:
    """A line of the joint catalogue, for drop-downs."""

    name: str
    groups: list[str]
    axes: int  # how many directions it needs: 0, 1 or 2


@dataclass(frozen=True, kw_only=True)
class SceneEntry:
    """A scene; parameters by name with their default values."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """What can be measured of a kind of part, in one plot: a signal is `of`.NAME.ending, without a part the ending."""

    of: str  # "body", "joint", "coordinate", "spring", "probe", "hand", "load"; "": of the whole
    title: str  # quantities of one title are of one plot
    unit: str
    slide_unit: str  # of coordinates whose Group is in metres
    endings: list[str]  # such as "velocity.x"; the norm of a vector is its last
    doc: str


@dataclass(frozen=True, kw_only=True)
class Scene:
    generation: int
    topology: int
    name: str
    gravity: Vector
    size: float  # of the authored mechanism, for cameras and icons [m]
    reference_energy: float | None
    ground: list[Shape]  # its own, besides obstacles
    bodies: list[Body]
    joints: list[Joint]
    springs: list[Spring]
    probes: list[Probe]
    couplings: list[Coupling]
    obstacles: list[Obstacle]
    elements: list[Element]
    parameters: list[Parameter]  # of the model: gravity
    joint_kinds: list[JointKind]
    methods: list[str]
    quantities: list[Quantity]
    scenes: list[SceneEntry]
    materials: list[str]  # common ones, which need no declaration
    suffixes: list[str]  # of files that can be opened as scenes: [".json", ...]
    type: Literal["scene"] = "scene"


@dataclass(frozen=True, kw_only=True)
class Patch:
    """What of the Scene is another: each part takes the place of that of its name, or comes behind the others.

    `order` has all names of a kind of which parts came, went or changed places, by "bodies", "joints", ...; of what
    it does not name nothing is left.
    """

    generation: int
    topology: int
    size: float
    gravity: Vector
    parameters: list[Parameter]
    bodies: list[Body]
    joints: list[Joint]
    springs: list[Spring]
    probes: list[Probe]
    couplings: list[Coupling]
    obstacles: list[Obstacle]
    elements: list[Element]
    order: dict[str, list[str]]
    type: Literal["patch"] = "patch"


@dataclass(frozen=True, kw_only=True)
class Hand:
    name: str
    body: str
    at: Vector
    stiffness: float
    damping: float


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
    joint: str
    group: str
    quantity: Literal["speed", "position", "torque"]
    value: AnyValue  # a number, 3 numbers of a ball, a profile as in scene files, or null for a callable
    unit: str
    max_torque: float | None  # null: no bound


@dataclass(frozen=True, kw_only=True)
class Live:
    revision: int
    hands: list[Hand]
    loads: list[Load]
    motors: list[Motor]
    off: list[KeptEdit]  # kept for switching on again; those of loads and motors that act are idle
    type: Literal["live"] = "live"


@dataclass(frozen=True, kw_only=True)
class Status:
    """Clock and history. Times are simulated [s]."""

    paused: bool
    replaying: bool
    speed: float
    steps_per_frame: int
    dt: float
    method: str
    coordinates: str
    device: str
    scene: str  # of the picker, or the model's name
    first_time: float  # the timeline one may seek on
    last_time: float
    recorded_since: float  # first sample of the results
    undo: str | None  # what undo would take back
    redo: str | None
    journal: str | None  # file, if one is kept
    clients: int
    type: Literal["status"] = "status"


@dataclass(frozen=True, kw_only=True)
class Books:
    """What the numbers in the frames are made of."""

    time: float
    kinetic: float
    potential: float
    elastic: float
    start: float
    work: dict[str, float]  # by hand, motor, load
    losses: dict[str, float]  # by damper, friction, limit
    imbalance: float
    imbalance_percent: float | None  # of the scene's reference energy
    worst_joint: str | None
    ended_by: str  # tolerance, iterations or budget
    trouble: list[str]  # what is not right to its tolerance, and what to do
    openings: dict[str, float]  # of rows that are redundant by construction [rad, or lengths over the size]
    indeterminate: list[str]  # joints whose reactions are a choice, as found when the parts last changed
    type: Literal["books"] = "books"


@dataclass(frozen=True, kw_only=True)
class Reply:
    id: int
    ok: bool
    text: str
    merged: bool = False
    energy: float = 0.0  # what making the state consistent added [J]
    momentum: Vector = field(default_factory=lambda: [0.0, 0.0, 0.0])
    angular_momentum: Vector = field(default_factory=lambda: [0.0, 0.0, 0.0])
    moved: float = 0.0  # farthest a centre of mass was moved [m]
    step: int = 0
    time: float = 0.0
    units: list[str] = field(default_factory=list)  # of Subscribe: unit of each signal
    type: Literal["reply"] = "reply"


@dataclass(frozen=True, kw_only=True)
class MeshReply:
    """An uploaded mesh as a convex hull, to be drawn and to stand in an edit."""

    ok: bool
    text: str
    shape: Hull
    triangles: int  # of the file


@dataclass(frozen=True, kw_only=True)
class Notice:
    level: Literal["info", "warning", "error"]
    text: str
    type: Literal["notice"] = "notice"


# client to server -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class EditMessage:
    id: int
    edit: AnyEdit
    type: Literal["edit"] = "edit"


@dataclass(frozen=True, kw_only=True)
class Control:
    """The session's clock, history and scene.

    pause, run; step (value: how many, default 1); speed (value: times real time, 0.001 to 100);
    steps_per_frame (value); seek (value: time [s]); undo, redo; revert (the inverse of the last edit, applied now);
    reset (the scene anew, history dropped); scene (name, parameters: of /api/scenes); record (the results
    begin here); keep (parameters: an ApplyLoad or SetMotor edit: show it to all clients as switched off while no
    such load or motor acts), forget (the same: no longer); hash (the reply's text is the digest of the state's bits).
    """

    id: int
    action: Literal[
        "pause",
        "run",
        "step",
        "speed",
        "steps_per_frame",
        "seek",
        "undo",
        "redo",
        "revert",
        "reset",
        "scene",
        "record",
        "keep",
        "forget",
        "hash",
    ]
    value: float | None = None
    name: str | None = None
    parameters: Parameters | None = None
    type: Literal["control"] = "control"


@dataclass(frozen=True, kw_only=True)
class Subscribe:
    """Have these signals in every frame from now on, instead of those before; at most 64."""

    id: int
    signals: list[str]
    type: Literal["subscribe"] = "subscribe"


SENT = (Scene, Patch, Live, Status, Books, Reply, Notice)
RECEIVED = (EditMessage, Control, Subscribe)
